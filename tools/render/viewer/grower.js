/* SPDX-License-Identifier: Apache-2.0 */
/* A tree in the making: nodes are added below others, then put in order and told as a view. */
import { subtreeEnds } from "./view.js";

/* A copy with room for n. */
export function larger(array, n) {
	const out = new array.constructor(n);

	out.set(array);
	return out;
}

/*
 * The view of a tree whose nodes are numbered with callers before callees: parent, frame and
 * inlined by node; lanes: the values of nodes, of each side, then counts. Callees come by size,
 * of one size by name.
 */
export function viewOfTree(view, frames, { n, parent, frame, inlined, lanes }) {
	const order = orderOf(frames, view.totals, { n, parent, frame, lanes }), place = new Int32Array(n);
	const tree = { ...view, n, frames, parent: new Int32Array(n), depth: new Int32Array(n),
		frame: new Int32Array(n), inlinedBits: new Uint8Array((n >> 3) + 1) };

	for (let i = 0; i < n; i++) {
		const id = order[i];
		place[id] = i;
		tree.frame[i] = frame[id];
		tree.parent[i] = i ? place[parent[id]] : -1;
		tree.depth[i] = i ? tree.depth[tree.parent[i]] + 1 : 0;
		if (i && inlined[id])
			tree.inlinedBits[(i - 1) >> 3] |= 1 << ((i - 1) & 7);
	}
	const inOrder = lanes.map((lane) => {
		const out = new Float64Array(n);
		for (let i = 0; i < n; i++)
			out[i] = lane[order[i]];
		return out;
	});
	tree.self = inOrder.slice(0, view.self.length);
	tree.counts = view.counts && inOrder.slice(view.self.length);
	tree.end = subtreeEnds(tree);
	return tree;
}

function orderOf(frames, totals, { n, parent, frame, lanes }) {
	const size = new Float64Array(n), start = new Int32Array(n + 1);

	totals.forEach((total, side) => {
		const lane = lanes[side], part = total || 1;
		for (let i = 0; i < n; i++)
			size[i] += Math.abs(lane[i]) / part;
	});
	for (let i = n - 1; i > 0; i--) {
		size[parent[i]] += size[i];
		start[parent[i] + 1]++;
	}
	for (let i = 0; i < n; i++)
		start[i + 1] += start[i];
	const fill = start.slice(), children = new Int32Array(n);
	for (let i = 1; i < n; i++)
		children[fill[parent[i]]++] = i;
	const bySize = (a, b) => size[b] - size[a] || (frames.name[frame[a]] < frames.name[frame[b]] ? -1 : 1);
	for (let i = 0; i < n; i++)
		if (start[i + 1] - start[i] > 1)
			children.subarray(start[i], start[i + 1]).sort(bySize);
	/* pre-order: the last pushed comes first */
	const order = new Int32Array(n), stack = new Int32Array(n);
	let top = 1;
	for (let k = 0; top; k++) {
		const at = order[k] = stack[--top];
		for (let c = start[at + 1]; c > start[at]; c--)
			stack[top++] = children[c - 1];
	}
	return order;
}

export class Grower {
	/* lanes: how many values a node has */
	constructor(frames, lanes) {
		this.frames = frames;
		this.n = 1;
		this.parent = new Int32Array(1024);
		this.frame = new Int32Array(1024);
		this.inlined = new Uint8Array(1024);
		this.lanes = Array.from({ length: lanes }, () => new Float64Array(1024));
		this.slots = new Int32Array(4096); /* id of a node by hash of its caller and frame; 0: free */
		this.parent[0] = this.frame[0] = -1;
	}

	/* Where a callee is in the slots, or would be. A Map of such pairs is several times slower. */
	slotOf(at, frame) {
		const { slots, parent } = this, frames = this.frame, mask = slots.length - 1;
		let k = (Math.imul(at, 0x9e3779b1) ^ Math.imul(frame, 0x85ebca6b)) >>> 7 & mask;

		while (slots[k] && (parent[slots[k]] !== at || frames[slots[k]] !== frame))
			k = (k + 1) & mask;
		return k;
	}

	/* The callee of a node, made if it is not there yet; inlined if it is everywhere. */
	child(at, frame, inlined) {
		const k = this.slotOf(at, frame);
		let id = this.slots[k];

		if (!id) {
			id = this.slots[k] = this.n++;
			this.parent[id] = at;
			this.frame[id] = frame;
			this.inlined[id] = inlined ? 1 : 0;
			if (this.n === this.parent.length)
				this.enlarge();
		} else if (!inlined) {
			this.inlined[id] = 0;
		}
		return id;
	}

	enlarge() {
		const n = this.parent.length * 2;

		for (const key of ["parent", "frame", "inlined"])
			this[key] = larger(this[key], n);
		this.lanes = this.lanes.map((lane) => larger(lane, n));
		this.slots = new Int32Array(n * 4);
		for (let id = 1; id < this.n; id++)
			this.slots[this.slotOf(this.parent[id], this.frame[id])] = id;
	}

	add(at, lanes, node) {
		for (let k = 0; k < lanes.length; k++)
			this.lanes[k][at] += lanes[k][node];
	}

	/* The view of all that was put in. */
	view(view) {
		return viewOfTree(view, this.frames, this);
	}
}
