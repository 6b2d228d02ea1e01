/* SPDX-License-Identifier: Apache-2.0 */
/* unit.mjs DIR: the pure parts of the viewer, whose modules are in DIR. */
import { is, ok } from "./harness.mjs";

const dir = process.argv[2];
const load = (name) => import(`${dir}/${name}.js`);
const { Reader, verdictsOf } = await load("data");
const { formatDelta, formatShare, formatValue, nanoseconds } = await load("format");
const { fitName, moduleName, nameForms, textColumns } = await load("names");
const { Model, statusOf } = await load("model");
const { compareOf, viewOf } = await load("view");
const { linesOf, mergedOf, rangeText, rateUnit, ratesOf, secondsOf, sumOf, timeText } = await load("explore");
const { fits, parseSelector, quote } = await load("selector");
const { readPath, readState, pathState, writeState } = await load("state");
const { grow } = await load("grow");
const { growInverted } = await load("invert");
const { PRESETS, readFilters, writeFilters } = await load("shaper");
const { exactly } = await load("menu");
const { groupExpression } = await load("legend");
const { linesOfFunction, listing } = await load("source");
const { mostChanged, pointsText, releasesOf, sharesOf, trendKeys } = await load("trend");
const { Timeline, rateText, roundStep, ticksOf } = await load("timeline");
const { Layout } = await load("layout");
const { search } = await load("search");
const { changeOf, groupingOf, groupsOf, stableHash, LIGHT } = await load("colour");

/* --- numbers ------------------------------------------------------------------------------ */
const bytes = (...v) => new Reader(Uint8Array.from(v));
is(bytes(0xac, 0x02).number(), 300, "varint");
is(bytes(0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x0f).number(), 2 ** 53 - 1, "varint of 2^53 - 1");
is([bytes(0).signed(), bytes(1).signed(), bytes(2).signed(), bytes(0x7f).signed(), bytes(0x80, 1).signed()], [0, -1, 1, -64, 64], "zigzag");
is(bytes(0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x20).signed(), 2 ** 53, "zigzag of 2^53 is exact");
is(bytes(0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x1f).signed(), -(2 ** 53), "zigzag of -2^53 is exact");
let message = "";
try {
	bytes(0x80).number();
} catch (e) {
	message = e.message;
}
is(message, "the data ends too soon", "a cut varint is told");

is([formatValue(1250000000, "nanoseconds"), formatValue(0, "count"), formatValue(-1536, "bytes"), formatValue(999, "ns"),
	formatValue(7200e9, "nanoseconds"), formatValue(0.5, "bytes"), formatValue(12, "bananas"), formatValue(2, "megabytes")],
["1.25s", "0", "-1.50kB", "999ns", "2hrs", "0.50B", "12", "2MB"], "values with units");
is([formatShare(1, 3), formatShare(1, 0), formatShare(2, 2), formatShare(1, 1500), formatShare(0, 9), formatShare(999, 1e5)],
["33.33%", "–", "100%", "0.067%", "0%", "1.00%"], "shares");
is([formatDelta(-5, "count"), formatDelta(5, "count"), formatDelta(0, "count")], ["−5", "+5", "0"], "differences have a sign");
is([nanoseconds("ms"), nanoseconds("count"), nanoseconds("hours")], [1e6, 0, 3600e9], "units of time");

/* --- names -------------------------------------------------------------------------------- */
is(nameForms("std::map<int, std::string>::find(int const&) const")[1], "std::map::find", "without arguments");
is(fitName("github.com/a/b/http2.(*Server).Serve", 22), "http2.(*Server).Serve", "Go without the path");
is(fitName("a::bb::ccc::dddd::Class::method", 13), "Class::method", "C++ without namespaces");
is(fitName("operator<<", 40), "operator<<", "operators keep their brackets");
is(fitName("averyveryverylongnamewithoutparts", 15), "averyve…utparts", "cut in the middle");
is(fitName("averyveryverylongnamewithoutparts", 9), "averyver…", "cut at the end where there is little room");
is(fitName("a_rather_long_name.isra.0", 9), "a_rather…", "a copy's suffix is no name");
is([textColumns("漢字"), fitName("漢字漢字", 6)], [4, "漢字…"], "wide characters take two columns");
is([moduleName("/usr/bin/app"), moduleName("[kernel.kallsyms]_stext"), moduleName("/")], ["app", "[kernel.kallsyms]", "/"], "modules");
is(fitName("x", 1), "x", "one column");

