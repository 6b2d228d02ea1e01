/* SPDX-License-Identifier: Apache-2.0 */
/* The page at work: what is shown, and what keys, pointer and controls do to it. */
import { byId, describeNode, describeRun, element, nodeSentence, placeCard } from "./card.js";
import { Chooser } from "./chooser.js";
import { DARK, LIGHT } from "./colour.js";
import { unpack } from "./data.js";
import { Painter, ROW_PX } from "./draw.js";
import { labelSums, valuesOf } from "./explore.js";
import { grow, passingNodes } from "./grow.js";
import { Layout, neighbour, widest } from "./layout.js";
import { Legend } from "./legend.js";
import { Menu, copy, functionItems } from "./menu.js";
import { Model } from "./model.js";
import { fitName } from "./names.js";
import { probeOf } from "./probe.js";
import { keepState, restoreState } from "./restore.js";
import { foundNodes, search } from "./search.js";
import { Shaper } from "./shaper.js";
import { pathState, readPath } from "./state.js";
import { FunctionTable } from "./table.js";
import { Tags } from "./tags.js";
import { compareOf, viewOf } from "./view.js";
import { factsText, foundText, pathElements } from "./words.js";

const FLIPPED = { ArrowUp: "ArrowDown", ArrowDown: "ArrowUp" };

class App {
	constructor(data) {
		this.data = data;
		this.scroller = byId("scroller");
		this.canvas = byId("marks");
		this.card = byId("card");
		this.painter = new Painter(byId("boxes"), this.canvas);
		this.table = new FunctionTable(byId("list"), { pick: (f) => this.pick(f, false), zoom: (f) => this.zoomToFunction(f) });
		this.chooser = new Chooser(byId("explore"), this.card, { change: () => this.selected(), say: (text) => this.say(text) });
		this.shaper = new Shaper({ change: () => this.selected() });
		this.tags = new Tags({ only: (key, value) => this.chooser.only(key, value), shown: () => this.listShown() });
		this.menu = new Menu();
		this.legend = new Legend({ regroup: () => this.regroup(), menu: (title, re, button) => this.groupMenu(title, re, button) });
		this.options = { matchCase: false, regex: false };
		this.width = "mean";
		this.view = { first: 0, last: 0 };
		this.picked = this.focus = -1;
		this.hover = null;
		this.steps = 0; /* zooms that can be gone back from */
	}

	start() {
		for (const id of ["controls", "shape", "path", "app", "legend"])
			byId(id).hidden = false;
		byId("plain").hidden = true;
		this.fillTypes();
		this.listen();
		this.dark = window.matchMedia("(prefers-color-scheme: dark)");
		this.dark.addEventListener("change", () => this.setPalette());
		this.setPalette();
		this.painter.resize(this.scroller.clientWidth, this.scroller.clientHeight);
		restoreState(this, window.history.state);
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
		this.shaper.setProfile(p);
		this.tags.setPossible(Boolean(p.cells) && p.labels.keys.length > 0);
		this.rebuild();
	}

	/* All that follows from the column and from what is chosen of the samples. */
	rebuild() {
		this.model = new Model(this.shapedView());
		this.painter.setModel(this.model, this.legend.grouping);
		this.setTable();
		this.hover = null;
		this.lay();
		this.writeFacts();
		this.writeLegend();
		this.fillTags();
		this.find();
	}

	listShown() {
		this.fillTags();
		this.table.render();
	}

	/* The list of labels, if it is in view. */
	fillTags() {
		const p = this.data.profiles[this.profile], { base, selection } = this.chooser, { view } = this.model;

		if (!this.tags.isShown || !p.cells)
			return;
		const nodes = passingNodes(p, this.shaper.shape.filters), factors = [view.factor || 1, 1];
		const sums = (base ? [base, selection] : [selection]).map((s, side) => labelSums(p, this.column, s, nodes, base ? factors[side] : 1 / (view.mean || 1)));
		this.tags.fill(sums, this.model);
	}

