/* SPDX-License-Identifier: Apache-2.0 */
/* Palette, style sheet and legend. */
#include "tools/render/svg_style.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* Warm and calm; #241c15 on any of them is at least 8:1. */
static const char *const user_colours[] = {
	"#eacb9f", "#e0b08a", "#d9c8b2", "#e9d8a6", "#dda58c",
	"#cbc2a4", "#f0c3a8", "#cfb79d", "#f2dfbd", "#d9ae96",
};
/* Changes by less than the first of these parts of the base's total are shown as none. */
static const double change_steps[] = {0.005, 0.02, 0.10};
#define NSTEPS (sizeof(change_steps) / sizeof(change_steps[0]))

#define NCOLOURS (sizeof(user_colours) / sizeof(user_colours[0]))

/* FNV-1a: the same colour for the same package, today and tomorrow. */
static uint32_t stable_hash(struct str s)
{
	uint32_t h = 2166136261u, i;

	for (i = 0; i < s.n; i++)
		h = (h ^ (uint8_t)s.p[i]) * 16777619u;
	return h ^ h >> 16;
}

void svg_class(char class[8], enum svg_kind kind, struct str key, bool inlined)
{
	const char *more = inlined ? " i" : "";

	if (kind == SVG_USER)
		snprintf(class, 8, "c%u%s", (unsigned int)(stable_hash(key) % NCOLOURS),
			 more);
	else
		snprintf(class, 8, "%s%s", kind == SVG_KERNEL ? "k" : "n", more);
}

void svg_change_class(char class[8], double change)
{
	double size = change < 0 ? -change : change;
	unsigned int step = 0;

	while (step < NSTEPS && size >= change_steps[step])
		step++;
	if (!step)
		snprintf(class, 8, "s");
	else
		snprintf(class, 8, "%c%u", change < 0 ? 'l' : 'm', step);
}

void svg_put_style(struct buf *out, bool changes)
{
	size_t i;

	buf_puts(out, "<style>\n"
		      "text{font:12px monospace;fill:#241c15;white-space:pre}\n"
		      ".h{font:600 19px system-ui,\"DejaVu Sans\",sans-serif}\n"
		      ".m{font:12px system-ui,\"DejaVu Sans\",sans-serif;fill:#6b5f54}\n"
		      "g text{pointer-events:none}\n"
		      "g rect:hover{stroke:#241c15}\n"
		      ".bg{fill:#fffdfa}.t{fill:#e4ddd4}.k{fill:#b7c5d3}.n{fill:#eba9a0}"
		      ".r{fill:#c9c5c0}.i{fill-opacity:.55}\n");
	for (i = 0; i < NCOLOURS && !changes; i++)
		buf_printf(out, ".c%zu{fill:%s}", i, user_colours[i]);
	/* less: blue, more: orange; told apart by those who see red and green alike */
	if (changes)
		buf_puts(out, ".s{fill:#dedbd6}.l1{fill:#cfe0ef}.l2{fill:#a5c8e4}.l3{"
			      "fill:#73abd6}"
			      ".m1{fill:#fbe0c0}.m2{fill:#f7c184}.m3{fill:#ee9d4a}");
	/* paler means nearer to the background: not in the dark, where text stays dark */
	buf_puts(out,
		 "\n@media(prefers-color-scheme:dark){.bg{fill:#1d1916}.h{fill:#f3ece4}"
		 ".m{fill:#b9aea2}.i{fill-opacity:.8}g rect:hover{stroke:#fff}}\n"
		 "</style>\n");
}

static int put_entry(struct buf *out, const char *const *classes, const char *text, int x,
		     int y)
{
	for (; *classes; classes++) {
		buf_printf(out,
			   "<rect class=\"%s\" x=\"%d\" y=\"%d\" width=\"12\" "
			   "height=\"12\"/>",
			   *classes, x, y);
		x += 14;
	}
	buf_printf(out, "<text class=\"m\" x=\"%d\" y=\"%d\">%s</text>\n", x + 3, y + 10,
		   text);
	return x + 3 + (int)strlen(text) * 7 + 18;
}

void svg_put_legend(struct buf *out, const bool kinds[SVG_KINDS], int x, int y)
{
	static const struct {
		const char *classes[4], *text;
	} entries[SVG_KINDS] = {
		[SVG_USER] = {{"c0", "c1", "c3"}, "user code, by package or binary"},
		[SVG_KERNEL] = {{"k"}, "kernel"},
		[SVG_NOTE] = {{"n"}, "the profiler's notes"},
		[SVG_INLINED] = {{"c1 i"}, "inlined (paler)"},
		[SVG_REST] = {{"r"}, "smaller frames together"},
	};
	int i;

	for (i = 0; i < SVG_KINDS; i++) {
		if (kinds[i])
			x = put_entry(out, entries[i].classes, entries[i].text, x, y);
	}
}

void svg_put_change_legend(struct buf *out, enum diff_width by, bool rest, int x, int y)
{
	static const char *const less[] = {"l1", "l2", "l3", NULL};
	static const char *const same[] = {"s", NULL};
	static const char *const more[] = {"m1", "m2", "m3", NULL};
	static const char *const small[] = {"r", NULL};
	static const char *const widths[] = {
		[DIFF_WIDTH_MEAN] = "more; as wide as the mean of both shares",
		[DIFF_WIDTH_BASE] = "more; as wide as the share of base",
		[DIFF_WIDTH_NEW] = "more; as wide as the share of new",
	};

	x = put_entry(out, less, "less, by 0.5, 2, 10 % of the base's total", x, y);
	x = put_entry(out, same, "about the same", x, y);
	x = put_entry(out, more, widths[by], x, y);
	if (rest)
		put_entry(out, small, "smaller frames together", x, y);
}
