/* SPDX-License-Identifier: Apache-2.0 */
/* Adding up the part of the samples that was chosen: by time and by labels. */
import { nanoseconds } from "./format.js";
import { fits } from "./selector.js";

/*
 * A selection: bins [from, to), or from < 0 for all time and what has none; terms on labels; a
 * group { key, value } of it, perhaps.
 */
export const ALL = Object.freeze({ from: -1, to: -1, terms: Object.freeze([]) });

export function isAll(selection) {
	return selection.from < 0 && !selection.terms.length && !selection.group;
}

/* By label set: 1 if it fits, is one of a sample, and has the value of the group's key. */
export function setsOf(p, terms, group = null) {
	return Uint8Array.from(p.labels.sets, (pairs, i) =>
		(p.labels.used[i] && fits(terms, pairs) && (!group || valueOf(pairs, group.key) === group.value) ? 1 : 0));
}

export function hasTime(selection, bin) {
	return selection.from < 0 || (bin >= selection.from && bin < selection.to);
}

/*
 * Machines and instances whose samples may fit the terms and have `value` of `key`, as far as
 * their own labels tell: by target 1 or 0; null when that is all.
 */
export function targetsOf(p, terms, key = "", value = "") {
	const sets = (p.targets || []).map((i) => p.labels.sets[i]), own = new Set((sets[0] || []).map((pair) => pair[0]));
	const told = terms.filter((t) => own.has(t.key)), fit = sets.map((pairs) => (fits(told, pairs) && (!own.has(key) || valueOf(pairs, key) === value) ? 1 : 0));

	return fit.every((f) => f) ? null : fit;
}

/* What values of a bin that are of these targets are divided by. */
function partOf(bin, targets) {
	const parts = targets ? bin.parts.filter((part) => targets[part.target]) : [];

	if (!targets)
		return bin;
	return parts.reduce((sum, part) => ({ wall: Math.max(sum.wall, part.wall), merged: sum.merged + part.merged }), { wall: 0, merged: 0 });
}

/* The parts of the bins that a selection is of. */
function partsOf(p, selection) {
	const { from, to, terms, group } = selection, targets = group ? targetsOf(p, terms, group.key, group.value) : targetsOf(p, terms);

	return { isAll: from < 0 && !targets, parts: (from < 0 ? p.bins || [] : p.bins.slice(from, to)).map((bin) => partOf(bin, targets)) };
}

/* How many profiles the selection's time is of. */
export function mergedOf(p, selection) {
	const { isAll: all, parts } = partsOf(p, selection);

	return (all ? Number(p.facts.get("merged")) : parts.reduce((sum, part) => sum + part.merged, 0)) || 1;
}

/* What the selection's values are spread over, in seconds: several machines' time is one. */
export function secondsOf(p, selection) {
	if (!p.bins || p.bins.length < 2)
		return p.seconds;
	return partsOf(p, selection).parts.reduce((sum, part) => sum + part.wall, 0) / 1e9;
}

/* Each node's own value in the selection, and the sum of all |value|, before stack filters. */
export function sumOf(p, column, selection) {
	if (isAll(selection))
		return { self: p.self[0][column], total: p.columns[column].totals[0] };
	const { start, set, bin } = p.cells, values = p.cells.values[column], { n } = p;
	const wanted = setsOf(p, selection.terms, selection.group), self = new Float64Array(n + 1);
	const from = selection.from < 0 ? 0 : selection.from, to = selection.from < 0 ? Infinity : selection.to;
	let total = 0;

	for (let i = 0; i <= n; i++) {
		let sum = 0;
		for (let k = start[i], last = start[i + 1]; k < last; k++) {
			if (!wanted[set[k]] || bin[k] < from || bin[k] >= to)
				continue;
			total += Math.abs(values[k]);
			sum += values[k];
		}
		self[i] = sum;
	}
	/* the last are of what stack filters left out */
	return { self: self.subarray(0, n), total };
}

/* The value of a key in a label set, several joined; "" if it is not there. */
export function valueOf(pairs, key) {
	return pairs.filter((p) => p[0] === key).map((p) => p[1]).join(",");
}

/* The values of a key, those with an empty one too. */
export function valuesOf(p, key) {
	return [...new Set(p.labels.sets.filter((_, i) => p.labels.used[i]).map((pairs) => valueOf(pairs, key)))].sort();
}

/*
 * What each value of each label has in a selection, of the nodes that are marked: a list of
 * { key, sum, values: [{ value, sum }] }, values largest first. A sample that has several values
 * of a key counts for each, and once for the key. All are multiplied by `factor`.
 */
