/* SPDX-License-Identifier: Apache-2.0 */
/* The data block: from base64 of gzip to columns. tools/render/html_data.h has the format. */

const VERSION = 1;
const STRINGS = 1, DOCUMENT = 2, PROFILE = 3, FRAMES = 4, POPS = 5, NODES = 6, INLINED = 7, SELF = 8, MULTIPLE = 9,
	GAUGES = 10, MODULES = 11, BINS = 12, LABELS = 13, CELLS = 14, CELL_VALUES = 15, CELL_MULTIPLE = 16,
	LINES = 17, FUNCTIONS = 18, SOURCES = 19, CELL_SUMS = 20;

export const HAS_NEGATIVE = 1;
export const LEVELS = ["functions", "lines", "files", "binaries", "addresses"];
export const FRAME_INLINED = 1, FRAME_KERNEL = 2, FRAME_NOTE = 4, FRAME_UNNAMED = 8;

export class Reader {
	constructor(bytes) {
		this.bytes = bytes;
		this.at = 0;
	}

	/* Numbers are exact up to 2^53, by products: shifts would stop at 2^31. */
	number() {
		let byte = this.byte(), v = byte & 0x7f, factor = 128;

		while (byte & 0x80) {
			byte = this.byte();
			v += (byte & 0x7f) * factor;
			factor *= 128;
		}
		return v;
	}

	/* Zigzag; the lowest bit is the sign and is taken off first, so that 2^53 is exact. */
	signed() {
		let byte = this.byte(), v = (byte & 0x7f) >> 1, factor = 64;
		const sign = byte & 1;

		while (byte & 0x80) {
			byte = this.byte();
			v += (byte & 0x7f) * factor;
			factor *= 128;
		}
		return sign ? -1 - v : v;
	}

	byte() {
		if (this.at >= this.bytes.length)
			throw new Error("the data ends too soon");
		return this.bytes[this.at++];
	}

	double() {
		const view = new DataView(this.bytes.buffer, this.bytes.byteOffset + this.at, 8);

		this.at += 8;
		return view.getFloat64(0, true);
	}

	take(n) {
		if (n > this.bytes.length - this.at)
			throw new Error("the data ends too soon");
		this.at += n;
		return this.bytes.subarray(this.at - n, this.at);
	}

	/* Many at once, without a call for each byte. */
	numbers(n, out = new Array(n)) {
		const { bytes } = this;
		let { at } = this;

		for (let i = 0; i < n; i++) {
			let byte = bytes[at++], v = byte & 0x7f;
			for (let factor = 128; byte & 0x80; factor *= 128) {
				byte = bytes[at++];
				v += (byte & 0x7f) * factor;
			}
			out[i] = v;
		}
		this.skipTo(at);
		return out;
	}

	signeds(n, out = new Float64Array(n)) {
		const { bytes } = this;
		let { at } = this;

		for (let i = 0; i < n; i++) {
			let byte = bytes[at++], v = (byte & 0x7f) >> 1;
			const sign = byte & 1;
			for (let factor = 64; byte & 0x80; factor *= 128) {
				byte = bytes[at++];
				v += (byte & 0x7f) * factor;
			}
			out[i] = sign ? -1 - v : v;
		}
		this.skipTo(at);
		return out;
	}

	/* Past the end nothing is read but zeros; who has come there has read too much. */
	skipTo(at) {
		if (at > this.bytes.length)
			throw new Error("the data ends too soon");
		this.at = at;
	}
}

function readTexts(r) {
	const n = r.number(), lengths = r.numbers(n, new Int32Array(n));

	return { lengths, bytes: r.take(r.bytes.length - r.at).slice() };
}

/* Of ASCII, which is most often all there is, each byte is a character: one text is cut apart. */
function stringsOf({ lengths, bytes }) {
	const decoder = new TextDecoder(), all = decoder.decode(bytes), isAscii = all.length === bytes.length;
	let at = 0;

	return Array.from(lengths, (length) => {
		const from = at;
		at += length;
		return isAscii ? all.slice(from, at) : decoder.decode(bytes.subarray(from, at));
	});
}

/* "V name=NAME" of each fact named verdict, as prof-diff writes them. */
export function verdictsOf(facts) {
	const found = new Map();

	for (const [key, value] of facts) {
		const at = key === "verdict" ? value.indexOf(" name=") : -1;

		if (at >= 0)
			found.set(value.slice(at + 6), value.slice(0, at));
	}
	return found;
}