/* --- a random tree ------------------------------------------------------------------------ */
let seed = 12345;
const random = (n) => {
	seed = (Math.imul(seed, 1103515245) + 12345) >>> 0;
	return Math.floor(seed / 2 ** 32 * n);
};

function randomProfile(n, functions, sides) {
	const p = { n, sides, flags: 0, seconds: 10, facts: new Map(), columns: [{ type: "samples", unit: "count", shift: 0, totals: [] }],
		parent: new Int32Array(n), depth: new Int32Array(n), frame: new Int32Array(n), self: [],
		frames: { n: functions, name: Array.from({ length: functions }, (_, i) => `f${i}`), flags: new Array(functions).fill(0) },
		inlinedBits: new Uint8Array(n) };
	p.parent[0] = p.frame[0] = -1;
	for (let i = 1; i < n; i++) {
		let at = i - 1;
		for (let pops = random(3) * random(4); pops && at; pops--)
			at = p.parent[at];
		p.parent[i] = at;
		p.depth[i] = p.depth[at] + 1;
		p.frame[i] = random(functions);
	}
	for (let side = 0; side < sides; side++) {
		p.self.push([Float64Array.from({ length: n }, () => (random(3) ? 0 : random(1000)))]);
		p.columns[0].totals.push(p.self[side][0].reduce((a, b) => a + b, 0));
	}
	return p;
}

const above = (p, i) => {
	const out = [];
	for (let at = p.parent[i]; at > 0; at = p.parent[at])
		out.push(at);
	return out;
};

for (const sides of [1, 2]) {
	const p = randomProfile(3000, 40, sides), model = new Model(viewOf(p, 0)), layout = new Layout(model);
	/* straight from the definition: each node, all its callers */
	const self = new Array(40).fill(0), total = new Array(40).fill(0);
	const marked = Uint8Array.from({ length: 40 }, (_, f) => f % 7 === 0);
	let found = 0;
	for (let i = 1; i < p.n; i++) {
		const stack = [i, ...above(p, i)].map((at) => p.frame[at]);
		self[p.frame[i]] += p.self[0][0][i];
		for (const f of new Set(stack))
			total[f] += p.self[0][0][i];
		if (stack.some((f) => marked[f]))
			found += p.self[0][0][i];
	}
	is(Array.from(model.functions[0].self), self, `self by function, ${sides} side(s)`);
	is(Array.from(model.functions[0].total), total, `total by function counts recursion once, ${sides} side(s)`);
	is(model.sumOfMarked(marked, 0, model.n, 0), found, `what is found is not counted twice, ${sides} side(s)`);

	let inside = true, filled = true;
	for (let i = 1; i < p.n; i++) {
		const up = p.parent[i];
		inside = inside && layout.x[i] >= layout.x[up] - 1e-9 && layout.x[i] + layout.size[i] <= layout.x[up] + layout.size[up] + 1e-9;
	}
	ok(inside, `no box leaves its caller's, ${sides} side(s)`);

	/* leaps against looking at each box */
	for (let round = 0; round < 60; round++) {
		const row = random(layout.rows), x0 = layout.total * random(1000) / 2000, x1 = x0 + layout.total * (1 + random(500)) / 1000;
		const scale = 300 / (x1 - x0), boxes = layout.boxes(row, x0, x1, 300);
		const drawn = new Set();
		for (const b of boxes) {
			if (b.first === b.last)
				drawn.add(b.first);
			for (let k = b.first; k <= b.last; k++) {
				drawn.add(k);
				filled = filled && (b.first === b.last || (layout.right[k] - layout.left[k]) * scale < 1);
			}
		}
		for (let k = layout.rowStart[row]; k < layout.rowStart[row + 1]; k++)
			if (layout.right[k] > x0 + 1e-6 && layout.left[k] < x1 - 1e-6)
				filled = filled && drawn.has(k);
		for (let i = 1; i < boxes.length; i++)
			filled = filled && boxes[i].first === boxes[i - 1].last + 1;
	}
	ok(filled, `each box in view is drawn, alone or with narrow neighbours, ${sides} side(s)`);
}

