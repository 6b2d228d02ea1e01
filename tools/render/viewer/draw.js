/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Drawing the rows in view on one canvas as large as what can be seen, and marks (hover, focus,
 * the chosen function) on a second one above it, so that moving the pointer repaints no box.
 */
import { changeColour, changeOf, colourKeys, frameColour } from "./colour.js";
import { fitForms, nameForms } from "./names.js";

export const ROW_PX = 19;
const BOX_PX = 18, TEXT_PX = 12, LABEL_COLUMNS_MIN = 3;
const FONT = 'ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace';

export class Painter {
	constructor(boxesCanvas, marksCanvas) {
		this.canvases = [boxesCanvas, marksCanvas];
		this.boxes = boxesCanvas.getContext("2d");
		this.marks = marksCanvas.getContext("2d");
		this.forms = new Map();
		this.forget();
	}

	setModel(model, grouping) {
		this.model = model;
		this.keys = colourKeys(model, grouping);
		this.forms = new Map();
	}

	/* What was drawn is of another layout, until there is a frame. */
	forget() {
		this.drawn = [];
	}

	/* Sizes in CSS pixels; what is drawn is in those of the device. */
	resize(width, height) {
		const ratio = window.devicePixelRatio || 1;

		this.ratio = ratio;
		this.width = Math.max(1, Math.round(width * ratio));
		this.height = Math.max(1, Math.round(height * ratio));
		for (const canvas of this.canvases) {
			canvas.width = this.width;
			canvas.height = this.height;
			canvas.style.width = `${width}px`;
			canvas.style.height = `${height}px`;
		}
		this.font = `${Math.round(TEXT_PX * ratio)}px ${FONT}`;
		this.boxes.font = this.font;
		this.characterPx = this.boxes.measureText("MMMMMMMMMM").width / 10;
	}

	setPalette(palette) {
		this.palette = palette;
		this.hatch = this.makeHatch(palette.text);
	}

	/* Thin diagonals, that tell new, gone and negative boxes without a colour. */
	makeHatch(colour) {
		const size = 8, tile = document.createElement("canvas");
		const c = tile.getContext("2d");

		tile.width = tile.height = size;
		c.strokeStyle = colour;
		c.globalAlpha = 0.28;
		c.lineWidth = 1.4;
		for (const shift of [-size, 0, size]) {
			c.beginPath();
			c.moveTo(shift, size);
			c.lineTo(shift + size, 0);
			c.stroke();
		}
		return this.boxes.createPattern(tile, "repeat");
	}

	/* view: { layout, lines, range of either part, depth of the zoomed node and its part, scrollTop, marked } */
	draw(view) {
		const c = this.boxes, rowPx = ROW_PX * this.ratio, top = view.scrollTop * this.ratio;
		const from = Math.max(0, Math.floor(top / rowPx)), to = Math.floor((top + this.height) / rowPx);

		c.globalAlpha = 1;
		c.fillStyle = this.palette.page;
		c.fillRect(0, 0, this.width, this.height);
		c.font = this.font;
		c.textBaseline = "middle";
		this.view = view;
		this.forget();
		for (let line = from; line <= to; line++) {
			const { row, above } = view.lines.at(line), [x0, x1] = view.range[above ? 1 : 0];
			if (row < 0)
				continue;
			const y = Math.round(line * rowPx - top), boxes = view.layout.boxes(row, x0, x1, this.width);
			for (const box of boxes) {
				/* whole pixels; nothing is thinner than one */
				box.px = Math.max(0, Math.round(box.left));
				box.wide = Math.max(1, Math.min(this.width, Math.round(box.right)) - box.px);
				this.drawBox(box, above === view.above && row < view.depth, y);
			}
			this.drawn.push({ row, above, y, boxes });
		}
		c.globalAlpha = 1;
	}

	drawBox(box, isOutside, y) {
		const c = this.boxes, { layout, marked } = this.view, { model, palette } = this;
		const height = Math.round(BOX_PX * this.ratio), gap = box.wide > 3 ? 1 : 0;
		const single = box.first === box.last && box.wide > 1;
		const node = layout.node[box.first];
		let alpha = isOutside ? 0.6 : 1;

		if (marked && !this.isFound(box, marked))
			alpha *= 0.3;
		c.globalAlpha = alpha;
		if (!single) {
			c.fillStyle = palette.rest;
			c.fillRect(box.px, y, box.wide, height);
			return;
		}
		c.fillStyle = this.fillOf(node);
		if (node && !model.isDiff && model.isInlined(node))
			c.globalAlpha = alpha * palette.paler;
		c.fillRect(box.px, y, box.wide - gap, height);
		c.globalAlpha = alpha;
		if (this.isHatched(node)) {
			c.fillStyle = this.hatch;
			c.fillRect(box.px, y, box.wide - gap, height);
		}
		if (marked && node && marked[model.frame[node]]) {
			c.fillStyle = palette.found;
			c.fillRect(box.px, y + height - Math.round(2 * this.ratio), box.wide - gap, Math.round(2 * this.ratio));
		}
		/* what steps back can still be read */
		c.globalAlpha = Math.max(alpha, 0.66);
		this.drawLabel(node, box, y + height / 2);
	}

