/* SPDX-License-Identifier: Apache-2.0 */
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/xalloc.h"
#include "lib/sym/cursor.h"
#include "lib/sym/elf_internal.h"

#define MAX_NOTES (1 << 20) /* bytes of one segment or section of notes */
#define GO_BUILD_ID_TYPE 4  /* note of owner "Go": cmd/internal/buildid */
#define GO_BUILD_ID_MAX 1024

static void take_note(struct elf_file *f, const char *owner, uint32_t owner_n,
		      uint32_t type, const uint8_t *desc, uint32_t n)
{
	if (type == NT_GNU_BUILD_ID && owner_n == 4 && !memcmp(owner, "GNU", 4)) {
		if (f->build_id_n || !n || n > BUILD_ID_MAX)
			return;
		memcpy(f->build_id, desc, n);
		f->build_id_n = n;
	} else if (type == GO_BUILD_ID_TYPE && owner_n == 4 &&
		   !memcmp(owner, "Go\0", 4)) {
		if (!f->go_build_id && n && n <= GO_BUILD_ID_MAX)
			f->go_build_id = xstrndup((const char *)desc, n);
	}
}

void elf_note_scan(struct elf_file *f, uint64_t off, uint64_t n, uint64_t align)
{
	struct cursor c;
	struct err ignored;
	uint8_t *p;

	if (!n || n > MAX_NOTES)
		return;
	p = xmalloc(n);
	if (elf_read_at(f, p, n, off, &ignored))
		goto out;
	c = cursor_at(p, n, 0, f->swap);
	align = align == 8 ? 8 : 4;
	while (cursor_left(&c) >= 12) {
		uint32_t owner_n = cursor_u32(&c), desc_n = cursor_u32(&c),
			 type = cursor_u32(&c);
		const char *owner = (const char *)c.p;
		const uint8_t *desc;

		/* the name is padded from the start of the note, whose header has 12 bytes */
		if (!cursor_skip(&c, owner_n) ||
		    !cursor_skip(&c, -(uint64_t)(c.p - p) & (align - 1)))
			break;
		desc = c.p;
		if (!cursor_skip(&c, desc_n))
			break;
		take_note(f, owner, owner_n, type, desc, desc_n);
		if (!cursor_skip(&c, -(uint64_t)(c.p - p) & (align - 1)))
			break;
	}
out:
	free(p);
}
