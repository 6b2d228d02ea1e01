/* SPDX-License-Identifier: Apache-2.0 */
/* The user's part of a sample's stack. */
#include "tools/capture/userstack.h"

#include <elf.h>
#include <stdio.h>
#include <string.h>

#include "lib/sym/unwindstack.h"
#include "tools/capture/tables.h"

#if defined(__x86_64__)
#define MACHINE EM_X86_64
#elif defined(__aarch64__)
#define MACHINE EM_AARCH64
#endif

const char *const unwind_stop_names[] = {
	[STOP_COMPLETE] = "complete",
	[STOP_DEPTH] = "depth",
	[STOP_NO_PROCESS] = "no_process",
	[STOP_NO_MAPPING] = "no_mapping",
	[STOP_NO_TABLE] = "no_table",
	[STOP_NO_ROW] = "no_row",
	[STOP_JIT] = "jit",
	[STOP_UNSUPPORTED] = "unsupported",
	[STOP_FAULT] = "fault",
	[STOP_FOREIGN] = "foreign",
	[STOP_COPY_END] = "copy_end",
};

bool user_stack_text(enum unwind_stop stop, const char *file, char *out, size_t size)
{
	static const char *const texts[] = {
		[STOP_DEPTH] = "[truncated]",
		[STOP_NO_PROCESS] = "[unwind stopped: new process]",
		[STOP_NO_MAPPING] = "[unwind stopped: no mapping]",
		[STOP_NO_TABLE] = "[unwind stopped: no table yet]",
		[STOP_NO_ROW] = "[unwind stopped: no unwind info]",
		[STOP_JIT] = "[unwind stopped: code made at run time]",
		[STOP_UNSUPPORTED] = "[unwind stopped: unsupported rule]",
		[STOP_FAULT] = "[unwind stopped: stack not readable]",
		[STOP_FOREIGN] = "[unwind stopped: 32-bit program]",
		[STOP_COPY_END] = "[unwind stopped: end of the copied stack]",
	};
	const char *base = file ? strrchr(file, '/') : NULL;

	if (stop == STOP_COMPLETE)
		return false;
	if (file &&
	    (stop == STOP_NO_TABLE || stop == STOP_NO_ROW || stop == STOP_UNSUPPORTED))
		snprintf(out, size, "%.*s: %s]", (int)strlen(texts[stop]) - 1,
			 texts[stop], base ? base + 1 : file);
	else
		snprintf(out, size, "%s", texts[stop]);
	return true;
}

struct place_ctx {
	struct space *space;
	uint64_t time_ns;
	bool pending; /* the code that was asked for has no table yet */
};

static bool find_place(void *ctx, uint64_t addr, struct unwind_place *out)
{
	struct place_ctx *c = ctx;
	const struct vma *v = space_find(c->space, addr, c->time_ns);
	const struct table *t = v && v->file ? v->file->table : NULL;
	uint32_t pc;

	out->table = NULL;
	if (!v)
		return false;
	if (v->file && (!t || t->kind == UNWIND_PENDING)) {
		c->pending = true;
		return false;
	}
	if (t && t->kind == UNWIND_TABLE &&
	    table_pc(t, v->offset, v->end - v->start, &pc)) {
		out->table = &t->view;
		out->pc = pc + (uint32_t)(addr - v->start);
	}
	return true;
}

static enum unwind_stop stop_of(enum unwound why, bool pending)
{
	switch (why) {
	case UNWOUND_COMPLETE:
		return STOP_COMPLETE;
	case UNWOUND_DEPTH:
		return STOP_DEPTH;
	case UNWOUND_FAULT:
		return STOP_COPY_END;
	case UNWOUND_NO_MAPPING:
		return pending ? STOP_NO_TABLE : STOP_NO_MAPPING;
	case UNWOUND_NO_ROW:
		return STOP_NO_ROW;
	case UNWOUND_UNSUPPORTED:
		break;
	}
	return STOP_UNSUPPORTED;
}

/* Go on from the last frame, which is where the unwinder had to stop. Returns its sp at the end. */
static uint64_t unwind_copy(struct user_stack *u, struct space *s,
			    const struct sample_event *ev)
{
	const struct sample_head *h = &ev->h;
	struct place_ctx ctx = {s, h->ktime, false};
	struct unwind_copy copy = {
		.data = (const uint8_t *)&ev->data[h->nkernel + h->nuser],
		.n = h->ncopy,
		.addr = h->next_sp & ~(uint64_t)(EVENT_COPY_PIECE - 1),
	};
	struct unwind_regs regs = {
		.pc = h->next_pc,
		.sp = h->next_sp,
		.fp = h->next_fp,
		.lr = h->next_lr,
		.exact = h->flags & EVENT_LEAF,
		.has_fp = h->flags & EVENT_HAS_FP,
		.has_lr = h->flags & EVENT_HAS_LR,
	};
	enum unwound why;
	size_t first;

	first = --u->n;
	u->n += unwind_stack(MACHINE, &regs, &copy, find_place, &ctx, u->ip + u->n,
			     EVENT_USER_MAX - u->n, &why);
	if (h->flags & EVENT_LEAF)
		u->ip[first] |= EVENT_EXACT;
	u->stop = stop_of(why, ctx.pending);
	u->copied = true;
	return regs.sp;
}

/*
 * A program's first code has no caller, and not all of it says so: what stands where its return
 * address would be is the number of its arguments.
 */
static bool is_first_code(uint64_t sp, const struct sample_head *h)
{
	return h->start_stack && sp == h->start_stack + sizeof(uint64_t);
}

uint64_t user_stack_addr(const struct user_stack *u, size_t i,
			 const struct sample_head *h)
{
	bool exact = h->flags & EVENT_BY_FP ? i == 0 : u->ip[i] & EVENT_EXACT;

	/* callers go back onto their call; so does the leaf onto its syscall */
	return (u->ip[i] & ~EVENT_EXACT) -
	       (!exact || (i == 0 && h->flags & EVENT_IN_SYSCALL));
}

void user_stack_read(struct user_stack *u, struct proc *p, const struct sample_event *ev)
{
	const struct sample_head *h = &ev->h;
	const struct image *im = proc_image(p, h->ktime);
	uint64_t sp = h->next_sp;

	u->n = h->nuser < EVENT_USER_MAX ? h->nuser : EVENT_USER_MAX;
	memcpy(u->ip, ev->data + h->nkernel, u->n * sizeof(*u->ip));
	u->stop = h->stop < STOP_CAUSES ? h->stop : STOP_UNSUPPORTED;
	u->copied = false;
	/* another program by then: what was believed to be callers are just numbers */
	if (im && h->known_ns && im->from_ns > h->known_ns && u->n > 1) {
		u->n = 1;
		u->stop = STOP_NO_PROCESS;
	} else if (im && u->n && h->ncopy) {
		sp = unwind_copy(u, im->space, ev);
	}
	if (u->stop == STOP_NO_MAPPING && u->n > 1 && is_first_code(sp, h)) {
		u->n--;
		u->stop = STOP_COMPLETE;
	}
	if (h->flags & EVENT_IN_EXEC && u->stop != STOP_COMPLETE)
		u->n = 0;
}
