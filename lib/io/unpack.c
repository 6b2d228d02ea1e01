/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/io/unpack.h"

#include <errno.h>
#include <libdeflate.h>
#include <lzma.h>
#include <stdlib.h>
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

uint32_t unpack_crc32(uint32_t crc, const void *p, size_t n)
{
	return libdeflate_crc32(crc, p, n);
}
