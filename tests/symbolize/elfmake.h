/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Builds small ELF files in memory for tests: 64-bit, our byte order, one read-execute PT_LOAD
 * unless segments are given, sections at made-up addresses.
 */
#pragma once

#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/base/buf.h"
#include "lib/sym/elf.h"

#define TEXT_ADDR 0x1000
#define TEXT_SIZE 0x1000

struct elfmake {
	struct buf body, names;
	Elf64_Shdr sh[32];
	Elf64_Phdr ph[8];
	unsigned nsh, nph;
	uint16_t machine; /* 0: EM_X86_64 */
	uint64_t entry;
};

static inline unsigned elfmake_section(struct elfmake *m, const char *name, uint32_t type,
				       uint64_t flags, uint64_t addr, const void *p,
				       size_t n)
{
	Elf64_Shdr *s = &m->sh[m->nsh];

	*s = (Elf64_Shdr){
		.sh_name = m->names.len,
		.sh_type = type,
		.sh_flags = flags,
		.sh_addr = addr,
		.sh_offset = 0x400 + m->body.len,
		.sh_size = n,
		.sh_addralign = 1,
	};
	buf_put(&m->names, name, strlen(name) + 1);
	if (p)
		buf_put(&m->body, p, n);
	return m->nsh++;
}

static inline void elfmake_segment(struct elfmake *m, uint64_t off, uint64_t vaddr,
				   uint64_t filesz, uint64_t memsz, uint32_t flags,
				   uint64_t align)
{
	m->ph[m->nph++] = (Elf64_Phdr){
		.p_type = PT_LOAD,
		.p_flags = flags,
		.p_offset = off,
		.p_vaddr = vaddr,
		.p_filesz = filesz,
		.p_memsz = memsz,
		.p_align = align,
	};
}

/* With .text at TEXT_ADDR as section 1. */
static inline struct elfmake elfmake_new(void)
{
	struct elfmake m = {.body = BUF_INIT(1 << 24), .names = BUF_INIT(1 << 16)};

	elfmake_section(&m, "", SHT_NULL, 0, 0, NULL, 0);
	elfmake_section(&m, ".text", SHT_NOBITS, SHF_ALLOC | SHF_EXECINSTR, TEXT_ADDR,
			NULL, TEXT_SIZE);
	return m;
}

static inline int elfmake_fd(struct elfmake *m, uint16_t type)
{
	int fd = memfd_create("elf", MFD_CLOEXEC);
	unsigned names = elfmake_section(m, ".shstrtab", SHT_STRTAB, 0, 0, NULL, 0);
	Elf64_Ehdr eh = {
		.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
		.e_type = type,
		.e_machine = m->machine ? m->machine : EM_X86_64,
		.e_version = EV_CURRENT,
		.e_entry = m->entry,
		.e_phoff = sizeof(Elf64_Ehdr),
		.e_ehsize = sizeof(Elf64_Ehdr),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = m->nsh,
		.e_shstrndx = names,
		.e_phnum = m->nph,
	};
	size_t at = 0x400;

	m->sh[names].sh_size = m->names.len;
	buf_put(&m->body, m->names.data, m->names.len);
	while (m->body.len % 8)
		buf_putc(&m->body, 0);
	eh.e_shoff = at + m->body.len;
	if (pwrite(fd, &eh, sizeof(eh), 0) < 0 ||
	    pwrite(fd, m->ph, sizeof(*m->ph) * m->nph, eh.e_phoff) < 0 ||
	    pwrite(fd, m->body.data, m->body.len, at) < 0 ||
	    pwrite(fd, m->sh, sizeof(*m->sh) * m->nsh, eh.e_shoff) < 0)
		abort();
	buf_release(&m->body);
	buf_release(&m->names);
	return fd;
}

static inline struct elf_file *elfmake_open(struct elfmake *m, uint16_t type)
{
	struct elf_file *f = NULL;
	struct err e;

	if (elf_open_fd(elfmake_fd(m, type), &f, &e))
		return NULL;
	return f;
}