function readProfile(r, strings) {
	const text = () => strings[r.number()];
	const p = { flags: r.number(), level: LEVELS[r.number()], time: text(), duration: text(), seconds: r.double() };

	p.filters = Array.from({ length: r.number() }, text);
	const facts = Array.from({ length: r.number() }, () => [text(), text()]);
	p.facts = new Map(facts);
	/* of a difference that was tested: which functions changed, by name; all others did not */
	p.verdicts = p.facts.has("tested") ? verdictsOf(facts) : null;
	p.sides = r.number();
	const n = r.number();
	p.column = r.number();
	p.columns = Array.from({ length: n }, () => {
		const column = { type: text(), unit: text(), shift: r.number(), totals: [] };
		for (let side = 0; side < p.sides; side++)
			column.totals.push(r.signed() * 2 ** column.shift);
		return column;
	});
	p.self = Array.from({ length: p.sides }, () => new Array(n));
	return p;
}

function readFrames(r) {
	const n = r.number(), ids = () => r.numbers(n, new Int32Array(n));

	return { n, name: ids(), file: ids(), line: r.signeds(n), module: ids(), group: ids(), flags: r.numbers(n) };
}

/* Parents and depths; the root is node 0. */
function readShape(r, p) {
	const n = r.number() + 1;

	const pops = r.numbers(n - 1, new Int32Array(n - 1)), parent = new Int32Array(n), depth = new Int32Array(n);

	parent[0] = -1;
	for (let i = 1; i < n; i++) {
		let at = i - 1;
		for (let up = pops[i - 1]; up && at >= 0; up--)
			at = parent[at];
		if (at < 0)
			throw new Error("the data has a node without a caller");
		parent[i] = at;
		depth[i] = depth[at] + 1;
	}
	Object.assign(p, { n, parent, depth });
}

function readNodes(r, p) {
	p.frame = new Int32Array(p.n);
	p.frame[0] = -1;
	r.numbers(p.n - 1, p.frame.subarray(1));
}

/* Each multiplied; the array itself where that changes nothing. */
export function times(values, factor) {
	if (factor === 1)
		return values;
	const out = new Float64Array(values.length);
	for (let i = 0; i < out.length; i++)
		out[i] = values[i] * factor;
	return out;
}

function readSelf(r, p) {
	const side = r.number(), column = r.number();

	p.self[side][column] = times(r.signeds(p.n), 2 ** p.columns[column].shift);
}

function readMultiple(r, p) {
	const side = r.number(), column = r.number(), of = r.number(), factor = r.number();

	p.self[side][column] = times(p.self[side][of], factor);
}

function readGauges(r, p) {
	for (const c of p.columns)
		c.gauge = r.number() === 1;
}

function readModules(r, p, strings) {
	p.builds = new Map();
	while (r.at < r.bytes.length)
		p.builds.set(strings[r.number()], strings[r.number()]);
}

/*
 * Starts are kept as seconds and nanoseconds: together they do not fit into a number. Targets,
 * the machines and instances there are, are numbers of label sets; none if there is one only.
 */
function readBins(r, p) {
	const n = r.number();

	p.windows = r.number() === 1;
	p.bins = Array.from({ length: n }, () => ({
		start: { s: r.signed(), ns: r.number() }, length: r.number(), wall: r.number(), merged: r.number() }));
	p.targets = Array.from({ length: r.number() }, () => r.number());
	for (const bin of p.targets.length ? p.bins : [])
		bin.parts = Array.from({ length: r.number() }, () => ({ target: r.number(), wall: r.number(), merged: r.number() }));
}

function readLabels(r, p, strings) {
	const text = () => strings[r.number()];
	const keys = Array.from({ length: r.number() }, text);
	const leftOut = Array.from({ length: r.number() }, () => ({ key: text(), values: r.number() }));
	const values = Array.from({ length: r.number() }, text);
	const sets = Array.from({ length: r.number() }, () =>
		Array.from({ length: r.number() }, () => [keys[r.number()], values[r.number()]]));

	p.labels = { keys, leftOut, sets };
}

/* Cells by node: those of node i are [start[i], start[i + 1]); the last are of no node. */
function readCells(r, p) {
	const n = r.number(), start = new Int32Array(p.n + 2);

	r.numbers(p.n + 1, start.subarray(1));
	for (let i = 0; i <= p.n; i++)
		start[i + 1] += start[i];
	const set = r.numbers(n, new Int32Array(n)), bin = r.numbers(n, new Int32Array(n));
	for (let i = 0; i <= p.n; i++)
		for (let k = start[i] + 1; k < start[i + 1]; k++)
			bin[k] += set[k] === set[k - 1] ? bin[k - 1] : 0;
	p.cells = { n, start, set, bin, values: [] };
	/* the empty set is there in any case */
	p.labels.used = Uint8Array.from(p.labels.sets, () => 0);
	set.forEach((s) => { p.labels.used[s] = 1; });
}

function readCellValues(r, p) {
	const column = r.number();

	p.cells.values[column] = times(r.signeds(p.cells.n), 2 ** p.columns[column].shift);
}

