/* SPDX-License-Identifier: Apache-2.0 */
/* What part of the samples functions have in one release after another, by a label that tells them. */
import { byId, element } from "./card.js";
import { hasTime, setsOf, valueOf, valuesOf } from "./explore.js";
import { formatShare, formatValue } from "./format.js";
import { fitName } from "./names.js";

const RELEASES_MAX = 40, CHANGED_MAX = 12;
/* A change of less is not listed: a thousandth of all. */
const CHANGE_LEAST = 0.001;
/* What releases are told by, mostly. */
const USUAL = ["version", "release", "revision", "build_id"];

/* Keys with values to set side by side, the usual ones first. */
export function trendKeys(p) {
	const rank = (key) => (USUAL.includes(key) ? USUAL.indexOf(key) : USUAL.length);
	const keys = p.cells ? p.labels.keys.filter((key) => {
		const n = valuesOf(p, key).filter((v) => v).length;
		return n > 1 && n <= RELEASES_MAX;
	}) : [];

	return keys.sort((a, b) => rank(a) - rank(b));
}

/* Values of a key in a selection, as they came up in time; of one time by their numbers. */
export function releasesOf(p, key, selection) {
	const { n, set, bin } = p.cells, names = p.labels.sets.map((pairs) => valueOf(pairs, key)), wanted = setsOf(p, selection.terms), first = new Map();

	for (let k = 0; k < n; k++) {
		const name = names[set[k]];
		if (name && wanted[set[k]] && hasTime(selection, bin[k]) && !(first.get(name) <= bin[k]))
			first.set(name, bin[k]);
	}
	return [...first.keys()].sort((a, b) => first.get(a) - first.get(b) || a.localeCompare(b, "en", { numeric: true }));
}

/* By release the share of a frame, null where nothing was sampled; of: "total" or "self" */
export function sharesOf(releases, of, f) {
	return releases.map((r) => (r.whole ? r[of][f] / r.whole : null));
}

/* Frames by how much their share of the total changes, most first: [frame, shares] of each. */
export function mostChanged(releases, n) {
	const found = [];

	for (let f = 0; f < n; f++) {
		const shares = sharesOf(releases, "total", f), known = shares.filter((s) => s !== null);
		const change = Math.max(...known) - Math.min(...known);
		if (change >= CHANGE_LEAST)
			found.push({ f, shares, change });
	}
	return found.sort((a, b) => b.change - a.change || a.f - b.f).slice(0, CHANGED_MAX).map(({ f, shares }) => [f, shares]);
}

/* Percentage points, with the sign. */
export function pointsText(now, before) {
	const text = (Math.abs(now - before) * 100).toFixed(2);

	if (text === "0.00")
		return "0";
	return (now < before ? "−" : "+") + text;
}

/* Lines of shares from 0 to `most`: a path with gaps, and a dot for each point. */
function chart(lines, most, label) {
	const svg = byId("chart").content.firstElementChild.cloneNode(true);

	svg.setAttribute("aria-label", label);
	for (const [className, shares] of lines) {
		const at = (s, i) => `${(shares.length > 1 ? i / (shares.length - 1) : 0.5) * 100} ${100 - s / (most || 1) * 100}`;
		const put = (kind, d) => {
			const path = document.createElementNS(svg.namespaceURI, "path");
			path.setAttribute("class", `${kind} ${className}`);
			path.setAttribute("d", d);
			svg.append(path);
		};
		put("stroke", shares.map((s, i) => (s === null ? "" : `${i && shares[i - 1] !== null ? "L" : "M"}${at(s, i)}`)).join(""));
		put("dot", shares.map((s, i) => (s === null ? "" : `M${at(s, i)}h0`)).join(""));
	}
	return svg;
}

export class Trend {
	/* on.only(key, value); on.pick(name); on.by(key): another label is to tell releases */
	constructor(on) {
		this.on = on;
		this.key = "";
		byId("trend-by").addEventListener("change", () => on.by(byId("trend-by").value));
	}

