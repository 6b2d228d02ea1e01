/* SPDX-License-Identifier: Apache-2.0 */
/* Choosing a part of the samples: time, labels, and a second part to compare with. */
import { byId, element } from "./card.js";
import { ALL, isAll, rangeText, secondsOf, setsOf, valueOf } from "./explore.js";
import { formatValue } from "./format.js";
import { parseSelector, quote } from "./selector.js";
import { Timeline } from "./timeline.js";

/* "00:01:10 – 00:02:00 UTC", without the day where both ends have the same. */
function spanText(p, selection) {
	const { since, until } = rangeText(p, selection.from, selection.to);

	return since.slice(0, 10) === until.slice(0, 10) ? `${since.slice(11, -1)} – ${until.slice(11, -1)} UTC`
		: `${since.slice(0, -1)} – ${until.slice(0, -1)} UTC`.replace(/T/g, " ");
}

/* What a selection is of, in words. */
export function selectionText(p, selection, filter) {
	const parts = [];

	if (selection.from >= 0) {
		parts.push(spanText(p, selection), formatValue(secondsOf(p, selection) * 1e9, "nanoseconds"));
	} else if (p.bins && p.bins.length > 1) {
		parts.push("all time");
	}
	if (selection.terms.length)
		parts.push(`{${filter}}`);
	return parts.join(" · ") || "all";
}

export class Chooser {
	/* on.change(): what is chosen has changed; on.say(text) */
	constructor(root, card, on) {
		this.root = root;
		this.on = on;
		this.timeline = new Timeline(root, card, {
			select: (from, to) => this.select({ ...this.selection, from, to }),
			only: (name) => this.only(this.by, name), say: on.say });
		this.selection = ALL;
		this.filter = this.baseFilter = "";
		this.base = null;
		this.scaled = true;
		this.by = "";
		byId("by").addEventListener("change", () => this.setBy(byId("by").value));
		byId("filter").addEventListener("input", () => this.typed());
		byId("filter").addEventListener("change", () => this.typed());
		byId("all-time").addEventListener("click", () => this.select({ ...this.selection, from: -1, to: -1 }));
		byId("compare").addEventListener("click", () => this.setBase(this.base ? null : this.selection));
		byId("swap").addEventListener("click", () => this.swap());
		byId("scaled").addEventListener("click", () => {
			this.scaled = !this.scaled;
			this.changed();
		});
	}

	/* Another profile or column; what is chosen stays as far as it is there. */
	setProfile(p, column) {
		const hasTime = (p.bins || []).length > 1, hasLabels = (p.labels ? p.labels.keys : []).length > 0 && Boolean(p.cells);

		if (p !== this.p)
			this.fillMenus(p, hasLabels);
		this.p = p;
		this.column = column;
		this.hasTime = hasTime && Boolean(p.cells);
		if (!this.hasTime)
			this.selection = { ...this.selection, from: -1, to: -1 };
		if (!p.cells) {
			this.selection = ALL;
			this.base = null;
		}
		byId("time").hidden = !this.hasTime;
		byId("by-label").hidden = byId("filter-box").hidden = !hasLabels;
		this.root.hidden = !this.hasTime && !hasLabels;
		this.update();
	}

	fillMenus(p, hasLabels) {
		const option = (value, text) => {
			const o = element("option", "", text);
			o.value = value;
			return o;
		};

		if (p.labels && !p.labels.keys.includes(this.by))
			this.by = "";
		byId("by").replaceChildren(option("", "nothing"), ...(hasLabels ? p.labels.keys : []).map((k) => option(k, k)));
		byId("by").value = this.by;
		this.values = new Map();
		for (const key of hasLabels ? p.labels.keys : [])
			this.values.set(key, [...new Set(p.labels.sets.map((pairs) => valueOf(pairs, key)))].filter((v) => v).sort());
	}

	/* The state of all: for the address, and back from it. */
	restore({ selection, filter, base, baseFilter, by, scaled }) {
		this.selection = selection;
		this.base = base;
		this.filter = filter;
		this.baseFilter = baseFilter;
		this.by = [...byId("by").options].some((o) => o.value === by) ? by : "";
		this.scaled = scaled;
		byId("by").value = this.by;
		byId("filter").value = filter;
		byId("filter").setAttribute("aria-invalid", "false");
		byId("filter-result").textContent = "";
	}

