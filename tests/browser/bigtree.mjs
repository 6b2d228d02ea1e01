/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bigtree.mjs NODES [INTERVALS]: a stream of profiles in text whose merged call tree has about so
 * many nodes: stacks of 15 frames on average, a stack of four nodes, values of which few are
 * large, names of 40 characters, four values of a label. The same from the same arguments.
 */
const nodes = Number(process.argv[2] || 100000), intervals = Number(process.argv[3] || 24);
const functions = Math.max(100, Math.round(nodes * 0.03)), DEPTH_MAX = 69, PODS = 4;
let seed = 4711;

function random() {
	seed = (seed + 0x6d2b79f5) | 0;
	let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
	t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
	return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
}
const below = (n) => Math.floor(random() * n);

/* --- the tree ------------------------------------------------------------------------------- */

const parent = [-1], frame = [-1], depth = [0], children = new Set(), leaves = [];

function grow(at) {
	const f = Math.floor(functions * random() ** 2), key = at * functions + f;

	if (children.has(key))
		return -1;
	children.add(key);
	parent.push(at);
	frame.push(f);
	depth.push(depth[at] + 1);
	return parent.length - 1;
}

while (parent.length <= nodes) {
	/* stacks join others somewhere in the middle; a few start anew */
	let at = random() < 0.002 ? 0 : below(parent.length);
	while (depth[at] > 24 || (depth[at] > 11 && random() < 0.5))
		at = parent[at];
	for (let more = 1 + below(7); more && depth[at] < DEPTH_MAX; more--) {
		const next = grow(at);
		if (next < 0)
			break;
		at = next;
	}
	if (at)
		leaves.push(at);
}

/* --- the stream ----------------------------------------------------------------------------- */

const samples = Array.from({ length: intervals }, () => []);
for (const leaf of leaves)
	for (let k = 1 + below(3); k; k--)
		samples[below(intervals)].push([leaf, Math.ceil(10 / random() ** 0.8), below(PODS)]);

const nameOf = (f) => `example.com/service/pkg${f % 97}.(*Type${f % 997}).method${f}`;

samples.forEach((own, i) => {
	const rows = new Map(), out = ["# profpipe text 1", "profile", `time ${1700000000 + 10 * i}000000000`, "duration 10000000000",
		'period "cpu" "nanoseconds" 10000000', 'type "samples" "count"', 'type "cpu" "nanoseconds" default'];
	const stacks = own.map(([leaf]) => {
		const frames = [];
		for (let at = leaf; at > 0; at = parent[at]) {
			if (!rows.has(frame[at]))
				rows.set(frame[at], rows.size + 1);
			frames.push(rows.get(frame[at]));
		}
		return frames.join(" ");
	});
	for (const [f, row] of rows)
		out.push(`function ${row} "${nameOf(f)}" "" "src/pkg${f % 97}/type${f % 997}.go" ${f % 500 + 1}`);
	for (const [f, row] of rows)
		out.push(`location ${row} m0 0x0 f${row}:${f % 500 + 1}:0`);
	own.forEach(([, count, pod], k) => out.push(`sample ${count} ${count}0000000 : ${stacks[k]} : "pod"="api-${pod}"`));
	out.push("end");
	console.log((i ? out.slice(1) : out).join("\n"));
});
