/* SPDX-License-Identifier: Apache-2.0 */
/* The page at work: what is shown, and what keys, pointer and controls do to it. */
import { byId, describeNode, describeRun, element, nodeSentence, placeCard } from "./card.js";
import { Chooser } from "./chooser.js";
import { DARK, LIGHT } from "./colour.js";
import { unpack } from "./data.js";
import { Painter, ROW_PX } from "./draw.js";
import { ALL } from "./explore.js";
import { Layout } from "./layout.js";
import { Model } from "./model.js";
import { probeOf } from "./probe.js";
import { search } from "./search.js";
import { parseSelector } from "./selector.js";
import { pathState, rangeState, readPath, readRange, readState, writeState } from "./state.js";
import { FunctionTable } from "./table.js";
import { compareOf, viewOf } from "./view.js";
import { factsText, foundText, legendEntries, pathElements } from "./words.js";

class App {
	constructor(data) {
		this.data = data;
		this.scroller = byId("scroller");
		this.canvas = byId("marks");
		this.card = byId("card");
		this.painter = new Painter(byId("boxes"), this.canvas);
		this.table = new FunctionTable(byId("list"), { pick: (f) => this.pick(f, false), zoom: (f) => this.zoomToFunction(f) });
		this.chooser = new Chooser(byId("explore"), this.card, { change: () => this.selected(), say: (text) => this.say(text) });
		this.options = { matchCase: false, regex: false };
		this.width = "mean";
		this.view = { first: 0, last: 0 };
		this.picked = this.focus = -1;
		this.hover = null;
		this.steps = 0; /* zooms that can be gone back from */
	}

	start() {
		for (const id of ["controls", "path", "app", "legend"])
			byId(id).hidden = false;
		byId("plain").hidden = true;
		this.fillTypes();
		this.listen();
		this.dark = window.matchMedia("(prefers-color-scheme: dark)");
		this.dark.addEventListener("change", () => this.setPalette());
		this.setPalette();
		this.painter.resize(this.scroller.clientWidth, this.scroller.clientHeight);
		this.restore(window.history.state);
	}

	/* --- what is shown ------------------------------------------------------------------ */

	fillTypes() {
		const select = byId("type");

		this.data.profiles.forEach((p, i) => p.columns.forEach((c, k) => {
			const option = element("option", "", c.unit ? `${c.type} (${c.unit})` : c.type);
			option.value = `${i}/${k}`;
			select.append(option);
		}));
		byId("type-label").hidden = select.options.length < 2;
	}

	choose(profile, column) {
		const other = this.profile !== profile, p = this.data.profiles[profile];

		this.profile = profile;
		this.column = column;
		byId("type").value = `${profile}/${column}`;
		if (other) {
			this.view = { first: 0, last: 0 };
			this.picked = this.focus = -1;
		}
		this.chooser.setProfile(p, column);
		this.rebuild();
	}

	/* All that follows from the column and from what is chosen of the samples. */
	rebuild() {
		const p = this.data.profiles[this.profile], { base, selection, scaled } = this.chooser;

		this.model = new Model(base ? compareOf(p, this.column, base, selection, scaled) : viewOf(p, this.column, selection));
		this.painter.setModel(this.model);
		this.setTable();
		this.hover = null;
		this.lay();
		this.writeFacts();
		this.writeLegend();
		this.find();
	}

	selected() {
		this.rebuild();
		this.zoom(this.view, false);
		this.keep(true);
	}

	setTable() {
		this.table.setModel(this.model, this.palette, this.painter.characterPx / this.painter.ratio);
	}

	lay() {
		this.layout = new Layout(this.model, this.width);
		byId("spacer").style.height = `${Math.max(1, this.layout.rows) * ROW_PX}px`;
		this.setRange();
	}

	/* The range of the view; up to a caller that has a width if the view has none. */
	setRange() {
		const { layout, model } = this;
		let { first, last } = this.view;

		while (first && !(layout.x[last] + layout.size[last] > layout.x[first]))
			first = last = model.parent[first];
		this.view = { first, last };
		this.x0 = layout.x[first];
		this.x1 = layout.x[last] + layout.size[last];
		/* the node that holds all of the view */
		this.zoomed = first;
		if (first !== last)
			for (this.zoomed = model.parent[first]; this.zoomed && model.end[this.zoomed] <= last;)
				this.zoomed = model.parent[this.zoomed];
	}