{
	const p = randomProfile(50, 5, 2), model = new Model(viewOf(p, 0));
	const [old, now] = p.columns[0].totals;
	is(Math.abs(new Layout(model, "mean").total - 1) < 1e-9, true, "shares of both sides make one whole");
	const i = p.n - 1, at = (width) => new Layout(model, width).size[i];
	ok(Math.abs(at("old") - model.total[0][i] / old) < 1e-12 && Math.abs(at("new") - model.total[1][i] / now) < 1e-12,
		"widths are shares of the old or the new total");
	p.columns[0].totals[0] = 0;
	p.self[0][0].fill(0);
	ok(Math.abs(new Layout(new Model(viewOf(p, 0)), "mean").total - 1) < 1e-9, "an empty side leaves the widths to the other one");
}
is([statusOf(0, 1), statusOf(1, 0), statusOf(1, 2), statusOf(0, 0)], ["new", "gone", "", ""], "status");
is([...verdictsOf([["norm", "share"], ["verdict", "regressed name=a name=b"], ["verdict", "odd"]])], [["a name=b", "regressed"]],
	"verdicts of prof-diff by name");
is([changeOf(10, 10, 0), changeOf(100, 99, 2), changeOf(0, 5, 1), changeOf(5, 0, 1)], [0, 0, 1, -1], "change within noise is none");

/* --- search ------------------------------------------------------------------------------- */
{
	const frames = { n: 4, name: ["Read", "thread", "a.b", "acb"] };
	const find = (text, options = {}) => {
		const r = search(frames, text, options);
		return r.marked ? Array.from(r.marked).join("") : r.error ? "error" : "none";
	};
	is([find("read"), find("Read", { matchCase: true }), find("a.b"), find("a.b", { regex: true }), find(""), find("(", { regex: true })],
		["1100", "1000", "0010", "0011", "none", "error"], "text, case, pattern, nothing, a bad pattern");
}
is([1e9, 2e9, 0].map((v) => rateText({ type: "cpu", unit: "nanoseconds" }, v / 1e9)), ["1 core", "2 cores", "0 cores"], "one core");
is(stableHash("main"), 0xea900898, "FNV-1a, folded");

/* --- selectors ---------------------------------------------------------------------------- */
{
	const sets = [[["comm", "api"], ["pod", "a-1"]], [["comm", "db"]], [["comm", "x\"y"], ["pod", "a-2"], ["pod", "b"]]];
	const chosen = (text) => sets.map((s) => (fits(parseSelector(text), s) ? 1 : 0)).join("");
	is(['comm="api"', "{comm=api}", 'pod=""', 'pod!=""', 'pod=~"a-.*"', 'pod!~"a-.*"', 'pod!="b"', 'comm=~"a|d"', 'comm=~"api|db", pod=""', ""].map(chosen),
		["100", "100", "010", "101", "101", "010", "110", "000", "010", "111"], "label selectors, as -s has them");
	is(chosen(`comm=${quote('x"y')}`), "001", "a quoted value is read back");
}

