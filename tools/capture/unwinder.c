/* SPDX-License-Identifier: Apache-2.0 */
/* What the BPF unwinder knows: rows of files, and mappings of processes. */
#include "tools/capture/unwinder.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "lib/base/xalloc.h"
#include "tools/capture/clock.h"
#include "tools/capture/procs.h"
#include "tools/capture/tables.h"

#define SLAB_ROWS (1u << UNWIND_SLAB_SHIFT)
#define SLAB_BYTES (SLAB_ROWS * sizeof(struct unwind_row))

/* Room to map the slabs one behind another, so that rows can be seen as one array. */
static int reserve_rows(struct unwinder *u, struct err *e)
{
	void *p = mmap(NULL, UNWIND_SLABS_MAX * SLAB_BYTES, PROT_NONE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (p == MAP_FAILED)
		return err_errno(e, errno, "no address space for unwind tables");
	u->rows = p;
	room_init(&u->row_room, UNWIND_SLABS_MAX * SLAB_ROWS);
	return 0;
}

int unwinder_init(struct unwinder *u, const struct unwind_maps *maps, struct err *e)
{
	void *p;

	*u = (struct unwinder){.maps = *maps};
	if (maps->slabs_fd < 0)
		return reserve_rows(u, e);
	p = mmap(NULL, maps->nmappings * sizeof(*u->mappings), PROT_READ | PROT_WRITE,
		 MAP_SHARED, maps->mappings_fd, 0);
	if (p == MAP_FAILED)
		return err_errno(e, errno, "cannot map the unwinder's mappings");
	u->mappings = p;
	p = mmap(NULL, UNWIND_PROCS * sizeof(*u->procs), PROT_READ | PROT_WRITE,
		 MAP_SHARED, maps->procs_fd, 0);
	if (p == MAP_FAILED)
		return err_errno(e, errno, "cannot map the unwinder's processes");
	u->procs = p;
	room_init(&u->mapping_room, maps->nmappings);
	return reserve_rows(u, e);
}

void unwinder_release(struct unwinder *u)
{
	if (u->mappings)
		munmap(u->mappings, u->maps.nmappings * sizeof(*u->mappings));
	if (u->procs)
		munmap(u->procs, UNWIND_PROCS * sizeof(*u->procs));
	if (u->rows)
		munmap(u->rows, UNWIND_SLABS_MAX * SLAB_BYTES);
	room_release(&u->mapping_room);
	room_release(&u->row_room);
	*u = (struct unwinder){0};
}

/* --- rows ---------------------------------------------------------------------------------- */

_Static_assert(sizeof(struct unwind_proc) == sizeof(struct unwind_mapping), "one room");

/* Without programs that are to see it, memory like any other. */
static bool add_own_slab(struct unwinder *u)
{
	if (mprotect(u->rows + u->nslabs * SLAB_ROWS, SLAB_BYTES,
		     PROT_READ | PROT_WRITE) < 0)
		return false;
	u->nslabs++;
	return true;
}

static bool add_bpf_slab(struct unwinder *u)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_MMAPABLE);
	int fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "slab", sizeof(uint32_t),
				sizeof(struct unwind_row), SLAB_ROWS, &opts);
	uint32_t at = u->nslabs;
	void *p;

	if (fd < 0)
		return false;
	p = mmap(u->rows + (size_t)at * SLAB_ROWS, SLAB_BYTES, PROT_READ | PROT_WRITE,
		 MAP_SHARED | MAP_FIXED, fd, 0);
	if (p == MAP_FAILED || bpf_map_update_elem(u->maps.slabs_fd, &at, &fd, 0) < 0) {
		close(fd);
		return false;
	}
	close(fd); /* the map of maps holds it */
	u->nslabs++;
	return true;
}

bool unwinder_take_rows(struct unwinder *u, uint32_t n, uint32_t *first)
{
	if (!u->rows || !room_take(&u->row_room, n, monotonic_ns(), first))
		return false;
	while (u->nslabs * (uint64_t)SLAB_ROWS < u->row_room.used) {
		if (!(u->maps.slabs_fd < 0 ? add_own_slab(u) : add_bpf_slab(u))) {
			u->row_room.size = u->nslabs * SLAB_ROWS;
			room_give(&u->row_room, *first, n, monotonic_ns());
			return false;
		}
	}
	return true;
}

