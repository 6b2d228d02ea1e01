/* SPDX-License-Identifier: Apache-2.0 */
/* The legend: what colours are, how much of each there is, and a way to have some or none of it. */
import { byId, element } from "./card.js";
import { groupingOf, groupsOf } from "./colour.js";
import { formatShare } from "./format.js";
import { exactly } from "./menu.js";
import { fitName } from "./names.js";
import { foldedText } from "./words.js";

const ENTRIES_MAX = 7;

/* An expression that matches the frames of a group, or "". */
export function groupExpression(grouping, group) {
	const base = exactly(group.text).slice(1, -1);

	if (!group.text)
		return "";
	if (grouping !== "package")
		return group.whole ? exactly(group.text) : "";
	return group.whole ? `(^|/)${base}$` : `^${base}(?![A-Za-z0-9_])`;
}

function entry(colours, text) {
	const e = element("span", "entry");

	for (const c of colours) {
		const s = element("span", "swatch");
		s.style.background = c;
		e.append(s);
	}
	e.append(text);
	return e;
}

export class Legend {
	/* on.regroup(grouping): what colours tell; on.menu(title, expression, button) */
	constructor(on) {
		this.on = on;
		this.grouping = "package";
		byId("colour").addEventListener("change", () => {
			this.grouping = byId("colour").value;
			on.regroup();
		});
	}

	restore(grouping) {
		this.grouping = groupingOf(grouping);
		byId("colour").value = this.grouping;
	}

	show(model, palette) {
		const entries = model.isDiff ? this.diffEntries(palette) : this.groupEntries(model, palette), folded = foldedText(model.p);

		byId("colour-label").hidden = model.isDiff;
		entries.push(entry([palette.rest], "too narrow to draw"));
		if (folded)
			entries.push(element("span", "entry", folded));
		entries.push(element("span", "entry keys", "/ search · arrows move · Enter zoom · Backspace back · Esc all · m menu"));
		byId("legend").replaceChildren(...entries);
	}

	diffEntries(palette) {
		const colour = (rgb) => `rgb(${rgb.join(" ")})`;

		return [entry([colour(palette.less)], "less than before"), entry([colour(palette.same)], "within noise"),
			entry([colour(palette.more)], "more than before"), element("span", "entry", "hatched: new or gone")];
	}

	/* The groups with most flat value. */
	groupEntries(model, palette) {
		const groups = groupsOf(model, this.grouping, palette), entries = groups.slice(0, ENTRIES_MAX).map((g) => this.groupEntry(g, model));

		if (groups.length > ENTRIES_MAX) {
			const rest = groups.slice(ENTRIES_MAX), sum = rest.reduce((a, g) => a + g.self, 0);
			entries.push(element("span", "entry", `${rest.length} more ${formatShare(sum, model.whole)}`));
		}
		if (model.frames.flags.some((f) => f & 1))
			entries.push(element("span", "entry", "paler: inlined"));
		return entries;
	}

	groupEntry(group, model) {
		const re = groupExpression(this.grouping, group), name = fitName(group.name, 28);
		const e = entry([group.colour], "");
		const text = element(re ? "button" : "span", "group", name);

		if (re) {
			text.type = "button";
			text.title = fitName(group.name, 500);
			text.setAttribute("aria-haspopup", "menu");
			text.addEventListener("click", () => this.on.menu(group.name, re, text));
		}
		e.append(text, element("span", "share", formatShare(group.self, model.whole)));
		return e;
	}
}
