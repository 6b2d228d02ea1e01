/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a model is of: a tree and the values of its nodes, for one column and what was chosen of
 * the samples. A view has the shape of the profile's own tree, or of one grown from it.
 */
import { HAS_NEGATIVE, times } from "./data.js";
import { ALL, mergedOf, secondsOf, sumOf } from "./explore.js";

/* Own numbers of samples, where there are such: what noise is told by. */
function countsOf(p, column, selection) {
	const samples = p.columns.findIndex((c) => c.type === "samples" && c.unit === "count");

	if (samples < 0)
		return null;
	return samples === column ? sumOf(p, column, selection).self : sumOf(p, samples, selection).self;
}

/* Past the last node of each subtree. */
export function subtreeEnds(p) {
	const { n, parent } = p, end = new Int32Array(n);

	for (let i = n - 1; i >= 0; i--) {
		if (!end[i])
			end[i] = i + 1;
		const up = parent[i];
		if (up >= 0 && !end[up])
			end[up] = end[i];
	}
	return end;
}

function shapeOf(p) {
	p.end ||= subtreeEnds(p);
	return { n: p.n, parent: p.parent, depth: p.depth, end: p.end, frame: p.frame, frames: p.frames, inlinedBits: p.inlinedBits };
}

/* A profile as it is, or what was chosen of it. */
export function viewOf(p, column, selection = ALL) {
	const c = p.columns[column], view = { ...shapeOf(p), p, column: c, selection, base: null, seconds: secondsOf(p, selection) };

	if (p.sides === 2) {
		const samples = p.columns.findIndex((s) => s.type === "samples" && s.unit === "count");
		view.self = p.self.map((columns) => columns[column]);
		view.totals = c.totals;
		view.counts = samples < 0 ? null : p.self.map((columns) => columns[samples]);
		view.hasNegative = (p.flags & HAS_NEGATIVE) !== 0;
		return view;
	}
	const sum = sumOf(p, column, selection), mean = c.gauge ? mergedOf(p, selection) : 1;
	view.mean = mean;
	view.self = [mean > 1 ? sum.self.map((v) => v / mean) : sum.self];
	view.totals = [sum.total / mean];
	view.counts = null;
	view.hasNegative = (p.flags & HAS_NEGATIVE) !== 0;
	return view;
}

/*
 * Two selections of one profile as the sides of a difference. The old side is scaled to the
 * new one's time, unless both are as they are.
 */
export function compareOf(p, column, base, selection, scaled) {
	const sides = [viewOf(p, column, base), viewOf(p, column, selection)];
	const per = scaled && !p.columns[column].gauge && sides[0].seconds > 0 && sides[1].seconds > 0;
	const factor = per ? sides[1].seconds / sides[0].seconds : 1;
	const counts = [base, selection].map((s) => countsOf(p, column, s));

	return { ...sides[1], base, factor,
		self: [times(sides[0].self[0], factor), sides[1].self[0]],
		totals: [sides[0].totals[0] * factor, sides[1].totals[0]],
		counts: counts[0] ? counts : null };
}