function readCellMultiple(r, p) {
	const column = r.number(), of = r.number(), factor = r.number();

	p.cells.values[column] = times(p.cells.values[of], factor);
}

/* Each node's own values are those of its cells together. */
function readCellSums(r, p) {
	const { start, values } = p.cells;

	p.self[0] = values.map((v) => {
		const self = new Float64Array(p.n);
		for (let i = 0; i < p.n; i++) {
			let sum = 0;
			for (let k = start[i], end = start[i + 1]; k < end; k++)
				sum += v[k];
			self[i] = sum;
		}
		return self;
	});
}

/* By frame of lines the name of its function, which is what its line numbers are of. */
function readFunctions(r, p) {
	p.frames.of = r.numbers(p.frames.n, new Int32Array(p.frames.n));
}

/* By file its known lines: text by number. */
function readSources(r, p, strings) {
	p.sources = new Map();
	for (let files = r.number(); files; files--) {
		const file = strings[r.number()], lines = new Map();
		let number = 0;
		for (let n = r.number(); n; n--) {
			number += r.number();
			lines.set(number, strings[r.number()]);
		}
		p.sources.set(file, lines);
	}
}

/* The same profile line by line, which what follows belongs to. */
function linesOfProfile(p) {
	p.lines = { ...p, frames: null, cells: null, self: p.self.map((columns) => new Array(columns.length)), inlinedBits: null };
	return p.lines;
}

/* What each section is read by: from its reader, into the profile it belongs to. */
const COLUMNS = {
	[POPS]: readShape,
	[NODES]: readNodes,
	[INLINED]: (r, p) => { p.inlinedBits = r.bytes.slice(); },
	[SELF]: readSelf,
	[MULTIPLE]: readMultiple,
	[GAUGES]: readGauges,
	[MODULES]: readModules,
	[BINS]: readBins,
	[LABELS]: readLabels,
	[CELLS]: readCells,
	[CELL_VALUES]: readCellValues,
	[CELL_MULTIPLE]: readCellMultiple,
	[CELL_SUMS]: readCellSums,
	[FUNCTIONS]: readFunctions,
	[SOURCES]: readSources,
};

/*
 * { title, version, profiles, texts } of the inflated block. What frames are called is not yet
 * looked up: a worker can hand this to the page at once, as it has few strings.
 */
export function decode(bytes) {
	const r = new Reader(bytes), data = { profiles: [], texts: null };
	const version = r.number();
	let strings, p;

	if (version !== VERSION)
		throw new Error(`the data has version ${version}, this page reads ${VERSION}`);
	while (r.at < bytes.length) {
		const tag = r.number(), length = r.number(), section = new Reader(r.take(length));
		if (tag === STRINGS) {
			data.texts = readTexts(section);
			strings = stringsOf(data.texts);
		} else if (tag === DOCUMENT) {
			data.title = strings[section.number()];
			data.version = strings[section.number()];
		} else if (tag === PROFILE) {
			p = readProfile(section, strings);
			data.profiles.push(p);
		} else if (tag === LINES) {
			p = linesOfProfile(p);
		} else if (tag === FRAMES) {
			p.frames = readFrames(section);
		} else if (COLUMNS[tag]) {
			COLUMNS[tag](section, p, strings);
		}
	}
	return data;
}

/* Texts for their numbers. */
export function nameFrames(data) {
	const strings = data.texts ? stringsOf(data.texts) : [];

	for (const p of data.profiles)
		for (const frames of p.lines ? [p.frames, p.lines.frames] : [p.frames])
			for (const key of ["name", "file", "module", "group", ...(frames.of ? ["of"] : [])])
				frames[key] = Array.from(frames[key], (id) => strings[id]);
	delete data.texts;
	return data;
}

export function fromBase64(text) {
	if (Uint8Array.fromBase64)
		return Uint8Array.fromBase64(text);
	const binary = atob(text.trim()), bytes = new Uint8Array(binary.length);
	for (let i = 0; i < binary.length; i++)
		bytes[i] = binary.charCodeAt(i);
	return bytes;
}

export async function gunzip(bytes) {
	const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));

	return new Uint8Array(await new Response(stream).arrayBuffer());
}

/* What there is of one thing only: what large arrays are in. */
export function buffersOf(data) {
	const arrays = (p) => [p.parent, p.depth, p.frame, p.inlinedBits, ...p.self.flat(),
		...(p.cells ? [p.cells.start, p.cells.set, p.cells.bin, ...p.cells.values] : []), ...(p.lines ? arrays(p.lines) : [])];

	return [...new Set([data.texts?.bytes, ...data.profiles.flatMap(arrays)].filter((a) => a).map((a) => a.buffer))];
}
