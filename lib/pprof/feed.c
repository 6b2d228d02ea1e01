/* SPDX-License-Identifier: Apache-2.0 */
/* One open file. */
#include "lib/pprof/feed.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/xalloc.h"
#include "lib/io/gz.h"
#include "lib/pprof/collapsed.h"
#include "lib/pprof/perfscript.h"
#include "lib/pprof/sniff.h"
#include "lib/pprof/text.h"

struct feed {
	char *path;
	struct gz_reader *gz;
	struct text_reader text;
	bool in_text;
	bool cut; /* a file with a name, of which no byte was seen yet */
	size_t text_no;
	struct buf msg; /* of a text profile, or of collapsed stacks */
	char *name;
};

int feed_open(const char *path, uint64_t max_size, struct feed **out, struct err *e)
{
	bool standard = !strcmp(path, "-");
	int fd = standard ? dup(STDIN_FILENO)
			  : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	struct stat st;
	struct feed *f;

	if (standard)
		path = "standard input";
	if (fd < 0)
		return err_errno(e, errno, "%s", path);
	f = xcalloc(1, sizeof(*f));
	f->path = xstrdup(path);
	f->name = xstrdup(path);
	f->cut = !standard && !fstat(fd, &st) && S_ISREG(st.st_mode);
	f->gz = gz_reader_new(fd, max_size);
	buf_init(&f->msg, max_size);
	*out = f;
	return 0;
}

void feed_free(struct feed *f)
{
	if (!f)
		return;
	gz_reader_free(f->gz);
	buf_release(&f->msg);
	free(f->path);
	free(f->name);
	free(f);
}

static void set_name(struct feed *f, const char *part, size_t no)
{
	free(f->name);
	f->name = no > 1 ? xasprintf("%s: %s %zu", f->path, part, no) : xstrdup(f->path);
}

static int next_in_text(struct feed *f, const uint8_t **msg, size_t *n, struct err *e)
{
	int r = text_next(&f->text, &f->msg, e);

	if (r == 0) {
		f->in_text = false;
		return 0;
	}
	set_name(f, "profile", ++f->text_no);
	if (r < 0)
		return err_prefix(e, "%s", f->path);
	*msg = f->msg.data;
	*n = f->msg.len;
	return 1;
}

/* Whoever wrote it failed at once: a truncated profile like any other. Told once. */
static int cut_short(struct feed *f, struct err *e)
{
	f->cut = false;
	return err_set(e, EBADMSG, "%s: empty file: no profile in input", f->path);
}

int feed_next(struct feed *f, const uint8_t **msg, size_t *n, struct err *e)
{
	int (*convert)(const uint8_t *, size_t, struct buf *, struct err *);
	const char *foreign;
	const uint8_t *p;
	bool plain;
	size_t len;
	int r;

	for (;;) {
		if (f->in_text) {
			r = next_in_text(f, msg, n, e);
			if (r)
				return r;
		}
		r = gz_next(f->gz, &p, &len, &plain, e);
		if (r == 0)
			return f->cut ? cut_short(f, e) : 0;
		f->cut = false;
		set_name(f, "member", gz_member(f->gz));
		if (r < 0)
			return err_prefix(e, "%s", f->name);
		if (!len)
			continue;
		if (text_sniff(p, len)) {
			text_open(&f->text, p, len);
			f->in_text = true;
			f->text_no = 0;
			continue;
		}
		foreign = sniff_foreign(p, len);
		if (foreign)
			return err_set(e, EBADMSG, "%s: %s", f->name, foreign);
		convert = collapsed_sniff(p, len)    ? collapsed_message
			  : perfscript_sniff(p, len) ? perfscript_message
						     : NULL;
		if (convert) {
			r = convert(p, len, &f->msg, e);
			if (r < 0)
				return err_prefix(e, "%s", f->name);
			*msg = f->msg.data;
			*n = f->msg.len;
			return 1;
		}
		*msg = p;
		*n = len;
		return 1;
	}
}

bool feed_is_last(const struct feed *f)
{
	return !f->in_text && gz_is_last(f->gz);
}

const char *feed_path(const struct feed *f)
{
	return f->path;
}

const char *feed_name(const struct feed *f)
{
	return f->name;
}