	draw() {
		if (this.frameAsked)
			return;
		this.frameAsked = true;
		window.requestAnimationFrame(() => {
			this.frameAsked = false;
			this.drawNow();
		});
	}

	drawNow() {
		this.painter.draw({ layout: this.layout, x0: this.x0, x1: this.x1, depth: this.model.depth[this.zoomed],
			scrollTop: this.scroller.scrollTop, marked: this.found.marked });
		this.hover = null;
		this.painter.drawMarks(this.picked, this.hover, this.focus);
	}

	resize() {
		const { clientWidth, clientHeight } = this.scroller;

		byId("stage").style.height = `${clientHeight}px`;
		this.painter.resize(clientWidth, clientHeight);
		this.drawNow();
		this.table.render();
		this.chooser.draw();
	}

	setPalette() {
		this.palette = this.dark.matches ? DARK : LIGHT;
		this.painter.setPalette(this.palette);
		this.chooser.setPalette(this.palette);
		if (this.model) {
			this.setTable();
			this.table.render();
			this.writeLegend();
			this.draw();
		}
	}

	/* --- words -------------------------------------------------------------------------- */

	writeFacts() {
		byId("facts").textContent = factsText(this.model, this.layout);
		byId("diff-width").hidden = !this.model.isDiff;
	}

	writeLegend() {
		byId("legend").replaceChildren(...legendEntries(this.model, this.palette));
	}

	writePath() {
		const nav = byId("path");

		nav.replaceChildren(...pathElements(this.model, this.zoomed, this.view, (node) => this.zoomToNode(node)));
		nav.scrollLeft = nav.scrollWidth;
	}

	writeFound() {
		const out = byId("search-result");

		out.classList.toggle("error", this.found.error !== "");
		out.textContent = foundText(this.model, this.found, this.zoomed);
	}

	say(text) {
		byId("live").textContent = text;
	}

	/* --- what can be done --------------------------------------------------------------- */

	searched() {
		this.find();
		this.keep(false);
	}

	find() {
		this.found = search(this.model.frames, byId("search").value, this.options);
		byId("search").setAttribute("aria-invalid", this.found.error !== "");
		this.table.fill(this.found.marked);
		this.writeFound();
		this.draw();
	}

	/* Zoom to a run of nodes of one row; `push` makes a step that the Back button undoes. */
	zoom(view, push) {
		if (push && view.first === this.view.first && view.last === this.view.last)
			return;
		this.view = { first: view.first, last: view.last };
		this.setRange();
		if (push)
			this.keep(true);
		this.hideCard();
		this.writePath();
		this.writeFound();
		this.draw();
	}

	/* The address and the browser's history say what is shown. */
	keep(push) {
		const { chooser, model, view } = this, p = this.data.profiles[this.profile], first = this.data.profiles[0];
		const usual = this.profile === 0 && this.column === first.column;
		const hash = writeState({
			t: usual ? "" : `${this.profile}/${this.column}`, by: chooser.by, s: chooser.filter,
			r: rangeState(p, chooser.selection), base: chooser.base ? `${rangeState(p, chooser.base)}|${chooser.baseFilter}` : "",
			as: chooser.scaled ? "" : "is", q: byId("search").value,
			case: this.options.matchCase ? "1" : "", regex: this.options.regex ? "1" : "", z: pathState(model, this.zoomed) });
		const run = view.first !== view.last ? { first: view.first, last: view.last, name: model.nameOf(view.first) } : null;

		if (push)
			this.steps++;
		window.history[push ? "pushState" : "replaceState"]({ steps: this.steps, run }, "", `#${hash}`);
	}

	zoomToNode(node) {
		this.focus = node;
		this.zoom({ first: node, last: node }, true);
		this.reveal(node);
	}

	zoomToFunction(frame) {
		const node = this.widest(frame);

		if (node > 0)
			this.zoomToNode(node);
	}

	widest(frame) {
		const { model, layout } = this;
		let best = -1;

		for (let i = 1; i < model.n; i++)
			if (model.frame[i] === frame && (best < 0 || layout.size[i] > layout.size[best]))
				best = i;
		return best;
	}

	goBack() {
		if (this.steps > 0)
			window.history.back();
		else if (this.zoomed)
			this.zoomToNode(this.model.parent[this.zoomed]);
	}

