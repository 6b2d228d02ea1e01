/* SPDX-License-Identifier: Apache-2.0 */
/* From what is shown to the address and the browser's history, and back. */
import { byId } from "./card.js";
import { LEVELS } from "./data.js";
import { ALL } from "./explore.js";
import { parseSelector } from "./selector.js";
import { readFilters, writeFilters } from "./shaper.js";
import { pathState, rangeState, readPath, readRange, readState, writeState } from "./state.js";

/* What a page starts with is what --granularity says; addresses are in the place of functions. */
const firstLevel = (p) => (p.level === "addresses" ? "functions" : p.level);

function shapeState({ shape, flame }, p) {
	const away = shape.tree !== "callees";

	return { way: away ? shape.tree : "", of: away ? shape.of : "", group: shape.group,
		level: shape.level === firstLevel(p) ? "" : shape.level, f: writeFilters(shape.filters), flame: flame ? "1" : "" };
}

export function keepState(app, push) {
	const { chooser, model, view } = app, { profiles } = app.data, p = profiles[app.profile];
	const usual = app.profile === 0 && app.column === profiles[0].column;
	const hash = writeState({
		t: usual ? "" : `${app.profile}/${app.column}`, by: chooser.by, s: chooser.filter,
		r: rangeState(p, chooser.selection), base: chooser.base ? `${rangeState(p, chooser.base)}|${chooser.baseFilter}` : "",
		as: chooser.scaled ? "" : "is", ...shapeState(app.shaper, p),
		colour: app.legend.grouping === "package" ? "" : app.legend.grouping, columns: app.table.chosen.join(","), q: byId("search").value,
		...app.panels.state(), case: app.options.matchCase ? "1" : "", regex: app.options.regex ? "1" : "", z: pathState(model, app.zoomed) });
	const run = view.first !== view.last ? { first: view.first, last: view.last, name: model.nameOf(view.first) } : null;

	window.history[push ? "pushState" : "replaceState"]({ steps: app.steps, run }, "", `#${hash}`);
}

const known = (value, values) => (values.includes(value) ? value : values[0]);

function restoreShape(shaper, p, { way, of, group, level, f, flame }) {
	const tree = known(way, of ? ["callees", "inverted", "around", "callers", "of"] : ["callees", "inverted"]);

	shaper.restore({ tree, of: of || "", group: group || "", level: known(level || firstLevel(p), LEVELS.slice(0, 4)), filters: readFilters(f) }, flame === "1");
}

function readSelection(p, range, filter = "") {
	try {
		return p.cells ? { selection: { ...readRange(p, range), terms: parseSelector(filter) }, filter } : { selection: ALL, filter: "" };
	} catch {
		return { selection: ALL, filter: "" };
	}
}

function readBase(p, text) {
	const at = text.indexOf("|"), read = readSelection(p, text.slice(0, at), text.slice(at + 1));

	return { base: read.selection, baseFilter: read.filter };
}

function restoreZoom(app, way, run) {
	const { model } = app, { node, whole } = readPath(model, way);

	if (run && run.last < model.n && model.nameOf(run.first) === run.name)
		app.zoom(run, false);
	else
		app.zoom({ first: node, last: node }, false);
	if (!whole)
		app.tell("The place that was zoomed to is not in this profile; its nearest caller is shown.");
}

/* What the address says; it may be of another page that was in this place before. */
export function restoreState(app, history) {
	const state = readState(window.location.hash), { profiles } = app.data;
	const [profile, column] = (state.t || "").split("/").map(Number);
	const isThere = profiles[profile] && profiles[profile].columns[column], at = isThere ? profile : 0;
	const p = profiles[at], k = isThere ? column : p.column;

	app.steps = (history && history.steps) || 0;
	byId("search").value = state.q || "";
	app.setOption("search-case", "matchCase", state.case === "1");
	app.setOption("search-regex", "regex", state.regex === "1");
	app.chooser.setProfile(p, k);
	app.chooser.restore({ ...readSelection(p, state.r, state.s), by: state.by || "", scaled: state.as !== "is",
		...(state.base === undefined || !p.cells ? { base: null, baseFilter: "" } : readBase(p, state.base)) });
	restoreShape(app.shaper, p, state);
	app.legend.restore(state.colour);
	app.table.choose((state.columns || "").split(",").filter((id) => id));
	app.way = state.z || "";
	app.choose(at, k);
	app.panels.restore(state);
	restoreZoom(app, state.z, history && history.run);
	app.scrollToRoot();
}