/* --- time and labels ------------------------------------------------------------------------ */
{
	const p = randomProfile(200, 10, 1), cells = { n: 0, start: new Int32Array(p.n + 2), set: [], bin: [], values: [[]] };
	p.labels = { keys: ["k"], leftOut: [], sets: [[], ...Array.from({ length: 12 }, (_, i) => [["k", `v${i}`]])], used: new Uint8Array(13).fill(1) };
	p.bins = Array.from({ length: 5 }, (_, i) => ({ start: { s: 100 + 10 * i, ns: 5e8 }, length: 1e10, wall: 1e10, merged: 1 }));
	for (let i = 0; i <= p.n; i++) {
		const some = random(6);
		p.self[0][0][i] = 0;
		for (let k = 0; k < some; k++) {
			cells.set.push(1 + random(12));
			cells.bin.push(random(6));
			cells.values[0].push(random(50));
			if (i < p.n)
				p.self[0][0][i] += cells.values[0].at(-1);
		}
		cells.start[i + 1] = cells.start[i] + some;
	}
	cells.n = cells.set.length;
	p.cells = cells;
	p.columns[0].totals = [cells.values[0].reduce((a, b) => a + b, 0)];
	/* straight from the definition */
	const sumBy = (wanted) => {
		const self = new Array(p.n).fill(0);
		for (let i = 0; i < p.n; i++)
			for (let k = cells.start[i]; k < cells.start[i + 1]; k++)
				if (wanted(k))
					self[i] += cells.values[0][k];
		return self;
	};
	const terms = parseSelector('k=~"v[1-4]"'), some = { from: 1, to: 3, terms };
	is(Array.from(sumOf(p, 0, some).self), sumBy((k) => cells.bin[k] >= 1 && cells.bin[k] < 3 && cells.set[k] >= 2 && cells.set[k] <= 5), "a part of time and labels");
	is(Array.from(sumOf(p, 0, { from: -1, to: -1, terms: [] }).self), Array.from(p.self[0][0]), "all is all, what has no time too");
	is(sumOf(p, 0, { from: -1, to: -1, terms: parseSelector("k!=v99") }).total, p.columns[0].totals[0], "what filters left out is in the total");
	const lines = linesOf(p, 0, "k", []);
	is([lines.length, lines.at(-1).rest], [8, 5], "the smallest lines are one");
	is(lines.reduce((sum, l) => sum + l.sums.reduce((a, b) => a + b, 0), 0), cells.values[0].reduce((sum, v, k) => sum + (cells.bin[k] < 5 ? v : 0), 0), "lines add up");
	/* two machines, of which labels k v1 and v2 are; the second pauses in bin 1 */
	const twice = { ...p, targets: [2, 3], bins: p.bins.map((bin, i) => ({ ...bin, merged: i === 1 ? 1 : 2,
		parts: [{ target: 0, wall: 1e10, merged: 1 }, { target: 1, wall: 5e9, merged: 1 }].slice(0, i === 1 ? 1 : 2) })) };
	const machines = parseSelector('k=~"v[12]"'), pair = linesOf(twice, 0, "k", machines).sort((a, b) => (a.name < b.name ? -1 : 1));
	is(pair.map((l) => ratesOf(twice, 0, l, "k", machines)), [pair[0].sums.map((v) => v / 10), pair[1].sums.map((v) => v / 5)].map((v, i) => Array.from(v, (r, b) => (i && b === 1 ? null : r))),
		"rates of a machine are of its own time, with a gap where it has none");
	/* drawn 4 px a second, from 72 on */
	const drawing = Object.assign(Object.create(Timeline.prototype), { width: 482, span: 100, top: 1, bottom: 0,
		p: { windows: false, bins: [[0, 60e9], [60, 10e9], [70, 10e9], [80, 10e9]].map(([s, length]) => ({ start: { s, ns: 0 }, length, wall: 10e9 })) } });
	is(drawing.runsOf({ rates: [1, 1, null, 1] }).map((run) => run.map(([left, right]) => [left, right])), [[[72, 112]], [[312, 352]], [[392, 432]]],
		"a pause is a gap in a line, and so is where it has nothing");
	const one = { from: 0, to: 3, terms: parseSelector('k="v2"') };
	is([mergedOf(twice, one), secondsOf(twice, one), mergedOf(twice, { ...one, terms: [] }), secondsOf(twice, { ...one, from: -1 })], [2, 10, 5, 20],
		"and so is what a part is divided by");
	is(rangeText(p, 1, 3), { since: "1970-01-01T00:01:50.5Z", until: "1970-01-01T00:02:10.5Z" }, "a range as text");
	is(timeText({ s: 1e15, ns: 0 }), "@1000000000000000", "a time without a date");
	const both = compareOf(p, 0, { from: 0, to: 1, terms: [] }, { from: 1, to: 3, terms: [] }, true), model = new Model(both);
	is([both.factor, model.isDiff, model.totals[1]], [2, true, sumOf(p, 0, { from: 1, to: 3, terms: [] }).total], "a comparison scales the old side by time");
	is([rateUnit({ type: "cpu", unit: "nanoseconds" }).suffix, rateUnit({ type: "alloc_space", unit: "bytes" }).suffix, rateUnit({ type: "inuse_space", unit: "bytes", gauge: true }).suffix],
		[" cores", "/s", ""], "what lines are in");
	is([roundStep(1, 3), roundStep(70, 3), roundStep(1e9, 4)], [0.5, 50, 5e8], "round steps");

	/* the address */
	const deep = p.depth.indexOf(Math.max(...p.depth)), plain = new Model(viewOf(p, 0)), way = readPath(plain, pathState(plain, deep));
	const names = (node) => [node, ...above(p, node)].filter((i) => i > 0).map((i) => p.frame[i]);
	is([names(way.node), way.whole], [names(deep), true], "the way to a node, by names");
	const part = readPath(plain, `${pathState(plain, p.parent[deep])}.nowhere`);
	is([names(part.node), part.whole], [names(p.parent[deep]), false], "as far as it is there");
	const state = { t: "1/0", q: "a&b=#%", s: 'k="é"', none: "" };
	is(readState(`#${writeState(state)}`), { t: "1/0", q: "a&b=#%", s: 'k="é"' }, "state there and back");
	is(readState("#t=%E0%A4%A&x&=&q=1"), { q: "1" }, "what cannot be read is passed over");
}

