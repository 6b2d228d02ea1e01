/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is shown, as the part of the address after #, so that it can be kept and sent: types by
 * number, time as time, functions by hashes of their names. What is unknown is passed over.
 */
import { stableHash } from "./colour.js";
import { rangeText } from "./explore.js";

const PATH_MAX = 500;

export function writeState(state) {
	return Object.entries(state).filter(([, v]) => v !== "" && v !== undefined && v !== null)
		.map(([k, v]) => `${k}=${encodeURIComponent(v)}`).join("&");
}

export function readState(hash) {
	const state = {};

	for (const part of hash.replace(/^#/, "").split("&")) {
		const at = part.indexOf("=");
		if (at > 0) {
			try {
				state[part.slice(0, at)] = decodeURIComponent(part.slice(at + 1));
			} catch {
				/* not ours */
			}
		}
	}
	return state;
}

export function rangeState(p, selection) {
	if (!selection || selection.from < 0)
		return "";
	const { since, until } = rangeText(p, selection.from, selection.to);

	return `${since}..${until}`;
}

/* The bins of a range that was written for the same profiles, or for some like them. */
export function readRange(p, text) {
	const none = { from: -1, to: -1 }, [since, until] = (text || "").split("..");

	if (!since || !until || !p.bins || p.bins.length < 2)
		return none;
	const starts = p.bins.map((_, i) => rangeText(p, i, i + 1));
	const from = starts.findIndex((b) => b.since === since), to = starts.findIndex((b) => b.until === until);
	return from >= 0 && to >= from ? { from, to: to + 1 } : none;
}

/* The way to a node, from the root. */
export function pathState(model, node) {
	const chain = [];

	for (let at = node; at > 0; at = model.parent[at])
		chain.push(stableHash(model.nameOf(at)).toString(36));
	return chain.reverse().slice(0, PATH_MAX).join(".");
}

/* { node, whole }: as far as the way is there. */
export function readPath(model, text) {
	const hashes = (text || "").split(".").filter((h) => h), known = new Map();
	const hashOf = (node) => {
		const f = model.frame[node];
		if (!known.has(f))
			known.set(f, stableHash(model.nameOf(node)).toString(36));
		return known.get(f);
	};
	let at = [0];

	/* callees of one name may be several, told apart by their files */
	for (const hash of hashes) {
		const next = [];
		for (const node of at)
			for (let child = node + 1; child < model.end[node]; child = model.end[child])
				if (hashOf(child) === hash)
					next.push(child);
		if (!next.length)
			return { node: at[0], whole: false };
		at = next;
	}
	return { node: at[0], whole: true };
}
