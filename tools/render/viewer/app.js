/* SPDX-License-Identifier: Apache-2.0 */
/* The page at work: what is shown, and what keys, pointer and controls do to it. */
import { describeNode, describeRun, element, nodeSentence, placeCard } from "./card.js";
import { DARK, LIGHT } from "./colour.js";
import { FRAME_KERNEL, FRAME_NOTE, unpack } from "./data.js";
import { Painter, ROW_PX } from "./draw.js";
import { formatDelta, formatDeltaShare, formatShare, formatValue, plural } from "./format.js";
import { Layout } from "./layout.js";
import { Model } from "./model.js";
import { fitName } from "./names.js";
import { search } from "./search.js";
import { FunctionTable } from "./table.js";

const PATH_BUTTONS = 6;
const byId = (id) => document.getElementById(id);

class App {
	constructor(data) {
		this.data = data;
		this.scroller = byId("scroller");
		this.canvas = byId("marks");
		this.card = byId("card");
		this.painter = new Painter(byId("boxes"), this.canvas);
		this.table = new FunctionTable(byId("list"), { pick: (f) => this.pick(f, false), zoom: (f) => this.zoomToFunction(f) });
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
		const other = this.profile !== profile;

		this.profile = profile;
		this.column = column;
		this.model = new Model(this.data.profiles[profile], column);
		byId("type").value = `${profile}/${column}`;
		this.painter.setModel(this.model);
		this.setTable();
		if (other) {
			this.view = { first: 0, last: 0 };
			this.picked = this.focus = -1;
		}
		this.hover = null;
		this.lay();
		this.writeFacts();
		this.writeLegend();
		this.find();
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
	}

	setPalette() {
		this.palette = this.dark.matches ? DARK : LIGHT;
		this.painter.setPalette(this.palette);
		if (this.model) {
			this.setTable();
			this.table.render();
			this.writeLegend();
			this.draw();
		}
	}

	/* --- words -------------------------------------------------------------------------- */

	writeFacts() {
		const { model } = this, p = model.p, unit = model.unit, parts = [];

		if (model.isDiff) {
			const [old, now] = model.totals;
			parts.push(`${model.type}: old ${formatValue(old, unit)}, new ${formatValue(now, unit)}, ` +
				`${formatDelta(now - old, unit)} (${formatDeltaShare(now - old, old)})`);
			if (p.facts.has("norm"))
				parts.push(`normalized by: ${p.facts.get("norm")}`);
		} else {
			parts.push(`${model.type} ${formatValue(model.whole, unit)}`);
			if (p.duration)
				parts[0] += ` over ${p.duration}`;
			if (model.type === "cpu" && unit === "nanoseconds" && p.seconds > 0)
				parts.push(`${(model.whole / 1e9 / p.seconds).toFixed(2)} cores`);
			if (p.time)
				parts.push(`from ${p.time}`);
			if (!model.hasNegative && model.total[0][0] !== model.whole)
				parts.push(`shown ${formatValue(model.total[0][0], unit)} (${formatShare(model.total[0][0], model.whole)})`);
		}
		parts.push(...p.filters);
		if (model.hasNegative)
			parts.push("negative values are drawn by their size, hatched");
		if (!model.exact)
			parts.push("values are rounded: they are too large to be exact here");
		if (!this.layout.total)
			parts.push(model.n > 1 ? "all values are 0" : "no samples");
		byId("facts").textContent = parts.join(" · ");
		byId("diff-width").hidden = !model.isDiff;
	}

	writeLegend() {
		const { palette, model } = this, legend = byId("legend"), flags = model.frames.flags;
		const entry = (colours, text) => {
			const e = element("span", "entry");
			for (const c of colours) {
				const s = element("span", "swatch");
				s.style.background = c;
				e.append(s);
			}
			e.append(text);
			return e;
		};
		const colour = (rgb) => `rgb(${rgb.join(" ")})`, entries = [];

		if (model.isDiff) {
			entries.push(entry([colour(palette.less)], "less than before"), entry([colour(palette.same)], "within noise"),
				entry([colour(palette.more)], "more than before"));
			entries.push(element("span", "entry", "hatched: new or gone"));
		} else {
			entries.push(entry(palette.user.slice(0, 3), "user code, by package or binary"));
			if (flags.some((f) => f & FRAME_KERNEL))
				entries.push(entry([palette.kernel], "kernel"));
			if (flags.some((f) => f & FRAME_NOTE))
				entries.push(entry([palette.note], "the profiler’s notes"));
			if (flags.some((f) => f & 1))
				entries.push(element("span", "entry", "paler: inlined"));
		}
		entries.push(entry([palette.rest], "too narrow to draw"));
		entries.push(element("span", "entry keys", "/ search · arrows move · Enter zoom · Backspace back · Esc all"));
		legend.replaceChildren(...entries);
	}

	writePath() {
		const nav = byId("path"), { model } = this, chain = [];

		for (let at = this.zoomed; at >= 0; at = model.parent[at])
			chain.push(at);
		chain.reverse();
		const shown = chain.length > PATH_BUTTONS ? [chain[0], -1, ...chain.slice(1 - PATH_BUTTONS)] : chain;
		nav.replaceChildren(...shown.map((node) => {
			if (node < 0)
				return element("span", "", `… ${plural(chain.length - PATH_BUTTONS, "caller", "callers")} …`);
			const button = element("button", "", fitName(model.nameOf(node), 32));
			button.type = "button";
			button.title = fitName(model.nameOf(node), 1000);
			if (node === this.zoomed && this.view.first === this.view.last)
				button.setAttribute("aria-current", "location");
			button.addEventListener("click", () => this.zoomToNode(node));
			return button;
		}));
		if (this.view.first !== this.view.last)
			nav.append(element("span", "", "some of its narrow callees"));
		nav.scrollLeft = nav.scrollWidth;
	}