	isFound(box, marked) {
		const { layout } = this.view;

		if (this.counted !== marked || this.countedIn !== layout) {
			this.counted = marked;
			this.countedIn = layout;
			this.foundBefore = layout.countFound(marked, this.model.frame);
		}
		return this.foundBefore[box.last + 1] > this.foundBefore[box.first];
	}

	changeAt(node) {
		const { model } = this;

		return changeOf(model.total[0][node], model.total[1][node], model.noise(node));
	}

	fillOf(node) {
		const { model, palette } = this;

		if (model.isDiff)
			return changeColour(palette, this.changeAt(node));
		return node ? frameColour(palette, this.keys[model.frame[node]]) : palette.root;
	}

	isHatched(node) {
		const { model } = this;

		if (model.isDiff)
			return node > 0 && model.status(node) !== "";
		return model.hasNegative && model.total[0][node] < 0;
	}

	drawLabel(node, box, middle) {
		const c = this.boxes, pad = 4 * this.ratio;
		let columns = Math.floor((box.wide - 2 * pad) / this.characterPx), sign = "";

		if (columns < LABEL_COLUMNS_MIN)
			return;
		if (this.model.isDiff) {
			const change = this.changeAt(node);
			sign = change ? (change < 0 ? "− " : "+ ") : "";
			columns -= sign.length;
		}
		c.fillStyle = this.palette.text;
		if (columns > 0)
			c.fillText(sign + this.label(node, columns), box.px + pad, middle + 0.5);
	}

	label(node, columns) {
		const frame = node ? this.model.frame[node] : -1;
		let forms = this.forms.get(frame);

		if (!forms) {
			forms = node ? nameForms(this.model.nameOf(node)) : Array(4).fill("all");
			this.forms.set(frame, forms);
		}
		return fitForms(forms, columns);
	}

	/* The box at a place in CSS pixels of the canvas: { line, box } or null. */
	at(x, y) {
		const px = x * this.ratio, py = y * this.ratio, height = BOX_PX * this.ratio;
		const line = this.drawn.find((d) => py >= d.y && py < d.y + height);

		if (!line)
			return null;
		const box = line.boxes.findLast((b) => b.px <= px);
		return box && px < box.px + box.wide ? { line, box } : null;
	}

	/* Where a node is drawn, alone or among others, in CSS pixels; null when it is not. */
	placeOf(node) {
		const row = this.model.depth[node], above = this.model.isAbove(node), line = this.drawn.find((d) => d.row === row && d.above === above);
		const k = line ? this.view.layout.placeOf(node, row) : -1, box = k >= 0 ? line.boxes.find((b) => b.first <= k && k <= b.last) : null;

		if (!box)
			return null;
		return { x: box.px / this.ratio, y: line.y / this.ratio, width: box.wide / this.ratio, height: BOX_PX };
	}

	/* Outlines: the function chosen, the box under the pointer, the one that has the focus. */
	drawMarks(frame, hover, focus) {
		const c = this.marks, { view } = this, line = Math.max(1, Math.round(this.ratio));

		c.clearRect(0, 0, this.width, this.height);
		c.strokeStyle = this.palette.mark;
		c.lineWidth = line;
		if (frame >= 0)
			for (const d of this.drawn)
				for (const b of d.boxes)
					if (b.first === b.last && view.layout.node[b.first] && this.model.frame[view.layout.node[b.first]] === frame)
						this.outline(b, d.y, line);
		if (hover) {
			c.lineWidth = line;
			this.outline(hover.box, hover.line.y, line);
		}
		const place = focus >= 0 ? this.placeOf(focus) : null;
		if (place) {
			c.lineWidth = 2 * line;
			this.outline({ px: place.x * this.ratio, wide: place.width * this.ratio }, place.y * this.ratio, 2 * line);
		}
	}

	outline(box, y, line) {
		const height = Math.round(BOX_PX * this.ratio), wide = Math.max(box.wide - (box.wide > 3 ? 1 : 0), 2 * line);

		this.marks.strokeRect(box.px + line / 2, y + line / 2, wide - line, height - line);
	}
}
