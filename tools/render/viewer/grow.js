/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Growing another tree from a view: below label values, without some frames, of files or
 * binaries in place of functions, from the callees up, or around one function.
 */
import { FRAME_INLINED, FRAME_NOTE } from "./data.js";
import { subtreeEnds } from "./view.js";

/* A tree in the making. Lanes are the values that nodes have: of each side, then counts. */
class Grower {
	constructor(frames, lanes) {
		this.frames = frames;
		this.parent = [-1];
		this.frame = [-1];
		this.inlined = [0];
		this.lanes = Array.from({ length: lanes }, () => [0]);
		this.slots = new Int32Array(1024); /* id of a node by hash of its caller and frame; 0: free */
	}

	/* Where a callee is in the slots, or would be. A Map of such pairs is several times slower. */
	slotOf(at, frame) {
		const { slots, parent } = this, mask = slots.length - 1;
		let k = (Math.imul(at, 0x9e3779b1) ^ Math.imul(frame, 0x85ebca6b)) >>> 7 & mask;

		while (slots[k] && (parent[slots[k]] !== at || this.frame[slots[k]] !== frame))
			k = (k + 1) & mask;
		return k;
	}

	/* The callee of a node, made if it is not there yet; inlined if it is everywhere. */
	child(at, frame, inlined) {
		const k = this.slotOf(at, frame);
		let id = this.slots[k];

		if (!id) {
			id = this.slots[k] = this.parent.length;
			this.parent.push(at);
			this.frame.push(frame);
			this.inlined.push(inlined ? 1 : 0);
			for (const lane of this.lanes)
				lane.push(0);
			if (id * 2 > this.slots.length)
				this.rehash();
		} else if (!inlined) {
			this.inlined[id] = 0;
		}
		return id;
	}

	rehash() {
		this.slots = new Int32Array(this.slots.length * 4);
		for (let id = 1; id < this.parent.length; id++)
			this.slots[this.slotOf(this.parent[id], this.frame[id])] = id;
	}

	add(at, lanes, node) {
		for (let k = 0; k < lanes.length; k++)
			this.lanes[k][at] += lanes[k][node];
	}

	/* Callees by size; of one size by name. */
	order(totals) {
		const { parent, frame, frames } = this, n = parent.length, size = new Float64Array(n), start = new Int32Array(n + 1);

		for (let i = 0; i < n; i++)
			totals.forEach((total, side) => { size[i] += Math.abs(this.lanes[side][i]) / (total || 1); });
		for (let i = n - 1; i > 0; i--) {
			size[parent[i]] += size[i];
			start[parent[i] + 1]++;
		}
		for (let i = 0; i < n; i++)
			start[i + 1] += start[i];
		const fill = start.slice(), children = new Int32Array(n);
		for (let i = 1; i < n; i++)
			children[fill[parent[i]]++] = i;
		const larger = (a, b) => size[b] - size[a] || (frames.name[frame[a]] < frames.name[frame[b]] ? -1 : 1);
		for (let i = 0; i < n; i++)
			if (start[i + 1] - start[i] > 1)
				children.subarray(start[i], start[i + 1]).sort(larger);
		/* pre-order: the last pushed comes first */
		const order = new Int32Array(n), stack = [0];
		for (let k = 0; stack.length; k++) {
			const at = order[k] = stack.pop();
			for (let c = start[at + 1]; c > start[at]; c--)
				stack.push(children[c - 1]);
		}
		return order;
	}

	/* The view of all that was put in. */
	view(view) {
		const order = this.order(view.totals), n = order.length, place = new Int32Array(n);
		const tree = { ...view, n, frames: this.frames, parent: new Int32Array(n), depth: new Int32Array(n),
			frame: new Int32Array(n), inlinedBits: new Uint8Array((n >> 3) + 1) };

		order.forEach((id, i) => {
			place[id] = i;
			tree.frame[i] = this.frame[id];
			tree.parent[i] = i ? place[this.parent[id]] : -1;
			tree.depth[i] = i ? tree.depth[tree.parent[i]] + 1 : 0;
			if (i && this.inlined[id])
				tree.inlinedBits[(i - 1) >> 3] |= 1 << ((i - 1) & 7);
		});
		const lanes = this.lanes.map((lane) => Float64Array.from(order, (id) => lane[id]));
		tree.self = lanes.slice(0, view.self.length);
		tree.counts = view.counts && lanes.slice(view.self.length);
		tree.end = subtreeEnds(tree);
		return tree;
	}
}

