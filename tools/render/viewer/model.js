/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What can be told of one column of a profile: totals by node and by function. Nodes are in
 * pre-order, so a subtree is the run [i, end[i]) and no walk needs a stack.
 */

function addUp({ n, parent }, self) {
	const total = self.slice();

	for (let i = n - 1; i > 0; i--)
		total[parent[i]] += total[i];
	return total;
}

/*
 * Self and total of each function. A stack counts once for a function, however often it is in
 * it: only the outermost of its nodes adds to the total.
 */
function functionSums({ n, frame, end }, room, self, total) {
	const sums = { self: new Float64Array(room), total: new Float64Array(room) };
	const inside = new Int32Array(room); /* end of the outermost node we are in */

	for (let i = 1; i < n; i++) {
		const f = frame[i];
		sums.self[f] += self[i];
		if (i >= inside[f]) {
			sums.total[f] += total[i];
			inside[f] = end[i];
		}
	}
	return sums;
}

function sumOfOutermost({ frame, end }, total, marked, from, to) {
	let sum = 0;

	for (let i = from; i < to;) {
		if (i && marked[frame[i]]) {
			sum += total[i];
			i = end[i];
		} else {
			i++;
		}
	}
	return sum;
}

export class Model {
	/* view: of view.js */
	constructor(view) {
		const { p, n, parent, depth, frame, frames, column, self, totals } = view;

		this.view = view;
		Object.assign(this, { p, n, parent, depth, frame, frames, self, totals });
		this.type = column.type;
		this.unit = column.unit;
		this.exact = column.shift === 0;
		/* by side: the base (old) first; without a diff there is one */
		this.isDiff = self.length === 2;
		this.last = self.length - 1;
		this.end = view.end;
		this.total = self.map((own) => addUp(view, own));
		/* of the table's tree, where another one is shown, and perhaps again and again */
		const table = view.table || view, total = table.total ||= view.table ? table.self.map((own) => addUp(table, own)) : this.total;
		this.table = { view: table, total };
		this.functions = table.functions ||= table.self.map((own, side) => functionSums(table, frames.n, own, total[side]));
		this.hasNegative = view.hasNegative && self.some((own) => own.some((v) => v < 0));
		/* what shares are of: in a diff, those of a difference, of the old total */
		this.whole = this.isDiff ? totals[0] || totals[1] : totals[0];
		this.counts = view.counts && view.counts.map((own) => addUp(view, own));
		this.verdicts = view.base ? null : p.verdicts || null;
	}

	isInlined(node) {
		return node > 0 && (this.view.inlinedBits[(node - 1) >> 3] >> ((node - 1) & 7) & 1) === 1;
	}

	/* Of a tree around a function: among what calls it, which is drawn above it. */
	isAbove(node) {
		return this.view.split > 0 && node >= this.view.split;
	}

	/* Without a diff the value, with one new less old. */
	totalOf(node) {
		return this.isDiff ? this.total[1][node] - this.total[0][node] : this.total[0][node];
	}

	nameOf(node) {
		return node ? this.frames.name[this.frame[node]] : "all";
	}

	/* The name of a frame's function: of a line's, the one it is in. */
	functionOf(f) {
		return this.frames.of ? this.frames.of[f] : this.frames.name[f];
	}

	/* What of a frame a filter has to match. */
	keyOf(f) {
		const { file, level, module, name } = this.frames;

		return level ? file[f] || module[f] || name[f] : this.functionOf(f);
	}

	/* The frame of this name; else, of those that are of the function, the one with most in it. */
	frameLike(name, of) {
		const { frames } = this, { total } = this.functions[this.last], same = frames.name.indexOf(name);
		let best = -1;

		for (let f = 0; same < 0 && f < frames.n; f++)
			if (this.functionOf(f) === of && (best < 0 || total[f] > total[best]))
				best = f;
		return same < 0 ? best : same;
	}

	/* The sum over the outermost nodes in [from, to) whose function is marked. */
	sumOfMarked(marked, from, to, side) {
		return sumOfOutermost(this, this.total[side], marked, from, to);
	}

	/* The same over all stacks: a tree that is grown in part, or twice, has not each once. */
	sumOfAllMarked(marked, side) {
		const { view, total } = this.view.partial || this.view.split ? this.table : { view: this, total: this.total };

		return sumOfOutermost(view, total[side], marked, 0, view.n);
	}

	/*
	 * What a difference has to pass to be told from noise: two standard deviations of the
	 * counts of samples where there are some, and a thousandth of the whole. Where prof-diff
	 * has tested, what it found is no noise, and all else is.
	 */
	noise(node) {
		if (node && this.verdicts)
			return this.verdicts.has(this.functionOf(this.frame[node])) ? 0 : Infinity;
		const least = Math.abs(this.whole) / 1000;

		if (!this.counts)
			return least;
		const old = this.total[0][node], now = this.total[1][node];
		const n = this.counts[0][node] + this.counts[1][node];
		return n > 0 ? Math.max(least, 2 * (old + now) / Math.sqrt(n)) : least;
	}

	status(node) {
		return statusOf(this.total[0][node], this.total[1][node]);
	}
}

export function statusOf(old, now) {
	if (!old && now)
		return "new";
	return old && !now ? "gone" : "";
}
