/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An SVG that zooms and searches. The boxes are there already, callers before callees: this reads
 * them and moves them about. data-v of a box has its value and, where it is another, the sum of
 * its values by size; in a difference these are new less base and new plus base.
 */
import { formatShare, formatValue, plural } from "./format.js";
import { fitName } from "./names.js";

/* As tools/render/svg.c has them. */
const MARGIN = 12, ROW = 18, GAP = 0.6, CHARACTER = 7.25, LABEL_COLUMNS = 4, CHANGE_COLUMNS = 18;
const BAR = 26, LEAST = 0.05;
const HINT = "Click a box to zoom in; arrow keys and Enter do, too";

const svg = document.currentScript.closest("svg");
const group = svg.querySelector("g");
const { unit, side } = group.dataset, total = Number(group.dataset.total);
const top = Number(group.firstElementChild.getAttribute("y")), inner = svg.viewBox.baseVal.width - 2 * MARGIN;

/* --- the boxes ----------------------------------------------------------------------------- */

/* { rect, text or null, label as it was, row, parent, end: index after its subtree, value, size } */
function readBoxes() {
	const boxes = [], path = [];

	for (const element of group.children) {
		const last = boxes.at(-1);
		if (element.tagName === "text") {
			last.text = element;
			last.label = element.textContent;
			continue;
		}
		const row = Math.round((Number(element.getAttribute("y")) - top) / ROW);
		const [value, size = value] = element.dataset.v.split(" ").map(Number);
		const box = { rect: element, text: null, label: "", row, parent: row ? path[row - 1] : -1, end: 0, value, size,
			isRest: element.classList.contains("r") };
		for (const i of path.splice(row))
			boxes[i].end = boxes.length;
		path.push(boxes.length);
		boxes.push(box);
	}
	for (const i of path)
		boxes[i].end = boxes.length;
	return boxes;
}

const sides = (box) => [(box.size - box.value) / 2, (box.size + box.value) / 2];

/* As wide as the value or, in a difference, as the share that was asked for. */
function widthOf(box, root) {
	if (!side)
		return box.size;
	const [base, new_] = sides(box), [wholeBase, wholeNew] = sides(root);
	const shares = { base: wholeBase ? base / wholeBase : 0, new: wholeNew ? new_ / wholeNew : 0 };
	return shares[side] ?? (shares.base + shares.new) / ((wholeBase > 0) + (wholeNew > 0) || 1);
}

/* Callees stand side by side below their caller, from its left end on. */
function placeBoxes(boxes) {
	for (const box of boxes) {
		const parent = boxes[box.parent];
		box.width = widthOf(box, boxes[0]);
		box.start = parent ? parent.filled : 0;
		box.filled = box.start;
		if (parent)
			parent.filled += box.width;
	}
}

/* The name is the first line of the hover text, but for what was found of it. */
function nameOf(box) {
	if (box.name === undefined) {
		const text = box.rect.textContent, note = box.rect.dataset.note;
		const end = text.indexOf("\n");
		box.name = text.slice(0, (end < 0 ? text.length : end) - (note ? note.length + 3 : 0));
	}
	return box.name;
}

function changeText(box) {
	return ` ${box.value < 0 ? "-" : box.value > 0 ? "+" : ""}${formatShare(box.value, total)}`;
}

function labelFor(box, columns) {
	const more = side && !box.isRest && columns >= CHANGE_COLUMNS ? changeText(box) : "";

	return fitName(nameOf(box), columns - more.length) + more;
}

const boxes = readBoxes();
placeBoxes(boxes);

/* --- zoom ---------------------------------------------------------------------------------- */

let zoomed = 0, chosen = 0;
const back = []; /* what was zoomed before */

/* A class of a box, written only where it changes: there may be many boxes. */
function mark(box, name, is) {
	if (is === Boolean(box[name]))
		return;
	box[name] = is;
	for (const element of [box.rect, box.text])
		element?.classList.toggle(name, is);
}