const lanesOf = (view) => [...view.self, ...(view.counts || [])];
const isInlined = (view, node) => (view.inlinedBits[(node - 1) >> 3] >> ((node - 1) & 7) & 1) === 1;

/* By node: 1 where stacks end that the filters leave. */
export function passingNodes(view, filters) {
	const { focus, ignore } = filtersOf(view.frames, filters), passes = new Uint8Array(view.n);

	for (let i = 0; i < view.n; i++) {
		const f = view.frame[i];
		/* bit 0: in focus, bit 1: to ignore */
		passes[i] = i ? passes[view.parent[i]] | (focus[f] ? 1 : 0) | (ignore[f] ? 2 : 0) : (focus.all ? 1 : 0);
	}
	return passes.map((bits) => (bits === 1 ? 1 : 0));
}

/* Nodes on the way to a value of a stack that passes. */
function neededNodes(view, lanes, passes) {
	const { n, parent } = view, needed = new Uint8Array(n), own = new Uint8Array(n);

	for (let i = 0; i < n; i++)
		own[i] = passes[i] && lanes.some((lane) => lane[i]) ? 1 : 0;
	for (let i = n - 1; i >= 0; i--) {
		needed[i] |= own[i];
		if (i)
			needed[parent[i]] |= needed[i];
	}
	return { needed, own };
}

/* All of a view below a node, frames mapped (below 0: left out, its value is its caller's). */
function growDown(grower, at, view, frames, passes) {
	const lanes = lanesOf(view), to = new Int32Array(view.n), { needed, own } = neededNodes(view, lanes, passes);

	to[0] = at;
	for (let i = 0; i < view.n;) {
		if (!needed[i]) {
			i = Math.max(view.end[i], i + 1);
			continue;
		}
		if (i) {
			const f = frames[view.frame[i]];
			to[i] = f < 0 ? to[view.parent[i]] : grower.child(to[view.parent[i]], f, isInlined(view, i));
		}
		if (own[i])
			grower.add(to[i], lanes, i);
		i++;
	}
}

/* --- frames ----------------------------------------------------------------------------- */

function copyFrames(frames) {
	const copy = { n: frames.n };

	for (const key of ["name", "file", "module", "group", "flags"])
		copy[key] = [...frames[key]];
	copy.line = Array.from(frames.line);
	return copy;
}

function addFrame(frames, name, rest = {}) {
	frames.name.push(name);
	frames.file.push(rest.file || "");
	frames.line.push(0);
	frames.module.push(rest.module || "");
	frames.group.push(rest.group || name);
	frames.flags.push(rest.flags || 0);
	return frames.n++;
}

/* Files or binaries in place of functions: [frames, from old to new]. */
function levelFrames(frames, level) {
	if (level !== "files" && level !== "binaries")
		return [copyFrames(frames), Int32Array.from({ length: frames.n }, (_, i) => i)];
	const out = { n: 0, name: [], file: [], line: [], module: [], group: [], flags: [] }, known = new Map();
	const map = Int32Array.from({ length: frames.n }, (_, f) => {
		const file = level === "files" ? frames.file[f] : "", module = frames.module[f];
		const rest = module ? `[${module.slice(module.lastIndexOf("/") + 1)}]` : frames.flags[f] & FRAME_NOTE ? frames.name[f] : "<unknown>";
		const key = file || module || rest;
		if (!known.has(key))
			known.set(key, addFrame(out, file || rest, { file, module, group: module, flags: frames.flags[f] & ~FRAME_INLINED }));
		return known.get(key);
	});
	return [out, map];
}

