/* SPDX-License-Identifier: Apache-2.0 */
/* The lines over time: what they are worth where, and choosing a part of the time on them. */
import { element, placeCard, row } from "./card.js";
import { LINES_MAX, endOf, linesOf, offsetOf, rateUnit, ratesOf, timeText } from "./explore.js";
import { formatCount, formatShare, formatValue, plural } from "./format.js";

const LEFT = 72, RIGHT = 10, TOP = 8, BOTTOM = 20, HEIGHT = 116;
const STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400];
const TIME_FONT = '11px system-ui, "DejaVu Sans", sans-serif';
const DRAG_PX = 4;

/* "2.13 cores", "1.20MB/s": of one point. */
export function rateText(column, v) {
	const { unit, suffix } = rateUnit(column), text = formatValue(v, unit) || "0";

	return text + suffixOf(text, suffix);
}

function suffixOf(text, suffix) {
	return text === "1" && suffix === " cores" ? " core" : suffix;
}

/* A round step that makes about n parts of a range. */
export function roundStep(range, n) {
	const rough = range / n, power = 10 ** Math.floor(Math.log10(rough));

	return [1, 2, 5, 10].find((f) => f * power >= rough * 0.999) * power;
}

/* "12:30", with seconds where steps are smaller, with the day where the range has several. */
function clockText(seconds, step, days) {
	const text = new Date(seconds * 1000).toISOString();

	return (days ? `${text.slice(5, 10)} ` : "") + text.slice(11, step % 60 && !days ? 19 : 16);
}

const DAY = 86400;

/* Where the axis has marks, in seconds, and what stands there: the day where it is another one. */
export function ticksOf(begin, span, step) {
	const out = [];
	let day = Math.floor(begin / DAY);

	for (let s = Math.ceil(begin / step) * step; s - begin <= span; s += step) {
		const isOther = Math.floor(s / DAY) !== day;
		day = Math.floor(s / DAY);
		out.push([s, clockText(s, step, span > DAY || isOther)]);
	}
	return out;
}

export class Timeline {
	/* on.select(from, to) a range of bins; on.only(name) the line's label alone; on.say(text) */
	constructor(root, card, on) {
		this.canvas = root.querySelector("#time");
		this.keys = root.querySelector("#lines");
		this.context = this.canvas.getContext("2d");
		this.card = card;
		this.on = on;
		this.cursor = this.anchor = -1;
		this.drag = null;
		this.canvas.addEventListener("pointermove", (e) => this.move(e));
		this.canvas.addEventListener("pointerdown", (e) => this.down(e));
		this.canvas.addEventListener("pointerup", (e) => this.up(e));
		this.canvas.addEventListener("pointercancel", () => this.stopDrag());
		this.canvas.addEventListener("pointerleave", () => this.away());
		this.canvas.addEventListener("blur", () => this.away());
		this.canvas.addEventListener("keydown", (e) => this.key(e));
	}

	/* What is drawn: a column of a profile by a label, of what fits the terms. */
	set(p, column, by, terms) {
		/* another choice of time changes no line */
		if (p === this.p && this.column === p.columns[column] && by === this.by && terms === this.terms)
			return;
		if (p !== this.p)
			this.cursor = this.anchor = -1;
		this.p = p;
		this.column = p.columns[column];
		this.by = by;
		this.terms = terms;
		this.lines = linesOf(p, column, by, terms);
		for (const line of this.lines)
			line.rates = ratesOf(p, column, line, by, terms);
		this.top = this.lines.reduce((most, l) => l.rates.reduce((a, b) => Math.max(a, b), most), 0);
		this.bottom = this.lines.reduce((least, l) => l.rates.reduce((a, b) => Math.min(a, b), least), 0);
		this.span = offsetOf(p, endOf(p.bins.at(-1)));
	}

	setSelection(selection, base) {
		this.selection = selection;
		this.base = base;
	}

