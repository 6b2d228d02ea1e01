/* SPDX-License-Identifier: Apache-2.0 */
/* The table of functions: sortable, and only the rows in view are in the document. */
import { element } from "./card.js";
import { colourKeys, frameColour } from "./colour.js";
import { columnsThere, columnsShown, gridOf } from "./columns.js";
import { formatCount } from "./format.js";
import { fitName } from "./names.js";

export const TABLE_ROW_PX = 23;
/* Browsers stop at about 17 million pixels for the height of an element. */
const ROWS_MAX = 500000;

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
		this.grid = root.querySelector("#table");
		this.root = root;
		this.on = on;
		this.order = [];
		this.chosen = [];
		this.picked = -1;
		this.scroller.addEventListener("scroll", () => this.render());
		this.scroller.addEventListener("keydown", (e) => this.key(e));
		/* what is chosen already is not drawn anew: the second click of two would lose its row */
		this.rows.addEventListener("click", (e) => this.click(e, (f) => f !== this.picked && on.pick(f)));
		this.rows.addEventListener("dblclick", (e) => this.click(e, on.zoom));
	}

	/* characterPx: of the font of names */
	setModel(model, palette, characterPx, grouping) {
		this.model = model;
		this.characterPx = characterPx;
		this.palette = palette;
		this.keys = colourKeys(model, grouping);
		this.all = columnsThere(model);
		if (!this.all.some((c) => c.id === this.sortBy)) {
			this.sortBy = model.isDiff ? "delta" : "flat";
			this.descending = true;
		}
		this.columns = columnsShown(model, this.chosen, this.root.clientWidth);
		this.makeHead();
	}

	/* The columns asked for, by id; none: as many as there is room for. */
	choose(ids) {
		this.chosen = ids;
		if (this.model)
			this.render();
	}

	/* What the menu of columns has: [text, what it does, whether it is there]. */
	items(changed) {
		const shown = this.columns.map((c) => c.id);
		const toggled = (id) => (shown.includes(id) ? shown.filter((s) => s !== id) : [...shown, id]);
		const then = (ids) => () => {
			this.choose(ids);
			changed();
		};

		return [["As many as there is room for", then([]), !this.chosen.length],
			...this.all.filter((c) => c.id !== "name").map((c) => [c.menu || c.label, then(toggled(c.id)), shown.includes(c.id)])];
	}

	makeHead() {
		const tr = element("div", "row");

		tr.setAttribute("role", "row");
		this.root.style.setProperty("--columns", gridOf(this.model, this.columns));
		for (const c of this.columns) {
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
		this.descending = by === this.sortBy ? !this.descending : !this.all.find((c) => c.id === by).isText;
		this.sortBy = by;
		this.makeHead();
		this.fill(this.marked);
	}

	/* Functions with a value, of those found if something is searched for. */
	fill(marked) {
		const { model } = this, { frames, functions } = model, order = [];
		const column = this.all.find((c) => c.id === this.sortBy), size = column.isText ? (v) => v : Math.abs, keys = [], { total } = functions[0];

		this.marked = marked;
		for (let f = 0; f < frames.n; f++)
			if ((!marked || marked[f]) && functions.some((s) => s.self[f] || s.total[f]))
				order.push(f);
		for (const f of order)
			keys[f] = size(column.value(model, f));
		const way = this.descending ? 1 : -1;
		order.sort((a, b) => way * compare(keys[b], keys[a]) || total[b] - total[a] || compare(frames.name[a], frames.name[b]));
		this.note.hidden = order.length <= ROWS_MAX;
		this.note.textContent = `${formatCount(order.length - ROWS_MAX)} more: search for them`;
		this.order = order.slice(0, ROWS_MAX);
		this.spacer.style.height = `${this.order.length * TABLE_ROW_PX}px`;
		this.grid.setAttribute("aria-rowcount", order.length + 1);
		this.render();
	}

	render() {
		const height = this.scroller.clientHeight, first = Math.max(0, Math.floor(this.scroller.scrollTop / TABLE_ROW_PX) - 4);
		const last = Math.min(this.order.length, first + Math.ceil(height / TABLE_ROW_PX) + 9), rows = [];

		if (!this.model)
			return;
		const columns = columnsShown(this.model, this.chosen, this.root.clientWidth);
		if (columns.some((c, i) => c !== this.columns[i]) || columns.length !== this.columns.length) {
			this.columns = columns;
			this.makeHead();
		}
		const room = this.head.querySelector(".name").clientWidth - (this.model.isDiff ? 12 : 29);
		this.nameColumns = Math.max(8, Math.floor(room / this.characterPx));
		for (let i = first; i < last; i++)
			rows.push(this.makeRow(i));
		this.rows.style.transform = `translateY(${first * TABLE_ROW_PX}px)`;
		this.rows.replaceChildren(...rows);
	}

	makeRow(i) {
		const f = this.order[i], tr = element("div", f === this.picked ? "row picked" : "row");

		tr.setAttribute("role", "row");
		tr.setAttribute("aria-rowindex", i + 2);
		tr.setAttribute("aria-selected", f === this.picked);
		tr.dataset.frame = f;
		for (const c of this.columns) {
			const e = c.id === "name" ? this.nameCell(f) : this.cell(c, f);
			e.setAttribute("role", "gridcell");
			tr.append(e);
		}
		return tr;
	}

	cell(c, f) {
		const { model } = this, v = c.value(model, f), text = c.text(model, v, f), e = element("div", `cell ${c.id}`, text);

		if (typeof v === "number" && v < 0)
			e.classList.add("negative");
		if (c.isText && v)
			e.title = fitName(v, 1000);
		return e;
	}

	nameCell(f) {
		const cell = element("div", "cell name"), name = this.model.frames.name[f], swatch = element("span", "swatch");

		if (!this.model.isDiff) {
			swatch.style.background = frameColour(this.palette, this.keys[f]);
			cell.append(swatch);
		}
		cell.title = name.length > 1000 ? fitName(name, 1000) : name;
		cell.append(element("span", "text", fitName(name, this.nameColumns)));
		return cell;
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