/* By frame: 1 if its name, file or binary matches one of the expressions. */
export function matching(frames, expressions) {
	const tests = expressions.map((text) => new RegExp(text, "u"));

	return Uint8Array.from(frames.name, (name, f) =>
		(tests.some((re) => re.test(name) || re.test(frames.file[f]) || re.test(frames.module[f])) ? 1 : 0));
}

/* --- the shapes ------------------------------------------------------------------------- */

export const PLAIN = Object.freeze({ filters: Object.freeze([]), level: "functions", group: "", tree: "callees", of: "" });

export function isPlain(shape) {
	return !shape.filters.length && shape.level === "functions" && !shape.group && shape.tree === "callees";
}

function filtersOf(frames, filters) {
	const by = (kind) => filters.filter((f) => f.kind === kind).map((f) => f.re);
	const focus = by("focus"), marked = matching(frames, focus);

	if (!focus.length)
		marked.all = true;
	return { focus: marked, ignore: matching(frames, by("ignore")), hide: matching(frames, by("hide")) };
}

/* parts: [{ name, view }], one for each label value; or one without a name */
function growFiltered(view, parts, shape) {
	const [frames, map] = levelFrames(view.frames, shape.level), hide = filtersOf(view.frames, shape.filters).hide, passes = passingNodes(view, shape.filters);
	const roots = parts.map((part) => (part.name === undefined ? -1
		: addFrame(frames, part.name || `no ${shape.group}`, { file: shape.group, flags: part.name ? 0 : FRAME_NOTE })));
	const grower = new Grower(frames, lanesOf(view).length);

	for (let f = 0; f < map.length; f++)
		if (hide[f])
			map[f] = -1;
	parts.forEach((part, k) => {
		const below = roots[k] < 0 ? 0 : grower.child(0, roots[k], false);
		growDown(grower, below, part.view, map, passes);
	});
	return grower.view(view);
}

/* From the callees up: the first level is where time is spent. */
function growInverted(view) {
	const grower = new Grower(view.frames, lanesOf(view).length), lanes = lanesOf(view);

	for (let i = 0; i < view.n; i++) {
		if (!lanes.some((lane) => lane[i]))
			continue;
		let at = 0;
		for (let up = i; up > 0; up = view.parent[up])
			at = grower.child(at, view.frame[up], isInlined(view, up));
		grower.add(at, lanes, i);
	}
	return grower.view(view);
}

/* What calls a function, from it up; or what it calls. Each stack counts once. */
function growAround(view, name, callers) {
	const grower = new Grower(view.frames, lanesOf(view).length), lanes = lanesOf(view);
	const totals = lanes.map((lane) => {
		const total = lane.slice();
		for (let i = view.n - 1; i > 0; i--)
			total[view.parent[i]] += total[i];
		return total;
	});
	const is = Uint8Array.from(view.frames.name, (n) => (n === name ? 1 : 0));

	for (let i = 1; i < view.n;) {
		if (!is[view.frame[i]]) {
			i++;
			continue;
		}
		let at = 0;
		const to = new Map([[view.parent[i], 0]]);
		if (callers) {
			for (let up = i; up > 0; up = view.parent[up])
				at = grower.child(at, view.frame[up], false);
			grower.add(at, totals, i);
		}
		for (let k = i; !callers && k < view.end[i]; k++) {
			to.set(k, grower.child(to.get(view.parent[k]), view.frame[k], isInlined(view, k)));
			grower.add(to.get(k), lanes, k);
		}
		i = view.end[i];
	}
	return grower.view(view);
}

/*
 * The view in another shape. Its table is that of what the filters leave, whatever way the
 * tree is looked at.
 */
export function grow(view, parts, shape) {
	if (isPlain(shape))
		return view;
	const { filters, level, group } = shape;
	const down = filters.length || level !== "functions" || group ? growFiltered(view, parts, shape) : view;

	if (shape.tree === "inverted")
		return { ...growInverted(down), table: down, inverted: true };
	if (shape.tree === "callers" || shape.tree === "of")
		return { ...growAround(down, shape.of, shape.tree === "callers"), table: down, inverted: shape.tree === "callers" };
	return down;
}