void unwinder_give_rows(struct unwinder *u, uint32_t first, uint32_t n)
{
	room_give(&u->row_room, first, n, monotonic_ns());
}

/* --- processes ----------------------------------------------------------------------------- */

void unwind_run_put(struct unwind_run *r)
{
	if (!r)
		return;
	room_give(&r->owner->mapping_room, r->first, r->n, monotonic_ns());
	free(r);
}

static struct unwind_mapping mapping_of(const struct live *l)
{
	struct unwind_mapping m = {.start = l->start, .end = l->end, .kind = UNWIND_JIT};
	const struct table *t = l->file ? l->file->table : NULL;

	if (!l->file)
		return m;
	m.kind = t ? t->kind : UNWIND_REFUSED;
	if (m.kind != UNWIND_TABLE)
		return m;
	m.first = t->first;
	m.count = t->view.nrows;
	if (!table_pc(t, l->offset, l->end - l->start, &m.pc))
		m.kind = UNWIND_REFUSED;
	return m;
}

/* Nothing of a run that is in use is changed: each state of a space has one of its own. */
static void make_run(struct unwinder *u, struct space *s)
{
	size_t n = s->nlive < UNWIND_MAPPINGS_MAX ? s->nlive : UNWIND_MAPPINGS_MAX, i;
	struct unwind_mapping m;
	struct unwind_run *r;
	uint32_t first = 0;

	unwind_run_put(s->run);
	s->run = NULL;
	s->live_changed = false;
	s->npending = s->nmissed = 0;
	if (!n)
		return;
	u->full += s->nlive > n;
	if (!room_take(&u->mapping_room, n, monotonic_ns(), &first)) {
		u->full++;
		return;
	}
	for (i = 0; i < n; i++) {
		const struct code_file *f = s->live[i].file;

		m = mapping_of(&s->live[i]);
		u->mappings[first + i] = m;
		s->npending += m.kind == UNWIND_PENDING;
		s->nmissed += f && f->table && f->table->missed && m.kind != UNWIND_TABLE;
	}
	r = xmalloc(sizeof(*r));
	*r = (struct unwind_run){u, first, n};
	s->run = r;
}

/* Where tgid is in the table of processes; or, if it is not there, could be; NULL: nowhere. */
static uint64_t *proc_word(struct unwinder *u, uint32_t tgid)
{
	uint64_t *word, *vacant = NULL;
	uint32_t i;

	for (i = 0; i < UNWIND_PROBES; i++) {
		word = &u->procs[unwind_proc_place(tgid, i)];
		if (*word >> 32 == tgid)
			return word;
		if (!vacant && (!*word || *word == UNWIND_PROC_GONE))
			vacant = word;
		if (!*word)
			break;
	}
	return vacant;
}

/* A program that runs now may have read the word just before: what it points to rests. */
static void set_word(struct unwinder *u, uint64_t *word, uint64_t value)
{
	if (*word && *word != UNWIND_PROC_GONE)
		room_give(&u->mapping_room, (uint32_t)*word, 1, monotonic_ns());
	__atomic_store_n(word, value, __ATOMIC_RELEASE);
}

void unwinder_tell(struct unwinder *u, struct proc *p, uint64_t known_ns)
{
	struct space *s = proc_last_space(p);
	struct unwind_proc value = {
		.known_ns = known_ns,
		.known_boottime = known_ns + clock_ns(CLOCK_BOOTTIME) - monotonic_ns(),
	};
	uint64_t *word;
	uint32_t place;

	if (!u->mappings)
		p->is_told = true; /* there is nobody to tell */
	if (!u->mappings || !s)
		return;
	if (s->live_changed || s->npending || s->nmissed)
		make_run(u, s);
	if (!s->run) {
		unwinder_forget(u, p->tgid);
		return;
	}
	value.first = s->run->first;
	value.n = s->run->n;
	word = proc_word(u, p->tgid);
	if (!word || !room_take(&u->mapping_room, 1, monotonic_ns(), &place)) {
		u->full++;
		return;
	}
	memcpy(&u->mappings[place], &value, sizeof(value));
	set_word(u, word, (uint64_t)p->tgid << 32 | place);
	p->is_told = true;
	p->told_first = value.first;
}

void unwinder_forget(struct unwinder *u, uint32_t tgid)
{
	uint64_t *word = u->mappings ? proc_word(u, tgid) : NULL;

	if (word && *word >> 32 == tgid)
		set_word(u, word, UNWIND_PROC_GONE);
}