	/* What the address says; it may be of another page that was in this place before. */
	restore(history) {
		const state = readState(window.location.hash), { profiles } = this.data;
		const [profile, column] = (state.t || "").split("/").map(Number);
		const known = profiles[profile] && profiles[profile].columns[column], at = known ? profile : 0;
		const p = profiles[at], k = known ? column : p.column;
		const [baseRange, baseFilter] = (state.base || "").split("|");

		this.steps = (history && history.steps) || 0;
		byId("search").value = state.q || "";
		this.setOption("search-case", "matchCase", state.case === "1");
		this.setOption("search-regex", "regex", state.regex === "1");
		this.chooser.setProfile(p, k);
		this.chooser.restore({ ...this.readSelection(p, state.r, state.s), by: state.by || "", scaled: state.as !== "is",
			...(state.base === undefined || !p.cells ? { base: null, baseFilter: "" } : this.readBase(p, baseRange, baseFilter)) });
		this.choose(at, k);
		this.restoreZoom(state, history && history.run);
	}

	readSelection(p, range, filter = "") {
		try {
			return p.cells ? { selection: { ...readRange(p, range), terms: parseSelector(filter) }, filter } : { selection: ALL, filter: "" };
		} catch {
			return { selection: ALL, filter: "" };
		}
	}

	readBase(p, range, filter) {
		const read = this.readSelection(p, range, filter);

		return { base: read.selection, baseFilter: read.filter };
	}

	restoreZoom(state, run) {
		const { node, whole } = readPath(this.model, state.z), { model } = this;

		if (run && run.last < model.n && model.nameOf(run.first) === run.name)
			this.zoom(run, false);
		else
			this.zoom({ first: node, last: node }, false);
		if (!whole)
			this.say("The place that was zoomed to is not in this profile; its nearest caller is shown.");
	}

	setOption(id, option, value) {
		this.options[option] = value;
		byId(id).setAttribute("aria-pressed", value);
	}

	/* A function chosen in one of graph and table is shown in both. */
	pick(frame, reveal) {
		this.picked = frame;
		this.table.pick(frame, reveal);
		this.painter.drawMarks(this.picked, this.hover, this.focus);
	}

	reveal(node) {
		const top = this.model.depth[node] * ROW_PX, s = this.scroller;

		if (top < s.scrollTop)
			s.scrollTop = top;
		else if (top + 2 * ROW_PX > s.scrollTop + s.clientHeight)
			s.scrollTop = top + 2 * ROW_PX - s.clientHeight;
	}

	moveFocus(node) {
		this.focus = node;
		this.reveal(node);
		this.drawNow();
		this.pick(node ? this.model.frame[node] : -1, true);
		this.say(nodeSentence(this.model, node));
		const place = this.painter.placeOf(node), box = this.canvas.getBoundingClientRect();
		describeNode(this.card, this.model, node, this.zoomed);
		if (place)
			placeCard(this.card, box.left + place.x, box.top + place.y + 4);
	}

	/* The neighbour of a node in one of four directions, or -1. */
	neighbour(node, key) {
		const { model, layout } = this, k = layout.placeOf(node, model.depth[node]);

		if (key === "ArrowUp")
			return model.parent[node];
		if (key === "ArrowDown") {
			let best = -1;
			for (let i = node + 1; i < model.end[node]; i = model.end[i])
				if (layout.size[i] > 0 && (best < 0 || layout.size[i] > layout.size[best]))
					best = i;
			return best;
		}
		const to = k + (key === "ArrowLeft" ? -1 : 1), row = model.depth[node];
		if (k < 0 || to < layout.rowStart[row] || to >= layout.rowStart[row + 1])
			return -1;
		return layout.right[to] > this.x0 && layout.left[to] < this.x1 ? layout.node[to] : -1;
	}

	/* --- events ------------------------------------------------------------------------- */

