/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/sym/elf.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/base/xalloc.h"
#include "lib/io/unpack.h"
#include "lib/sym/elf_internal.h"

#define MAX_SEGMENTS 4096
#define MAX_SECTIONS (1 << 20)
#define MAX_NAMES (64 << 20) /* bytes of section names */

static bool within(const struct elf_file *f, uint64_t off, uint64_t n)
{
	return off <= f->size && n <= f->size - off;
}

static int read_segments(struct elf_file *f, Elf *elf, struct err *e)
{
	size_t i, n;
	GElf_Phdr ph;

	if (elf_getphdrnum(elf, &n))
		return err_set(e, ENOEXEC, "bad program headers");
	if (n > MAX_SEGMENTS)
		return err_set(e, ENOEXEC, "%zu program headers are too many", n);
	f->segments = xcalloc(n ? n : 1, sizeof(*f->segments));
	for (i = 0; i < n; i++) {
		if (!gelf_getphdr(elf, i, &ph))
			break;
		if (ph.p_type == PT_NOTE && within(f, ph.p_offset, ph.p_filesz))
			elf_note_scan(f, ph.p_offset, ph.p_filesz, ph.p_align);
		if (ph.p_type == PT_GNU_EH_FRAME && ph.p_vaddr + ph.p_memsz > ph.p_vaddr)
			f->eh_frame_hdr =
				(struct elf_range){ph.p_vaddr, ph.p_vaddr + ph.p_memsz};
		if (ph.p_type != PT_LOAD || ph.p_vaddr + ph.p_memsz < ph.p_vaddr ||
		    ph.p_offset + ph.p_filesz < ph.p_offset)
			continue;
		f->segments[f->nsegments++] = (struct elf_segment){
			.vaddr = ph.p_vaddr,
			.offset = ph.p_offset,
			.filesz = ph.p_filesz,
			.memsz = ph.p_memsz,
			.align = ph.p_align && !(ph.p_align & (ph.p_align - 1))
					 ? ph.p_align
					 : 1,
			.exec = ph.p_flags & PF_X,
		};
	}
	return 0;
}

/* Section names are read by us, since libelf's own look-up would hold the table too. */
static const char *section_name(const struct elf_file *f, size_t names_n, uint64_t off)
{
	return f->names && off < names_n ? f->names + off : "";
}

static size_t read_names(struct elf_file *f, Elf *elf)
{
	size_t index;
	GElf_Shdr sh;
	Elf_Scn *scn;
	struct err ignored;

	if (elf_getshdrstrndx(elf, &index) || !(scn = elf_getscn(elf, index)) ||
	    !gelf_getshdr(scn, &sh) || sh.sh_type != SHT_STRTAB ||
	    sh.sh_size > MAX_NAMES || !within(f, sh.sh_offset, sh.sh_size))
		return 0;
	f->names = xmalloc(sh.sh_size + 1);
	if (elf_read_at(f, f->names, sh.sh_size, sh.sh_offset, &ignored)) {
		free(f->names);
		f->names = NULL;
		return 0;
	}
	f->names[sh.sh_size] = 0;
	return sh.sh_size;
}

static int read_sections(struct elf_file *f, Elf *elf, struct err *e)
{
	size_t i, n, names_n;
	GElf_Shdr sh;
	Elf_Scn *scn;

	if (elf_getshdrnum(elf, &n))
		n = 0; /* a file without usable section headers still has segments */
	if (n > MAX_SECTIONS)
		return err_set(e, ENOEXEC, "%zu sections are too many", n);
	f->sections = xcalloc(n ? n : 1, sizeof(*f->sections));
	names_n = n ? read_names(f, elf) : 0;
	for (i = 0; i < n; i++) {
		struct elf_section *s = &f->sections[i];

		s->name = "";
		f->nsections++;
		scn = elf_getscn(elf, i);
		if (!scn || !gelf_getshdr(scn, &sh))
			continue;
		*s = (struct elf_section){
			.name = section_name(f, names_n, sh.sh_name),
			.addr = sh.sh_addr,
			.offset = sh.sh_offset,
			.size = sh.sh_size,
			.flags = sh.sh_flags,
			.entsize = sh.sh_entsize,
			.align = sh.sh_addralign,
			.type = sh.sh_type,
			.link = sh.sh_link,
			.info = sh.sh_info,
		};
		if (s->type != SHT_NOBITS && !within(f, s->offset, s->size))
			s->failed = -EBADMSG;
		if (s->type == SHT_NOTE && !s->failed)
			elf_note_scan(f, s->offset, s->size, sh.sh_addralign);
	}
	return 0;
}

