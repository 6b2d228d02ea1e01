/* SPDX-License-Identifier: Apache-2.0 */
/* The page at work: what is shown. */
import { byId, describeNode, element, nodeSentence, placeCard } from "./card.js";
import { Chooser } from "./chooser.js";
import { DARK, LIGHT } from "./colour.js";
import { Controls } from "./controls.js";
import { answer, unpack } from "./decoder.js";
import { Painter, ROW_PX } from "./draw.js";
import { valuesOf } from "./explore.js";
import { filtered, turned } from "./grow.js";
import { hashOf } from "./invert.js";
import { Layout, Lines, widest } from "./layout.js";
import { Legend } from "./legend.js";
import { Model } from "./model.js";
import { Panels } from "./panels.js";
import { probeOf } from "./probe.js";
import { keepState, restoreState } from "./restore.js";
import { foundNodes, search } from "./search.js";
import { Shaper } from "./shaper.js";
import { pathState, readPath } from "./state.js";
import { FunctionTable } from "./table.js";
import { compareOf, viewOf } from "./view.js";
import { factsText, foundText, pathElements } from "./words.js";

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
		this.panels = new Panels(this);
		this.controls = new Controls(this);
		this.legend = new Legend({ regroup: () => this.regroup(), menu: (title, re, button) => this.controls.groupMenu(title, re, button) });
		this.options = { matchCase: false, regex: false };
		this.width = "mean";
		this.view = { first: 0, last: 0 };
		this.picked = this.focus = -1;
		this.hover = null;
		this.way = ""; /* to the place in view, as the address has it */
		this.steps = 0; /* zooms that can be gone back from */
	}

	start() {
		for (const id of ["controls", "shape", "path", "app", "legend"])
			byId(id).hidden = false;
		byId("plain").hidden = true;
		this.fillTypes();
		this.controls.listen();
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
		this.panels.setProfile(p);
		this.rebuild();
	}

	/* Another type at the same place. */
	chooseAnew(profile, column) {
		this.way = this.profile === profile ? pathState(this.model, this.zoomed) : "";
		this.choose(profile, column);
		this.goTo(this.way);
		this.keep(true);
	}

	goTo(way) {
		const { node } = readPath(this.model, way);

		this.focus = -1;
		this.zoom({ first: node, last: node }, false);
	}

	/* All that follows from the column and from what is chosen of the samples. */
	rebuild() {
		this.tree = this.filteredView();
		this.turn();
	}

	/* The same from another side, or around another place. */
	turn() {
		const before = this.model;

		this.model = new Model(turned(this.tree, this.shaper.shape, this.way.split(".").filter((hash) => hash)));
		this.painter.setModel(this.model, this.legend.grouping);
		if (this.picked >= 0 && before.frames !== this.model.frames)
			this.picked = this.model.frameLike(before.frames.name[this.picked], before.functionOf(this.picked));
		this.setTable();
		this.hover = null;
		this.lay();
		this.writeFacts();
		this.writeLegend();
		this.find();
		this.panels.fill();
	}

	/* The profile's samples at the level that is shown. */
	get source() {
		return this.sourceAt(this.shaper.shape.level);
	}

	sourceAt(level) {
		const p = this.data.profiles[this.profile];

		return level === "lines" && p.lines ? p.lines : p;
	}

	/* The part of the samples that was chosen, or both parts, of one label value or of all. */
	partView(p, group) {
		const { base, selection, scaled } = this.chooser;

		return base ? compareOf(p, this.column, { ...base, group }, { ...selection, group }, scaled)
			: viewOf(p, this.column, { ...selection, group });
	}

	/* The same of one label value alone. */
	filteredPart(group) {
		const { shape } = this.shaper, view = this.partView(this.source, group);

		return filtered(view, [{ view }], { ...shape, group: "" });
	}

	filteredView(shape = this.shaper.shape) {
		const p = this.sourceAt(shape.level), whole = this.partView(p, null), key = shape.group;
		const parts = !key ? [{ view: whole }]
			: valuesOf(p, key).map((value) => ({ name: value, view: this.partView(p, { key, value }) }));

		return filtered(whole, parts, shape);
	}

	selected() {
		const { view, model } = this;

		this.way = pathState(model, this.zoomed);
		this.rebuild();
		if (model.frame === this.model.frame) {
			this.zoom(view, false);
		} else {
			const { picked } = this;
			this.goTo(this.way);
			this.pick(picked, false);
		}
		this.scrollToRoot();
		this.keep(true);
	}

	/* The root, or the function that the tree is around, is in view. */
	scrollToRoot() {
		const { lines, scroller, shaper } = this;

		if (lines.split)
			scroller.scrollTop = lines.above * ROW_PX - scroller.clientHeight / 2;
		else if (shaper.flame)
			scroller.scrollTop = scroller.scrollHeight;
		else
			return;
		if (this.zoomed)
			this.reveal(this.zoomed);
	}

	setTable() {
		this.table.setModel(this.model, this.palette, this.painter.characterPx / this.painter.ratio, this.legend.grouping);
	}

	lay() {
		this.layout = new Layout(this.model, this.width);
		this.painter.forget();
		this.setLines();
		this.setRange();
	}

	setLines() {
		const { model, scroller, shaper } = this;

		this.lines = new Lines(this.layout, model, shaper.flame, Math.floor(scroller.clientHeight / ROW_PX));
		byId("spacer").style.height = `${Math.max(1, this.lines.count) * ROW_PX}px`;
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
		/* of a tree around a function, the other part is there as a whole */
		const whole = layout.size[0];
		this.range = [[0, whole], [whole, 2 * whole]];
		this.range[model.isAbove(this.zoomed) ? 1 : 0] = [this.x0, this.x1];
	}

	rangeOf(node) {
		return this.range[this.model.isAbove(node) ? 1 : 0];
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
		const { layout, lines, model, range, zoomed } = this, above = model.isAbove(zoomed);

		this.painter.draw({ layout, lines, range, above, depth: model.depth[zoomed], scrollTop: this.scroller.scrollTop, marked: this.found.marked });
		this.hover = null;
		this.painter.drawMarks(this.picked, this.hover, this.focus);
	}

	resize() {
		const { clientWidth, clientHeight } = this.scroller;

		byId("stage").style.height = `${clientHeight}px`;
		this.painter.resize(clientWidth, clientHeight);
		this.setLines();
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
		this.view = this.model.view.partial ? this.grownAround(view) : { first: view.first, last: view.last };
		this.setRange();
		if (push)
			this.keep(true);
		this.hideCard();
		this.writePath();
		this.writeFound();
		this.draw();
	}

	/* A tree that is grown in part has to be grown where it is looked at. */
	grownAround({ first, last }) {
		const { model } = this, isNarrow = model.frame[first] === model.view.narrow;
		const at = first === last && !isNarrow ? first : model.parent[first], way = pathState(model, at);

		if (first !== last || way === this.way)
			return { first, last };
		this.way = way;
		this.turn();
		const { node } = readPath(this.model, way);
		this.focus = this.focus < 0 ? -1 : node;
		return { first: node, last: node };
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
		this.reveal(this.zoomed);
	}

	zoomToFunction(frame) {
		const node = widest(this.model, this.layout, frame);

		if (node > 0) {
			this.zoomToNode(node);
		} else if (this.model.view.partial) {
			this.way = hashOf(this.model.frames.name[frame]);
			this.turn();
			this.goTo(this.way);
			this.keep(true);
		}
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
		this.panels.fillOfFunction();
		this.painter.drawMarks(this.picked, this.hover, this.focus);
	}

	reveal(node) {
		const s = this.scroller, top = this.lines.of(this.model.depth[node], this.model.isAbove(node)) * ROW_PX;

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

	/* Other colours, same tree. */
	regroup() {
		this.painter.setModel(this.model, this.legend.grouping);
		this.setTable();
		this.table.render();
		this.writeLegend();
		this.drawNow();
		this.keep(false);
	}

	/* Said for a while, to all. */
	tell(text) {
		byId("told").textContent = text;
		window.clearTimeout(this.telling);
		this.telling = window.setTimeout(() => { byId("told").textContent = ""; }, 4000);
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
		const [x0, x1] = this.rangeOf(node);
		if (!(layout.x[node] + layout.size[node] > x0 && layout.x[node] < x1)) {
			this.zoomToNode(0);
			/* grown anew */
			if (this.found !== found) {
				this.nextFound(step);
				return;
			}
		}
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

	hideCard() {
		this.card.hidden = true;
	}
}

async function main() {
	try {
		if (typeof DecompressionStream === "undefined")
			throw new Error("this browser cannot decompress (no DecompressionStream)");
		const app = new App(await unpack(byId("data").textContent, document.scripts[document.scripts.length - 1].textContent));
		app.start();
		Object.defineProperty(window, "profpipe", { value: probeOf(app) });
	} catch (e) {
		byId("plain").hidden = false;
		byId("app").hidden = true;
		byId("message").textContent = `The call tree cannot be drawn: ${e.message}. These are the largest functions.`;
		throw e;
	}
}

if (typeof document === "undefined")
	answer();
else
	main();
