/* SPDX-License-Identifier: Apache-2.0 */
/* What tests and the curious may read: numbers as they are, and what is drawn. */
import { rangeText } from "./explore.js";

const values = (a) => Array.from(a);

function drawn({ painter, model, layout }) {
	return painter.drawn.map((d) => ({ row: d.row, above: d.above, y: d.y / painter.ratio,
		boxes: d.boxes.map((b) => ({ x: b.px / painter.ratio, width: b.wide / painter.ratio,
			nodes: b.last - b.first + 1, name: model.nameOf(layout.node[b.first]) })) }));
}

function lines({ chooser }) {
	const { timeline } = chooser;

	return chooser.hasTime ? timeline.lines.map((l) => ({ name: timeline.nameOf(l), sums: values(l.sums), rates: values(l.rates) })) : [];
}

/* Where bins are on the page, as [left, right]. */
function binEdges({ chooser }) {
	return chooser.hasTime ? chooser.p.bins.map((_, i) => chooser.timeline.edges(i, i + 1)) : [];
}

/* Of the node that is zoomed to, in the tree as it is shaped: [name, total of each side]. */
function callees({ model, zoomed }) {
	const out = [];

	for (let i = zoomed + 1; i < model.end[zoomed]; i = model.end[i])
		out.push([model.nameOf(i), ...model.total.map((t) => t[i])]);
	return out;
}

export function probeOf(app) {
	const sums = (of) => app.model.functions.map((s) => s[of]);

	return Object.freeze({
		title: () => app.data.title,
		totals: () => values(app.model.totals),
		root: () => app.model.total.map((t) => t[0]),
		rows: () => app.table.order.map((f) => ({ name: app.model.frames.name[f],
			self: sums("self").map((s) => s[f]), total: sums("total").map((s) => s[f]) })),
		found: () => ({ count: app.found.count,
			sum: app.found.marked ? app.model.total.map((_, side) => app.model.sumOfAllMarked(app.found.marked, side)) : [] }),
		zoomed: () => app.model.nameOf(app.zoomed),
		focused: () => (app.focus < 0 ? null : app.model.nameOf(app.focus)),
		callees: () => callees(app),
		nodes: () => app.model.n - 1,
		drawn: () => drawn(app),
		lines: () => lines(app),
		bins: () => binEdges(app),
		range: () => (app.chooser.selection.from < 0 ? null : rangeText(app.chooser.p, app.chooser.selection.from, app.chooser.selection.to)),
	});
}