static int range_cmp(const void *a, const void *b)
{
	const struct elf_range *x = a, *y = b;

	return (x->low > y->low) - (x->low < y->low);
}

/*
 * Code is where sections say so. Sections, not segments: with one read-execute segment from
 * address 0 on, the ELF header's own addresses must not pass as code, because that is where
 * linkers leave the ranges of functions they dropped.
 */
static void find_exec(struct elf_file *f)
{
	size_t i, n = 0, sections;

	f->exec = xcalloc(f->nsections + f->nsegments + 1, sizeof(*f->exec));
	for (i = 0; i < f->nsections; i++) {
		const struct elf_section *s = &f->sections[i];

		if ((s->flags & SHF_EXECINSTR) && (s->flags & SHF_ALLOC) && s->size &&
		    s->addr + s->size > s->addr)
			f->exec[n++] = (struct elf_range){s->addr, s->addr + s->size};
	}
	sections = n;
	for (i = 0; !sections && i < f->nsegments; i++) {
		const struct elf_segment *s = &f->segments[i];

		if (s->exec && s->memsz)
			f->exec[n++] = (struct elf_range){s->vaddr, s->vaddr + s->memsz};
	}
	f->nexec = n;
	qsort(f->exec, n, sizeof(*f->exec), range_cmp);
}

static int read_headers(struct elf_file *f, struct err *e)
{
	static const uint8_t ours =
		__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB;
	Elf *elf = NULL;
	GElf_Ehdr eh;
	int r;

	if (elf_version(EV_CURRENT) == EV_NONE)
		return err_set(e, ENOEXEC, "libelf is too old");
	elf = elf_begin(f->fd, ELF_C_READ, NULL);
	if (!elf || elf_kind(elf) != ELF_K_ELF || !gelf_getehdr(elf, &eh)) {
		r = err_set(e, ENOEXEC, "not an ELF file");
		goto out;
	}
	f->is64 = eh.e_ident[EI_CLASS] == ELFCLASS64;
	f->swap = eh.e_ident[EI_DATA] != ours;
	f->machine = eh.e_machine;
	f->type = eh.e_type;
	f->entry = eh.e_entry;
	/* sections come last in files as linkers write them */
	f->cut = eh.e_shoff >= f->size ||
		 f->size - eh.e_shoff < (uint64_t)eh.e_shnum * eh.e_shentsize;
	if (f->type != ET_EXEC && f->type != ET_DYN && f->type != ET_REL) {
		r = err_set(e, ENOEXEC, "neither code nor debug information");
		goto out;
	}
	r = read_segments(f, elf, e);
	if (!r)
		r = read_sections(f, elf, e);
	if (!r && f->type == ET_REL)
		elf_place_code(f);
	if (!r)
		find_exec(f);
out:
	if (elf)
		elf_end(elf);
	return r;
}

static int read_identity(struct elf_file *f, struct err *e)
{
	struct stat st;

	if (fstat(f->fd, &st))
		return err_errno(e, errno, "fstat");
	if (!S_ISREG(st.st_mode))
		return err_set(e, ENODEV, "not a regular file");
	f->size = st.st_size;
	f->dev = st.st_dev;
	f->ino = st.st_ino;
	f->mtime = st.st_mtim;
	return 0;
}

int elf_open_fd(int fd, struct elf_file **out, struct err *e)
{
	struct elf_file *f = xcalloc(1, sizeof(*f));
	int r;

	f->fd = fd;
	r = read_identity(f, e);
	if (!r)
		r = read_headers(f, e);
	if (!r && !f->build_id_n)
		elf_supplementary_id(f);
	if (r) {
		elf_free(f);
		return r;
	}
	*out = f;
	return 0;
}

/* Nothing that could make us wait, or our terminal: names in profiles are anybody's. */
#define OPEN_FLAGS (O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)