	setPalette(palette) {
		this.palette = palette;
	}

	/* --- drawing ------------------------------------------------------------------------ */

	resize() {
		const ratio = window.devicePixelRatio || 1;

		this.width = this.canvas.clientWidth;
		this.canvas.width = Math.max(1, Math.round(this.width * ratio));
		this.canvas.height = Math.round(HEIGHT * ratio);
		this.context.setTransform(ratio, 0, 0, ratio, 0, 0);
	}

	x(seconds) {
		return LEFT + seconds / this.span * (this.width - LEFT - RIGHT);
	}

	y(rate) {
		const range = this.top - this.bottom || 1;

		return HEIGHT - BOTTOM - (rate - this.bottom) / range * (HEIGHT - TOP - BOTTOM);
	}

	/* Left and right edge of bins [from, to) in pixels. */
	edges(from, to) {
		const { bins } = this.p;

		return [this.x(offsetOf(this.p, bins[from].start)), this.x(offsetOf(this.p, endOf(bins[to - 1])))];
	}

	draw() {
		const c = this.context;

		c.clearRect(0, 0, this.width, HEIGHT);
		c.font = TIME_FONT;
		c.lineJoin = "round";
		this.drawRange(this.base, this.palette.less);
		this.drawRange(this.drag || this.selection, this.base ? this.palette.more : this.palette.picked);
		this.drawAxes();
		for (let i = this.lines.length - 1; i >= 0; i--)
			this.drawLine(this.lines[i], this.colourOf(i));
		this.drawCursor();
	}

	colourOf(i) {
		return this.palette.lines[i % LINES_MAX];
	}

	drawRange(range, rgb) {
		if (!range || range.from < 0)
			return;
		const c = this.context, [left, right] = this.edges(range.from, range.to), wide = Math.max(2, right - left);

		c.fillStyle = `rgb(${rgb.join(" ")} / 45%)`;
		c.fillRect(left, TOP - 6, wide, HEIGHT - TOP - BOTTOM + 6);
		c.fillStyle = `rgb(${rgb.join(" ")})`;
		c.fillRect(left, HEIGHT - BOTTOM, wide, 2);
	}

	drawAxes() {
		const c = this.context, { palette, p } = this;

		c.strokeStyle = palette.line;
		c.fillStyle = palette.soft;
		c.lineWidth = 1;
		c.textAlign = "right";
		c.textBaseline = "middle";
		const step = roundStep(this.top - this.bottom || 1, 3);
		const first = Math.ceil(this.bottom / step), last = Math.floor(this.top / step + 1e-6);
		for (let i = first; i <= last; i++) {
			const y = Math.round(this.y(i * step)) + 0.5;
			c.beginPath();
			c.moveTo(LEFT, y);
			c.lineTo(this.width - RIGHT, y);
			c.stroke();
			c.fillText(this.tickText(i * step, i === last), LEFT - 6, Math.max(y, 6));
		}
		c.textAlign = "center";
		const ticks = this.timeStep(), begin = p.bins[0].start.s;
		const at = (s) => this.x(s - begin - p.bins[0].start.ns / 1e9);
		for (let s = Math.ceil(begin / DAY) * DAY; s - begin < this.span && this.span <= DAY; s += DAY)
			if (s > begin)
				c.strokeRect(Math.round(at(s)) + 0.5, TOP - 6, 0, HEIGHT - TOP - BOTTOM + 6);
		for (const [s, text] of ticksOf(begin, this.span, ticks)) {
			const x = at(s);
			const half = c.measureText(text).width / 2;
			c.fillText(text, Math.min(Math.max(x, LEFT + half - 20), this.width - half), HEIGHT - 8);
			c.fillRect(Math.round(x), HEIGHT - BOTTOM, 1, 4);
		}
	}