	/* The part of the samples that was chosen, or both parts, of one label value or of all. */
	partView(group) {
		const p = this.data.profiles[this.profile], { base, selection, scaled } = this.chooser;

		return base ? compareOf(p, this.column, { ...base, group }, { ...selection, group }, scaled)
			: viewOf(p, this.column, { ...selection, group });
	}

	shapedView() {
		const { shape } = this.shaper, whole = this.partView(null), key = shape.group;
		const parts = !key ? [{ view: whole }]
			: valuesOf(this.data.profiles[this.profile], key).map((value) => ({ name: value, view: this.partView({ key, value }) }));

		return grow(whole, parts, shape);
	}

	selected() {
		const way = pathState(this.model, this.zoomed), { view, model } = this;

		this.rebuild();
		if (model.frame === this.model.frame) {
			this.zoom(view, false);
		} else {
			const { node } = readPath(this.model, way), name = this.picked < 0 ? null : model.frames.name[this.picked];
			this.focus = -1;
			this.zoom({ first: node, last: node }, false);
			this.pick(this.model.frames.name.indexOf(name), false);
		}
		this.scroller.scrollTop = this.shaper.flame ? this.scroller.scrollHeight : this.scroller.scrollTop;
		this.keep(true);
	}

	setTable() {
		this.table.setModel(this.model, this.palette, this.painter.characterPx / this.painter.ratio, this.legend.grouping);
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
			scrollTop: this.scroller.scrollTop, marked: this.found.marked, flame: this.shaper.flame });
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
		this.legend.show(this.model, this.palette);
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
		if (push)
			this.steps++;
		keepState(this, push);
	}

	setOption(id, option, value) {
		this.options[option] = value;
		byId(id).setAttribute("aria-pressed", value);
	}

	zoomToNode(node) {
		this.focus = node;
		this.zoom({ first: node, last: node }, true);
		this.reveal(node);
	}

	zoomToFunction(frame) {
		const node = widest(this.model, this.layout, frame);

		if (node > 0)
			this.zoomToNode(node);
	}

	goBack() {
		if (this.steps > 0)
			window.history.back();
		else if (this.zoomed)
			this.zoomToNode(this.model.parent[this.zoomed]);
	}

	/* A function chosen in one of graph and table is shown in both. */
	pick(frame, reveal) {
		this.picked = frame;
		byId("act").disabled = frame < 0;
		this.table.pick(frame, reveal);
		this.painter.drawMarks(this.picked, this.hover, this.focus);
	}

	reveal(node) {
		const depth = this.model.depth[node], s = this.scroller, rows = Math.max(this.layout.rows, Math.floor(s.clientHeight / ROW_PX));
		const top = (this.shaper.flame ? rows - 1 - depth : depth) * ROW_PX;

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

	/* --- events ------------------------------------------------------------------------- */

	listen() {
		const toggles = { "search-case": "matchCase", "search-regex": "regex" };

		new ResizeObserver(() => this.resize()).observe(this.scroller);
		this.scroller.addEventListener("scroll", () => { this.hideCard(); this.draw(); });
		this.canvas.addEventListener("pointermove", (e) => this.pointAt(e));
		this.canvas.addEventListener("pointerleave", () => this.pointAway());
		this.canvas.addEventListener("click", (e) => this.click(e));
		this.canvas.addEventListener("keydown", (e) => this.graphKey(e));
		this.canvas.addEventListener("contextmenu", (e) => this.graphMenu(e));
		byId("table-rows").addEventListener("contextmenu", (e) => {
			const row_ = e.target.closest(".row");
			e.preventDefault();
			if (row_)
				this.openMenu(Number(row_.dataset.frame), 0, e.clientX, e.clientY, byId("table-scroller"));
		});
		byId("act").addEventListener("click", () => this.chosenMenu(byId("act")));
		this.canvas.addEventListener("blur", () => this.hideCard());
		document.addEventListener("keydown", (e) => this.key(e));
		window.addEventListener("popstate", (e) => restoreState(this, e.state));
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

	/* The menu of a function, at a place or below an element. */
	openMenu(frame, node, x, y, back) {
		const { model } = this;

		this.hideCard();
		this.pick(frame, false);
		this.menu.open(fitName(model.frames.name[frame], 200), functionItems(model, frame, node, {
			zoom: (f) => this.zoomToFunction(f),
			filter: (kind, re) => this.shaper.filter(kind, re),
			around: (tree, name) => this.shaper.around(tree, name),
			copied: (what) => this.tell(`Copied ${what}.`) }), x, y, back);
	}

	/* Other colours, same tree. */
	regroup() {
		this.painter.setModel(this.model, this.legend.grouping);
		this.setTable();
		this.table.render();
		this.writeLegend();
		this.drawNow();
		this.keep(false);
	}

	groupMenu(title, re, button) {
		const box = button.getBoundingClientRect(), filter = (kind) => () => this.shaper.filter(kind, re);

		this.menu.open(fitName(title, 200), [["Only stacks through it", filter("focus")], ["Without stacks through it", filter("ignore")],
			["Hide it", filter("hide")]], box.left, box.top - 150, button);
	}

	/* Said for a while, to all. */
	tell(text) {
		byId("told").textContent = text;
		window.clearTimeout(this.telling);
		this.telling = window.setTimeout(() => { byId("told").textContent = ""; }, 4000);
	}

	graphMenu(e) {
		const hit = this.hit(e), node = hit && hit.box.first === hit.box.last ? this.layout.node[hit.box.first] : 0;

		e.preventDefault();
		if (node)
			this.openMenu(this.model.frame[node], node, e.clientX, e.clientY, this.canvas);
	}

	/* The menu of what is chosen, for the key and the button. */
	chosenMenu(back) {
		const node = this.focus > 0 && this.model.frame[this.focus] === this.picked ? this.focus : 0, box = back.getBoundingClientRect();
		const place = back === this.canvas && node ? this.painter.placeOf(node) : null;

		if (this.picked >= 0)
			this.openMenu(this.picked, node, box.left + (place ? place.x : 0), place ? box.top + place.y + 20 : box.bottom, back);
	}

	/* The next match, widest first. */
	nextFound(step) {
		const { found, layout, model } = this;

		if (!found.marked)
			return;
		if (!found.nodes) {
			found.nodes = foundNodes(model, layout, found.marked);
			found.at = step > 0 ? -1 : 0;
		}
		const { nodes } = found;
		if (!nodes.length)
			return;
		found.at = (found.at + step + nodes.length) % nodes.length;
		const node = nodes[found.at];
		if (!(layout.x[node] + layout.size[node] > this.x0 && layout.x[node] < this.x1))
			this.zoomToNode(0);
		this.moveFocus(node);
		this.writeFound();
		byId("search-result").append(` · ${found.at + 1} of ${nodes.length}`);
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
			const to = this.focus < 0 ? at : neighbour(this.model, this.layout, at, this.shaper.flame ? FLIPPED[e.key] || e.key : e.key, this.x0, this.x1);
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
		} else if (e.target.tagName !== "INPUT" && e.target.tagName !== "SELECT") {
			this.letter(e);
		}
	}

	letter(e) {
		const search_ = byId("search"), at = e.target === byId("table-scroller") ? e.target : this.canvas;
		const keys = {
			"/": () => {
				search_.focus();
				search_.select();
			},
			Backspace: () => this.goBack(),
			n: () => this.nextFound(1),
			N: () => this.nextFound(-1),
			m: () => this.chosenMenu(at),
			i: () => this.shaper.set({ tree: this.shaper.shape.tree === "inverted" ? "callees" : "inverted" }),
			f: () => byId("flame").click(),
			c: () => this.picked >= 0 && copy(this.model.frames.name[this.picked]).then(() => this.tell("Copied the name.")),
			s: () => this.picked >= 0 && this.shaper.around(this.shaper.shape.tree === "callers" ? "of" : "callers", this.model.frames.name[this.picked]),
		};

		if (keys[e.key]) {
			keys[e.key]();
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
