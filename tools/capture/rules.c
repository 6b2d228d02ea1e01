/* SPDX-License-Identifier: Apache-2.0 */
/* Rules on which processes are profiled and how they are labelled. */
#include "tools/capture/rules.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/buf.h"
#include "lib/base/xalloc.h"

#define FILE_MAX_BYTES (1 << 20)

enum verb { KEEP, DROP, SET, UNSET };

struct rule {
	enum verb verb;
	unsigned int line;
	char *text; /* of the line */
	char *key, *value;
	struct selector *selector;
};

struct rules {
	struct rule *v;
	size_t n, cap;
	bool by_pid;
};

void rules_free(struct rules *r)
{
	size_t i;

	if (!r)
		return;
	for (i = 0; i < r->n; i++) {
		free(r->v[i].text);
		free(r->v[i].key);
		free(r->v[i].value);
		selector_free(r->v[i].selector);
	}
	free(r->v);
	free(r);
}

int rules_check_selector(const struct selector *s, struct err *e)
{
	static const char *const of_threads[] = {"thread_name", "thread_id", "cpu"};
	size_t i;

	if (selector_type(s))
		return err_set(e, EINVAL, "a type cannot be selected here: %s",
			       selector_type(s));
	for (i = 0; i < sizeof(of_threads) / sizeof(*of_threads); i++) {
		if (selector_has_key(s, of_threads[i]))
			return err_set(e, EINVAL, "%s is not a label of a whole process",
				       of_threads[i]);
	}
	return 0;
}

static bool take_verb(const char **at, enum verb *verb)
{
	static const struct {
		const char *name;
		enum verb verb;
	} verbs[] = {{"keep", KEEP}, {"drop", DROP}, {"set", SET}, {"unset", UNSET}};
	size_t i, n = strcspn(*at, " \t{");

	for (i = 0; i < sizeof(verbs) / sizeof(*verbs); i++) {
		if (strlen(verbs[i].name) == n && !memcmp(*at, verbs[i].name, n)) {
			*verb = verbs[i].verb;
			*at += n + strspn(*at + n, " \t");
			return true;
		}
	}
	return false;
}

static int parse_line(struct rules *r, const char *text, unsigned int line, struct err *e)
{
	struct rule *rule;
	int res = 0;

	XGROW(r->v, r->n, r->cap);
	rule = &r->v[r->n++]; /* rules_free() sees to it from here */
	*rule = (struct rule){.line = line, .text = xstrdup(text)};
	if (!take_verb(&text, &rule->verb))
		return err_set(e, EINVAL, "expected keep, drop, set or unset: %s", text);
	if (rule->verb == SET || rule->verb == UNSET)
		res = selector_parse_pair(&text, &rule->key,
					  rule->verb == SET ? &rule->value : NULL, e);
	if (!res && *text != '{')
		return err_set(e, EINVAL, "expected a selector in braces: %s", text);
	if (!res)
		res = selector_parse(text, &rule->selector, e);
	if (!res)
		res = rules_check_selector(rule->selector, e);
	if (res < 0)
		return res;
	r->by_pid |= selector_has_key(rule->selector, "pid") ||
		     selector_has_key(rule->selector, "ppid");
	return 0;
}

int rules_parse(char *text, const char *name, struct rules **out, struct err *e)
{
	struct rules *r = xcalloc(1, sizeof(*r));
	unsigned int line = 0;
	char *next, *end;
	int res = 0;

	for (; text && !res; text = next) {
		line++;
		next = strchr(text, '\n');
		if (next)
			*next++ = 0;
		text += strspn(text, " \t\r");
		for (end = text + strlen(text); end > text && strchr(" \t\r", end[-1]);)
			*--end = 0;
		if (!*text || *text == '#')
			continue;
		res = parse_line(r, text, line, e);
	}
	if (res < 0) {
		err_prefix(e, "%s: line %u", name, line);
		rules_free(r);
		return res;
	}
	*out = r;
	return 0;
}

static int read_text(int fd, struct buf *text)
{
	ssize_t n;
	int r;

	for (;;) {
		r = buf_reserve(text, 4096);
		if (r < 0)
			return r;
		n = read(fd, text->data + text->len, 4096);
		if (n < 0)
			return -errno;
		if (!n)
			return memchr(text->data, 0, text->len) ? -EINVAL : 0;
		text->len += n;
	}
}

int rules_read(const char *file, bool again, struct rules **out, struct err *e)
{
	struct buf text = BUF_INIT(FILE_MAX_BYTES);
	int fd = open(file, O_RDONLY | O_CLOEXEC | (again ? O_NONBLOCK : 0)), r;
	struct stat st;

	if (fd < 0)
		return err_errno(e, errno, "%s", file);
	if (again && (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))) {
		close(fd);
		return err_set(e, EINVAL, "%s: not a regular file", file);
	}
	r = read_text(fd, &text);
	close(fd);
	if (r == -EINVAL)
		err_set(e, EINVAL, "%s: not text", file);
	else if (r == -E2BIG)
		err_set(e, EFBIG, "%s: larger than %d KiB", file, FILE_MAX_BYTES >> 10);
	else if (r < 0)
		err_errno(e, -r, "%s", file);
	else
		r = rules_parse((char *)buf_str(&text), file, out, e);
	buf_release(&text);
	return r;
}

bool rules_apply(struct rules *r, struct label_list *l, unsigned int *line)
{
	bool decided = false, keep = true;
	size_t i;

	*line = 0;
	for (i = 0; i < r->n; i++) {
		struct rule *rule = &r->v[i];

		if (decided && (rule->verb == KEEP || rule->verb == DROP))
			continue;
		if (!selector_match(rule->selector, l->st, l->v, l->n))
			continue;
		switch (rule->verb) {
		case KEEP:
		case DROP:
			decided = true;
			keep = rule->verb == KEEP;
			*line = rule->line;
			break;
		case SET:
			label_list_set(l, rule->key, rule->value);
			break;
		case UNSET:
			label_list_remove(l, rule->key);
			break;
		}
	}
	return keep;
}

void rules_reset(struct rules *r)
{
	size_t i;

	for (i = 0; r && i < r->n; i++)
		selector_reset(r->v[i].selector);
}

const char *rules_line(const struct rules *r, unsigned int line)
{
	size_t i;

	for (i = 0; i < r->n; i++) {
		if (r->v[i].line == line)
			return r->v[i].text;
	}
	return "";
}

bool rules_by_pid(const struct rules *r)
{
	return r->by_pid;
}