	setKeys(keys) {
		byId("trend-by").replaceChildren(...keys.map((key) => {
			const option = element("option", "", key);
			option.value = key;
			return option;
		}));
		this.keys = keys;
		this.choose(this.key);
	}

	choose(key) {
		this.key = this.keys.includes(key) ? key : this.keys[0] || "";
		byId("trend-by").value = this.key;
	}

	/* releases: { name, whole, self, total } of each; frame: that is chosen, or below 0 */
	fill(releases, model, frame) {
		const { frames } = model, parts = releases.length > 1 ? [] : [element("p", "soft", "Nothing to compare: what is chosen is of one release.")];

		if (releases.length > 1 && frame >= 0)
			parts.push(...this.one(releases, model, frame));
		else if (releases.length > 1)
			parts.push(element("p", "soft", "Choose a function, in the tree or below, to see its share release by release."));
		if (releases.length > 1)
			parts.push(...this.list(releases, frames));
		byId("trend-parts").replaceChildren(...parts);
	}

	/* In place of it all. */
	say(text) {
		byId("trend-parts").replaceChildren(element("p", "soft", text));
	}

	one(releases, model, frame) {
		const name = model.frames.name[frame], total = sharesOf(releases, "total", frame), self = sharesOf(releases, "self", frame);
		const most = Math.max(...total), heading = element("p", "heading", fitName(name, 200)), box = element("div", "chart"), ends = element("p", "ends");

		heading.append(element("span", "soft", ` · share of all by ${this.key}: `), element("span", "key-total", "total"), element("span", "soft", ", "), element("span", "key-flat", "flat"));
		box.append(element("span", "most", formatShare(most, 1)), element("span", "least", "0"),
			chart([["flat", self], ["total", total]], most, releases.map((r, i) => `${r.name}: ${this.share(total[i])}`).join(", ")));
		ends.append(element("span", "", fitName(releases[0].name, 24)), element("span", "", fitName(releases.at(-1).name, 24)));
		return [heading, box, ends, this.table(releases, total, self, model.unit)];
	}

	share(s) {
		return s === null ? "–" : formatShare(s, 1);
	}

	table(releases, total, self, unit) {
		const table = element("table"), head = element("tr"), titles = ["Total", "Change", "Flat", "All"];

		head.append(element("th", "", this.key), ...titles.map((t) => element("th", "", t)));
		head.children[2].title = "In percentage points, from the one before";
		table.append(head);
		releases.forEach((r, i) => {
			const row_ = element("tr"), th = element("th"), button = element("button", "name", fitName(r.name, 40));
			button.type = "button";
			button.title = `Only ${this.key}=${r.name}`;
			button.addEventListener("click", () => this.on.only(this.key, r.name));
			th.scope = "row";
			th.append(button);
			const before = i && total[i] !== null ? total.slice(0, i).findLast((s) => s !== null) ?? null : null;
			row_.append(th, ...[this.share(total[i]), before === null ? "" : pointsText(total[i], before), this.share(self[i]), formatValue(r.whole, unit)]
				.map((text) => element("td", "", text)));
			table.append(row_);
		});
		return table;
	}

	list(releases, frames) {
		const changed = mostChanged(releases, frames.n), list = element("ol");

		for (const [f, shares] of changed) {
			const item = element("li"), button = element("button", "name", fitName(frames.name[f], 60)), known = shares.filter((s) => s !== null);
			const text = `${this.share(known[0])} → ${this.share(known.at(-1))}`;
			button.type = "button";
			button.title = fitName(frames.name[f], 1000);
			button.addEventListener("click", () => this.on.pick(frames.name[f]));
			item.append(chart([["total", shares]], Math.max(...known), text), element("span", "cell", text), button);
			list.append(item);
		}
		return [element("p", "heading", changed.length ? "Changed most" : "No function’s share changes by a thousandth of all."), list];
	}
}