/*
 * A tree from the callees up that is grown in part: what is there is as in the whole one, what is
 * wider than a part is there, and all of what is in view has its sum.
 */
function partialInversion(view, whole, sides) {
	const all = new Model(whole), values = new Map(), hash = (name) => stableHash(name).toString(36);
	const wayTo = (model, node) => pathState(model, node).split(".").filter((h) => h);
	const key = (model, node) => wayTo(model, node).join(".");
	const share = (model, node) => model.total.reduce((sum, t, side) => sum + t[node] / model.totals[side], 0) / sides;

	for (let i = 0; i < all.n; i++)
		values.set(key(all, i), all.total.map((t) => t[i]));
	const deep = all.depth.findIndex((d, i) => d === 3 && all.end[i] - i > 4);
	for (const way of [[], wayTo(all, 1), wayTo(all, deep), [hash("f3"), "nothing"]]) {
		const part = new Model({ ...growInverted(view, way, 20), table: view }), known = new Set();
		let exact = true, below = 0;
		for (let i = 0; i < part.n; i++) {
			if (part.frame[i] === part.view.narrow) {
				below++;
				continue;
			}
			known.add(key(part, i));
			const want = values.get(key(part, i));
			exact = exact && part.total.every((t, side) => t[i] === want[side]);
		}
		const { node, whole: isThere } = readPath(part, way.join(".")), least = share(part, node) / 20;
		let missing = 0;
		for (let i = 0; i < all.n; i++)
			if (isThere && key(all, i).startsWith(key(part, node)) && share(all, i) >= least * 1.000001 && !known.has(key(all, i)))
				missing++;
		ok(exact && below > 0 && part.n < all.n, `in part: values as in the whole, from level ${way.length}, ${sides} side(s)`, [exact, below, part.n, all.n]);
		is(missing, 0, `in part: what is wide enough is there, from level ${way.length}, ${sides} side(s)`);
		is(part.total.map((t) => t[0]), all.total.map((t) => t[0]), `in part: the sum of all, from level ${way.length}, ${sides} side(s)`);
		const marked = Uint8Array.from(view.frames.name, (n) => (n === "f3" ? 1 : 0));
		is(part.total.map((_, side) => part.sumOfAllMarked(marked, side)), all.total.map((_, side) => all.sumOfMarked(marked, 0, all.n, side)),
			`in part: what is found is of all, from level ${way.length}, ${sides} side(s)`);
	}
}

