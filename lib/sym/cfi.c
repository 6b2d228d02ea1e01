/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/sym/cfi.h"

#include <errno.h>

#define AUGMENTATION_MAX 8 /* letters; "zPLRSB" is about the longest there is */

enum { /* pointer encodings: format in the low nibble, what it is relative to above */
       PE_ABSPTR = 0x00,
       PE_ULEB = 0x01,
       PE_UDATA2 = 0x02,
       PE_UDATA4 = 0x03,
       PE_UDATA8 = 0x04,
       PE_SLEB = 0x09,
       PE_SDATA2 = 0x0a,
       PE_SDATA4 = 0x0b,
       PE_SDATA8 = 0x0c,
       PE_PCREL = 0x10,
       PE_TEXTREL = 0x20,
       PE_DATAREL = 0x30,
       PE_FUNCREL = 0x40,
       PE_ALIGNED = 0x50,
       PE_INDIRECT = 0x80,
};

/* One entry of the section, up to where CIE and FDE part. */
struct entry {
	struct cursor c; /* what follows the CIE id or pointer; ends with the entry */
	size_t next;	 /* offset of what follows the entry */
	size_t cie;	 /* FDE: offset of its CIE */
	bool is_cie, is_end;
};

void cfi_init(struct cfi *c, const struct cfi_section *s)
{
	*c = (struct cfi){.s = *s, .cie.offset = SIZE_MAX};
}

static uint64_t pointer_value(struct cursor *c, uint8_t encoding)
{
	switch (encoding & 0x0f) {
	case PE_ABSPTR:
	case PE_UDATA8:
	case PE_SDATA8:
		return cursor_u64(c);
	case PE_ULEB:
		return cursor_uleb(c);
	case PE_UDATA2:
		return cursor_u16(c);
	case PE_UDATA4:
		return cursor_u32(c);
	case PE_SLEB:
		return cursor_sleb(c);
	case PE_SDATA2:
		return (int16_t)cursor_u16(c);
	case PE_SDATA4:
		return (int32_t)cursor_u32(c);
	}
	return cursor_fail(c);
}

uint64_t cfi_pointer(const struct cfi_section *s, struct cursor *c, uint8_t encoding,
		     uint64_t func)
{
	uint64_t at = s->addr + (c->p - s->data);

	if (encoding & PE_INDIRECT)
		return cursor_fail(c);
	switch (encoding & 0x70) {
	case PE_ABSPTR:
		return pointer_value(c, encoding);
	case PE_PCREL:
		return at + pointer_value(c, encoding);
	case PE_TEXTREL:
		return s->text + pointer_value(c, encoding);
	case PE_DATAREL:
		return s->got + pointer_value(c, encoding);
	case PE_FUNCREL:
		return func + pointer_value(c, encoding);
	case PE_ALIGNED:
		cursor_skip(c, -at & 7);
		return cursor_u64(c);
	}
	return cursor_fail(c);
}

/* Step over a pointer that is of no use to us, whatever it is relative to. */
static void skip_pointer(const struct cfi_section *s, struct cursor *c, uint8_t encoding)
{
	cfi_pointer(s, c, encoding & ~PE_INDIRECT, 0);
}

static bool read_entry(const struct cfi *cfi, size_t offset, struct entry *en)
{
	const struct cfi_section *s = &cfi->s;
	struct cursor c = cursor_at(s->data, s->n, offset, s->swap);
	uint64_t length = cursor_u32(&c), id;
	unsigned size = 4;
	size_t at;

	if (length == 0xffffffff) {
		size = 8;
		length = cursor_u64(&c);
	}
	if (c.bad || length > cursor_left(&c))
		return false;
	at = c.p - s->data;
	*en = (struct entry){.next = at + length, .is_end = !length};
	if (en->is_end)
		return true;
	c.end = c.p + length;
	id = cursor_uint(&c, size);
	en->c = c;
	if (c.bad)
		return false;
	if (s->eh) {
		en->is_cie = !id;
		en->cie = at - id; /* may be nonsense: whoever reads there will see */
	} else {
		en->is_cie = id == (size == 4 ? 0xffffffff : UINT64_MAX);
		en->cie = id;
	}
	return true;
}