function setText(box, x, width) {
	const columns = Math.floor((width - 6) / CHARACTER);

	if (columns < LABEL_COLUMNS) {
		if (box.text && !box.noText)
			box.text.textContent = "";
		box.noText = true;
		return;
	}
	box.noText = false;
	if (!box.text) {
		box.text = document.createElementNS(svg.namespaceURI, "text");
		box.text.setAttribute("y", Number(box.rect.getAttribute("y")) + 13);
		box.rect.after(box.text);
	}
	box.text.setAttribute("x", (x + 3).toFixed(1));
	box.text.textContent = zoomed ? labelFor(box, columns) : box.label;
}

function show(box, x, width, isAbove) {
	const drawn = width > 3 ? width - GAP : width;

	box.rect.setAttribute("x", x.toFixed(1));
	box.rect.setAttribute("width", drawn.toFixed(1));
	if (box.parent >= 0)
		setText(box, x, width);
	mark(box, "up", isAbove);
	mark(box, "off", false);
}

/*
 * One pass: what is not below the box goes, but its callers stay, as wide as all. So does what
 * would be drawn with no width: laying it out takes as long as if it could be seen.
 */
function draw() {
	const whole = boxes[zoomed], scale = whole.width > 0 ? inner / whole.width : 0;
	const above = new Set();

	for (let i = whole.parent; i >= 0; i = boxes[i].parent)
		above.add(i);
	boxes.forEach((box, i) => {
		if (above.has(i))
			show(box, MARGIN, inner, true);
		else if (i >= zoomed && i < whole.end && box.width * scale >= LEAST)
			show(box, MARGIN + (box.start - whole.start) * scale, box.width * scale, false);
		else
			mark(box, "off", true);
	});
	out.hidden = !zoomed;
}

/* A grey box has nothing in it to see: its caller has. */
function zoom(i) {
	const to = boxes[i].isRest ? boxes[i].parent : i;

	if (to === zoomed || !(boxes[to].width > 0))
		return;
	zoomed = to;
	draw();
	choose(to);
}

function zoomIn(i) {
	const from = zoomed;

	zoom(i);
	if (zoomed !== from)
		back.push(from);
}

function zoomOut() {
	back.length = 0;
	zoom(0);
}

/* --- the box that keys are about ------------------------------------------------------------ */

/* The hover text in one line: name, values, place. */
function infoOf(text) {
	const [name, ...lines] = text.split("\n");
	const isPlace = (line) => !/^(total|self)/.test(line);

	return [name, ...lines.filter((line) => !isPlace(line)), ...lines.filter(isPlace)].join(" · ");
}

function choose(i) {
	boxes[chosen].rect.classList.remove("at");
	chosen = i;
	const { rect } = boxes[i];
	rect.classList.toggle("at", i > 0);
	about.textContent = i ? infoOf(rect.textContent) : HINT;
	const at = rect.getBoundingClientRect(), bottom = document.documentElement.clientHeight;
	if (at.top < BAR + 4)
		window.scrollBy(0, at.top - BAR - 4);
	else if (at.bottom > bottom)
		window.scrollBy(0, at.bottom - bottom + 4);
}

/* The next box of the row to the left or right, of those that are shown. */
function neighbour(step) {
	for (let i = chosen + step; boxes[i]; i += step) {
		if (boxes[i].row === boxes[chosen].row && !boxes[i].off)
			return i;
	}
	return chosen;
}

/* The heaviest callee is the first; above the zoomed box there is one way down. */
function down() {
	for (let i = chosen + 1; i < boxes[chosen].end; i++) {
		if (!boxes[i].off)
			return i;
	}
	return chosen;
}

/* --- search -------------------------------------------------------------------------------- */

let hits = [];

/* Through the boxes that match, each sample once: a match below a match is in its value. */
function count(re) {
	const found = { value: 0, size: 0, n: 0, unseen: 0 };
	let after = 0;

	hits = [];
	boxes.forEach((box, i) => {
		const isHit = i > 0 && !box.isRest && re !== null && re.test(nameOf(box));
		mark(box, "hit", isHit);
		if (isHit) {
			found.n++;
			hits.push(i);
		}
		if (i < after)
			return;
		if (isHit) {
			found.value += box.value;
			found.size += box.size;
			after = box.end;
		} else if (box.isRest) {
			found.unseen += box.size;
		}
	});
	return found;
}

