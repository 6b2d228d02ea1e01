/* SPDX-License-Identifier: Apache-2.0 */
/* Controls for the shape of the tree: which way, by what, without what. */
import { byId, element } from "./card.js";
import { valuesOf } from "./explore.js";
import { PLAIN, matching } from "./grow.js";
import { fitName } from "./names.js";

/* Code that most people do not look for, by name, file or binary. */
export const PRESETS = [
	["C library", "(^|/)(libc|libm|libpthread|ld-linux[^/]*|ld-musl[^/]*)[-.][^/]*$"],
	["Kernel", "^\\[kernel\\.kallsyms\\]"],
	["Go runtime", "^runtime\\."],
	["Python interpreter", "(^|/)(lib)?python3[^/]*$"],
	["V8", "^(v8::|node::|Builtins_)"],
	["JVM", "(^|/)libjvm\\.so"],
	["Rust standard library", "^(<?(core|std|alloc)::|__rust|rust_)"],
	["Tokio", "^<?tokio::"],
];
/* Trees around one function. */
const AROUND_TEXTS = { around: "around", callers: "callers of", of: "callees of" };
const GROUPS_MAX = 200;
const WORDS = { focus: "only through", ignore: "not through", hide: "without" };

/* "kind=expression", a line each: there and back. */
export function writeFilters(filters) {
	return filters.map((f) => `${f.kind}=${f.re}`).join("\n");
}

export function readFilters(text) {
	return (text || "").split("\n").map((line) => ({ kind: line.slice(0, line.indexOf("=")), re: line.slice(line.indexOf("=") + 1) }))
		.filter(({ kind, re }) => {
			try {
				return Object.hasOwn(WORDS, kind) && Boolean(re) && Boolean(new RegExp(re, "u"));
			} catch {
				return false;
			}
		});
}

export class Shaper {
	/* on.change() */
	constructor(on) {
		this.on = on;
		this.shape = PLAIN;
		this.flame = false;
		for (const id of ["tree", "group"])
			byId(id).addEventListener("change", () => this.set({ [id]: byId(id).value }));
		/* what a tree is around is not there at another level */
		byId("level").addEventListener("change", () =>
			this.set({ level: byId("level").value, of: "", tree: AROUND_TEXTS[this.shape.tree] ? "callees" : this.shape.tree }));
		byId("hide").addEventListener("change", () => {
			this.filter("hide", byId("hide").value);
			byId("hide").value = "";
		});
		byId("flame").addEventListener("click", () => {
			this.flame = !this.flame;
			this.update();
			this.on.change();
		});
	}

	set(change) {
		this.shape = { ...this.shape, ...change };
		this.update();
		this.on.change();
	}

	filter(kind, re) {
		if (re && !this.shape.filters.some((f) => f.kind === kind && f.re === re))
			this.set({ filters: [...this.shape.filters, { kind, re }] });
	}

	unfilter(filter) {
		this.set({ filters: this.shape.filters.filter((f) => f !== filter) });
	}

	/* Callers or callees of a function. */
	around(tree, of) {
		this.set({ tree, of });
	}

	setProfile(p) {
		const option = (value, text) => {
			const o = element("option", "", text);
			o.value = value;
			return o;
		};
		const groups = p.cells && p.labels ? p.labels.keys.filter((k) => valuesOf(p, k).length <= GROUPS_MAX) : [];

		byId("group").replaceChildren(option("", "no label"), ...groups.map((k) => option(k, k)));
		byId("group-label").hidden = !groups.length;
		if (!groups.includes(this.shape.group))
			this.shape = { ...this.shape, group: "" };
		for (const o of byId("level").options) {
			if (o.value === "lines")
				o.hidden = o.disabled = !p.lines;
			if (o.value === "functions")
				o.textContent = p.level === "addresses" ? "Addresses" : "Functions";
		}
		if (!p.lines && this.shape.level === "lines")
			this.shape = { ...this.shape, level: "functions" };
		const presets = PRESETS.filter(([, re]) => matching(p.frames, [re]).includes(1));
		byId("hide").replaceChildren(option("", "Hide…"), ...presets.map(([name, re]) => option(re, name)));
		byId("hide").hidden = !presets.length;
		this.update();
	}

	restore(shape, flame) {
		this.shape = { ...PLAIN, ...shape };
		this.flame = flame;
	}

	update() {
		const { shape } = this, around = AROUND_TEXTS[shape.tree];

		for (const o of byId("tree").options)
			if (AROUND_TEXTS[o.value])
				o.hidden = o.disabled = !shape.of;
		byId("tree").value = shape.tree;
		byId("group").value = shape.group;
		byId("level").value = shape.level;
		byId("flame").setAttribute("aria-pressed", this.flame);
		const chips = shape.filters.map((f) => this.chip(this.words(f), f.re, () => this.unfilter(f)));
		if (around)
			chips.unshift(this.chip(`${around} ${fitName(shape.of, 40)}`, shape.of, () => this.set({ tree: "callees", of: "" })));
		byId("chips").replaceChildren(...chips);
	}

	words({ kind, re }) {
		const preset = PRESETS.find((p) => p[1] === re);

		return `${WORDS[kind]} ${preset ? preset[0] : fitName(re.replace(/^\^|\$$|\\(?=\W)/g, ""), 40)}`;
	}

	chip(text, title, remove) {
		const button = element("button", "chip", text);

		button.type = "button";
		button.title = `${fitName(title, 1000)} — click to take it away`;
		button.append(element("span", "x", " ×"));
		button.addEventListener("click", remove);
		return button;
	}
}
