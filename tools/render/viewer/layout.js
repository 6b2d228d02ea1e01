/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where boxes are. Widths are in the unit of values (of a diff: in shares); each row is a run
 * of arrays in order of x, so that what is in view is found by halving and what is narrower
 * than a pixel is leapt over.
 */

/* How wide nodes are. Of a diff: the share on the old side, on the new one, or their mean. */
function ownSizes(model, width) {
	const { n, self, totals } = model;
	const size = new Float64Array(n);

	if (!model.isDiff)
		return self[0].map(Math.abs);
	let part = [width === "new" ? 0 : 1, width === "old" ? 0 : 1];
	/* a side without samples has no shares; the other one alone says how wide */
	if (!totals[0] || !totals[1])
		part = totals.map((v) => (v ? 1 : 0));
	const weight = part.map((v, side) => v && v / (part[0] + part[1]) / totals[side]);
	for (let i = 0; i < n; i++)
		size[i] = Math.abs(self[0][i]) * weight[0] + Math.abs(self[1][i]) * weight[1];
	return size;
}

export class Layout {
	constructor(model, width = "mean") {
		const { n, parent, depth, end } = model, x = new Float64Array(n);

		/* what is as wide as it is worth has been added up already */
		this.size = model.isDiff || model.hasNegative ? this.addUp(ownSizes(model, width), parent) : model.total[0];
		if (model.view && model.view.split)
			this.size[0] = this.sizeBefore(model);
		/* a callee begins where its caller does, or where the one before it ends */
		for (let i = 0; i < n; i++) {
			const next = end[i];
			if (next > i + 1)
				x[i + 1] = x[i];
			if (next < n && parent[next] === parent[i])
				x[next] = x[i] + this.size[i];
		}
		this.x = x;
		this.total = this.size[0];
		this.sortIntoRows(depth, n);
	}

	/* Of a tree around a function the root is as wide as one of its parts. */
	sizeBefore({ view, end }) {
		let sum = 0;

		for (let i = 1; i < view.split; i = end[i])
			sum += this.size[i];
		return sum;
	}

	addUp(size, parent) {
		for (let i = size.length - 1; i > 0; i--)
			size[parent[i]] += size[i];
		return size;
	}

	/* Nodes without a width have no place in a row. */
	sortIntoRows(depth, n) {
		const { size, x } = this;
		let deepest = 0, kept = 0, counts = new Int32Array(64);

		for (let i = 0; i < n; i++) {
			if (!(size[i] > 0))
				continue;
			const d = depth[i];
			if (d > deepest)
				deepest = d;
			if (d >= counts.length) {
				const more = new Int32Array(2 * d);
				more.set(counts);
				counts = more;
			}
			counts[d]++;
			kept++;
		}
		const start = new Int32Array(deepest + 2), node = new Int32Array(kept), left = new Float64Array(kept), right = new Float64Array(kept);
		for (let d = 0; d <= deepest; d++)
			start[d + 1] = start[d] + counts[d];
		const fill = start.slice();
		for (let i = 0; i < n; i++) {
			if (size[i] > 0) {
				const k = fill[depth[i]]++;
				node[k] = i;
				left[k] = x[i];
				right[k] = x[i] + size[i];
			}
		}
		this.rowStart = start;
		this.rows = kept ? deepest + 1 : 0;
		Object.assign(this, { node, left, right });
	}

	/* How many found nodes stand before each place of the rows: asked of runs of narrow ones. */
	countFound(marked, frame) {
		const { node } = this, before = new Int32Array(node.length + 1);

		for (let k = 0; k < node.length; k++)
			before[k + 1] = before[k] + (node[k] && marked[frame[node[k]]] ? 1 : 0);
		return before;
	}

	/* The first place in [from, to) whose right edge is past x, or `to`. */
	firstPast(x, from, to) {
		while (from < to) {
			const middle = (from + to) >> 1;
			if (this.right[middle] > x)
				to = middle;
			else
				from = middle + 1;
		}
		return from;
	}

	/* The same, for when it is likely near: by steps that double. */
	leapPast(x, from, to) {
		let step = 1;

		while (from + step < to && this.right[from + step - 1] <= x) {
			from += step;
			step *= 2;
		}
		return this.firstPast(x, from, Math.min(to, from + step));
	}