function foundText(found) {
	const where = ` in ${plural(found.n, "box", "boxes")}`;

	if (side) {
		const [base, new_] = sides(found), [wholeBase, wholeNew] = sides(boxes[0]);
		return `base ${formatShare(base, wholeBase)}, new ${formatShare(new_, wholeNew)}${where}`;
	}
	const more = found.unseen ? `; not looked into: ${formatShare(found.unseen, total)} in grey boxes` : "";
	return `${formatShare(found.value, total)} of the total, ${formatValue(found.value, unit)},${where}${more}`;
}

function search() {
	let re = null, text = "", isBad = false;

	if (field.value) {
		try {
			re = new RegExp(field.value, "iu");
		} catch (e) {
			isBad = true;
			text = e.message.replace(/^Invalid regular expression: /, "");
		}
	}
	const found = count(re);
	result.textContent = re ? foundText(found) : text;
	result.classList.toggle("bad", isBad);
	field.setAttribute("aria-invalid", isBad);
}

function endSearch() {
	field.value = "";
	search();
	field.blur();
}

/* From the widest match on to the next one, or back. */
function nextHit(step) {
	const shown = hits.filter((i) => !boxes[i].off).sort((a, b) => boxes[b].width - boxes[a].width);
	const at = shown.indexOf(chosen), next = at < 0 && step < 0 ? -1 : at + step;

	if (shown.length)
		choose(shown.at(next % shown.length));
}

/* --- controls ------------------------------------------------------------------------------ */

function html(parent, tag, properties) {
	const e = document.createElementNS("http://www.w3.org/1999/xhtml", tag);

	Object.assign(e, properties);
	parent.append(e);
	return e;
}

const frame = document.createElementNS(svg.namespaceURI, "foreignObject");
for (const [name, value] of Object.entries({ x: 0, y: top - BAR - 4, width: svg.viewBox.baseVal.width, height: BAR }))
	frame.setAttribute(name, value);
svg.append(frame);
const bar = html(frame, "div", { className: "bar" });
const field = html(bar, "input", { type: "search", placeholder: "Search: a regular expression", title: "Search (/ or Ctrl-F)" });
field.setAttribute("aria-label", "Search: a regular expression");
const result = html(bar, "output", {});
const about = html(bar, "span", { textContent: HINT });
about.setAttribute("aria-live", "polite");
const out = html(bar, "button", { textContent: "Zoom out", title: "Escape", hidden: true });

/* The bar stays in view. */
function follow() {
	const hidden = -svg.getBoundingClientRect().top - (top - BAR - 4);

	frame.setAttribute("transform", `translate(0 ${Math.max(0, hidden)})`);
}

const KEYS = {
	"/": () => field.select(),
	ArrowUp: () => choose(Math.max(boxes[chosen].parent, 0)),
	ArrowDown: () => choose(down()),
	ArrowLeft: () => choose(neighbour(-1)),
	ArrowRight: () => choose(neighbour(1)),
	Enter: () => zoomIn(chosen),
	Backspace: () => zoom(back.pop() ?? 0),
	Escape: () => (field.value ? endSearch() : zoomOut()),
	n: () => nextHit(1),
	N: () => nextHit(-1),
};
const FIELD_KEYS = {
	Enter: () => {
		field.blur();
		nextHit(1);
	},
	Escape: endSearch,
};

function pressed(e) {
	const typing = e.target === field;

	/* asked for again, the browser's own search comes */
	if (e.key === "f" && (e.ctrlKey || e.metaKey) && !typing) {
		field.select();
		e.preventDefault();
		return;
	}
	if (e.ctrlKey || e.metaKey || e.altKey || e.target === out && e.key === "Enter")
		return;
	const act = (typing ? FIELD_KEYS : KEYS)[e.key];
	if (act) {
		act();
		e.preventDefault();
	}
}

svg.setAttribute("role", "application");
svg.addEventListener("keydown", pressed);
group.addEventListener("click", (e) => {
	const i = boxes.findIndex((box) => box.rect === e.target.closest("rect"));

	if (i === 0)
		zoomOut();
	else if (i > 0)
		zoomIn(i);
});
field.addEventListener("input", search);
out.addEventListener("click", zoomOut);
window.addEventListener("scroll", follow);
