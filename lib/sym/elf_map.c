/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/sym/elf_map.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/auxv.h>
#include <sys/mman.h>

/* Pages beyond the end of a file that was cut short become pages of zeros. */
static void on_bus(int sig, siginfo_t *info, void *context)
{
	size_t page = getauxval(AT_PAGESZ);
	void *at = (void *)((uintptr_t)info->si_addr & ~(page - 1));
	int kept = errno;

	(void)context;
	/* the access is repeated in either case */
	if (info->si_code != BUS_ADRERR ||
	    mmap(at, page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) !=
		    at)
		signal(sig, SIG_DFL);
	errno = kept;
}

void elf_map_guard(void)
{
	struct sigaction sa = {.sa_sigaction = on_bus, .sa_flags = SA_SIGINFO};

	sigaction(SIGBUS, &sa, NULL);
}

static bool is_guarded(void)
{
	struct sigaction sa;

	return !sigaction(SIGBUS, NULL, &sa) && (sa.sa_flags & SA_SIGINFO) &&
	       sa.sa_sigaction == on_bus;
}

const uint8_t *elf_map_file(struct elf_map *m, int fd, uint64_t off, size_t n)
{
	size_t before = off & (getauxval(AT_PAGESZ) - 1);
	void *p = MAP_FAILED;

	if (is_guarded())
		p = mmap(NULL, n + before, PROT_READ, MAP_PRIVATE, fd,
			 (off_t)(off - before));
	if (p == MAP_FAILED)
		return NULL;
	*m = (struct elf_map){p, n + before};
	return (const uint8_t *)p + before;
}

uint8_t *elf_map_memory(struct elf_map *m, size_t n)
{
	void *p =
		mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		return NULL;
	madvise(p, n,
		MADV_HUGEPAGE); /* a fault for each 4 KiB takes longer than inflating */
	*m = (struct elf_map){p, n};
	return p;
}

void elf_unmap(struct elf_map *m)
{
	if (m->p)
		munmap(m->p, m->n);
	*m = (struct elf_map){0};
}
