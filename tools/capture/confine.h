/* SPDX-License-Identifier: Apache-2.0 */
/* What a child that reads the files of others gives up first. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Standard streams lead nowhere, fd becomes 3, nothing else is open. */
bool confine_files(int fd);

/* No capability but those of the bits in `keep` (the first 32), and no way to get one back. */
bool confine_capabilities(uint32_t keep);
