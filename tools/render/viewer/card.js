/* SPDX-License-Identifier: Apache-2.0 */
/* What is said about a box. Text reaches the page as text only. */
import { formatDelta, formatDeltaShare, formatShare, formatValue, plural } from "./format.js";
import { moduleName } from "./names.js";

export const byId = (id) => document.getElementById(id);

export function element(tag, className, text) {
	const e = document.createElement(tag);

	if (className)
		e.className = className;
	if (text !== undefined)
		e.textContent = text;
	return e;
}

/* "server.go:120 · app · inlined into its caller" */
function placeText(model, node) {
	const { frames } = model, f = model.frame[node], parts = [];

	if (frames.file[f])
		parts.push(frames.file[f] + (frames.line[f] ? `:${frames.line[f]}` : ""));
	if (frames.module[f]) {
		const build = model.p.builds && model.p.builds.get(frames.module[f]);
		parts.push(moduleName(frames.module[f]) + (build ? ` (build id ${build.slice(0, 16)}${build.length > 16 ? "…" : ""})` : ""));
	}
	if (model.isInlined(node))
		parts.push("inlined into its caller");
	return parts.join(" · ");
}

export function row(table, cells, tag = "td") {
	const tr = element("tr");

	cells.forEach((text, i) => tr.append(element(i ? tag : "th", "", text)));
	table.append(tr);
	return tr;
}

function valueRows(table, model, lines) {
	for (const [label, v, zoomed] of lines) {
		const cells = [label, formatValue(v, model.unit), formatShare(v, model.whole)];
		if (zoomed !== undefined)
			cells.push(`${formatShare(v, zoomed)} of view`);
		row(table, cells);
	}
}

function diffRows(table, model, lines) {
	row(table, ["", "old", "new", "delta", "of old total"], "th");
	for (const [label, old, now] of lines)
		row(table, [label, formatValue(old, model.unit), formatValue(now, model.unit),
			formatDelta(now - old, model.unit), formatDeltaShare(now - old, model.whole)]);
}

/* Everything about one node; `zoomed` is the node in view, 0 for all. */
export function describeNode(card, model, node, zoomed) {
	const f = model.frame[node], table = element("table");
	const place = node ? placeText(model, node) : "all samples shown";

	card.replaceChildren(element("p", "name", node ? model.nameOf(node) : "all"));
	if (place)
		card.append(element("p", "place", place));
	if (model.isDiff) {
		const [old, now] = model.total, lines = [["total", old[node], now[node]], ["self", model.self[0][node], model.self[1][node]]];
		if (node)
			lines.push(["everywhere", model.functions[0].total[f], model.functions[1].total[f]]);
		diffRows(table, model, lines);
		const status = model.status(node);
		if (status && node)
			card.append(element("p", "place", status === "new" ? "new: not in the old side" : "gone: not in the new side"));
	} else {
		const view = zoomed ? model.total[0][zoomed] : undefined, lines = [["total", model.total[0][node], view]];
		/* with callers below, what ends at a node is no function's own */
		if (!model.view.inverted && !model.isAbove(node))
			lines.push(["self", model.self[0][node], view]);
		if (node)
			lines.push(["everywhere", model.functions[0].total[f]]);
		valueRows(table, model, lines);
	}
	card.append(table);
}

/* Boxes drawn as one. */
export function describeRun(card, model, layout, box) {
	const table = element("table"), sums = model.total.map(() => 0), nodes = box.last - box.first + 1;

	for (let k = box.first; k <= box.last; k++)
		model.total.forEach((total, side) => { sums[side] += total[layout.node[k]]; });
	card.replaceChildren(element("p", "name", `${plural(nodes, "box", "boxes")} too narrow to draw`));
	if (nodes === 1)
		card.append(element("p", "place", model.nameOf(layout.node[box.first])));
	if (model.isDiff)
		diffRows(table, model, [["together", sums[0], sums[1]]]);
	else
		valueRows(table, model, [["together", sums[0]]]);
	card.append(table, element("p", "place", "Click to zoom to them."));
}

/* One line, for those who hear the page. */
export function nodeSentence(model, node) {
	const values = model.isDiff
		? `old ${formatValue(model.total[0][node], model.unit)}, new ${formatValue(model.total[1][node], model.unit)}`
		: `total ${formatValue(model.total[0][node], model.unit)}, ${formatShare(model.total[0][node], model.whole)}`;

	return `${model.nameOf(node)}: ${values}, level ${model.depth[node] + 1}`;
}

/* Beside the point, inside the window. */
export function placeCard(card, x, y) {
	card.hidden = false;
	const { width, height } = card.getBoundingClientRect();
	const right = document.documentElement.clientWidth, bottom = document.documentElement.clientHeight;

	card.style.left = `${Math.max(4, Math.min(x + 14, right - width - 4))}px`;
	card.style.top = `${y + 18 + height < bottom ? y + 18 : Math.max(4, y - height - 12)}px`;
}
