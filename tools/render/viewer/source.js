/* SPDX-License-Identifier: Apache-2.0 */
/* The lines of one function with what each is worth, as -f lines: source text where there is some. */
import { byId, element } from "./card.js";
import { formatDelta, formatShare, formatValue, plural } from "./format.js";

const SOURCE_ROWS_MAX = 2000;

/* Frames of a function by file, in order of lines: [file, frames] of each. */
export function linesOfFunction(model, name) {
	const { frames, functions } = model, files = new Map();

	for (let f = 0; f < frames.n; f++) {
		if (frames.of[f] !== name || !functions.some((s) => s.self[f] || s.total[f]))
			continue;
		if (!files.has(frames.file[f]))
			files.set(frames.file[f], []);
		files.get(frames.file[f]).push(f);
	}
	return [...files].sort((a, b) => (a[0] < b[0] ? -1 : 1))
		.map(([file, own]) => [file, own.sort((a, b) => frames.line[a] - frames.line[b])]);
}

/* Numbers of lines with the frame of each, if it has one, and null where some are left out. */
export function listing(model, own, source) {
	const frameOf = new Map(own.map((f) => [model.frames.line[f], f])), { line } = model.frames, rows = [];
	let last = 0;

	for (const f of own) {
		const around = source && source.has(line[f]) ? [-2, -1, 0, 1, 2].map((k) => line[f] + k).filter((k) => source.has(k)) : [line[f]];
		for (const number of around) {
			if (number <= last)
				continue;
			if (last && number > last + 1 && source && source.has(number))
				rows.push(null);
			rows.push({ number, frame: frameOf.has(number) ? frameOf.get(number) : -1, text: (source && source.get(number)) || "" });
			last = number;
		}
		/* a line that is not known has no number */
		if (!line[f])
			rows.push({ number: 0, frame: f, text: "" });
	}
	return rows;
}

export class SourceList {
	constructor() {
		this.root = byId("source");
	}

	/* model: line by line; name: of the function, or "" */
	fill(model, name) {
		const files = name ? linesOfFunction(model, name) : [];

		this.root.replaceChildren();
		if (!files.length) {
			this.say(name ? `No lines are known of ${name}.` : "Choose a function, in the tree or the table, to see its lines.");
			return;
		}
		let room = SOURCE_ROWS_MAX;
		for (const [file, own] of files) {
			const source = model.p.sources && model.p.sources.get(file), rows = listing(model, own, source);
			this.putHeading(model, name, file, own);
			this.root.append(...rows.slice(0, room).map((row_) => this.row(model, row_)));
			if (rows.length > room)
				this.say(`${plural(rows.length - room, "line", "lines")} more`);
			room = Math.max(0, room - rows.length);
		}
		if (!model.p.sources)
			this.say("prof-render --source DIR puts the source text beside the lines.");
	}

	say(text) {
		this.root.append(element("p", "soft", text));
	}

	putHeading(model, name, file, own) {
		const flats = model.functions.map((s) => own.reduce((sum, f) => sum + s.self[f], 0)), { unit } = model;
		const flat = model.isDiff ? `flat ${formatValue(flats[0], unit)}, then ${formatValue(flats[1], unit)}` : `flat ${formatValue(flats[0], unit)}, ${formatShare(flats[0], model.whole)}`;
		const heading = element("p", "heading", name), columns = model.isDiff ? ["Old", "New", "Delta"] : ["Flat", "Total"];

		if (file)
			heading.append(element("span", "soft", ` in ${file}`));
		heading.append(element("span", "soft", ` · ${flat}`));
		const head = element("div", "line head");
		head.append(...columns.map((text) => element("span", "cell", text)), element("span", "cell number", "Line"));
		this.root.append(heading, head);
	}

	row(model, row_) {
		const line = element("div", row_ && row_.frame >= 0 ? "line" : "line soft"), columns = model.isDiff ? 3 : 2;

		if (!row_) {
			line.append(element("span", "gap", "⋯"));
			return line;
		}
		const texts = row_.frame >= 0 ? this.texts(model, row_.frame) : Array(columns).fill("");
		line.append(...texts.map((t) => element("span", "cell", t)), element("span", "cell number", row_.number || "?"), element("code", "", row_.text));
		if (row_.frame >= 0) {
			const part = model.functions[model.last].total[row_.frame] / (model.total[model.last][0] || 1);
			line.style.setProperty("--part", Math.max(0, Math.min(1, part)));
			line.dataset.frame = row_.frame;
		}
		return line;
	}

	/* flat and total; of a difference both totals and what changed */
	texts(model, f) {
		const { functions, unit } = model;

		return model.isDiff ? [formatValue(functions[0].total[f], unit), formatValue(functions[1].total[f], unit), formatDelta(functions[1].total[f] - functions[0].total[f], unit)]
			: [formatValue(functions[0].self[f], unit), formatValue(functions[0].total[f], unit)];
	}
}