/* --- other trees ------------------------------------------------------------------------------ */
for (const sides of [1, 2]) {
	const p = randomProfile(1500, 12, sides), frames = { n: 12, name: p.frames.name, file: p.frames.name.map((_, i) => `s${i % 3}.c`), line: new Float64Array(12),
		module: p.frames.name.map((_, i) => `/bin/m${i % 2}`), group: p.frames.name, flags: new Array(12).fill(0) };
	p.frames = frames;
	const view = viewOf(p, 0), shape = { filters: [], level: "functions", group: "", tree: "callees", of: "" };
	const grown = (change) => grow(view, [{ view }], { ...shape, ...change });
	/* each stack with a value, as names from the root: straight from the definition */
	const stacksOf = (v, side) => {
		const sums = new Map();
		for (let i = 0; i < v.n; i++) {
			const names = [];
			for (let at = i; at > 0; at = v.parent[at])
				names.unshift(v.frames.name[v.frame[at]]);
			if (v.self[side][i])
				sums.set(names.join(";"), (sums.get(names.join(";")) || 0) + v.self[side][i]);
		}
		return sums;
	};
	const mapped = (side, map) => {
		const sums = new Map();
		for (const [text, v] of stacksOf(view, side)) {
			const names = map(text ? text.split(";") : []);
			if (names)
				sums.set(names.join(";"), (sums.get(names.join(";")) || 0) + v);
		}
		return sums;
	};
	const same = (change, map) => Array.from({ length: sides }, (_, side) =>
		JSON.stringify([...stacksOf(grown(change), side)].sort()) === JSON.stringify([...mapped(side, map)].sort())).every((x) => x);
	const filter = (kind, re) => ({ filters: [{ kind, re }] });

	is(grown({}) === view, true, `no shape: the tree as it is, ${sides} side(s)`);
	ok(same(filter("hide", "^f[12]$"), (n) => n.filter((f) => f !== "f1" && f !== "f2")), `hidden frames, ${sides} side(s)`);
	ok(same(filter("focus", "^f3$"), (n) => (n.includes("f3") ? n : null)), `stacks through one, ${sides} side(s)`);
	ok(same(filter("ignore", "m1$"), (n) => (n.some((f) => Number(f.slice(1)) % 2) ? null : n)), `stacks without a binary, ${sides} side(s)`);
	ok(same({ level: "files" }, (n) => n.map((f) => `s${Number(f.slice(1)) % 3}.c`)), `files, ${sides} side(s)`);
	ok(same({ level: "binaries" }, (n) => n.map((f) => `[m${Number(f.slice(1)) % 2}]`)), `binaries, ${sides} side(s)`);
	ok(same({ tree: "inverted" }, (n) => n.reverse()), `from the callees up, ${sides} side(s)`);
	ok(same({ tree: "of", of: "f4" }, (n) => (n.includes("f4") ? n.slice(n.indexOf("f4")) : null)), `what one calls, ${sides} side(s)`);
	ok(same({ tree: "callers", of: "f4" }, (n) => (n.includes("f4") ? n.slice(0, n.indexOf("f4") + 1).reverse() : null)), `what calls one, ${sides} side(s)`);
	partialInversion(view, grown({ tree: "inverted" }), sides);
	const tree = grown({ tree: "inverted" }), model = new Model(tree), layout = new Layout(model);
	let sound = true;
	for (let i = 1; i < tree.n; i++) {
		const up = tree.parent[i], next = tree.end[i];
		sound = sound && up < i && tree.depth[i] === tree.depth[up] + 1 && next <= tree.end[up] &&
			(next >= tree.end[up] || layout.size[i] >= layout.size[next] - 1e-9);
	}
	ok(sound, `a grown tree is in pre-order, the largest first, ${sides} side(s)`);
	is(model.functions.map((s) => Array.from(s.total)), new Model(view).functions.map((s) => Array.from(s.total)), `and its table that of the functions, ${sides} side(s)`);
}
is(readFilters(writeFilters([{ kind: "hide", re: "^a=b|c$" }, { kind: "focus", re: "x" }])), [{ kind: "hide", re: "^a=b|c$" }, { kind: "focus", re: "x" }], "filters there and back");
is(readFilters("hide=(\nnope=x\nhide="), [], "what is no filter is passed over");
is(readFilters("constructor=x\n__proto__=x\ntoString=x"), [], "nor is what every object has one");
ok(new RegExp(exactly("a.b(*T)[x]{2}^$|\\"), "u").test("a.b(*T)[x]{2}^$|\\") && !new RegExp(exactly("a.b"), "u").test("aXb"), "a name as an expression");
ok(PRESETS.every(([, re]) => new RegExp(re, "u")) && new RegExp(PRESETS[0][1], "u").test("/usr/lib/libc.so.6") && !new RegExp(PRESETS[0][1], "u").test("libcurl.so"), "presets");
{
	const frames = { n: 6, name: ["pkg.read", "pkg.write", "main", "vm_fault", "[truncated]", "<unknown>"], file: ["a.go", "b.go", "", "", "", ""],
		module: ["/bin/app", "/bin/app", "/lib/libx.so", "[kernel.kallsyms]_stext", "", ""], group: ["pkg", "pkg", "libx.so", "[kernel.kallsyms]_stext", "", ""],
		flags: [1, 0, 0, 2, 4, 8] };
	const p = { frames, frame: [-1, 0, 1, 2, 3, 4, 5], column: 0, self: [[[0, 5, 6, 4, 3, 2, 1]]] }, model = { p, frames, functions: [{ self: [5, 6, 4, 3, 2, 1] }] };
	const groups = (by) => groupsOf(model, by, LIGHT).map((g) => [g.name, g.self, groupExpression(by, g)]);
	is(groups("package"), [["pkg", 11, "^pkg(?![A-Za-z0-9_])"], ["libx.so", 4, "(^|/)libx\\.so$"], ["kernel", 3, ""], ["the profiler’s notes", 2, ""], ["unknown", 1, ""]], "groups by package");
	is(groups("binary").slice(0, 2), [["app", 11, "^/bin/app$"], ["libx.so", 4, "^/lib/libx\\.so$"]], "by binary");
	is(groups("file").slice(0, 3), [["b.go", 6, "^b\\.go$"], ["a.go", 5, "^a\\.go$"], ["unknown", 5, ""]], "by file");
	is(groups("kind").map((g) => g.slice(0, 2)), [["native code", 10], ["inlined functions", 5], ["kernel", 3], ["the profiler’s notes", 2], ["functions without a name", 1]], "by kind");
	const many = Array.from({ length: 30 }, (_, i) => `pkg${i}`), own = many.map((_, i) => 100 - i), nothing = many.map(() => "");
	const large = { n: 30, name: many, file: nothing, module: nothing, group: many, flags: many.map(() => 0) };
	const of = { frames: large, frame: [-1, ...many.keys()], column: 0, self: [[[0, ...own]]] };
	const ten = (self) => new Map(groupsOf({ p: of, frames: large, functions: [{ self }] }, "package", LIGHT).map((g) => [g.name, g.colour]));
	is(new Set([...ten(own).values()].slice(0, 10)).size, 10, "the ten largest have a tint each");
	is(ten(own).get("pkg0"), LIGHT.user[stableHash("pkg0") % 10], "the largest that of its hash");
	is(["file", "constructor", "__proto__", "", undefined].map(groupingOf), ["file", "package", "package", "package", "package"], "what is unknown is by package");
	is(ten([...own].reverse()), new Map([...ten(own)].reverse()), "and what is chosen of the samples changes none");
}

