/* SPDX-License-Identifier: Apache-2.0 */
/* The table of functions: sortable, and only the rows in view are in the document. */
import { element } from "./card.js";
import { colourKeys, frameColour } from "./colour.js";
import { formatCount, formatDelta, formatDeltaShare, formatShare, formatValue } from "./format.js";
import { statusOf } from "./model.js";
import { fitName } from "./names.js";

export const TABLE_ROW_PX = 23;
/* Browsers stop at about 17 million pixels for the height of an element. */
const ROWS_MAX = 500000;

/* value: what to sort by; text: what to show. Arguments: model, frame id. */
const PLAIN_COLUMNS = [
	{ id: "flat", label: "Flat", hint: "In the function itself", value: (m, f) => m.functions[0].self[f], text: (m, v) => formatValue(v, m.unit) },
	{ id: "flat-share", label: "%", hint: "Flat, of the total", sortAs: "flat", value: (m, f) => m.functions[0].self[f], text: (m, v) => formatShare(v, m.whole) },
	{ id: "total", label: "Total", hint: "In the function and what it calls", value: (m, f) => m.functions[0].total[f], text: (m, v) => formatValue(v, m.unit) },
	{ id: "total-share", label: "%", hint: "Total, of the total", sortAs: "total", value: (m, f) => m.functions[0].total[f], text: (m, v) => formatShare(v, m.whole) },
];
const total = (side) => (m, f) => m.functions[side].total[f];
const delta = (m, f) => m.functions[1].total[f] - m.functions[0].total[f];
const DIFF_COLUMNS = [
	{ id: "old", label: "Old", hint: "Total of the old side", value: total(0), text: (m, v) => formatValue(v, m.unit) },
	{ id: "new", label: "New", hint: "Total of the new side", value: total(1), text: (m, v) => formatValue(v, m.unit) },
	{ id: "delta", label: "Delta", hint: "New less old", value: delta, text: (m, v) => formatDelta(v, m.unit) },
	{ id: "delta-share", label: "%", hint: "Delta, of the old side's total", sortAs: "delta", value: delta, text: (m, v) => formatDeltaShare(v, m.whole) },
	{ id: "self-delta", label: "Self Δ", hint: "Delta in the function itself", value: (m, f) => m.functions[1].self[f] - m.functions[0].self[f], text: (m, v) => formatDelta(v, m.unit) },
	{ id: "status", label: "Status", hint: "new: only there; gone: only in the old side", value: (m, f) => statusOf(total(0)(m, f), total(1)(m, f)), text: (m, v) => v },
];

function compare(a, b) {
	return a < b ? -1 : a > b ? 1 : 0;
}

export class FunctionTable {
	/* on.pick(frame), on.zoom(frame) */
	constructor(root, on) {
		this.head = root.querySelector("#table-head");
		this.scroller = root.querySelector("#table-scroller");
		this.spacer = root.querySelector("#table-spacer");
		this.rows = root.querySelector("#table-rows");
		this.note = root.querySelector("#table-note");
		this.root = root;
		this.on = on;
		this.order = [];
		this.picked = -1;
		this.scroller.addEventListener("scroll", () => this.render());
		this.scroller.addEventListener("keydown", (e) => this.key(e));
		this.rows.addEventListener("click", (e) => this.click(e, on.pick));
		this.rows.addEventListener("dblclick", (e) => this.click(e, on.zoom));
	}

	/* characterPx: of the font of names */
	setModel(model, palette, characterPx, grouping) {
		this.model = model;
		this.characterPx = characterPx;
		this.palette = palette;
		this.keys = colourKeys(model.frames, grouping);
		this.columns = model.isDiff ? DIFF_COLUMNS : PLAIN_COLUMNS;
		if (!this.columns.some((c) => c.id === this.sortBy) && this.sortBy !== "name") {
			this.sortBy = this.columns[model.isDiff ? 2 : 0].id;
			this.descending = true;
		}
		this.root.classList.toggle("diff", model.isDiff);
		this.makeHead();
	}

	makeHead() {
		const tr = element("div", "row");

		tr.setAttribute("role", "row");
		for (const c of [...this.columns, { id: "name", label: "Function", hint: "Name" }]) {
			const cell = element("div", `cell ${c.id}`), button = element("button", "", c.label);
			const by = c.sortAs || c.id, sorted = by === this.sortBy && !c.sortAs;
			cell.setAttribute("role", "columnheader");
			cell.setAttribute("aria-sort", sorted ? (this.descending ? "descending" : "ascending") : "none");
			button.type = "button";
			button.title = c.hint;
			if (sorted)
				button.append(element("span", "arrow", this.descending ? " ▼" : " ▲"));
			button.addEventListener("click", () => this.sort(by));
			cell.append(button);
			tr.append(cell);
		}
		this.head.replaceChildren(tr);
	}

