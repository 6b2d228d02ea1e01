/* SPDX-License-Identifier: Apache-2.0 */
/*
 * symmutate FILE COUNT SEED: COUNT times changes 1 to 50 bytes in the debug and symbol sections
 * of a copy of the program FILE (every 8th copy is also cut short, every 16th has its headers
 * changed as well), and symbolizes 40 addresses of each by one to three threads. It must live, and
 * take at most ten seconds a copy and a gigabyte in all. Ends with a line of figures.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "lib/base/xalloc.h"
#include "lib/sym/elf.h"
#include "lib/sym/object.h"

#define ADDRESSES 40
#define SECONDS_MAX 10
#define MEMORY_MAX (256u << 20) /* bytes of files and tables */
#define RSS_MAX_KIB (1l << 20)

static uint64_t state;

static uint64_t next_random(void) /* splitmix64 */
{
	uint64_t z = state += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

static uint8_t *slurp(const char *path, size_t *n)
{
	FILE *f = fopen(path, "rb");
	uint8_t *p;

	if (!f || fseek(f, 0, SEEK_END)) {
		perror(path);
		exit(2);
	}
	*n = ftell(f);
	rewind(f);
	p = xmalloc(*n + 1);
	if (fread(p, 1, *n, f) != *n)
		exit(2);
	fclose(f);
	return p;
}

/* A byte of a debug or symbol section. */
static size_t target(const struct elf_file *f)
{
	const struct elf_section *s;

	for (;;) {
		s = &f->sections[next_random() % f->nsections];
		if (s->size && !s->failed && s->offset + s->size <= f->size &&
		    (strstr(s->name, "debug") || strstr(s->name, "sym") ||
		     strstr(s->name, "str")))
			return s->offset + next_random() % s->size;
	}
}

static int mutant(const struct elf_file *f, const uint8_t *data, size_t n, unsigned i)
{
	int fd = memfd_create("mutant", MFD_CLOEXEC);
	unsigned changes = 1 + next_random() % 50, k;
	uint8_t byte;

	if (write(fd, data, n) != (ssize_t)n)
		exit(2);
	for (k = 0; k < changes; k++) {
		byte = next_random();
		if (pwrite(fd, &byte, 1, target(f)) != 1)
			exit(2);
	}
	if (i % 16 == 1) {
		byte = next_random();
		if (pwrite(fd, &byte, 1, next_random() % 64) != 1)
			exit(2);
	}
	if (i % 8 == 3 && ftruncate(fd, next_random() % n))
		exit(2);
	return fd;
}

static unsigned symbolize(int fd, const uint64_t *addrs, unsigned threads)
{
	static const struct sym_paths paths = {.max_memory = MEMORY_MAX};
	struct sym_answer answers[ADDRESSES];
	unsigned i, named = 0;
	struct object *o;
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	o = object_new(&paths, path, "");
	object_set_threads(o, threads);
	object_resolve(o, addrs, ADDRESSES, answers);
	for (i = 0; i < ADDRESSES; i++)
		named += answers[i].location != SYM_NONE;
	object_free(o);
	return named;
}

int main(int argc, char **argv)
{
	uint64_t addrs[ADDRESSES];
	struct elf_file *f;
	unsigned count, i, named = 0;
	struct rusage use;
	struct err e;
	uint8_t *data;
	size_t n;
	int fd;

	if (argc != 4)
		return 2;
	data = slurp(argv[1], &n);
	count = strtoul(argv[2], NULL, 10);
	state = strtoull(argv[3], NULL, 10);
	if (elf_open(NULL, argv[1], &f, &e) || !f->nexec)
		return 2;
	for (i = 0; i < count; i++) {
		for (unsigned k = 0; k < ADDRESSES; k++) {
			const struct elf_range *r = &f->exec[next_random() % f->nexec];

			addrs[k] = r->low + next_random() % (r->high - r->low);
		}
		fd = mutant(f, data, n, i);
		alarm(SECONDS_MAX);
		named += symbolize(fd, addrs, 1 + i % 3);
		close(fd);
	}
	if (getrusage(RUSAGE_SELF, &use) || use.ru_maxrss > RSS_MAX_KIB) {
		fprintf(stderr, "symmutate: %ld KiB of memory\n", use.ru_maxrss);
		return 1;
	}
	printf("%u mutants, %u of %u addresses named\n", count, named, count * ADDRESSES);
	elf_free(f);
	free(data);
	return 0;
}