export function labelSums(p, column, selection, nodes, factor = 1) {
	const { start, set, bin } = p.cells, values = p.cells.values[column], wanted = setsOf(p, selection.terms), bySet = new Float64Array(wanted.length);

	for (let i = 0; i < p.n; i++)
		for (let k = start[i]; nodes[i] && k < start[i + 1]; k++)
			if (wanted[set[k]] && hasTime(selection, bin[k]))
				bySet[set[k]] += values[k] * factor;
	return p.labels.keys.map((key) => {
		const sums = new Map();
		let sum = 0;
		p.labels.sets.forEach((pairs, s) => {
			const own = new Set(pairs.filter((pair) => pair[0] === key).map((pair) => pair[1]));
			sum += own.size ? bySet[s] : 0;
			for (const value of own)
				sums.set(value, (sums.get(value) || 0) + bySet[s]);
		});
		const sorted = [...sums].map(([value, v]) => ({ value, sum: v })).filter((v) => v.sum)
			.sort((a, b) => Math.abs(b.sum) - Math.abs(a.sum) || (a.value < b.value ? -1 : 1));
		return { key, sum, values: sorted };
	}).filter((k) => k.values.length);
}

/* What time's values are shown in: CPU time as cores, other amounts per second, levels as they are. */
export function rateUnit(column) {
	if (column.gauge)
		return { per: "merged", unit: column.unit, suffix: "" };
	const ns = nanoseconds(column.unit);
	return ns ? { per: "wall", factor: ns, unit: "", suffix: column.type === "cpu" ? " cores" : " s/s" }
		: { per: "wall", factor: 1e9, unit: column.unit, suffix: "/s" };
}

/*
 * Lines over time, one for each value of the label `by` ("" for one of all), those with most
 * first; from the eighth on they are one. { name, sums: by bin, whole, rest: how many }
 */
export function linesOf(p, column, by, terms) {
	const { set, bin } = p.cells, values = p.cells.values[column], wanted = setsOf(p, terms);
	const names = p.labels.sets.map((pairs) => (by ? valueOf(pairs, by) : "")), lines = new Map();
	const lineOf = (name) => {
		if (!lines.has(name))
			lines.set(name, { name, sums: new Float64Array(p.bins.length), whole: 0, rest: 0 });
		return lines.get(name);
	};

	const bins = p.bins.length, lineOfSet = names.map(() => null);
	for (let k = 0; k < p.cells.n; k++) {
		const s = set[k];
		if (wanted[s] && bin[k] < bins) {
			const line = lineOfSet[s] ||= lineOf(names[s]);
			line.sums[bin[k]] += values[k];
			line.whole += Math.abs(values[k]);
		}
	}
	if (!lines.size)
		lineOf("");
	const sorted = [...lines.values()].sort((a, b) => b.whole - a.whole || (a.name < b.name ? -1 : 1));
	if (sorted.length <= LINES_MAX)
		return sorted;
	const rest = sorted.splice(LINES_MAX - 1), one = { name: "", sums: new Float64Array(p.bins.length), whole: 0, rest: rest.length };
	for (const line of rest) {
		line.sums.forEach((v, i) => { one.sums[i] += v; });
		one.whole += line.whole;
	}
	return [...sorted, one];
}

export const LINES_MAX = 8;

/* What a line's sum in each bin is per second, or per profile; null where there is none. */
export function ratesOf(p, column, line, by, terms) {
	const rate = rateUnit(p.columns[column]), targets = line.rest ? targetsOf(p, terms) : targetsOf(p, terms, by, line.name);

	return Array.from(line.sums, (sum, i) => {
		const part = partOf(p.bins[i], targets), whole = part[rate.per];
		return whole > 0 ? sum * (rate.per === "merged" ? 1 : rate.factor) / whole : null;
	});
}

/* --- time ----------------------------------------------------------------------------------- */

/* Seconds from the first bin's start, for drawing. */
export function offsetOf(p, time) {
	const first = p.bins[0].start;

	return time.s - first.s + (time.ns - first.ns) / 1e9;
}

export function endOf(bin) {
	const ns = bin.start.ns + bin.length % 1e9;

	return { s: bin.start.s + Math.floor(bin.length / 1e9) + Math.floor(ns / 1e9), ns: ns % 1e9 };
}

/* RFC 3339 in UTC, all digits that count: what --since and --until take. */
export function timeText(time) {
	const date = new Date(time.s * 1000);
	const fraction = time.ns ? `.${String(time.ns).padStart(9, "0").replace(/0+$/, "")}` : "";

	if (Number.isNaN(date.getTime()))
		return `@${time.s}${fraction}`;
	return date.toISOString().replace(/\.\d+Z$/, `${fraction}Z`);
}

/* [since, until) of bins [from, to): what --since and --until have to be to choose the same. */
export function rangeText(p, from, to) {
	return { since: timeText(p.bins[from].start), until: timeText(endOf(p.bins[to - 1])) };
}
