/* SPDX-License-Identifier: Apache-2.0 */
/* gzip members, whole. RFC 1952 for the container; libdeflate and zlib do the work. */
#include "lib/io/gz.h"

#include <errno.h>
#include <libdeflate.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "lib/base/xalloc.h"

#define CHUNK (256 * 1024)
/* Files up to this size are read whole; beyond it memory matters more than speed. */
#define WHOLE_MAX (64ull << 20)
/* deflate cannot expand more than 1032:1 (zlib's technical notes) */
#define DEFLATE_RATIO_MAX 1032

struct gz_reader {
	int fd;
	uint64_t max;
	bool whole;  /* all of the file is in `in` */
	bool eof;    /* nothing more to read from fd */
	bool failed; /* the position of the next member is not known */
	bool started;
	size_t member;
	uint64_t consumed; /* bytes of the input before in.data + at */
	struct buf in;
	size_t at; /* first unused byte of in */
	struct buf out;
	struct libdeflate_decompressor *inflater;
};

struct gz_reader *gz_reader_new(int fd, uint64_t max)
{
	struct gz_reader *g = xcalloc(1, sizeof(*g));

	g->fd = fd;
	g->max = max;
	buf_init(&g->in, SIZE_MAX / 2);
	buf_init(&g->out, max);
	return g;
}

void gz_reader_free(struct gz_reader *g)
{
	if (!g)
		return;
	close(g->fd);
	buf_release(&g->in);
	buf_release(&g->out);
	libdeflate_free_decompressor(g->inflater);
	free(g);
}

size_t gz_member(const struct gz_reader *g)
{
	return g->member;
}

bool gz_is_last(const struct gz_reader *g)
{
	return g->eof && g->at == g->in.len;
}

static uint64_t gz_offset(const struct gz_reader *g)
{
	return g->consumed + g->at;
}

