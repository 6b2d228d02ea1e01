/* SPDX-License-Identifier: Apache-2.0 */
/* Decoding ahead. */
#include "lib/pprof/ahead.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/xalloc.h"
#include "lib/pprof/feed.h"

/* Messages of one file that are ready or being taken. */
#define DEPTH 3

struct item {
	struct message msg;
	uint8_t *bytes; /* that msg points into */
	size_t cap;
	char *name;
	int status; /* 1, or the error in e */
	struct err e;
};

struct slot { /* one file */
	struct item items[DEPTH];
	size_t first, n; /* of the ring that are ready */
	char *path;
	bool done; /* no more will come */
};

struct ahead {
	pthread_mutex_t lock;
	pthread_cond_t ready, room;
	struct paths *paths;
	uint64_t max_size;
	struct slot *slots;
	size_t nslots;
	size_t taken, given; /* files: begun by threads, finished by the user */
	bool ended, stop;    /* no more paths; the user has gone */
	size_t users;	     /* threads and the one who takes: the last one frees */
	struct item *current;
};

static void ahead_release(struct ahead *a)
{
	struct item *it;
	size_t i, k;

	for (i = 0; i < a->nslots; i++) {
		for (k = 0; k < DEPTH; k++) {
			it = &a->slots[i].items[k];
			message_release(&it->msg);
			free(it->bytes);
			free(it->name);
		}
		free(a->slots[i].path);
	}
	free(a->slots);
	paths_free(a->paths);
	pthread_cond_destroy(&a->ready);
	pthread_cond_destroy(&a->room);
	pthread_mutex_destroy(&a->lock);
	free(a);
}

/* One user less; a->lock is held, and given up. */
static void leave(struct ahead *a)
{
	bool last = --a->users == 0;

	pthread_mutex_unlock(&a->lock);
	if (last)
		ahead_release(a);
}

static void set_name(struct item *it, const char *name)
{
	free(it->name);
	it->name = xstrdup(name);
}

/* The next place of a slot's ring, once there is room: NULL when nobody wants more. */
static struct item *next_item(struct ahead *a, struct slot *s)
{
	struct item *it = NULL;

	pthread_mutex_lock(&a->lock);
	while (s->n == DEPTH && !a->stop)
		pthread_cond_wait(&a->room, &a->lock);
	if (!a->stop)
		it = &s->items[(s->first + s->n) % DEPTH];
	pthread_mutex_unlock(&a->lock);
	return it;
}

static void put_item(struct ahead *a, struct slot *s)
{
	pthread_mutex_lock(&a->lock);
	s->n++;
	pthread_cond_signal(&a->ready);
	pthread_mutex_unlock(&a->lock);
}

/* The next message of the file into `it`: its bytes are copied, the feed reuses them. */
static int fill(struct feed *f, struct item *it)
{
	const uint8_t *msg;
	size_t n;
	int r = feed_next(f, &msg, &n, &it->e);

	if (r <= 0)
		return r;
	set_name(it, feed_name(f));
	XRESERVE(it->bytes, it->cap, n);
	memcpy(it->bytes, msg, n);
	r = message_decode(&it->msg, it->bytes, n, &it->e);
	return r < 0 ? err_prefix(&it->e, "%s", it->name) : 1;
}

static void work_on(struct ahead *a, struct slot *s)
{
	struct item *it = next_item(a, s);
	struct feed *f;

	if (!it)
		return;
	it->status = feed_open(s->path, a->max_size, &f, &it->e);
	if (it->status < 0) {
		set_name(it, s->path);
		put_item(a, s);
		return;
	}
	while (it && (it->status = fill(f, it)) != 0) {
		put_item(a, s);
		it = next_item(a, s);
	}
	feed_free(f);
}

/* A file for this thread, in a slot; a->lock is held. NULL when there is no more. */
static struct slot *begin(struct ahead *a)
{
	struct slot *s;
	struct item *it;
	int r;

