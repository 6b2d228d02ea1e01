/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/io/unpack.h"

#include <errno.h>
#include <libdeflate.h>
#include <zstd.h>

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

uint32_t unpack_crc32(uint32_t crc, const void *p, size_t n)
{
	return libdeflate_crc32(crc, p, n);
}
