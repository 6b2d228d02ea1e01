/* SPDX-License-Identifier: Apache-2.0 */
/* Writes finished profiles, beside the capture. */
#include "tools/capture/writer.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "lib/base/xalloc.h"
#include "tools/capture/outname.h"

struct job {
	struct buf profile;
	const char *type;
	int64_t time_ns;
	uint64_t told;
};

struct writer {
	struct writer_conf conf;
	pthread_t thread;
	bool has_thread;
	int event_fd;
	/* All below is changed and read under the lock. The first job is at work. */
	pthread_mutex_t lock;
	pthread_cond_t more;
	struct job jobs[WRITER_PENDING_MAX +
			WRITER_LAST_MAX]; /* those of the last interval go beyond */
	size_t njobs;
	bool stop;
	bool failing, is_news; /* and nobody was told */
	bool is_over;	       /* nothing can be written any more */
	struct err why;	       /* of either */
	uint64_t untold;       /* lost, and in no profile's comments */
	struct writer_counts counts;
};

/* The whole profile, or nothing of it is in the stream: else no later one can be read. */
static int write_to_stream(struct writer *w, const struct buf *b, bool *is_over,
			   struct err *e)
{
	int r = output_write(w->conf.stream, b->data, b->len, e);

	if (!r)
		r = output_flush(w->conf.stream, e);
	if (r < 0)
		*is_over = r == -EPIPE || !output_undo(w->conf.stream);
	return r;
}

static int write_to_file(const struct writer *w, const struct job *j, struct err *e)
{
	char *name = outname(w->conf.pattern, j->type, j->time_ns);
	struct output *o;
	int r;

	if (!name)
		return err_set(e, EINVAL, "-o %s: not a usable name", w->conf.pattern);
	r = output_open(name, true, &o, e);
	free(name);
	if (r < 0)
		return r;
	r = output_write(o, j->profile.data, j->profile.len, e);
	if (r < 0) {
		output_abort(o);
		return r;
	}
	return output_commit(o, e);
}

/* Under the lock. */
static void lose(struct writer *w, uint64_t told)
{
	w->counts.lost++;
	w->untold += told + 1;
}

/* Under the lock. */
static void note_result(struct writer *w, const struct job *j, int r, bool is_over,
			const struct err *e)
{
	const uint64_t one = 1;

	if (r >= 0) {
		w->counts.written++;
		w->failing = false;
	} else {
		lose(w, j->told);
		w->is_over = is_over;
		if (!w->failing || is_over) {
			w->is_news = true;
			w->why = *e;
		}
		w->failing = true;
	}
	/* it counts to 2^64: no reason to fail */
	if (write(w->event_fd, &one, sizeof(one)) < 0)
		w->is_news = true;
}

/* Under the lock, let go for the time of writing. */
static void do_first(struct writer *w)
{
	struct job j = w->jobs[0];
	bool is_over = !w->conf.goes_on;
	struct err e = {0};
	size_t i;
	int r;

	pthread_mutex_unlock(&w->lock);
	if (w->conf.stream) {
		bool broken = false;

		r = write_to_stream(w, &j.profile, &broken, &e);
		is_over |= broken;
	} else {
		r = write_to_file(w, &j, &e);
	}
	pthread_mutex_lock(&w->lock);
	buf_release(&j.profile);
	w->njobs--;
	for (i = 0; i < w->njobs; i++)
		w->jobs[i] = w->jobs[i + 1];
	note_result(w, &j, r, is_over, &e);
}

static void *work(void *arg)
{
	struct writer *w = arg;

	pthread_mutex_lock(&w->lock);
	while (!w->is_over) {
		if (w->njobs)
			do_first(w);
		else if (w->stop)
			break;
		else
			pthread_cond_wait(&w->more, &w->lock);
	}
	pthread_mutex_unlock(&w->lock);
	return NULL;
}

int writer_start(const struct writer_conf *conf, struct writer **out, struct err *e)
{
	struct writer *w = xcalloc(1, sizeof(*w));
	int r;

	w->conf = *conf;
	pthread_mutex_init(&w->lock, NULL);
	pthread_cond_init(&w->more, NULL);
	*out = w;
	w->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (w->event_fd < 0)
		return err_errno(e, errno, "eventfd");
	r = pthread_create(&w->thread, NULL, work, w);
	if (r)
		return err_errno(e, r, "cannot start a thread");
	w->has_thread = true;
	return 0;
}

static void join(struct writer *w)
{
	if (!w->has_thread)
		return;
	pthread_mutex_lock(&w->lock);
	w->stop = true;
	pthread_cond_signal(&w->more);
	pthread_mutex_unlock(&w->lock);
	pthread_join(w->thread, NULL);
	w->has_thread = false;
}

void writer_free(struct writer *w)
{
	size_t i;

	if (!w)
		return;
	join(w);
	for (i = 0; i < w->njobs; i++)
		buf_release(&w->jobs[i].profile);
	output_abort(w->conf.stream);
	if (w->event_fd >= 0)
		close(w->event_fd);
	pthread_cond_destroy(&w->more);
	pthread_mutex_destroy(&w->lock);
	free(w);
}

int writer_fd(const struct writer *w)
{
	return w->event_fd;
}

bool writer_put(struct writer *w, struct buf *b, const char *type, int64_t time_ns,
		uint64_t told, bool last)
{
	bool fits;

	pthread_mutex_lock(&w->lock);
	fits = !w->is_over &&
	       w->njobs < (last ? w->conf.room + WRITER_LAST_MAX : w->conf.room);
	if (fits) {
		w->jobs[w->njobs++] = (struct job){*b, type, time_ns, told};
		pthread_cond_signal(&w->more);
	} else {
		lose(w, told);
		buf_release(b);
	}
	pthread_mutex_unlock(&w->lock);
	*b = (struct buf){.max = b->max};
	return fits;
}

uint64_t writer_take_lost(struct writer *w)
{
	uint64_t n;

	pthread_mutex_lock(&w->lock);
	n = w->untold;
	w->untold = 0;
	pthread_mutex_unlock(&w->lock);
	return n;
}

int writer_check(struct writer *w, struct err *e)
{
	uint64_t n;
	int r = 0;

	/* it may be empty */
	if (read(w->event_fd, &n, sizeof(n)) < 0)
		n = 0;
	pthread_mutex_lock(&w->lock);
	if (w->is_news || w->is_over)
		*e = w->why;
	if (w->is_over)
		r = -w->why.code;
	else if (w->is_news)
		r = 1;
	w->is_news = false;
	pthread_mutex_unlock(&w->lock);
	return r;
}

bool writer_is_done(struct writer *w)
{
	bool done;

	pthread_mutex_lock(&w->lock);
	done = !w->njobs || w->is_over;
	pthread_mutex_unlock(&w->lock);
	return done;
}

void writer_counts(struct writer *w, struct writer_counts *out)
{
	pthread_mutex_lock(&w->lock);
	*out = w->counts;
	pthread_mutex_unlock(&w->lock);
}

int writer_why(struct writer *w, struct err *e)
{
	pthread_mutex_lock(&w->lock);
	*e = w->why;
	pthread_mutex_unlock(&w->lock);
	return -e->code;
}

int writer_finish(struct writer *w, struct err *e)
{
	struct output *stream = w->conf.stream;

	join(w);
	w->conf.stream = NULL;
	return output_commit(stream, e);
}
