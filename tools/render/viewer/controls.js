/* SPDX-License-Identifier: Apache-2.0 */
/* What keys, pointer, menus and the controls around the picture do. */
import { byId, describeNode, describeRun, placeCard } from "./card.js";
import { neighbour } from "./layout.js";
import { Menu, copy, functionItems } from "./menu.js";
import { fitName } from "./names.js";
import { restoreState } from "./restore.js";

/* What the key for a tree around a function leads to. */
const AROUND = { around: "callers", callers: "of" };
const FLIPPED = { ArrowUp: "ArrowDown", ArrowDown: "ArrowUp" };

export class Controls {
	constructor(app) {
		this.app = app;
		this.menu = new Menu();
	}

	listen() {
		const { app } = this, toggles = { "search-case": "matchCase", "search-regex": "regex" };

		new ResizeObserver(() => app.resize()).observe(app.scroller);
		app.scroller.addEventListener("scroll", () => { app.hideCard(); app.draw(); });
		app.canvas.addEventListener("pointermove", (e) => this.pointAt(e));
		app.canvas.addEventListener("pointerleave", () => this.pointAway());
		app.canvas.addEventListener("click", (e) => this.click(e));
		app.canvas.addEventListener("keydown", (e) => this.graphKey(e));
		app.canvas.addEventListener("contextmenu", (e) => this.graphMenu(e));
		byId("table-rows").addEventListener("contextmenu", (e) => {
			const row_ = e.target.closest(".row");
			e.preventDefault();
			if (row_)
				this.openMenu(Number(row_.dataset.frame), 0, e.clientX, e.clientY, byId("table-scroller"));
		});
		byId("act").addEventListener("click", () => this.chosenMenu(byId("act")));
		byId("columns").addEventListener("click", () => {
			const box = byId("columns").getBoundingClientRect();
			this.menu.open("Columns of the table", app.table.items(() => app.keep(false)), box.left, box.bottom, byId("columns"));
		});
		app.canvas.addEventListener("blur", () => app.hideCard());
		document.addEventListener("keydown", (e) => this.key(e));
		window.addEventListener("popstate", (e) => restoreState(app, e.state));
		byId("search").addEventListener("input", () => app.searched());
		for (const id of Object.keys(toggles)) {
			byId(id).addEventListener("click", () => {
				app.setOption(id, toggles[id], !app.options[toggles[id]]);
				app.searched();
			});
		}
		byId("type").addEventListener("change", () => {
			const [profile, column] = byId("type").value.split("/").map(Number);
			app.chooseAnew(profile, column);
		});
		for (const button of byId("diff-width").querySelectorAll("button"))
			button.addEventListener("click", () => app.setWidth(button.dataset.width));
	}

	/* The menu of a function, at a place or below an element. */
	openMenu(frame, node, x, y, back) {
		const { app } = this, { model } = app;

		app.hideCard();
		app.pick(frame, false);
		this.menu.open(fitName(model.frames.name[frame], 200), functionItems(model, frame, node, {
			zoom: (f) => app.zoomToFunction(f),
			filter: (kind, re) => app.shaper.filter(kind, re),
			around: (tree, name) => app.shaper.around(tree, name),
			copied: (what) => app.tell(`Copied ${what}.`),
			lines: app.panels.tabs.possible.includes("lines") ? () => app.panels.show("lines") : null }), x, y, back);
	}

	groupMenu(title, re, button) {
		const { app } = this, box = button.getBoundingClientRect(), filter = (kind) => () => app.shaper.filter(kind, re);

		this.menu.open(fitName(title, 200), [["Only stacks through it", filter("focus")], ["Without stacks through it", filter("ignore")],
			["Hide it", filter("hide")]], box.left, box.top - 150, button);
	}

	graphMenu(e) {
		const { app } = this, hit = this.hit(e), node = hit && hit.box.first === hit.box.last ? app.layout.node[hit.box.first] : 0;

		e.preventDefault();
		if (node && app.model.frame[node] !== app.model.view.narrow)
			this.openMenu(app.model.frame[node], node, e.clientX, e.clientY, app.canvas);
	}

	/* The menu of what is chosen, for the key and the button. */
	chosenMenu(back) {
		const { app } = this, node = app.focus > 0 && app.model.frame[app.focus] === app.picked ? app.focus : 0, box = back.getBoundingClientRect();
		const place = back === app.canvas && node ? app.painter.placeOf(node) : null;

		if (app.picked >= 0)
			this.openMenu(app.picked, node, box.left + (place ? place.x : 0), place ? box.top + place.y + 20 : box.bottom, back);
	}

	hit(e) {
		const { app } = this, box = app.canvas.getBoundingClientRect();

		return app.painter.at(e.clientX - box.left, e.clientY - box.top);
	}