	writeFound() {
		const { model, found } = this, out = byId("search-result");
		const share = (side, from, to, whole) => formatShare(model.sumOfMarked(found.marked, from, to, side), whole);

		out.classList.toggle("error", found.error !== "");
		if (!found.marked) {
			out.textContent = found.error;
			return;
		}
		let text = plural(found.count, "function", "functions");
		if (model.isDiff)
			text += `, old ${share(0, 0, model.n, model.totals[0])}, new ${share(1, 0, model.n, model.totals[1])}`;
		else
			text += `, ${share(0, 0, model.n, model.whole)} of total`;
		if (this.zoomed && !model.isDiff)
			text += ` (${share(0, this.zoomed, model.end[this.zoomed], model.total[0][this.zoomed])} of view)`;
		out.textContent = text;
	}

	/* --- what can be done --------------------------------------------------------------- */

	find() {
		this.found = search(this.model.frames, byId("search").value, this.options);
		byId("search").setAttribute("aria-invalid", this.found.error !== "");
		this.table.fill(this.found.marked);
		this.writeFound();
		this.draw();
	}

	/* Zoom to a run of nodes of one row; `push` makes a step that the Back button undoes. */
	zoom(view, push) {
		const state = { profile: this.profile, column: this.column, first: view.first, last: view.last,
			name: this.model.nameOf(view.first) };

		if (push && view.first === this.view.first && view.last === this.view.last)
			return;
		this.view = { first: view.first, last: view.last };
		this.setRange();
		if (push) {
			this.steps++;
			window.history.pushState({ ...state, steps: this.steps }, "");
		}
		this.hideCard();
		this.writePath();
		this.writeFound();
		this.draw();
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

	/* A state may be of another page that was in this place before: names tell. */
	restore(state) {
		const { profile = 0, column, first = 0, last = 0, steps = 0, name } = state || {};
		const p = this.data.profiles[profile] ? profile : 0, { columns, column: usual } = this.data.profiles[p];
		const c = columns[column] ? column : usual;

		this.steps = steps;
		if (p !== this.profile || c !== this.column)
			this.choose(p, c);
		const known = first < this.model.n && last < this.model.n && this.model.nameOf(first) === name;
		this.zoom(known ? { first, last } : { first: 0, last: 0 }, false);
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
		byId("live").textContent = nodeSentence(this.model, node);
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
		byId("search").addEventListener("input", () => this.find());
		for (const id of Object.keys(toggles)) {
			byId(id).addEventListener("click", () => {
				this.options[toggles[id]] = !this.options[toggles[id]];
				byId(id).setAttribute("aria-pressed", this.options[toggles[id]]);
				this.find();
			});
		}
		byId("type").addEventListener("change", () => {
			const [profile, column] = byId("type").value.split("/").map(Number);
			this.choose(profile, column);
			this.zoom(this.view, false);
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
				this.find();
			} else {
				this.zoomToNode(0);
			}
			if (typing)
				this.canvas.focus({ preventScroll: true });
			e.preventDefault();
		} else if (e.key === "/" && !typing) {
			search_.focus();
			search_.select();
			e.preventDefault();
		} else if (e.key === "Backspace" && !typing && e.target.tagName !== "SELECT") {
			this.goBack();
			e.preventDefault();
		}
	}

	/* What tests and the curious may read: numbers as they are, and what is drawn. */
	probe() {
		const values = (a) => Array.from(a);

		return Object.freeze({
			title: () => this.data.title,
			totals: () => values(this.model.totals),
			root: () => this.model.total.map((t) => t[0]),
			rows: () => this.table.order.map((f) => ({ name: this.model.frames.name[f],
				self: this.model.functions.map((s) => s.self[f]), total: this.model.functions.map((s) => s.total[f]) })),
			found: () => ({ count: this.found.count,
				sum: this.found.marked ? this.model.total.map((_, side) => this.model.sumOfMarked(this.found.marked, 0, this.model.n, side)) : [] }),
			zoomed: () => this.model.nameOf(this.zoomed),
			focused: () => (this.focus < 0 ? null : this.model.nameOf(this.focus)),
			nodes: () => this.model.n - 1,
			drawn: () => this.painter.drawn.map((d) => ({ row: d.row, y: d.y / this.painter.ratio,
				boxes: d.boxes.map((b) => ({ x: b.px / this.painter.ratio, width: b.wide / this.painter.ratio,
					nodes: b.last - b.first + 1, name: this.model.nameOf(this.layout.node[b.first]) })) })),
		});
	}
}

async function main() {
	try {
		if (typeof DecompressionStream === "undefined")
			throw new Error("this browser cannot decompress (no DecompressionStream)");
		const app = new App(await unpack(byId("data").textContent));
		app.start();
		Object.defineProperty(window, "profpipe", { value: app.probe() });
	} catch (e) {
		byId("plain").hidden = false;
		byId("app").hidden = true;
		byId("message").textContent = `The call tree cannot be drawn: ${e.message}. These are the largest functions.`;
		throw e;
	}
}

main();
