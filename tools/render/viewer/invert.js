/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tree from the callees up: the first level is where values are spent. It can have many
 * times the nodes of the tree it is made of, most of them too narrow to be seen. So a large one
 * is grown only as far as can be seen: what is narrower than a part of the view's width comes
 * together as one box for each callee, and is grown when the view comes closer.
 */
import { stableHash } from "./colour.js";
import { FRAME_NOTE } from "./data.js";
import { larger, viewOfTree } from "./grower.js";

/* Trees with fewer nodes are grown whole. */
const WHOLE_MAX = 50000;
const PARTS = 4000; /* of the width of the view: below a third of a pixel */
const CALLERS_KEPT = 1000; /* callers that are grown however narrow, at the place in view */

export const lanesOf = (view) => [...view.self, ...(view.counts || [])];
export const isInlined = (view, node) => (view.inlinedBits[(node - 1) >> 3] >> ((node - 1) & 7) & 1) === 1;

export const hashOf = (name) => stableHash(name).toString(36);

/* Frames with one more, for those that come together. */
function withNarrow(frames) {
	const more = { ...frames, n: frames.n + 1 };

	for (const [key, value] of Object.entries({ name: "callers too narrow to draw", file: "", module: "", group: "", flags: FRAME_NOTE }))
		more[key] = [...frames[key], value];
	if (frames.of)
		more.of = [...frames.of, more.name[frames.n]];
	more.line = larger(frames.line, frames.n + 1);
	return more;
}

function hasValue(lanes, node) {
	for (const lane of lanes)
		if (lane[node])
			return true;
	return false;
}

/* The nodes that stacks end at, and what each is worth, of the whole. */
function stacksOf(view, lanes) {
	const size = new Float64Array(view.n), sides = view.self.length, ends = [];

	view.self.forEach((own, side) => {
		const part = (view.totals[side] || 1) * sides;
		for (let i = 0; i < view.n; i++)
			size[i] += Math.abs(own[i]) / part;
	});
	for (let i = 0; i < view.n; i++)
		if (hasValue(lanes, i))
			ends.push(i);
	return { size, ends: Int32Array.from(ends) };
}

/* The size from which on callers of the place in view are grown, wide or not. */
function leastKept(groups) {
	return groups.length <= CALLERS_KEPT ? 0 : Float64Array.from(groups, (g) => g.size).sort().at(-CALLERS_KEPT);
}

class Inverter {
	constructor(view, parts, way) {
		const lanes = lanesOf(view);

		this.source = view;
		this.sourceLanes = lanes;
		this.way = way; /* hashes of names, from the root to the view */
		this.frames = parts ? view.withNarrow ||= withNarrow(view.frames) : view.frames;
		this.narrow = parts ? view.frames.n : -1;
		this.stacks = view.stacks ||= stacksOf(view, lanes);
		this.n = 0;
		this.parent = new Int32Array(1024);
		this.frame = new Int32Array(1024);
		this.inlined = new Uint8Array(1024);
		this.lanes = lanes.map(() => new Float64Array(1024));
		this.make(-1, -1);
		this.least = parts ? 1 / parts : 0;
		this.slot = new Int32Array(this.frames.n); /* of the groups of one node, by frame */
		this.stamp = new Int32Array(this.frames.n).fill(-1);
	}

	make(parent, frame) {
		if (this.n === this.parent.length) {
			for (const key of ["parent", "frame", "inlined"])
				this[key] = larger(this[key], 2 * this.n);
			this.lanes = this.lanes.map((lane) => larger(lane, 2 * this.n));
		}
		this.parent[this.n] = parent;
		this.frame[this.n] = frame;
		this.inlined[this.n] = 1;
		return this.n++;
	}

	/*
	 * Stacks are told by the node they end at and by the node they have been followed up to.
	 * Each pass takes the stacks of one node and parts them by the next caller.
	 */
	grow() {
		const { ends } = this.stacks;

		this.end = ends.slice();
		this.at = ends.slice();
		this.sortedEnd = new Int32Array(ends.length);
		this.sortedAt = new Int32Array(ends.length);
		/* [node, its stacks from, to, level on the way to the view or -1, least width, is in view] */
		const isView = !this.way.length, queue = [[0, 0, ends.length, isView ? -1 : 0, this.least, isView]];
		while (queue.length)
			this.growOne(queue, ...queue.pop());
	}

	/* The stacks of a node in groups by their next caller; those that end there add to it. */
	groupsOf(node, from, to) {
		const { end, at, source, slot, stamp } = this, { size } = this.stacks, groups = [];

		for (let k = from; k < to; k++) {
			if (!at[k]) {
				this.addTo(node, end[k]);
				continue;
			}
			const f = source.frame[at[k]];
			if (stamp[f] !== node) {
				stamp[f] = node;
				slot[f] = groups.length;
				groups.push({ f, n: 0, size: 0, inlined: true });
			}
			const g = groups[slot[f]];
			g.n++;
			g.size += size[end[k]];
			g.inlined &&= isInlined(source, at[k]);
		}
		return groups;
	}

	growOne(queue, node, from, to, level, least, isView) {
		const groups = this.groupsOf(node, from, to), kept = isView && least ? leastKept(groups) : Infinity;
		let rest = -1, few = CALLERS_KEPT;

		this.sort(groups, from, to);
		for (const g of groups) {
			const isWay = level >= 0 && hashOf(this.source.frames.name[g.f]) === this.way[level];
			if (g.size < least && !isWay && (g.size < kept || few-- <= 0)) {
				rest = rest < 0 ? this.make(node, this.narrow) : rest;
				for (let k = g.from; k < g.fill; k++)
					this.addTo(rest, this.end[k]);
				continue;
			}
			const child = this.make(node, g.f), isEnd = isWay && level + 1 === this.way.length;
			this.inlined[child] = g.inlined ? 1 : 0;
			queue.push([child, g.from, g.fill, isWay && !isEnd ? level + 1 : -1, isEnd ? g.size * this.least : least, isEnd]);
		}
	}

	/* The stacks of a node put in order of their groups, one caller further up. */
	sort(groups, from, to) {
		const { end, at, sortedEnd, sortedAt, source, slot } = this;
		let fill = from;

		for (const g of groups) {
			g.fill = g.from = fill;
			fill += g.n;
		}
		for (let k = from; k < to; k++) {
			if (at[k]) {
				const g = groups[slot[source.frame[at[k]]]];
				sortedEnd[g.fill] = end[k];
				sortedAt[g.fill++] = source.parent[at[k]];
			}
		}
		end.set(sortedEnd.subarray(from, fill), from);
		at.set(sortedAt.subarray(from, fill), from);
	}

	addTo(node, end) {
		for (let k = 0; k < this.lanes.length; k++)
			this.lanes[k][node] += this.sourceLanes[k][end];
	}
}

/*
 * way: where the view is, as hashes of names from the root. What is narrower than one of so many
 * parts of it comes together; 0 parts: nothing does.
 */
export function growInverted(view, way, parts = view.n > WHOLE_MAX ? PARTS : 0) {
	const inverter = new Inverter(view, parts, parts ? way : []);

	inverter.grow();
	return { ...viewOfTree(view, inverter.frames, inverter), partial: parts > 0, narrow: inverter.narrow };
}