	pointAt(e) {
		const { app } = this, hit = this.hit(e);

		app.canvas.style.cursor = hit ? "pointer" : "";
		if (!hit) {
			this.pointAway();
			return;
		}
		if (!app.hover || app.hover.box !== hit.box) {
			app.hover = hit;
			app.painter.drawMarks(app.picked, hit, app.focus);
			if (hit.box.first === hit.box.last)
				describeNode(app.card, app.model, app.layout.node[hit.box.first], app.zoomed);
			else
				describeRun(app.card, app.model, app.layout, hit.box);
		}
		placeCard(app.card, e.clientX, e.clientY);
	}

	pointAway() {
		const { app } = this;

		app.hideCard();
		if (app.hover) {
			app.hover = null;
			app.painter.drawMarks(app.picked, null, app.focus);
		}
	}

	click(e) {
		const { app } = this, hit = this.hit(e), node = hit ? app.layout.node[hit.box.first] : -1;

		app.canvas.focus({ preventScroll: true });
		if (!hit)
			return;
		if (hit.box.first !== hit.box.last) {
			app.focus = -1;
			app.zoom({ first: node, last: app.layout.node[hit.box.last] }, true);
			return;
		}
		const frame = node && app.model.frame[node] !== app.model.view.narrow ? app.model.frame[node] : -1;
		app.zoomToNode(node);
		app.pick(frame, true);
		/* a finger does not hover */
		if (e.pointerType === "touch") {
			describeNode(app.card, app.model, app.zoomed, 0);
			placeCard(app.card, e.clientX, e.clientY);
		}
	}

	graphKey(e) {
		const { app } = this, at = app.focus >= 0 ? app.focus : app.zoomed;

		if (e.ctrlKey || e.metaKey || e.altKey)
			return;
		if (e.key.startsWith("Arrow")) {
			const least = app.model.view.split ? 1 : 0, to = app.focus < least ? Math.max(at, least) : this.next(at, e.key);
			if (to >= 0)
				app.moveFocus(to);
			e.preventDefault();
		} else if (e.key === "Enter") {
			app.zoomToNode(at);
			e.preventDefault();
		}
	}

	/* The node that an arrow leads to, or -1. */
	next(at, key) {
		const { model, layout, lines } = this.app, { split } = model.view, isUp = lines.flame || model.isAbove(at);
		const from = split && model.depth[at] === 1 && key === "ArrowUp" ? this.sameAbove(at) : at;
		const to = neighbour(model, layout, from, isUp || from !== at ? FLIPPED[key] || key : key, ...this.app.rangeOf(from));

		if (!split || to < 0)
			return to;
		/* the function that the tree is around is one, though it has two nodes */
		return model.isAbove(to) && model.depth[to] === 1 ? this.sameBelow(to) : Math.max(to, 1);
	}

	sameAbove(node) {
		const { model } = this.app;

		for (let i = model.view.split; i < model.n; i = model.end[i])
			if (model.frame[i] === model.frame[node])
				return i;
		return node;
	}

	sameBelow(node) {
		const { model } = this.app;

		for (let i = 1; i < model.view.split; i = model.end[i])
			if (model.frame[i] === model.frame[node])
				return i;
		return node;
	}

	key(e) {
		const { app } = this, search_ = byId("search"), typing = e.target === search_;

		if (e.ctrlKey || e.metaKey || e.altKey)
			return;
		if (e.key === "Escape") {
			if (search_.value) {
				search_.value = "";
				app.searched();
			} else if (e.target === byId("time")) {
				byId("all-time").click();
			} else {
				app.zoomToNode(0);
			}
			if (typing)
				app.canvas.focus({ preventScroll: true });
			e.preventDefault();
		} else if (e.target.tagName !== "INPUT" && e.target.tagName !== "SELECT") {
			this.letter(e);
		}
	}

	letter(e) {
		const { app } = this, search_ = byId("search"), at = e.target === byId("table-scroller") ? e.target : app.canvas;
		const keys = {
			"/": () => {
				search_.focus();
				search_.select();
			},
			Backspace: () => app.goBack(),
			n: () => app.nextFound(1),
			N: () => app.nextFound(-1),
			m: () => this.chosenMenu(at),
			i: () => app.shaper.set({ tree: app.shaper.shape.tree === "inverted" ? "callees" : "inverted" }),
			f: () => byId("flame").click(),
			l: () => app.picked >= 0 && app.panels.tabs.possible.includes("lines") && app.panels.show(app.panels.tabs.shown === "lines" ? "functions" : "lines"),
			c: () => app.picked >= 0 && copy(app.model.frames.name[app.picked]).then(() => app.tell("Copied the name.")),
			s: () => app.picked >= 0 && app.shaper.around(AROUND[app.shaper.shape.tree] || "around", app.model.frames.name[app.picked]),
		};

		if (keys[e.key]) {
			keys[e.key]();
			e.preventDefault();
		}
	}
}