/* The letters of a CIE's augmentation, with their data. False: one that we do not know. */
static bool read_augmentation(const struct cfi_section *s, struct cfi_cie *cie,
			      struct cursor *c, const char *letters)
{
	const uint8_t *end;
	uint64_t n;

	if (!*letters)
		return true;
	if (*letters++ != 'z')
		return false;
	cie->sized = true;
	n = cursor_uleb(c);
	if (c->bad || n > cursor_left(c))
		return false;
	end = c->p + n;
	for (; *letters; letters++) {
		switch (*letters) {
		case 'R':
			cie->encoding = cursor_u8(c);
			break;
		case 'P':
			skip_pointer(s, c, cursor_u8(c));
			break;
		case 'L':
			cursor_u8(c);
			break;
		case 'S':
			cie->signal = true;
			break;
		case 'B': /* AArch64: which key signs return addresses */
		case 'G': /* AArch64: memory tagging */
			break;
		default:
			return false;
		}
	}
	if (c->p > end)
		return false;
	c->p = end;
	return true;
}

/* The augmentation string: NULL if it has no end where it has to have one. */
static const char *read_letters(struct cursor *c)
{
	const uint8_t *s = c->p;
	size_t max = cursor_left(c), n;

	n = strnlen((const char *)s, max < AUGMENTATION_MAX ? max : AUGMENTATION_MAX);
	if (n == max || n == AUGMENTATION_MAX)
		return NULL;
	c->p += n + 1;
	return (const char *)s;
}

static void read_cie(struct cfi *cfi, struct cursor c)
{
	struct cfi_cie *cie = &cfi->cie;
	uint8_t version = cursor_u8(&c);
	const char *letters = read_letters(&c);
	uint64_t ra;

	if ((version != 1 && version != 3 && version != 4) || !letters)
		return;
	if (version == 4 && (cursor_u8(&c) != 8 || cursor_u8(&c)))
		return; /* size of addresses and of segment selectors */
	cie->code_align = cursor_uleb(&c);
	cie->data_align = cursor_sleb(&c);
	ra = version == 1 ? cursor_u8(&c) : cursor_uleb(&c);
	cie->placed = read_augmentation(&cfi->s, cie, &c, letters) && !c.bad;
	cie->usable = cie->placed && ra == cfi->s.machine.ra &&
		      cfi_run_initial(cfi, c.p, cursor_left(&c));
}

/* FDEs mostly share the CIE of the one before, so one is kept. */
static bool use_cie(struct cfi *cfi, size_t offset)
{
	struct entry en;

	if (cfi->cie.offset == offset)
		return true;
	cfi->cie = (struct cfi_cie){.offset = SIZE_MAX};
	if (!read_entry(cfi, offset, &en) || en.is_end || !en.is_cie)
		return false;
	cfi->cie.offset = offset;
	read_cie(cfi, en.c);
	return true;
}

static bool read_fde(struct cfi *cfi, const struct entry *en, struct cfi_fde *fde)
{
	struct cursor c = en->c;
	uint64_t size;

	if (!use_cie(cfi, en->cie) || !cfi->cie.placed)
		return false;
	fde->start = cfi_pointer(&cfi->s, &c, cfi->cie.encoding, 0);
	size = pointer_value(&c, cfi->cie.encoding);
	if (cfi->cie.sized)
		cursor_skip(&c, cursor_uleb(&c));
	fde->insns = c.p;
	fde->insns_n = cursor_left(&c);
	return !c.bad && size && !__builtin_add_overflow(fde->start, size, &fde->end);
}

int cfi_next(struct cfi *c, size_t *offset, struct cfi_fde *fde, struct err *e)
{
	struct entry en;
	size_t at;

	while (c->s.n - c->next >= 4) {
		at = c->next;
		if (!read_entry(c, at, &en))
			return err_set(e, EBADMSG, "%s: bad entry at offset %zu",
				       c->s.eh ? ".eh_frame" : ".debug_frame", at);
		c->next = en.next;
		if (en.is_end && c->s.terminated)
			return 0;
		if (en.is_end || en.is_cie || !read_fde(c, &en, fde))
			continue;
		*offset = at;
		return 1;
	}
	return 0;
}

bool cfi_fde_at(struct cfi *c, size_t offset, struct cfi_fde *fde)
{
	struct entry en;

	return read_entry(c, offset, &en) && !en.is_end && !en.is_cie &&
	       read_fde(c, &en, fde);
}