	/*
	 * What is to be drawn of a row when [x0, x1) is `pixels` wide, from left to right:
	 * { left, right, first, last } with edges in pixels and places in the row's arrays. A box
	 * of at least a pixel stands alone (first = last); narrower neighbours come as one.
	 */
	boxes(row, x0, x1, pixels) {
		const out = [], from = this.rowStart[row], to = this.rowStart[row + 1];
		const scale = pixels / (x1 - x0), tiny = (x1 - x0) * 1e-12;
		let run = null;

		for (let k = this.firstPast(x0 + tiny, from, to); k < to && this.left[k] < x1 - tiny;) {
			const left = (this.left[k] - x0) * scale, right = (this.right[k] - x0) * scale;
			if (run && (right - left >= 1 || left - run.right >= 1)) {
				out.push(run);
				run = null;
			}
			if (right - left >= 1) {
				out.push({ left, right, first: k, last: k });
				k++;
				continue;
			}
			/* all that ends within this pixel, at least this one */
			const edge = (Math.floor(left) + 1) / scale + x0;
			const next = Math.max(k + 1, this.leapPast(edge, k, to));
			if (!run)
				run = { left, right, first: k, last: k };
			run.last = next - 1;
			run.right = (this.right[next - 1] - x0) * scale;
			k = next;
		}
		if (run)
			out.push(run);
		return out;
	}

	/* The place in a row that holds x, or -1. */
	placeAt(row, x) {
		if (row < 0 || row >= this.rows)
			return -1;
		const to = this.rowStart[row + 1], k = this.firstPast(x, this.rowStart[row], to);
		return k < to && this.left[k] <= x ? k : -1;
	}

	/* Where a node stands in its row, or -1 if it has no width. */
	placeOf(node, depth) {
		if (!(this.size[node] > 0))
			return -1;
		let from = this.rowStart[depth], to = this.rowStart[depth + 1];
		/* rows keep the order of nodes */
		while (from < to) {
			const middle = (from + to) >> 1;
			if (this.node[middle] < node)
				from = middle + 1;
			else
				to = middle;
		}
		return this.node[from] === node ? from : -1;
	}
}

/*
 * Which row of a layout stands on which line of the picture: the root on the first one, or on
 * the last, or what calls a function above it and what it calls below.
 */
export class Lines {
	/* least: how many there is room for */
	constructor(layout, model, flame, least) {
		const { split } = model.view;

		this.split = split || 0;
		this.flame = flame && !split;
		this.rows = layout.rows;
		this.above = split ? Math.max(0, depthOf(layout, model, split, model.n) - 1) : 0;
		this.count = split ? this.above + depthOf(layout, model, 0, split) : layout.rows;
		this.lead = this.flame ? Math.max(layout.rows, least) - 1 : 0;
	}

	/* { row, above } of a line; row -1: nothing stands there. */
	at(line) {
		if (!this.split) {
			const row = this.flame ? this.lead - line : line;
			return { row: row < this.rows ? row : -1, above: false };
		}
		if (line >= this.count)
			return { row: -1, above: false };
		return line < this.above ? { row: this.above + 1 - line, above: true } : { row: line - this.above + 1, above: false };
	}

	/* The line of a row; the function itself has one. */
	of(row, above) {
		if (!this.split)
			return this.flame ? this.lead - row : row;
		return above ? this.above + 1 - row : this.above + row - 1;
	}
}

function depthOf(layout, { depth }, from, to) {
	let most = 0;

	for (let i = from; i < to; i++)
		if (layout.size[i] > 0 && depth[i] > most)
			most = depth[i];
	return most;
}

/* The neighbour of a node for an arrow key (up: its caller), in [x0, x1); or -1. */
export function neighbour(model, layout, node, key, x0, x1) {
	const row = model.depth[node], k = layout.placeOf(node, row);

	if (key === "ArrowUp")
		return model.parent[node];
	if (key === "ArrowDown") {
		let best = -1;
		for (let i = node + 1; i < model.end[node]; i = model.end[i])
			if (layout.size[i] > 0 && (best < 0 || layout.size[i] > layout.size[best]))
				best = i;
		return best;
	}
	const to = k + (key === "ArrowLeft" ? -1 : 1);
	if (k < 0 || to < layout.rowStart[row] || to >= layout.rowStart[row + 1])
		return -1;
	return layout.right[to] > x0 && layout.left[to] < x1 ? layout.node[to] : -1;
}

/* The widest node of a function, or -1. */
export function widest(model, layout, frame) {
	let best = -1;

	for (let i = 1; i < model.n; i++)
		if (model.frame[i] === frame && (best < 0 || layout.size[i] > layout.size[best]))
			best = i;
	return best;
}
