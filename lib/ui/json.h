/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A small streaming JSON writer: it keeps commas, indentation and escaping right, the caller
 * keeps the order. Integers are exact; numbers that are not finite become null.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/buf.h"
#include "lib/base/intern.h"

#define JSON_DEPTH_MAX 32

struct json {
	struct buf *out;
	int depth;
	bool filled
		[JSON_DEPTH_MAX]; /* the container at this depth has a member already */
};

void json_init(struct json *j, struct buf *out);

/* Containers; key NULL inside arrays and at the top. */
void json_object(struct json *j, const char *key);
void json_array(struct json *j, const char *key);
void json_end_object(struct json *j);
void json_end_array(struct json *j);

void json_str(struct json *j, const char *key, struct str s);
void json_cstr(struct json *j, const char *key, const char *s);
void json_int(struct json *j, const char *key, int64_t v);
void json_double(struct json *j, const char *key, double v);
void json_bool(struct json *j, const char *key, bool v);
