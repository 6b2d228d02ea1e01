/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Growing another tree from a view: below label values, without some frames, of files or
 * binaries in place of functions, from the callees up, or around one function.
 */
import { FRAME_INLINED, FRAME_NOTE } from "./data.js";
import { Grower } from "./grower.js";
import { growInverted, isInlined, lanesOf } from "./invert.js";
import { subtreeEnds } from "./view.js";

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

	for (const key of ["name", "file", "module", "group", "flags", ...(frames.of ? ["of"] : [])])
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
	if (frames.of)
		frames.of.push(name);
	return frames.n++;
}

/* Files or binaries in place of functions: [frames, from old to new]. */
function levelFrames(frames, level) {
	if (level !== "files" && level !== "binaries")
		return [copyFrames(frames), Int32Array.from({ length: frames.n }, (_, i) => i)];
	const out = { n: 0, level, name: [], file: [], line: [], module: [], group: [], flags: [] }, known = new Map();
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

/* By frame: 1 if the name of its function, its file or its binary matches one of the expressions. */
export function matching(frames, expressions) {
	const tests = expressions.map((text) => new RegExp(text, "u"));

	return Uint8Array.from(frames.of || frames.name, (name, f) =>
		(tests.some((re) => re.test(name) || re.test(frames.file[f]) || re.test(frames.module[f])) ? 1 : 0));
}

/* --- the shapes ------------------------------------------------------------------------- */

export const PLAIN = Object.freeze({ filters: Object.freeze([]), level: "functions", group: "", tree: "callees", of: "" });

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
 * Both at once: what a function calls as nodes before `split`, and from there on what calls it.
 * The root has the value of one of them.
 */
function growSandwich(view, name) {
	const below = growAround(view, name, false), above = growAround(view, name, true), shift = below.n - 1, n = shift + above.n;
	const joined = (key) => {
		const out = new below[key].constructor(n);
		out.set(below[key]);
		out.set(above[key].subarray(1), below.n);
		return out;
	};
	const lane = (a, b) => {
		const out = new Float64Array(n);
		out.set(a);
		out.set(b.subarray(1), below.n);
		out[0] = a[0] - b.reduce((sum, v) => sum + v, 0);
		return out;
	};
	const inlinedBits = new Uint8Array((n >> 3) + 1), tree = { ...below, n, parent: joined("parent"), depth: joined("depth"), frame: joined("frame"), inlinedBits };

	for (let i = 1; i < above.n; i++)
		tree.parent[i + shift] = above.parent[i] ? above.parent[i] + shift : 0;
	for (let i = 1; i < below.n; i++)
		inlinedBits[(i - 1) >> 3] |= isInlined(below, i) << ((i - 1) & 7);
	tree.self = below.self.map((own, side) => lane(own, above.self[side]));
	tree.counts = below.counts && below.counts.map((own, side) => lane(own, above.counts[side]));
	tree.end = subtreeEnds(tree);
	return { ...tree, split: below.n };
}

/* What filters and the choice of labels and levels leave; callees below callers. */
export function filtered(view, parts, shape) {
	return shape.filters.length || shape.level === "files" || shape.level === "binaries" || shape.group ? growFiltered(view, parts, shape) : view;
}

/*
 * The same looked at from another side. The table is that of what the filters leave in any
 * case. way: where the view is in it, for trees that are grown in part.
 */
export function turned(down, shape, way = []) {
	if (shape.tree === "inverted")
		return { ...growInverted(down, way), table: down, inverted: true };
	if (shape.tree === "around")
		return { ...growSandwich(down, shape.of), table: down };
	if (shape.tree === "callers" || shape.tree === "of")
		return { ...growAround(down, shape.of, shape.tree === "callers"), table: down, inverted: shape.tree === "callers" };
	return down;
}

export function grow(view, parts, shape) {
	return turned(filtered(view, parts, shape), shape);
}
