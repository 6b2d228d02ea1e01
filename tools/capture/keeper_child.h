/* SPDX-License-Identifier: Apache-2.0 */
/* The process that copies files for keeper.c. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define KEEPER_TEXT 200

struct keeper_reply {
	uint64_t id;	/* as asked; the descriptor of the file came with it */
	int32_t status; /* 0: copied; 1: was there; -EDQUOT: above the limit; other -errno */
	uint64_t bytes;
	char text[KEEPER_TEXT]; /* why not */
};

/* `may_override`: the directory is somebody else's, root needs CAP_DAC_OVERRIDE there. */
_Noreturn void keeper_child(int socket, const char *dir, uint64_t max_bytes,
			    bool may_override);
