/* SPDX-License-Identifier: Apache-2.0 */
/* unit.mjs DIR: the pure parts of the viewer, whose modules are in DIR. */
import { is, ok } from "./harness.mjs";

const dir = process.argv[2];
const load = (name) => import(`${dir}/${name}.js`);
const { Reader, verdictsOf } = await load("data");
const { formatDelta, formatShare, formatValue, nanoseconds } = await load("format");
const { fitName, moduleName, nameForms, textColumns } = await load("names");
const { Model, statusOf } = await load("model");
const { Layout } = await load("layout");
const { search } = await load("search");
const { changeOf, stableHash } = await load("colour");

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
	const p = { n, sides, flags: 0, columns: [{ type: "samples", unit: "count", shift: 0, totals: [] }],
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
	const p = randomProfile(3000, 40, sides), model = new Model(p, 0), layout = new Layout(model);
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
	const p = randomProfile(50, 5, 2), model = new Model(p, 0);
	const [old, now] = p.columns[0].totals;
	is(Math.abs(new Layout(model, "mean").total - 1) < 1e-9, true, "shares of both sides make one whole");
	const i = p.n - 1, at = (width) => new Layout(model, width).size[i];
	ok(Math.abs(at("old") - model.total[0][i] / old) < 1e-12 && Math.abs(at("new") - model.total[1][i] / now) < 1e-12,
		"widths are shares of the old or the new total");
	p.columns[0].totals[0] = 0;
	p.self[0][0].fill(0);
	ok(Math.abs(new Layout(new Model(p, 0), "mean").total - 1) < 1e-9, "an empty side leaves the widths to the other one");
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
is(stableHash("main"), 0xea900898, "FNV-1a, folded");
