/* SPDX-License-Identifier: Apache-2.0 */
/* Labels of one process on their way into a store: put in, looked at by rules, taken out. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "bpf/event.h"
#include "lib/pprof/model.h"

#define LABEL_LIST_MAX 512

struct label_list {
	struct store *st;
	uint32_t n;
	struct label v[LABEL_LIST_MAX];
	bool hidden[LABEL_LIST_MAX]; /* for rules to see, not part of a sample */
};

/* Empty values, and the number 0, are left out; so is what comes when the list is full. */
void label_list_put(struct label_list *l, const char *key, const char *value);
void label_list_put_num(struct label_list *l, const char *key, int64_t num);
/* A name the kernel gave, in its fixed field. */
void label_list_put_comm(struct label_list *l, const char *key,
			 const char comm[EVENT_COMM_LEN]);
/* In place of any other value. */
void label_list_set(struct label_list *l, const char *key, const char *value);
void label_list_remove(struct label_list *l, const char *key);
/* Hide what was put since there were `from`. */
void label_list_hide(struct label_list *l, uint32_t from);
/* Drop what is hidden. */
void label_list_show(struct label_list *l);