static int open_below(const char *root, const char *path, int flags)
{
	struct open_how how = {.flags = flags, .resolve = RESOLVE_IN_ROOT};
	int dir = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC), fd, code;

	if (dir < 0)
		return -1;
	fd = syscall(SYS_openat2, dir, path, &how, sizeof(how));
	code = errno;
	/* where the call does not exist: without its protection, so without ways up */
	if (fd < 0 && (code == ENOSYS || code == EPERM) && !strstr(path, "..")) {
		fd = openat(dir, path + strspn(path, "/"), flags);
		code = errno;
	}
	close(dir);
	errno = code;
	return fd;
}

static int open_with(const char *root, const char *path, int flags)
{
	return root ? open_below(root, path, flags) : open(path, flags);
}

/* Look first: to open some devices is to use them, and a FIFO's writer would run into us. */
static int open_any(const char *root, const char *path)
{
	int fd = open_with(root, path, O_PATH | O_CLOEXEC);
	struct stat st;

	/* what is no file is left for read_identity() to refuse */
	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return fd;
	close(fd);
	return open_with(root, path, OPEN_FLAGS);
}

/* Unpacked; takes fd over. */
static int open_packed(int fd, uint64_t max, struct elf_file **out, struct err *e)
{
	struct elf_file on_disk = {.fd = fd};
	int r = read_identity(&on_disk, e), in_memory = -1;

	if (!r)
		in_memory = r = elf_unpack(fd, on_disk.size, max, e);
	close(fd);
	if (r >= 0)
		r = elf_open_fd(in_memory, out, e);
	if (r)
		return r;
	(*out)->packed_size = on_disk.size;
	(*out)->packed_max = max;
	(*out)->dev = on_disk.dev;
	(*out)->ino = on_disk.ino;
	(*out)->mtime = on_disk.mtime;
	return 0;
}

int elf_open_packed(const char *root, const char *path, uint64_t max,
		    struct elf_file **out, struct err *e)
{
	int fd = open_any(root, path), r;

	if (fd < 0)
		return err_set(e, errno, "%s", strerror(errno));
	r = max && elf_is_packed(fd) ? open_packed(fd, max, out, e)
				     : elf_open_fd(fd, out, e);
	if (!r) {
		(*out)->root = root ? xstrdup(root) : NULL;
		(*out)->path = xstrdup(path);
	}
	return r;
}

int elf_open(const char *root, const char *path, struct elf_file **out, struct err *e)
{
	return elf_open_packed(root, path, 0, out, e);
}

/* Is `now` what f was opened as? */
static bool is_same(const struct elf_file *now, const struct elf_file *f)
{
	return now->dev == f->dev && now->ino == f->ino &&
	       now->size == (f->packed_size ? f->packed_size : f->size) &&
	       now->mtime.tv_sec == f->mtime.tv_sec &&
	       now->mtime.tv_nsec == f->mtime.tv_nsec;
}

bool elf_has_changed(struct elf_file *f)
{
	struct elf_file now = {.fd = f->fd};
	struct err ignored;

	return f->fd >= 0 && !f->packed_size &&
	       (read_identity(&now, &ignored) || !is_same(&now, f));
}

uint64_t elf_file_bytes(const struct elf_file *f)
{
	return f->packed_size && f->fd >= 0 ? f->size : 0;
}

static int resume(struct elf_file *f, struct err *e)
{
	struct elf_file now = {.fd = open_any(f->root, f->path)};
	int r, in_memory;

	if (now.fd < 0)
		return err_set(e, errno, "%s", strerror(errno));
	r = read_identity(&now, e);
	if (!r && !is_same(&now, f))
		r = err_set(e, ESTALE, "changed while in use");
	if (!r && f->packed_size) {
		in_memory = r = elf_unpack(now.fd, now.size, f->packed_max, e);
		close(now.fd);
		now.fd = in_memory;
	}
	if (r < 0) {
		if (now.fd >= 0)
			close(now.fd);
		return r;
	}
	f->fd = now.fd;
	return 0;
}

int elf_read_at(struct elf_file *f, void *p, uint64_t n, uint64_t off, struct err *e)
{
	uint8_t *at = p;
	ssize_t got;
	int r;

	if (f->fd < 0 && (r = resume(f, e)))
		return r;
	while (n) {
		got = pread(f->fd, at, n < (1u << 30) ? n : 1u << 30, off);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return err_errno(e, errno, "read");
		if (!got)
			return err_set(e, EBADMSG,
				       "file is shorter than its headers say");
		at += got;
		off += got;
		n -= got;
	}
	return 0;
}

