/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which processes are profiled. A process is, if it is one of the targets (all are, if none is
 * named), the rules keep it, it fits every --select and no --exclude. Decided by its labels when
 * it is first seen and whenever its name, program or control group changes; the kernel is told,
 * and leaves the others alone from then on.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "lib/base/buf.h"
#include "lib/base/err.h"
#include "lib/query/selector.h"
#include "tools/capture/labellist.h"
#include "tools/capture/labels.h"

struct sampler;

struct text_list {
	const char **v;
	size_t n, cap;
};

struct choice_conf {
	bool by_pid; /* processes that are named by number, and their children, are targets */
	struct text_list comms;		    /* targets: patterns of fnmatch(3) */
	struct text_list cgroups;	    /* targets: paths, with what is below */
	struct text_list containers;	    /* targets: names, or beginnings of ids */
	struct text_list selects, excludes; /* selectors */
	const char *rules_file;		    /* NULL: none */
};

#define CONTAINER_ID_MIN 12 /* digits of an id that name a container */

struct chooser;

/* Is anything decided by labels? If not, no chooser is needed. */
bool choice_by_labels(const struct choice_conf *conf);

/* Nobody but who was named by number: the kernel alone can tell. */
bool choice_by_pid_alone(const struct choice_conf *conf);

int chooser_new(const struct choice_conf *conf, struct chooser **out, struct err *e);
void chooser_free(struct chooser *c);

/* Whom to tell, and to ask which processes were named by number. */
void chooser_connect(struct chooser *c, struct sampler *s);

/*
 * Is this process profiled? Its labels are changed as the rules say. `why` (may be NULL) gets a
 * few words on it.
 */
bool chooser_takes(struct chooser *c, struct label_list *l,
		   const struct label_subject *who, struct buf *why);

/* Labels are in another store from now on. */
void chooser_reset(struct chooser *c);

/* Read the rules anew and forget what was decided; if that fails all stays as it is. */
int chooser_reload(struct chooser *c, struct err *e);

/* Children are decided on as their parents were, until something changes. */
bool chooser_inherits(const struct chooser *c);
