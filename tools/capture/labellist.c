/* SPDX-License-Identifier: Apache-2.0 */
/* Labels of one process on their way into a store. */
#include "tools/capture/labellist.h"

#include <string.h>

static void put(struct label_list *l, struct label label)
{
	if (l->n == LABEL_LIST_MAX)
		return;
	l->v[l->n] = label;
	l->hidden[l->n++] = false;
}

void label_list_put(struct label_list *l, const char *key, const char *value)
{
	if (value && *value)
		put(l, (struct label){
			       .key = store_puts(l->st, key),
			       .str = store_puts(l->st, value),
		       });
}

void label_list_put_num(struct label_list *l, const char *key, int64_t num)
{
	if (num)
		put(l, (struct label){
			       .key = store_puts(l->st, key),
			       .numeric = true,
			       .num = num,
		       });
}

void label_list_put_comm(struct label_list *l, const char *key,
			 const char comm[EVENT_COMM_LEN])
{
	char name[EVENT_COMM_LEN + 1];

	memcpy(name, comm, EVENT_COMM_LEN);
	name[EVENT_COMM_LEN] = 0;
	label_list_put(l, key, name);
}

void label_list_remove(struct label_list *l, const char *key)
{
	uint32_t id = store_puts(l->st, key), i, kept = 0;

	for (i = 0; i < l->n; i++) {
		if (l->v[i].key == id)
			continue;
		l->v[kept] = l->v[i];
		l->hidden[kept++] = l->hidden[i];
	}
	l->n = kept;
}

void label_list_set(struct label_list *l, const char *key, const char *value)
{
	label_list_remove(l, key);
	label_list_put(l, key, value);
}

void label_list_hide(struct label_list *l, uint32_t from)
{
	for (; from < l->n; from++)
		l->hidden[from] = true;
}

void label_list_show(struct label_list *l)
{
	uint32_t i, kept = 0;

	for (i = 0; i < l->n; i++) {
		if (!l->hidden[i])
			l->v[kept++] = l->v[i];
	}
	l->n = kept;
	memset(l->hidden, 0, sizeof(l->hidden));
}