	/* Numbers without a unit of their own have it at the top alone. */
	tickText(v, isTop) {
		const { unit, suffix } = rateUnit(this.column), text = formatValue(v, unit).replace(/(\.\d)0$/, "$1");

		return text + (unit || isTop ? suffixOf(text, suffix) : "");
	}

	timeStep() {
		const least = this.span / Math.max(1, (this.width - LEFT) / 104);

		return STEPS.find((s) => s >= least) || Math.ceil(least / DAY) * DAY;
	}

	/* Left and right end of a bin's step: it ends with its profile, if there is a pause after it. */
	stepOf(i) {
		const bin = this.p.bins[i], [left, right] = this.edges(i, i + 1), share = bin.wall / bin.length;

		return [left, Math.max(!this.p.windows && share < 0.9 ? left + (right - left) * share : right, left + 1)];
	}

	/* A line's steps that touch, as lists of [left, right, y]; there is a gap where nothing is known. */
	runsOf(line) {
		const runs = [];
		let last = -Infinity;

		line.rates.forEach((rate, i) => {
			if (rate === null)
				return;
			const [left, right] = this.stepOf(i);
			if (left - last > 1.5)
				runs.push([]);
			runs.at(-1).push([left, right, this.y(rate)]);
			last = right;
		});
		return runs;
	}

	drawLine(line, colour) {
		const c = this.context, runs = this.runsOf(line), zero = this.y(0);
		const trace = (run) => run.forEach(([left, right, y]) => {
			c.lineTo(left, y);
			c.lineTo(right, y);
		});

		c.strokeStyle = c.fillStyle = colour;
		c.lineWidth = 1.6;
		for (const run of runs) {
			c.beginPath();
			trace(run);
			c.stroke();
			if (this.lines.length > 1)
				continue;
			c.beginPath();
			c.moveTo(run[0][0], zero);
			trace(run);
			c.lineTo(run.at(-1)[1], zero);
			c.globalAlpha = 0.16;
			c.fill();
			c.globalAlpha = 1;
		}
	}

	drawCursor() {
		const c = this.context;

		if (this.cursor < 0)
			return;
		const [left, right] = this.edges(this.cursor, this.cursor + 1);
		c.strokeStyle = this.palette.text;
		c.lineWidth = 1;
		c.strokeRect(Math.round(left) + 0.5, TOP - 5.5, Math.max(1, Math.round(right - left) - 1), HEIGHT - TOP - BOTTOM + 5);
	}

	/* Which line is which; a click shows one alone. */
	writeKeys() {
		this.keys.hidden = !this.by;
		const whole = this.lines.reduce((sum, l) => sum + l.whole, 0);
		this.keys.replaceChildren(...this.lines.map((line, i) => {
			const button = element("button", ""), swatch = element("span", "swatch");
			swatch.style.background = this.colourOf(i);
			button.type = "button";
			button.append(swatch, element("span", "name", this.nameOf(line)), element("span", "share", formatShare(line.whole, whole)));
			button.disabled = line.rest > 0;
			button.title = line.rest ? "The smallest together" : `Only ${this.by}=${line.name || "none"}`;
			button.addEventListener("click", () => this.on.only(line.name));
			return button;
		}));
	}

	nameOf(line) {
		if (line.rest)
			return `${plural(line.rest, "other", "others")}`;
		return this.by ? line.name || `no ${this.by}` : "all";
	}

	/* --- pointer and keys --------------------------------------------------------------- */

	/* The bin at a place, or the nearest one. */
	binAt(x) {
		const seconds = (x - LEFT) / (this.width - LEFT - RIGHT) * this.span, { bins } = this.p;
		let best = 0, least = Infinity;

		for (let i = 0; i < bins.length; i++) {
			const from = offsetOf(this.p, bins[i].start), to = offsetOf(this.p, endOf(bins[i]));
			const away = seconds < from ? from - seconds : seconds > to ? seconds - to : 0;
			if (away < least) {
				least = away;
				best = i;
			}
		}
		return best;
	}

