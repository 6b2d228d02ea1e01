/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/io/unpack.h"

#include <errno.h>
#include <libdeflate.h>
#include <lzma.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "lib/base/xalloc.h"

int unpack_zlib(const void *in, size_t n, void *out, size_t out_n, struct err *e)
{
	struct libdeflate_decompressor *d = libdeflate_alloc_decompressor();
	enum libdeflate_result r;

	if (!d)
		return err_set(e, ENOMEM, "no memory to inflate");
	/* a NULL count of bytes asks for exactly out_n */
	r = libdeflate_zlib_decompress(d, in, n, out, out_n, NULL);
	libdeflate_free_decompressor(d);
	if (r != LIBDEFLATE_SUCCESS)
		return err_set(e, EBADMSG, "damaged zlib data");
	return 0;
}

int unpack_zstd(const void *in, size_t n, void *out, size_t out_n, struct err *e)
{
	size_t got = ZSTD_decompress(out, out_n, in, n);

	if (ZSTD_isError(got) || got != out_n)
		return err_set(e, EBADMSG, "damaged zstd data");
	return 0;
}

#define XZ_MEMORY (128ull << 20) /* the largest dictionary of xz -9 is 64 MiB */
#define XZ_STEP (1u << 16)

int unpack_xz(const void *in, size_t n, struct buf *out, struct err *e)
{
	lzma_stream s = LZMA_STREAM_INIT;
	lzma_ret r = lzma_stream_decoder(&s, XZ_MEMORY, 0);
	uint8_t *step = xmalloc(XZ_STEP);

	s.next_in = in;
	s.avail_in = n;
	while (r == LZMA_OK) {
		s.next_out = step;
		s.avail_out = XZ_STEP;
		r = lzma_code(&s, LZMA_FINISH);
		if (buf_put(out, step, XZ_STEP - s.avail_out))
			r = LZMA_MEMLIMIT_ERROR;
	}
	lzma_end(&s);
	free(step);
	if (r == LZMA_MEMLIMIT_ERROR)
		return err_set(e, EFBIG, "xz data is over the limit");
	return r == LZMA_STREAM_END ? 0 : err_set(e, EBADMSG, "damaged xz data");
}

/* 128 MiB, as for xz; what the zstd program makes without --long */
#define ZSTD_WINDOW_LOG 27
#define ZSTD_STEP (1u << 17)
#define GZIP_RATIO_MAX 1032 /* deflate cannot shrink by more */

static int unpack_zstd_frames(const void *in, size_t n, struct buf *out, struct err *e)
{
	ZSTD_DStream *z = ZSTD_createDStream();
	ZSTD_inBuffer from = {in, n, 0};
	uint8_t *step = xmalloc(ZSTD_STEP);
	size_t left = 1;
	int r = 0;

	if (!z ||
	    ZSTD_isError(ZSTD_DCtx_setParameter(z, ZSTD_d_windowLogMax, ZSTD_WINDOW_LOG)))
		r = err_set(e, ENOMEM, "no memory to inflate");
	while (!r && (from.pos < n || left)) {
		ZSTD_outBuffer to = {step, ZSTD_STEP, 0};
		size_t at = from.pos;

		left = ZSTD_decompressStream(z, &to, &from);
		if (ZSTD_isError(left) || (left && !to.pos && from.pos == at))
			r = err_set(e, EBADMSG, "damaged zstd data");
		else if (buf_put(out, step, to.pos))
			r = err_set(e, EFBIG, "zstd data is over the limit");
	}
	ZSTD_freeDStream(z);
	free(step);
	return r;
}

/* The size stands at the end: right for files of one member, as those are that we want. */
static int unpack_gzip(const void *packed, size_t n, struct buf *out, struct err *e)
{
	const uint8_t *in = packed;
	struct libdeflate_decompressor *d;
	enum libdeflate_result r;
	uint32_t size;

	if (n < 18)
		return err_set(e, EBADMSG, "damaged gzip data");
	size = in[n - 4] | in[n - 3] << 8 | in[n - 2] << 16 | (uint32_t)in[n - 1] << 24;
	if (size / GZIP_RATIO_MAX > n)
		return err_set(e, EBADMSG, "damaged gzip data");
	if (buf_reserve(out, size))
		return err_set(e, EFBIG, "gzip data is over the limit");
	d = libdeflate_alloc_decompressor();
	if (!d)
		return err_set(e, ENOMEM, "no memory to inflate");
	r = libdeflate_gzip_decompress(d, in, n, out->data + out->len, size, NULL);
	libdeflate_free_decompressor(d);
	if (r != LIBDEFLATE_SUCCESS)
		return err_set(e, EBADMSG, "damaged gzip data");
	out->len += size;
	return 0;
}

static int (*unpacker(const void *in, size_t n))(const void *, size_t, struct buf *,
						 struct err *)
{
	static const uint8_t xz[] = {0xfd, '7', 'z', 'X', 'Z', 0},
			     zstd[] = {0x28, 0xb5, 0x2f, 0xfd}, gzip[] = {0x1f, 0x8b};

	if (n >= sizeof(xz) && !memcmp(in, xz, sizeof(xz)))
		return unpack_xz;
	if (n >= sizeof(zstd) && !memcmp(in, zstd, sizeof(zstd)))
		return unpack_zstd_frames;
	if (n >= sizeof(gzip) && !memcmp(in, gzip, sizeof(gzip)))
		return unpack_gzip;
	return NULL;
}

bool unpack_knows(const void *start, size_t n)
{
	return unpacker(start, n);
}

int unpack_file(const void *in, size_t n, struct buf *out, struct err *e)
{
	int (*unpack)(const void *, size_t, struct buf *, struct err *) = unpacker(in, n);

	return unpack ? unpack(in, n, out, e) : err_set(e, ENOEXEC, "not a packed file");
}

uint32_t unpack_crc32(uint32_t crc, const void *p, size_t n)
{
	return libdeflate_crc32(crc, p, n);
}