	for (;;) {
		while (a->taken - a->given == a->nslots && !a->stop && !a->ended)
			pthread_cond_wait(&a->room, &a->lock);
		if (a->stop || a->ended)
			return NULL;
		s = &a->slots[a->taken % a->nslots];
		it = &s->items[0];
		s->first = s->n = 0;
		r = paths_next(a->paths, &s->path, &it->e);
		a->ended = r == 0;
		if (r > 0) {
			s->done = false;
			a->taken++;
			return s;
		}
		if (r < 0) {
			/* an operand that is no file: its error alone */
			it->status = r;
			set_name(it, "");
			s->n = 1;
			s->done = true;
			a->taken++;
		}
		pthread_cond_broadcast(&a->ready);
		pthread_cond_broadcast(&a->room);
	}
}

static void *work(void *arg)
{
	struct ahead *a = arg;
	struct slot *s;

	pthread_mutex_lock(&a->lock);
	while ((s = begin(a))) {
		pthread_mutex_unlock(&a->lock);
		work_on(a, s);
		pthread_mutex_lock(&a->lock);
		s->done = true;
		pthread_cond_signal(&a->ready);
	}
	leave(a);
	return NULL;
}

struct ahead *ahead_new(struct paths *paths, uint64_t max_size, uint64_t budget_bytes,
			size_t threads)
{
	struct ahead *a = xcalloc(1, sizeof(*a));
	pthread_attr_t detached;
	pthread_t thread;
	size_t i, k;

	pthread_mutex_init(&a->lock, NULL);
	pthread_cond_init(&a->ready, NULL);
	pthread_cond_init(&a->room, NULL);
	a->paths = paths;
	a->max_size = max_size;
	a->nslots = threads + 2;
	a->slots = xcalloc(a->nslots, sizeof(*a->slots));
	for (i = 0; i < a->nslots; i++) {
		for (k = 0; k < DEPTH; k++)
			message_init(&a->slots[i].items[k].msg, budget_bytes);
	}
	pthread_attr_init(&detached);
	pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
	pthread_mutex_lock(&a->lock);
	a->users = 1;
	for (i = 0; i < threads && !pthread_create(&thread, &detached, work, a); i++)
		a->users++;
	pthread_mutex_unlock(&a->lock);
	pthread_attr_destroy(&detached);
	/* users is no answer: those that have begun may have finished already */
	if (i > 0)
		return a;
	a->paths = NULL;
	ahead_release(a);
	return NULL;
}

void ahead_free(struct ahead *a)
{
	if (!a)
		return;
	pthread_mutex_lock(&a->lock);
	a->stop = true;
	pthread_cond_broadcast(&a->room);
	leave(a);
}

/* The message that was taken last makes room. */
static void give_back(struct ahead *a)
{
	struct slot *s = &a->slots[a->given % a->nslots];

	if (!a->current)
		return;
	a->current = NULL;
	s->first = (s->first + 1) % DEPTH;
	s->n--;
	pthread_cond_broadcast(&a->room);
}

int ahead_next(struct ahead *a, struct message **m, struct err *e)
{
	struct slot *s;
	int r = 0;

	pthread_mutex_lock(&a->lock);
	give_back(a);
	for (;;) {
		s = &a->slots[a->given % a->nslots];
		if (a->given < a->taken && s->n) {
			a->current = &s->items[s->first];
			break;
		}
		if (a->given < a->taken && s->done) {
			free(s->path);
			s->path = NULL;
			a->given++;
			pthread_cond_broadcast(&a->room);
		} else if (a->given == a->taken && a->ended) {
			break;
		} else {
			pthread_cond_wait(&a->ready, &a->lock);
		}
	}
	pthread_mutex_unlock(&a->lock);
	if (!a->current)
		return 0;
	r = a->current->status;
	if (r < 0)
		*e = a->current->e;
	else
		*m = &a->current->msg;
	return r;
}

const char *ahead_name(const struct ahead *a)
{
	return a->current ? a->current->name : "";
}

const char *ahead_path(const struct ahead *a)
{
	const struct slot *s = &a->slots[a->given % a->nslots];

	if (!a->current || !s->path)
		return "";
	return strcmp(s->path, "-") ? s->path : "standard input";
}
