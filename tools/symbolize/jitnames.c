/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/symbolize/jitnames.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/buf.h"
#include "lib/base/xalloc.h"

#define STEP (1u << 18)
#define PIECE_MAX (64u << 20) /* bytes of a line or record */

void jitnames_release(struct jitnames *j)
{
	size_t i;

	for (i = 0; i < j->n; i++)
		jitmap_release(&j->maps[i]);
	free(j->maps);
	*j = (struct jitnames){0};
}

/* "JiTD" in either byte order. */
static bool is_dump(const struct buf *b)
{
	return b->len >= 4 &&
	       (!memcmp(b->data, "JiTD", 4) || !memcmp(b->data, "DTiJ", 4));
}

/* Take what is whole; the rest moves to the front. */
static int feed(struct jitmap *m, struct buf *b, bool dump, struct err *e)
{
	int64_t used = dump ? jitmap_feed_dump(m, b->data, b->len, e)
			    : (int64_t)jitmap_feed_text(m, (const char *)b->data, b->len);

	if (used < 0)
		return (int)used;
	memmove(b->data, b->data + used, b->len - used);
	b->len -= used;
	return 0;
}

static int read_all(int fd, struct jitmap *m, struct err *e)
{
	struct buf b = BUF_INIT(PIECE_MAX);
	bool dump = false, first = true;
	ssize_t got = 1;
	int r = 0;

	while (!r && got) {
		uint8_t *step = xmalloc(STEP);

		got = read(fd, step, STEP);
		if (got < 0 && errno != EINTR)
			r = err_errno(e, errno, "read");
		else if (got > 0 && buf_put(&b, step, got))
			r = err_set(e, EFBIG, "a line or record is over the limit");
		free(step);
		if (first && b.len >= 4) {
			dump = is_dump(&b);
			first = false;
		}
		if (!r && b.len && !first)
			r = feed(m, &b, dump, e);
	}
	/* the last line may lack its end */
	if (!r && b.len && !dump && !buf_putc(&b, '\n'))
		r = feed(m, &b, false, e);
	buf_release(&b);
	return r;
}

int jitnames_read(struct jitnames *j, const char *path, struct err *e)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), r;

	if (fd < 0)
		return err_set(e, errno, "%s: %s", path, strerror(errno));
	XGROW(j->maps, j->n, j->cap);
	jitmap_init(&j->maps[j->n++]);
	r = read_all(fd, &j->maps[j->n - 1], e);
	close(fd);
	if (!r && !j->maps[j->n - 1].n)
		r = err_set(e, EBADMSG, "neither a perf map nor a jitdump");
	if (r)
		err_prefix(e, "%s", path);
	return r;
}

/* The last file that knows the address; NULL. */
static struct jitmap *find_map(struct jitnames *j, uint64_t addr)
{
	size_t i;

	for (i = j->n; i > 0; i--)
		if (jitmap_find(&j->maps[i - 1], addr, UINT64_MAX))
			return &j->maps[i - 1];
	return NULL;
}

bool jitnames_find(struct jitnames *j, uint64_t addr, struct jitname *out)
{
	struct jitmap *m = find_map(j, addr);
	const struct jit_code *c;
	const struct jit_line *l;

	j->addresses++;
	if (!m)
		return false;
	c = jitmap_find(m, addr, UINT64_MAX);
	l = jitmap_line(m, c, addr);
	*out = (struct jitname){
		.name = c->name,
		.file = l ? l->file : c->file,
		.line = l ? l->line : 0,
		.start_line = c->start_line,
	};
	j->named++;
	return true;
}