/* Read some more behind what is there: bytes read, 0 at the end. */
static ssize_t gz_fill(struct gz_reader *g, size_t want, struct err *e)
{
	ssize_t n;

	if (g->eof)
		return 0;
	if (g->at && g->at == g->in.len) {
		g->consumed += g->at;
		g->at = g->in.len = 0;
	}
	if (buf_reserve(&g->in, want) < 0)
		return err_set(e, E2BIG, "input too large");
	do {
		n = read(g->fd, g->in.data + g->in.len, want);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return err_errno(e, errno, "cannot read");
	g->eof = n == 0;
	g->in.len += n;
	return n;
}

static int gz_start(struct gz_reader *g, struct err *e)
{
	struct stat st;
	size_t want = CHUNK;
	ssize_t n;

	g->started = true;
	if (fstat(g->fd, &st) == 0 && S_ISDIR(st.st_mode))
		return err_set(e, EISDIR, "is a directory");
	if (S_ISREG(st.st_mode) && (uint64_t)st.st_size <= WHOLE_MAX) {
		/* one byte more, so that the end is seen by the same read; a file of /proc
		   says 0 and has more */
		want = st.st_size < 4096 ? 4096 : st.st_size + 1;
		g->whole = true;
	}
	do {
		n = gz_fill(g, want, e);
		if (n < 0)
			return n;
	} while (n > 0 && (g->whole || g->in.len < 2));
	return 0;
}

static bool is_gzip(const struct gz_reader *g)
{
	const uint8_t *p = g->in.data + g->at;

	return g->in.len - g->at >= 2 && p[0] == 0x1f && p[1] == 0x8b;
}

static int gz_too_big(struct gz_reader *g, struct err *e)
{
	return err_set(e, E2BIG, "larger than %llu bytes inflated (--max-size)",
		       (unsigned long long)g->max);
}

/* libdeflate over what is in memory; -EBADMSG without a message: ask zlib, which says why. */
static int gz_inflate_whole(struct gz_reader *g, struct err *e)
{
	const uint8_t *p = g->in.data + g->at;
	size_t n = g->in.len - g->at, used, got, guess;
	uint64_t cap_limit = g->max;
	uint32_t isize;
	enum libdeflate_result r;

	/* a header with a checksum of its own, which libdeflate does not look at: RFC 1952 FHCRC */
	if (n > 3 && p[3] & 2)
		return -EBADMSG;
	if (!g->inflater) {
		g->inflater = libdeflate_alloc_decompressor();
		if (!g->inflater)
			return err_set(e, ENOMEM, "out of memory");
	}
	if (n < cap_limit / DEFLATE_RATIO_MAX)
		cap_limit = n * DEFLATE_RATIO_MAX + 64;
	/* the last member's size stands at the end of the file: right for files of one */
	guess = CHUNK;
	if (n >= 18) {
		memcpy(&isize, g->in.data + g->in.len - 4, 4);
		if (isize <= cap_limit)
			guess = isize;
	}
	if (guess < g->out.cap)
		guess = g->out.cap;
	g->out.len = 0;
	for (;;) {
		if (guess > g->max)
			guess = g->max;
		if (buf_reserve(&g->out, guess) < 0)
			return gz_too_big(g, e);
		r = libdeflate_gzip_decompress_ex(g->inflater, p, n, g->out.data,
						  g->out.cap, &used, &got);
		if (r != LIBDEFLATE_INSUFFICIENT_SPACE)
			break;
		if (g->out.cap >= g->max)
			return gz_too_big(g, e);
		guess = g->out.cap * 2;
	}
	if (r != LIBDEFLATE_SUCCESS)
		return -EBADMSG;
	g->at += used;
	g->out.len = got;
	return 0;
}

/* zlib, from what is in `in` and then from the descriptor; also the one that explains. */
static int gz_inflate_stream(struct gz_reader *g, struct err *e)
{
	uint64_t start = gz_offset(g);
	z_stream z = {0};
	int r, ret = 0;
	size_t room;
	ssize_t n;

	if (inflateInit2(&z, 16 + MAX_WBITS) != Z_OK)
		return err_set(e, ENOMEM, "out of memory");
	g->out.len = 0;
	do {
		if (g->at == g->in.len) {
			n = gz_fill(g, CHUNK, e);
			if (n < 0) {
				ret = n;
				break;
			}
			if (n == 0) {
				ret = err_set(e, EBADMSG,
					      "truncated gzip member at byte %llu "
					      "(starts at %llu)",
					      (unsigned long long)gz_offset(g),
					      (unsigned long long)start);
				break;
			}
		}
		room = g->out.cap - g->out.len;
		if (room < CHUNK / 4 && g->out.cap < g->max) {
			size_t more = g->out.cap ? g->out.cap : CHUNK;

			if (more > g->max - g->out.len)
				more = g->max - g->out.len;
			buf_reserve(&g->out, more);
			room = g->out.cap - g->out.len;
		}
		/* one byte over the maximum is asked for below, to tell "full" from "too big" */
		uint8_t over;
		bool full = room == 0;
		uInt chunk = room > 1u << 30 ? 1u << 30 : room;

		z.next_in = g->in.data + g->at;
		z.avail_in = g->in.len - g->at > 1u << 30 ? 1u << 30 : g->in.len - g->at;
		z.next_out = full ? &over : g->out.data + g->out.len;
		z.avail_out = full ? 1 : chunk;
		r = inflate(&z, Z_NO_FLUSH);
		g->at = z.next_in - g->in.data;
		if (full && z.avail_out == 0) {
			ret = gz_too_big(g, e);
			break;
		}
		if (!full)
			g->out.len += chunk - z.avail_out;
		if (r != Z_OK && r != Z_STREAM_END && r != Z_BUF_ERROR) {
			ret = err_set(e, EBADMSG, "bad gzip data at byte %llu: %s",
				      (unsigned long long)gz_offset(g),
				      z.msg ? z.msg : "not a gzip member");
			break;
		}
	} while (r != Z_STREAM_END);
	inflateEnd(&z);
	return ret;
}

/* Everything that is left, as it is. */
static int gz_plain(struct gz_reader *g, struct err *e)
{
	ssize_t n;

	do {
		n = gz_fill(g, CHUNK, e);
		if (n < 0)
			return n;
		if (g->in.len - g->at > g->max)
			return err_set(e, E2BIG, "larger than %llu bytes (--max-size)",
				       (unsigned long long)g->max);
	} while (n > 0);
	return 0;
}

int gz_next(struct gz_reader *g, const uint8_t **p, size_t *n, bool *plain, struct err *e)
{
	size_t start;
	ssize_t got;
	int r;

	if (g->failed)
		return 0;
	r = g->started ? 0 : gz_start(g, e);
	/* the two bytes of the magic may be split over reads */
	while (!r && g->in.len - g->at < 2 && !g->eof) {
		got = gz_fill(g, CHUNK, e);
		if (got < 0)
			r = got;
	}
	if (r < 0) {
		g->failed = true;
		return r;
	}
	if (g->at == g->in.len)
		return 0;
	g->member++;
	*plain = false;
	if (!is_gzip(g)) {
		if (g->member > 1) {
			g->failed = true;
			return err_set(e, EBADMSG, "no gzip member at byte %llu",
				       (unsigned long long)gz_offset(g));
		}
		r = gz_plain(g, e);
		g->failed = r < 0;
		if (r < 0)
			return r;
		*plain = true;
		*p = g->in.data + g->at;
		*n = g->in.len - g->at;
		g->at = g->in.len;
		return 1;
	}
	start = g->at;
	r = g->whole ? gz_inflate_whole(g, e) : gz_inflate_stream(g, e);
	if (r == -EBADMSG && g->whole) {
		g->at = start;
		r = gz_inflate_stream(g, e);
	}
	if (r < 0) {
		g->failed = true;
		return r;
	}
	*p = g->out.data;
	*n = g->out.len;
	return 1;
}

int gz_compress(const void *p, size_t n, struct buf *out, struct err *e)
{
	struct libdeflate_compressor *c = libdeflate_alloc_compressor(6);
	size_t bound, got;
	int r = 0;

	if (!c)
		return err_set(e, ENOMEM, "out of memory");
	bound = libdeflate_gzip_compress_bound(c, n);
	if (buf_reserve(out, bound) < 0) {
		r = err_set(e, E2BIG, "output too large");
		goto out;
	}
	got = libdeflate_gzip_compress(c, p, n, out->data + out->len, bound);
	if (!got)
		r = err_set(e, E2BIG, "output too large");
	out->len += got;
out:
	libdeflate_free_compressor(c);
	return r;
}