	move(e) {
		const x = e.offsetX;

		this.cursor = this.binAt(x);
		if (this.drag && (this.drag.moved || Math.abs(x - this.drag.x) >= DRAG_PX)) {
			this.drag.moved = true;
			this.drag.from = Math.min(this.drag.start, this.cursor);
			this.drag.to = Math.max(this.drag.start, this.cursor) + 1;
		}
		this.draw();
		this.describe(this.cursor, e.offsetY);
		placeCard(this.card, e.clientX, e.clientY);
	}

	down(e) {
		if (e.button)
			return;
		const start = this.binAt(e.offsetX);

		this.canvas.setPointerCapture(e.pointerId);
		this.drag = { x: e.offsetX, start, from: start, to: start + 1, moved: false };
		this.cursor = start;
		this.draw();
	}

	up() {
		const { drag } = this;

		this.stopDrag();
		if (!drag)
			return;
		this.anchor = drag.start;
		this.on.select(drag.from, drag.to);
	}

	stopDrag() {
		this.drag = null;
	}

	away() {
		if (this.drag)
			return;
		this.card.hidden = true;
		this.cursor = -1;
		this.draw();
	}

	/* Everything about one bin; the line nearest to y stands out. */
	describe(i, y) {
		const { bins } = this.p, bin = bins[i], table = element("table");
		let near = 0;

		this.lines.forEach((line, k) => {
			if (y >= 0 && line.rates[i] !== null && Math.abs(this.y(line.rates[i]) - y) < Math.abs(this.y(this.lines[near].rates[i]) - y))
				near = k;
		});
		this.lines.forEach((line, k) => {
			if (line.rates[i] === null)
				return;
			const exact = this.column.gauge ? "" : `${formatCount(line.sums[i])} ${this.column.unit}`;
			const tr = row(table, [this.nameOf(line), rateText(this.column, line.rates[i]), exact]), swatch = element("span", "swatch");
			swatch.style.background = this.colourOf(k);
			tr.firstChild.prepend(swatch, " ");
			tr.classList.toggle("near", k === near && this.lines.length > 1);
		});
		this.card.replaceChildren(element("p", "name", `${timeText(bin.start)} – ${timeText(endOf(bin)).slice(11)}`),
			element("p", "place", `${formatValue(bin.wall, "nanoseconds")} · ${plural(bin.merged, "profile", "profiles")}${this.by ? ` · by ${this.by}` : ""}`), table);
	}

	key(e) {
		const last = this.p.bins.length - 1, steps = { ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity };

		if (e.ctrlKey || e.metaKey || e.altKey)
			return;
		if (e.key in steps) {
			const from = this.cursor < 0 ? (this.anchor < 0 ? 0 : this.anchor) : this.cursor;
			this.cursor = this.cursor < 0 ? from : Math.max(0, Math.min(last, from + steps[e.key]));
			if (e.shiftKey) {
				this.anchor = this.anchor < 0 ? from : this.anchor;
				this.on.select(Math.min(this.anchor, this.cursor), Math.max(this.anchor, this.cursor) + 1);
			} else {
				this.anchor = this.cursor;
			}
			this.showCursor();
		} else if (e.key === "Enter" && this.cursor >= 0) {
			this.on.select(this.cursor, this.cursor + 1);
			this.showCursor();
		} else {
			return;
		}
		e.preventDefault();
		e.stopPropagation();
	}

	showCursor() {
		const box = this.canvas.getBoundingClientRect(), [left] = this.edges(this.cursor, this.cursor + 1);

		this.draw();
		this.describe(this.cursor, -1);
		placeCard(this.card, box.left + left, box.bottom - 18);
		this.on.say(`${timeText(this.p.bins[this.cursor].start)}: ` +
			this.lines.filter((l) => l.rates[this.cursor] !== null).map((l) => `${this.nameOf(l)} ${rateText(this.column, l.rates[this.cursor])}`).join(", "));
	}
}
