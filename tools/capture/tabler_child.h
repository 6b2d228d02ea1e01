/* SPDX-License-Identifier: Apache-2.0 */
/* The other end of tabler.h: what runs in the child. */
#pragma once

/* Start workers, one after another, until the socket's other end is closed. */
_Noreturn void tabler_guard(int socket);
