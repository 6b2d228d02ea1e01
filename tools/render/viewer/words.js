/* SPDX-License-Identifier: Apache-2.0 */
/* What is written around the picture: facts, legend, path, what was found. */
import { element } from "./card.js";
import { formatDelta, formatDeltaShare, formatShare, formatValue, plural } from "./format.js";
import { fitName } from "./names.js";

const PATH_BUTTONS = 6;

function diffFacts(model) {
	const [old, now] = model.totals, { unit, view, p } = model, parts = [];

	parts.push(`${model.type}: old ${formatValue(old, unit)}, new ${formatValue(now, unit)}, ` +
		`${formatDelta(now - old, unit)} (${formatDeltaShare(now - old, old)})`);
	if (view.base && view.factor !== 1)
		parts.push(`old side scaled by ${view.factor.toPrecision(3)} to the new one’s time`);
	if (p.facts.has("norm"))
		parts.push(`normalized by: ${p.facts.get("norm")}`);
	return parts;
}

function plainFacts(model) {
	const { unit, view, p } = model, all = view.selection.from < 0, parts = [];

	parts.push(`${model.type} ${formatValue(model.whole, unit)}`);
	if (view.mean > 1)
		parts[0] += `, mean of ${plural(view.mean, "profile", "profiles")}`;
	else if (view.seconds > 0)
		parts[0] += ` over ${formatValue(view.seconds * 1e9, "nanoseconds")}`;
	if (all && p.duration && Math.abs(p.seconds - view.seconds) > view.seconds / 50)
		parts[0] += ` (${p.duration} of profiles)`;
	if (model.type === "cpu" && unit === "nanoseconds" && view.seconds > 0)
		parts.push(`${(model.whole / 1e9 / view.seconds).toFixed(2)} cores`);
	if (all && p.time)
		parts.push(`from ${p.time}`);
	if (!model.hasNegative && model.total[0][0] !== model.whole)
		parts.push(`shown ${formatValue(model.total[0][0], unit)} (${formatShare(model.total[0][0], model.whole)})`);
	return parts;
}

export function factsText(model, layout) {
	const parts = model.isDiff ? diffFacts(model) : plainFacts(model);

	parts.push(...model.p.filters);
	if (model.hasNegative)
		parts.push("negative values are drawn by their size, hatched");
	if (!model.exact)
		parts.push("values are rounded: they are too large to be exact here");
	if (!layout.total)
		parts.push(model.n > 1 ? "all values are 0" : "no samples");
	return parts.join(" · ");
}

/* What was folded to keep the page small. */
export function foldedText(p) {
	const parts = [];

	if (p.windows && p.bins.length > 1)
		parts.push(`time in steps of ${formatValue(p.bins[0].length, "nanoseconds")}`);
	if (p.labels && p.labels.leftOut.length)
		parts.push(`labels left out (choose by --by): ${p.labels.leftOut.slice(0, 4).map((l) => `${l.key}, ${plural(l.values, "value", "values")}`).join("; ")}` +
			(p.labels.leftOut.length > 4 ? "; …" : ""));
	return parts.join(" · ");
}

/* view: first and last node of what is in view; zoomed: the node that holds it */
export function pathElements(model, zoomed, view, zoomTo) {
	const chain = [];

	for (let at = zoomed; at >= 0; at = model.parent[at])
		chain.push(at);
	chain.reverse();
	const shown = chain.length > PATH_BUTTONS ? [chain[0], -1, ...chain.slice(1 - PATH_BUTTONS)] : chain;
	const elements = shown.map((node) => {
		if (node < 0)
			return element("span", "", `… ${plural(chain.length - PATH_BUTTONS, "caller", "callers")} …`);
		const button = element("button", "", fitName(model.nameOf(node), 32));
		button.type = "button";
		button.title = fitName(model.nameOf(node), 1000);
		if (node === zoomed && view.first === view.last)
			button.setAttribute("aria-current", "location");
		button.addEventListener("click", () => zoomTo(node));
		return button;
	});
	if (view.first !== view.last)
		elements.push(element("span", "", "some of its narrow callees"));
	return elements;
}

export function foundText(model, found, zoomed) {
	const all = (side, whole) => formatShare(model.sumOfAllMarked(found.marked, side), whole);

	if (!found.marked)
		return found.error;
	let text = plural(found.count, "function", "functions");
	if (model.isDiff)
		text += `, old ${all(0, model.totals[0])}, new ${all(1, model.totals[1])}`;
	else
		text += `, ${all(0, model.whole)} of total`;
	if (zoomed && !model.isDiff && !model.view.partial && !model.view.split)
		text += ` (${formatShare(model.sumOfMarked(found.marked, zoomed, model.end[zoomed], 0), model.total[0][zoomed])} of view)`;
	return text;
}
