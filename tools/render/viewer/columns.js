/* SPDX-License-Identifier: Apache-2.0 */
/* The columns that the table of functions can have, and which of them it has. */
import { formatDelta, formatDeltaShare, formatShare, formatValue } from "./format.js";
import { statusOf } from "./model.js";
import { moduleName } from "./names.js";

/*
 * value: what to sort by; text: what to show. Arguments: model, frame id. wide: in em, or as
 * grid tracks have it, or told by the model. least: how many pixels the table has to have for the column to be there
 * without being asked for.
 */
const amount = (m, v) => formatValue(v, m.unit), change = (m, v) => formatDelta(v, m.unit);
const flat = (m, f) => m.functions[0].self[f], total = (side) => (m, f) => m.functions[side].total[f];
const delta = (m, f) => m.functions[1].total[f] - m.functions[0].total[f];
const ratio = (m, f) => (m.functions[0].total[f] ? m.functions[1].total[f] / m.functions[0].total[f] : Infinity);

/* What prof-diff says of a function, if it has tested it; else whether it is on one side alone. */
function statusText(m, f) {
	const known = m.verdicts ? m.verdicts.get(m.functionOf(f)) || "" : null;

	return known === null ? statusOf(total(0)(m, f), total(1)(m, f)) : known;
}

const NAME = { id: "name", label: "Function", hint: "Name", isText: true, wide: "minmax(0, 1fr)", least: 0, value: (m, f) => m.frames.name[f] };
const PLACES = [
	{ id: "file", label: "File", hint: "Where it is defined", isText: true, wide: "minmax(0, 0.7fr)", least: Infinity,
		value: (m, f) => m.frames.file[f], text: (m, v, f) => (v && m.frames.line[f] ? `${v}:${m.frames.line[f]}` : v) },
	{ id: "module", label: "Binary", hint: "The binary it is of", isText: true, wide: "minmax(0, 0.4fr)", least: Infinity,
		value: (m, f) => m.frames.module[f], text: (m, v) => moduleName(v) },
];
const OF_ONE = [
	{ id: "flat", label: "Flat", hint: "In the function itself", wide: 5.8, least: 0, value: flat, text: amount },
	{ id: "flat-share", label: "%", menu: "Flat, %", hint: "Flat, of the total", sortAs: "flat", wide: 5, least: 430, value: flat, text: (m, v) => formatShare(v, m.whole) },
	{ id: "total", label: "Total", hint: "In the function and what it calls", wide: 5.8, least: 0, value: total(0), text: amount },
	{ id: "total-share", label: "%", menu: "Total, %", hint: "Total, of the total", sortAs: "total", wide: 5, least: 430, value: total(0), text: (m, v) => formatShare(v, m.whole) },
	NAME, ...PLACES,
];
const OF_TWO = [
	{ id: "old", label: "Old", hint: "Total of the old side", wide: 5.8, least: 640, value: total(0), text: amount },
	{ id: "new", label: "New", hint: "Total of the new side", wide: 5.8, least: 640, value: total(1), text: amount },
	{ id: "delta", label: "Delta", hint: "New less old", wide: 6.8, least: 0, value: delta, text: change },
	{ id: "delta-share", label: "%", menu: "Delta, %", hint: "Delta, of the old side's total", sortAs: "delta", wide: 6.2, least: 340, value: delta, text: (m, v) => formatDeltaShare(v, m.whole) },
	{ id: "ratio", label: "Ratio", hint: "New, as a multiple of old", wide: 4.8, least: 720, value: ratio,
		text: (m, v) => (v === Infinity ? "–" : `×${v.toFixed(2)}`) },
	{ id: "self-delta", label: "Self Δ", hint: "Delta in the function itself", wide: 6.8, least: 480, value: (m, f) => m.functions[1].self[f] - m.functions[0].self[f], text: change },
	{ id: "status", label: "Status", hint: "What prof-diff found, if it has tested; else new: only there, gone: only in the old side", isText: true, wide: (m) => (m.verdicts ? 6.2 : 4.1), least: 0,
		value: statusText, text: (m, v) => v },
	NAME, ...PLACES,
];

export function columnsThere(model) {
	return model.isDiff ? OF_TWO : OF_ONE;
}

/* Those that are asked for, or those that there is room for. */
export function columnsShown(model, chosen, px) {
	const all = columnsThere(model), asked = all.filter((c) => c.id === "name" || chosen.includes(c.id));

	return asked.length > 1 ? asked : all.filter((c) => px >= c.least);
}

export function gridOf(model, columns) {
	const wide = (c) => (typeof c.wide === "function" ? c.wide(model) : c.wide);

	return columns.map((c) => (typeof c.wide === "string" ? c.wide : `${wide(c)}em`)).join(" ");
}