	sort(by) {
		this.descending = by === this.sortBy ? !this.descending : by !== "name";
		this.sortBy = by;
		this.makeHead();
		this.fill(this.marked);
	}

	/* Functions with a value, of those found if something is searched for. */
	fill(marked) {
		const { model } = this, { frames, functions } = model, order = [];
		const column = this.columns.find((c) => c.id === this.sortBy);

		this.marked = marked;
		for (let f = 0; f < frames.n; f++)
			if ((!marked || marked[f]) && functions.some((s) => s.self[f] || s.total[f]))
				order.push(f);
		if (column) {
			const keys = new Map(order.map((f) => [f, column.value(model, f)]));
			const size = column.id === "status" ? (v) => v : Math.abs;
			order.sort((a, b) => compare(size(keys.get(b)), size(keys.get(a))) ||
				compare(functions[0].total[b], functions[0].total[a]) || compare(frames.name[a], frames.name[b]));
			if (!this.descending)
				order.reverse();
		} else {
			order.sort((a, b) => compare(frames.name[a], frames.name[b]) * (this.descending ? -1 : 1));
		}
		this.note.hidden = order.length <= ROWS_MAX;
		this.note.textContent = `${formatCount(order.length - ROWS_MAX)} more: search for them`;
		this.order = order.slice(0, ROWS_MAX);
		this.spacer.style.height = `${this.order.length * TABLE_ROW_PX}px`;
		this.root.setAttribute("aria-rowcount", order.length + 1);
		this.render();
	}

	render() {
		const height = this.scroller.clientHeight, first = Math.max(0, Math.floor(this.scroller.scrollTop / TABLE_ROW_PX) - 4);
		const last = Math.min(this.order.length, first + Math.ceil(height / TABLE_ROW_PX) + 9), rows = [];

		if (!this.model)
			return;
		const room = this.head.querySelector(".name").clientWidth - (this.model.isDiff ? 12 : 29);
		this.nameColumns = Math.max(8, Math.floor(room / this.characterPx));
		for (let i = first; i < last; i++)
			rows.push(this.makeRow(i));
		this.rows.style.transform = `translateY(${first * TABLE_ROW_PX}px)`;
		this.rows.replaceChildren(...rows);
	}

	makeRow(i) {
		const { model } = this, f = this.order[i], name = model.frames.name[f];
		const tr = element("div", f === this.picked ? "row picked" : "row"), cell = element("div", "cell name");
		const swatch = element("span", "swatch");

		tr.setAttribute("role", "row");
		tr.setAttribute("aria-rowindex", i + 2);
		tr.setAttribute("aria-selected", f === this.picked);
		tr.dataset.frame = f;
		for (const c of this.columns) {
			const v = c.value(model, f), e = element("div", `cell ${c.id}`, c.text(model, v));
			e.setAttribute("role", "gridcell");
			if (typeof v === "number" && v < 0)
				e.classList.add("negative");
			tr.append(e);
		}
		if (!model.isDiff) {
			swatch.style.background = frameColour(this.palette, this.keys[f]);
			cell.append(swatch);
		}
		cell.setAttribute("role", "gridcell");
		cell.title = name.length > 1000 ? fitName(name, 1000) : name;
		cell.append(element("span", "text", fitName(name, this.nameColumns)));
		tr.append(cell);
		return tr;
	}

	click(e, then) {
		const tr = e.target.closest(".row");

		if (tr)
			then(Number(tr.dataset.frame));
	}

	/* Show a function as chosen; scroll to it if asked to. */
	pick(frame, reveal) {
		const i = reveal && frame >= 0 ? this.order.indexOf(frame) : -1;

		this.picked = frame;
		if (i >= 0)
			this.reveal(i);
		this.render();
	}

	reveal(i) {
		const top = i * TABLE_ROW_PX, s = this.scroller;

		if (top < s.scrollTop || top + TABLE_ROW_PX > s.scrollTop + s.clientHeight)
			s.scrollTop = top - Math.floor(s.clientHeight / 3);
	}

	key(e) {
		const page = Math.max(1, Math.floor(this.scroller.clientHeight / TABLE_ROW_PX) - 1);
		const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity };
		const at = this.order.indexOf(this.picked);

		if (e.key in steps && this.order.length) {
			const to = Math.max(0, Math.min(this.order.length - 1, at + steps[e.key]));
			this.on.pick(this.order[to]);
			this.reveal(to);
			e.preventDefault();
		} else if (e.key === "Enter" && at >= 0) {
			this.on.zoom(this.order[at]);
			e.preventDefault();
		}
	}
}
