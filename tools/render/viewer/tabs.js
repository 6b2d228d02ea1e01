/* SPDX-License-Identifier: Apache-2.0 */
/* The tabs of the list beside the tree: each shows one panel. */
import { byId } from "./card.js";

const PANELS = { functions: "table", labels: "tags", lines: "source", trend: "trend" };

export class Tabs {
	/* on.shown(): another panel has come into view and wants to be filled; on.choose(name): by its tab */
	constructor(on) {
		this.on = on;
		this.shown = "functions";
		this.possible = ["functions"];
		for (const name of Object.keys(PANELS)) {
			this.tab(name).addEventListener("click", () => this.on.choose(name));
			this.tab(name).addEventListener("keydown", (e) => this.key(e, name));
		}
	}

	tab(name) {
		return byId(`tab-${name}`);
	}

	/* Which of them there is something for. */
	setPossible(names) {
		this.possible = Object.keys(PANELS).filter((name) => name === "functions" || names.includes(name));
		for (const name of Object.keys(PANELS))
			this.tab(name).hidden = !this.possible.includes(name);
		byId("tabs").hidden = this.possible.length < 2;
		if (!this.possible.includes(this.shown))
			this.show("functions");
	}

	show(shown) {
		this.shown = shown;
		for (const [name, panel] of Object.entries(PANELS)) {
			this.tab(name).setAttribute("aria-selected", name === shown);
			this.tab(name).tabIndex = name === shown ? 0 : -1;
			byId(panel).hidden = name !== shown;
		}
		this.on.shown();
	}

	key(e, name) {
		const step = { ArrowLeft: -1, ArrowRight: 1 }[e.key];

		if (!step)
			return;
		const n = this.possible.length, to = this.possible[(this.possible.indexOf(name) + step + n) % n];
		this.on.choose(to);
		this.tab(to).focus();
		e.preventDefault();
		e.stopPropagation();
	}
}
