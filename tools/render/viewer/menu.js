/* SPDX-License-Identifier: Apache-2.0 */
/* What can be done with one function, as a menu at the pointer or at the box that has the focus. */
import { byId, element } from "./card.js";
import { fitName, moduleName } from "./names.js";

/* An expression that matches this text alone. */
export function exactly(text) {
	return `^${text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}$`;
}

export async function copy(text) {
	try {
		await window.navigator.clipboard.writeText(text);
	} catch {
		/* not allowed here: the old way */
		const area = element("textarea", "unseen");
		area.value = text;
		document.body.append(area);
		area.select();
		document.execCommand("copy");
		area.remove();
	}
}

/* Names from the root to a node, as a line of folded stacks has them. */
export function stackText(model, node) {
	const names = [];

	for (let at = node; at > 0; at = model.parent[at])
		names.push(model.nameOf(at).replaceAll(";", ":"));
	return (model.view.inverted || model.isAbove(node) ? names : names.reverse()).join(";");
}

export class Menu {
	constructor() {
		this.root = byId("menu");
		this.root.addEventListener("keydown", (e) => this.key(e));
		document.addEventListener("pointerdown", (e) => {
			if (!this.root.contains(e.target))
				this.close(false);
		});
	}

	/* items: [text, what it does, and whether it is on where it is one to switch]; back: what gets the focus after */
	open(title, items, x, y, back) {
		this.back = back;
		this.root.setAttribute("aria-label", title);
		this.root.replaceChildren(element("p", "name", title), ...items.map(([text, does, isOn]) => {
			const button = element("button", "", text);
			button.type = "button";
			button.setAttribute("role", isOn === undefined ? "menuitem" : "menuitemcheckbox");
			if (isOn !== undefined)
				button.setAttribute("aria-checked", isOn);
			button.addEventListener("click", () => {
				this.close(true);
				does();
			});
			return button;
		}));
		this.root.hidden = false;
		const { width, height } = this.root.getBoundingClientRect(), page = document.documentElement;
		this.root.style.left = `${Math.max(4, Math.min(x, page.clientWidth - width - 4))}px`;
		this.root.style.top = `${Math.max(4, Math.min(y, page.clientHeight - height - 4))}px`;
		this.root.querySelector("button").focus();
	}

	close(focus) {
		if (this.root.hidden)
			return;
		this.root.hidden = true;
		if (focus && this.back)
			this.back.focus({ preventScroll: true });
	}

	key(e) {
		const buttons = [...this.root.querySelectorAll("button")], at = buttons.indexOf(document.activeElement);
		const steps = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: -1 };

		if (e.key in steps)
			buttons.at(steps[e.key] % buttons.length).focus();
		else if (e.key === "Escape" || e.key === "Tab")
			this.close(true);
		else
			return;
		e.preventDefault();
		e.stopPropagation();
	}
}

/*
 * What can be done with a function: frame of the model, node where it is known which.
 * on: zoom(frame), filter(kind, expression), around(tree, name), copied(what), lines() or null
 */
export function functionItems(model, frame, node, on) {
	const name = model.frames.name[frame], binary = model.frames.module[frame];
	/* filters are about functions, as prof-render's are */
	const key = exactly(model.keyOf(frame)), it = model.functionOf(frame) === name ? "it" : "its function";
	const copyIt = (text, what) => copy(text).then(() => on.copied(what));
	const items = [
		["Zoom to its widest box", () => on.zoom(frame)],
		["Callers and callees of it", () => on.around("around", name)],
		["Callers of it", () => on.around("callers", name)],
		["Callees of it", () => on.around("of", name)],
		[`Only stacks through ${it}`, () => on.filter("focus", key)],
		[`Without stacks through ${it}`, () => on.filter("ignore", key)],
		[`Hide ${it}`, () => on.filter("hide", key)]];

	if (on.lines)
		items.splice(4, 0, ["Its lines", () => on.lines()]);
	if (binary)
		items.push([`Hide ${fitName(moduleName(binary), 24)}`, () => on.filter("hide", exactly(binary))]);
	items.push(["Copy name", () => copyIt(name, "the name")]);
	if (node > 0)
		items.push(["Copy stack", () => copyIt(stackText(model, node), "the stack")]);
	return items;
}