static void drop_data(struct elf_file *f)
{
	size_t i;

	for (i = 0; i < f->nsections; i++)
		elf_drop_section(f, &f->sections[i]);
	f->mapped = false;
}

void elf_forget(struct elf_file *f, const char *start)
{
	size_t i;

	for (i = 0; i < f->nsections; i++)
		if (!strncmp(f->sections[i].name, start, strlen(start)))
			elf_drop_section(f, &f->sections[i]);
}

void elf_set_budget(struct elf_file *f, struct elf_budget *b)
{
	if (f->budget == b)
		return;
	f->budget = b;
	b->used += f->data_bytes;
}

uint64_t elf_room(const struct elf_file *f)
{
	const struct elf_budget *b = f->budget;
	uint64_t left = !b ? ELF_SECTION_MAX : b->used < b->max ? b->max - b->used : 0;

	return left < ELF_SECTION_MAX ? left : ELF_SECTION_MAX;
}

void elf_close(struct elf_file *f)
{
	if (f->path && f->fd >= 0) {
		close(f->fd);
		f->fd = -1;
	}
}

void elf_suspend(struct elf_file *f)
{
	drop_data(f);
	elf_close(f);
}

void elf_free(struct elf_file *f)
{
	if (!f)
		return;
	if (f->sections)
		drop_data(f);
	if (f->fd >= 0)
		close(f->fd);
	free(f->root);
	free(f->path);
	free(f->segments);
	free(f->sections);
	free(f->names);
	free(f->exec);
	free(f->go_build_id);
	free(f);
}

struct elf_section *elf_section(struct elf_file *f, const char *name)
{
	size_t i;

	for (i = 1; i < f->nsections; i++)
		if (!strcmp(f->sections[i].name, name))
			return &f->sections[i];
	return NULL;
}

bool elf_is_code(const struct elf_file *f, uint64_t vaddr, uint64_t *high)
{
	size_t lo = 0, hi = f->nexec, mid;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (f->exec[mid].low <= vaddr)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (!lo || vaddr >= f->exec[lo - 1].high)
		return false;
	*high = f->exec[lo - 1].high;
	return true;
}

/* How well a segment fits a file offset; higher is better, 0 not at all. */
static int segment_fit(const struct elf_segment *s, uint64_t off)
{
	uint64_t low, high;
	int exec = s->exec ? 2 : 0;

	if (!s->filesz)
		return 0;
	if (off >= s->offset && off - s->offset < s->filesz)
		return 2 + exec;
	/* what is mapped are whole pages: the segment's rounded out to its own alignment */
	low = s->offset & ~(s->align - 1);
	if (__builtin_add_overflow(s->offset + s->filesz, s->align - 1, &high))
		return 0;
	high &= ~(s->align - 1);
	return off >= low && off < high ? 1 + exec : 0;
}

int elf_vaddr(const struct elf_file *f, uint64_t file_offset, uint64_t *vaddr)
{
	int best = 0, fit;
	bool twice = false;
	uint64_t v, found = 0;
	size_t i;

	for (i = 0; i < f->nsegments; i++) {
		fit = segment_fit(&f->segments[i], file_offset);
		if (!fit || fit < best)
			continue;
		v = file_offset - f->segments[i].offset + f->segments[i].vaddr;
		twice = fit == best && (twice || v != found);
		best = fit;
		found = v;
	}
	if (!best)
		return -ENXIO;
	if (twice)
		return -ENOTUNIQ;
	*vaddr = found;
	return 0;
}

int elf_crc32(struct elf_file *f, uint32_t *crc, struct err *e)
{
	size_t chunk = 1 << 20;
	uint8_t *p = xmalloc(chunk);
	uint64_t off;
	uint32_t c = 0;
	int r = 0;

	for (off = 0; !r && off < f->size; off += chunk) {
		size_t n = f->size - off < chunk ? f->size - off : chunk;

		r = elf_read_at(f, p, n, off, e);
		if (!r)
			c = unpack_crc32(c, p, n);
	}
	free(p);
	if (!r)
		*crc = c;
	return r;
}