/* --- source lines --------------------------------------------------------------------------- */
{
	const frames = { n: 6, of: ["read", "read", "main", "read", "read", "read"], file: ["b.c", "a.c", "a.c", "a.c", "a.c", "a.c"], line: [7, 0, 1, 12, 4, 99] };
	const self = [0, 3, 9, 1, 2, 0], total = [5, 3, 9, 4, 2, 0], model = { frames, functions: [{ self, total }] };

	is(linesOfFunction(model, "read"), [["a.c", [1, 4, 3]], ["b.c", [0]]], "lines of a function by file and number, those with a value");
	const rows = (own, source) => listing(model, own, source).map((r) => (r ? [r.number, r.frame, r.text] : r));
	is(rows([1, 4, 3]), [[0, 1, ""], [4, 4, ""], [12, 3, ""]], "without source text");
	const source = new Map([2, 3, 4, 5, 6, 10, 11, 12].map((k) => [k, `line ${k}`]));
	is(rows([1, 4, 3], source).map((r) => r && r[0]), [0, 2, 3, 4, 5, 6, null, 10, 11, 12], "with some around each, and a mark where some are left out");
	is(rows([3, 5], source).at(-1), [99, 5, ""], "a line past the end of its file");
}

/* --- the time axis ----------------------------------------------------------------------------- */
{
	const texts = (begin, span, step) => ticksOf(Date.parse(begin) / 1000, span, step).map((t) => t[1]);

	is(texts("2025-12-01T23:58:30Z", 150, 60), ["23:59", "12-02 00:00", "00:01"], "past midnight the day is told, once");
	is(texts("2025-12-01T23:59:40Z", 60, 20), ["23:59:40", "12-02 00:00", "00:00:20", "00:00:40"], "with seconds, too");
	is(texts("2025-12-01T00:00:00Z", 120, 60), ["00:00", "00:01", "00:02"], "not within one day");
	is(texts("2025-12-01T12:00:00Z", 2 * 86400, 86400), ["12-02 00:00", "12-03 00:00"], "of more than a day always");
}

