/* SPDX-License-Identifier: Apache-2.0 */
/* File after file, message after message. */
#include "lib/pprof/source.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "lib/base/xalloc.h"
#include "lib/pprof/ahead.h"
#include "lib/pprof/feed.h"

struct source {
	struct paths *paths;
	uint64_t max_size;
	struct feed *feed;   /* the open file, or NULL */
	struct ahead *ahead; /* threads that do it instead, or NULL */
	struct message *message;
	size_t count;
	bool ended;
};

struct source *source_new_paths(struct paths *paths, uint64_t max_size)
{
	struct source *s = xcalloc(1, sizeof(*s));

	s->paths = paths;
	s->max_size = max_size ? max_size : SOURCE_MAX_SIZE_DEFAULT;
	return s;
}

struct source *source_new(char *const *files, size_t n, uint64_t max_size)
{
	static char standard_input[] = "-";
	char *const none[] = {standard_input};

	return source_new_paths(n ? paths_new(files, n) : paths_new(none, 1), max_size);
}

void source_set_jobs(struct source *s, size_t n)
{
	s->ahead = ahead_new(s->paths, s->max_size, message_budget(s->max_size), n);
	if (s->ahead)
		s->paths = NULL;
}

void source_free(struct source *s)
{
	if (!s)
		return;
	ahead_free(s->ahead);
	feed_free(s->feed);
	paths_free(s->paths);
	free(s);
}

/* Open the next file: 1, 0 when there is none, negative on error. */
static int open_next(struct source *s, struct err *e)
{
	char *path;
	int r = paths_next(s->paths, &path, e);

	if (r <= 0)
		return r;
	r = feed_open(path, s->max_size, &s->feed, e);
	free(path);
	return r < 0 ? r : 1;
}

static int next_here(struct source *s, const uint8_t **msg, size_t *n, struct err *e)
{
	int r;

	for (;;) {
		if (!s->feed) {
			r = open_next(s, e);
			if (r <= 0)
				return r;
		}
		r = feed_next(s->feed, msg, n, e);
		if (r)
			return r;
		feed_free(s->feed);
		s->feed = NULL;
	}
}

static int next_ahead(struct source *s, const uint8_t **msg, size_t *n, struct err *e)
{
	*msg = NULL;
	*n = 0;
	s->message = NULL;
	return ahead_next(s->ahead, &s->message, e);
}

int source_next(struct source *s, const uint8_t **msg, size_t *n, struct err *e)
{
	int r = s->ahead ? next_ahead(s, msg, n, e) : next_here(s, msg, n, e);

	s->count += r > 0;
	if (r || s->count || s->ended)
		return r;
	s->ended = true;
	return err_set(e, ENODATA, "no profile in input");
}

bool source_is_last(const struct source *s)
{
	return !s->ahead && s->feed && feed_is_last(s->feed) && paths_is_last(s->paths);
}

struct message *source_message(const struct source *s)
{
	return s->message;
}

const char *source_name(const struct source *s)
{
	if (s->ahead)
		return ahead_name(s->ahead);
	return s->feed ? feed_name(s->feed) : "";
}

const char *source_path(const struct source *s)
{
	if (s->ahead)
		return ahead_path(s->ahead);
	return s->feed ? feed_path(s->feed) : "";
}

size_t source_count(const struct source *s)
{
	return s->count;
}