	listen() {
		const toggles = { "search-case": "matchCase", "search-regex": "regex" };

		new ResizeObserver(() => this.resize()).observe(this.scroller);
		this.scroller.addEventListener("scroll", () => { this.hideCard(); this.draw(); });
		this.canvas.addEventListener("pointermove", (e) => this.pointAt(e));
		this.canvas.addEventListener("pointerleave", () => this.pointAway());
		this.canvas.addEventListener("click", (e) => this.click(e));
		this.canvas.addEventListener("keydown", (e) => this.graphKey(e));
		this.canvas.addEventListener("blur", () => this.hideCard());
		document.addEventListener("keydown", (e) => this.key(e));
		window.addEventListener("popstate", (e) => this.restore(e.state));
		byId("search").addEventListener("input", () => this.searched());
		for (const id of Object.keys(toggles)) {
			byId(id).addEventListener("click", () => {
				this.setOption(id, toggles[id], !this.options[toggles[id]]);
				this.searched();
			});
		}
		byId("type").addEventListener("change", () => {
			const [profile, column] = byId("type").value.split("/").map(Number);
			this.choose(profile, column);
			this.zoom(this.view, false);
			this.keep(true);
		});
		for (const button of byId("diff-width").querySelectorAll("button"))
			button.addEventListener("click", () => this.setWidth(button.dataset.width));
	}

	setWidth(width) {
		this.width = width;
		for (const button of byId("diff-width").querySelectorAll("button"))
			button.setAttribute("aria-pressed", button.dataset.width === width);
		this.lay();
		this.writePath();
		this.draw();
	}

	hit(e) {
		const box = this.canvas.getBoundingClientRect();

		return this.painter.at(e.clientX - box.left, e.clientY - box.top);
	}

	pointAt(e) {
		const hit = this.hit(e);

		this.canvas.style.cursor = hit ? "pointer" : "";
		if (!hit) {
			this.pointAway();
			return;
		}
		if (!this.hover || this.hover.box !== hit.box) {
			this.hover = hit;
			this.painter.drawMarks(this.picked, hit, this.focus);
			if (hit.box.first === hit.box.last)
				describeNode(this.card, this.model, this.layout.node[hit.box.first], this.zoomed);
			else
				describeRun(this.card, this.model, this.layout, hit.box);
		}
		placeCard(this.card, e.clientX, e.clientY);
	}

	pointAway() {
		this.hideCard();
		if (this.hover) {
			this.hover = null;
			this.painter.drawMarks(this.picked, null, this.focus);
		}
	}

	hideCard() {
		this.card.hidden = true;
	}

	click(e) {
		const hit = this.hit(e), node = hit ? this.layout.node[hit.box.first] : -1;

		this.canvas.focus({ preventScroll: true });
		if (!hit)
			return;
		if (hit.box.first !== hit.box.last) {
			this.focus = -1;
			this.zoom({ first: node, last: this.layout.node[hit.box.last] }, true);
			return;
		}
		this.zoomToNode(node);
		this.pick(node ? this.model.frame[node] : -1, true);
		/* a finger does not hover */
		if (e.pointerType === "touch") {
			describeNode(this.card, this.model, node, 0);
			placeCard(this.card, e.clientX, e.clientY);
		}
	}

	graphKey(e) {
		const at = this.focus >= 0 ? this.focus : this.zoomed;

		if (e.ctrlKey || e.metaKey || e.altKey)
			return;
		if (e.key.startsWith("Arrow")) {
			const to = this.focus < 0 ? at : this.neighbour(at, e.key);
			if (to >= 0)
				this.moveFocus(to);
			e.preventDefault();
		} else if (e.key === "Enter") {
			this.zoomToNode(at);
			e.preventDefault();
		}
	}

	key(e) {
		const search_ = byId("search"), typing = e.target === search_;

		if (e.ctrlKey || e.metaKey || e.altKey)
			return;
		if (e.key === "Escape") {
			if (search_.value) {
				search_.value = "";
				this.searched();
			} else if (e.target === byId("time")) {
				byId("all-time").click();
			} else {
				this.zoomToNode(0);
			}
			if (typing)
				this.canvas.focus({ preventScroll: true });
			e.preventDefault();
		} else if (e.key === "/" && e.target.tagName !== "INPUT") {
			search_.focus();
			search_.select();
			e.preventDefault();
		} else if (e.key === "Backspace" && e.target.tagName !== "INPUT" && e.target.tagName !== "SELECT") {
			this.goBack();
			e.preventDefault();
		}
	}
}

async function main() {
	try {
		if (typeof DecompressionStream === "undefined")
			throw new Error("this browser cannot decompress (no DecompressionStream)");
		const app = new App(await unpack(byId("data").textContent));
		app.start();
		Object.defineProperty(window, "profpipe", { value: probeOf(app) });
	} catch (e) {
		byId("plain").hidden = false;
		byId("app").hidden = true;
		byId("message").textContent = `The call tree cannot be drawn: ${e.message}. These are the largest functions.`;
		throw e;
	}
}

main();
