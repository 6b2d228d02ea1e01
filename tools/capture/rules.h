/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules on which processes are profiled and how they are labelled. One a line, in turn:
 *
 *	keep SELECTOR			the first keep or drop that fits decides
 *	drop SELECTOR
 *	set KEY=VALUE SELECTOR		rules below see the new labels
 *	unset KEY SELECTOR
 *
 * A line that begins with # says nothing. Selectors are those of lib/query/selector.h, braces
 * included; they see the labels of a process, also those that samples do not get. What no rule
 * decides is kept.
 */
#pragma once

#include <stdbool.h>

#include "lib/base/err.h"
#include "lib/query/selector.h"
#include "tools/capture/labellist.h"

struct rules;

/* Errors name the file and the line. `again`: only a regular file is read, which cannot block. */
int rules_read(const char *file, bool again, struct rules **out, struct err *e);
/* The same from text; `name` is for messages. */
int rules_parse(char *text, const char *name, struct rules **out, struct err *e);
void rules_free(struct rules *r);

/*
 * Is a process with these labels kept? The labels are changed as the rules say. *line: which rule
 * decided, from 1; 0: none did.
 */
bool rules_apply(struct rules *r, struct label_list *l, unsigned int *line);

/* Labels are in another store from now on. */
void rules_reset(struct rules *r);

/* The text of line `line`, without blanks around it. */
const char *rules_line(const struct rules *r, unsigned int line);

/* Some rule looks at a label that is one process's own: pid or ppid. */
bool rules_by_pid(const struct rules *r);

/* 0, or -EINVAL if the selector is on a label that threads of one process differ in. */
int rules_check_selector(const struct selector *s, struct err *e);