/* --- trends ------------------------------------------------------------------------------------ */
{
	const set = (version, pod) => [["pod", pod], ...(version ? [["version", version]] : [])];
	const p = { labels: { keys: ["pod", "version"], sets: [set("1.10", "a"), set("1.9", "a"), set("2", "b"), set("", "b"), set("0", "c")], used: [1, 1, 1, 1, 0] },
		cells: { n: 6, set: [0, 1, 2, 2, 1, 3], bin: [3, 3, 5, 1, 4, 0] } };

	is(trendKeys(p), ["version", "pod"], "versions are what releases are told by, if there are some");
	is(releasesOf(p, "version", { from: -1, to: -1, terms: [] }), ["2", "1.9", "1.10"], "in order of time, then of numbers; what is not there is left out");
	is(releasesOf(p, "version", { from: 3, to: 5, terms: parseSelector("pod=a") }), ["1.9", "1.10"], "those of a selection");
	const releases = [{ whole: 100, total: [100, 50, 20], self: [0, 30, 20] }, { whole: 0, total: [0, 0, 0], self: [0, 0, 0] }, { whole: 200, total: [200, 20, 80], self: [100, 0, 80] }];
	is(sharesOf(releases, "self", 1), [0.3, null, 0], "shares, and none of nothing");
	is(mostChanged(releases, 3).map(([f, shares]) => [f, ...shares]), [[1, 0.5, null, 0.1], [2, 0.2, null, 0.4]], "what changes most; not what does not");
	is([pointsText(0.5, 0.25), pointsText(0.25, 0.5), pointsText(0.5, 0.500001)], ["+25.00", "−25.00", "0"], "percentage points");
}