	changed() {
		this.update();
		this.on.change();
	}

	select(selection) {
		const same = selection.from === this.selection.from && selection.to === this.selection.to;

		this.selection = selection;
		if (!same)
			this.changed();
	}

	setBy(by) {
		this.by = by;
		byId("by").value = by;
		this.changed();
	}

	/* One value alone: it joins the terms, in place of others for its key. */
	only(key, value) {
		const others = this.selection.terms.filter((t) => t.key !== key);
		const texts = [...others.map((t) => `${t.key}${t.operator}${quote(t.value)}`), `${key}=${quote(value)}`];

		byId("filter").value = texts.join(", ");
		this.typed();
	}

	typed() {
		const input = byId("filter"), out = byId("filter-result");

		this.offer(input.value);
		try {
			const terms = parseSelector(input.value);
			const unknown = terms.find((t) => !this.values.has(t.key));
			if (unknown)
				throw new Error(`no label ${unknown.key} here`);
			if (terms.length && !setsOf(this.p, terms).includes(1))
				throw new Error("nothing has these labels");
			input.setAttribute("aria-invalid", "false");
			out.textContent = "";
			if (input.value === this.filter)
				return;
			this.filter = input.value;
			this.selection = { ...this.selection, terms };
			this.changed();
		} catch (e) {
			input.setAttribute("aria-invalid", "true");
			out.textContent = input.value === this.filter ? "" : e.message;
		}
	}

	/* Keys and values that may come next, after what is typed already. */
	offer(text) {
		const list = byId("filter-values"), comma = text.lastIndexOf(",") + 1, done = text.slice(0, comma) + (comma ? " " : "");
		const options = [];

		for (const [key, values] of this.values)
			for (const value of values)
				options.push(`${done}${key}=${quote(value)}`);
		list.replaceChildren(...options.slice(0, 400).map((o) => {
			const option = element("option", "");
			option.value = o;
			return option;
		}));
	}

	setBase(selection) {
		this.base = selection;
		this.baseFilter = selection ? this.filter : "";
		this.changed();
	}

	swap() {
		[this.base, this.selection] = [this.selection, this.base];
		[this.baseFilter, this.filter] = [this.filter, this.baseFilter];
		byId("filter").value = this.filter;
		this.changed();
	}

	/* What the controls say. */
	update() {
		const { p, base, selection } = this, can = Boolean(p.cells);

		byId("chosen").textContent = can ? selectionText(p, selection, this.filter) : "";
		byId("all-time").hidden = selection.from < 0;
		byId("compare").hidden = !can || (!base && isAll(selection));
		byId("compare").textContent = base ? "End comparison" : "Compare with…";
		byId("swap").hidden = byId("scaled").hidden = byId("base").hidden = !base;
		byId("scaled").setAttribute("aria-pressed", this.scaled);
		if (base)
			byId("base").textContent = this.isSame() ? `Old: ${selectionText(p, base, this.baseFilter)}. Now choose the new side.`
				: `Old: ${selectionText(p, base, this.baseFilter)} · New: `;
		byId("chosen").hidden = Boolean(base) && this.isSame();
		if (!this.hasTime) {
			byId("lines").hidden = true;
			return;
		}
		this.timeline.set(p, this.column, this.by, selection.terms);
		this.timeline.setSelection(selection, base);
		this.timeline.writeKeys();
		this.draw();
	}

	/* Both sides of a comparison are one. */
	isSame() {
		return Boolean(this.base) && this.base.from === this.selection.from && this.base.to === this.selection.to && this.baseFilter === this.filter;
	}

	setPalette(palette) {
		this.timeline.setPalette(palette);
		if (this.p && this.hasTime) {
			this.timeline.writeKeys();
			this.draw();
		}
	}

	draw() {
		if (!this.hasTime || this.root.hidden)
			return;
		this.timeline.resize();
		this.timeline.draw();
	}
}
