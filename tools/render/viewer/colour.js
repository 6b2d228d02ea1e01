/* SPDX-License-Identifier: Apache-2.0 */
/* Colours: fixed, told by content alone. The light tints are those of the SVG. */
import { FRAME_INLINED, FRAME_KERNEL, FRAME_NOTE, FRAME_UNNAMED } from "./data.js";
import { moduleName } from "./names.js";

export const LIGHT = {
	user: ["#eacb9f", "#e0b08a", "#d9c8b2", "#e9d8a6", "#dda58c", "#cbc2a4", "#f0c3a8", "#cfb79d", "#f2dfbd", "#d9ae96"],
	kernel: "#b7c5d3", note: "#eba9a0", root: "#e4ddd4", rest: "#a39b92",
	text: "#241c15", page: "#fffdfa", mark: "#241c15", found: "#c026d3", paler: 0.55,
	less: [96, 160, 214], same: [222, 218, 212], more: [240, 146, 62],
	line: "#e2d9cd", soft: "#655a50", picked: [222, 180, 116],
	lines: ["#b45309", "#1d6fb8", "#15803d", "#a21caf", "#be123c", "#0e7490", "#7a6500", "#6b7280"],
};
export const DARK = {
	user: ["#6f5733", "#754d34", "#5f5546", "#695d38", "#744638", "#59533f", "#7a5440", "#60503f", "#6d6249", "#6e4d3e"],
	kernel: "#43566a", note: "#8a443c", root: "#3a342e", rest: "#82796f",
	text: "#f6efe7", page: "#1d1916", mark: "#ffffff", found: "#f0abfc", paler: 0.6,
	less: [34, 94, 148], same: [86, 82, 78], more: [170, 86, 16],
	line: "#3d362f", soft: "#b9aea2", picked: [122, 94, 54],
	lines: ["#f5a524", "#60a5fa", "#4ade80", "#e879f9", "#fb7185", "#22d3ee", "#d9c64a", "#9ca3af"],
};

/* FNV-1a over UTF-8, as in the SVG. */
export function stableHash(text) {
	let h = 2166136261;

	for (const byte of new TextEncoder().encode(text))
		h = Math.imul(h ^ byte, 16777619) >>> 0;
	return (h ^ (h >>> 16)) >>> 0;
}

const KINDS = ["native code", "inlined functions", "code without a binary", "functions without a name"];

function kindOf(frames, f) {
	if (frames.flags[f] & FRAME_UNNAMED)
		return 3;
	if (!frames.module[f])
		return 2;
	return frames.flags[f] & FRAME_INLINED ? 1 : 0;
}

/* What user code is coloured by: the text that tells it apart. */
export const GROUPINGS = {
	package: (frames, f) => frames.group[f],
	binary: (frames, f) => frames.module[f],
	file: (frames, f) => frames.file[f],
	kind: (frames, f) => KINDS[kindOf(frames, f)],
};

/* One of them, whatever an address says. */
export function groupingOf(name) {
	return Object.hasOwn(GROUPINGS, name) ? name : "package";
}

/* Texts of user code, those with most flat value in the whole profile first. */
function rankedTexts(p, frames, textOf) {
	const own = p.self[0][p.column], sums = new Map();

	p.flat ||= p.frame.reduce((flat, f, i) => {
		if (i)
			flat[f] += Math.abs(own[i]);
		return flat;
	}, new Float64Array(p.frames.n));
	for (let f = 0; f < frames.n; f++)
		if (!(frames.flags[f] & (FRAME_NOTE | FRAME_KERNEL)))
			sums.set(textOf(frames, f), 0);
	for (let f = 0; f < p.frames.n; f++) {
		const text = textOf(p.frames, f);
		if (sums.has(text))
			sums.set(text, sums.get(text) + p.flat[f]);
	}
	return [...sums].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)).map(([text]) => text);
}

/*
 * The tint of each text: the one its hash says, which is the SVG's, but for the largest of them
 * the next one where a larger one has it. What is chosen of the samples changes no tint.
 */
function tintsOf(p, frames, textOf) {
	const n = LIGHT.user.length, tints = new Map(), taken = new Set();

	for (const text of rankedTexts(p, frames, textOf)) {
		let tint = stableHash(text) % n;
		while (taken.size < n && taken.has(tint))
			tint = (tint + 1) % n;
		taken.add(tint);
		tints.set(text, tint);
	}
	return tints;
}

/* By frame: index of a colour of user code, or -1 for the kernel and -2 for notes. */
export function colourKeys({ p, frames }, grouping = "package") {
	const textOf = GROUPINGS[grouping], tints = grouping === "kind" ? null : tintsOf(p, frames, textOf);

	return Int8Array.from(frames.flags, (flags, f) => {
		if (flags & FRAME_NOTE)
			return -2;
		if (flags & FRAME_KERNEL)
			return -1;
		return tints ? tints.get(textOf(frames, f)) : KIND_COLOURS[kindOf(frames, f)];
	});
}

/* Those of the palette that are told apart best. */
const KIND_COLOURS = [0, 4, 5, 2];

/*
 * All groups there are, those with most flat value first: { name, text, whole, self, colour }.
 * whole: the text is a binary's or a file's, and not the start of a name.
 */
export function groupsOf(model, grouping, palette) {
	const { frames } = model, keys = colourKeys(model, grouping), groups = new Map();

	for (let f = 0; f < frames.n; f++) {
		const self = Math.abs(model.functions[0].self[f]);
		let text = GROUPINGS[grouping](frames, f), name = (grouping === "binary" ? moduleName(text) : text) || "unknown", whole = grouping !== "package" && grouping !== "kind";
		if (keys[f] < 0) {
			name = keys[f] === -1 ? "kernel" : "the profiler’s notes";
			text = "";
			whole = false;
		} else if (grouping === "package" && !frames.name[f].startsWith(text)) {
			whole = true;
		}
		if (!self)
			continue;
		const key = text || name, group = groups.get(key) || { name, text, whole, self: 0, colour: frameColour(palette, keys[f]) };
		group.self += self;
		groups.set(key, group);
	}
	return [...groups.values()].sort((a, b) => b.self - a.self || (a.name < b.name ? -1 : 1));
}

export function frameColour(palette, key) {
	if (key === -2)
		return palette.note;
	return key === -1 ? palette.kernel : palette.user[key];
}

/*
 * How a difference is drawn, from -1 (less) over 0 (within noise) to 1 (more): what the total
 * has changed by, as a part of the larger side.
 */
export function changeOf(old, now, noise) {
	const delta = now - old, most = Math.max(Math.abs(old), Math.abs(now));

	if (Math.abs(delta) <= noise || !most)
		return 0;
	return Math.sign(delta) * Math.min(1, 0.25 + 0.75 * Math.abs(delta) / most);
}

export function changeColour(palette, change) {
	const to = change < 0 ? palette.less : palette.more, part = Math.abs(change);
	const mixed = palette.same.map((v, i) => Math.round(v + (to[i] - v) * part));

	return `rgb(${mixed.join(" ")})`;
}
