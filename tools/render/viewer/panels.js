/* SPDX-License-Identifier: Apache-2.0 */
/* What is beside the tree: functions, and what the tabs offer of the one that is chosen. */
import { labelSums } from "./explore.js";
import { passingNodes } from "./grow.js";
import { Model } from "./model.js";
import { SourceList } from "./source.js";
import { Tabs } from "./tabs.js";
import { Tags } from "./tags.js";

export class Panels {
	constructor(app) {
		this.app = app;
		this.tabs = new Tabs({ shown: () => this.shown() });
		this.tags = new Tags({ only: (key, value) => app.chooser.only(key, value) });
		this.source = new SourceList();
	}

	setProfile(p) {
		const hasLabels = Boolean(p.cells) && p.labels.keys.length > 0;

		this.tabs.setPossible([p.lines ? "lines" : "", hasLabels ? "labels" : ""]);
	}

	shown() {
		this.fill();
		this.app.table.render();
	}

	/* What is in view, anew. */
	fill() {
		const { shown } = this.tabs;

		if (shown === "labels")
			this.fillTags();
		else
			this.fillOfFunction();
	}

	/* What depends on the function that is chosen. */
	fillOfFunction() {
		if (this.tabs.shown === "lines")
			this.fillLines();
	}

	/* The name of the function that is chosen, of one of whose lines where these are shown. */
	functionName() {
		const { model, picked } = this.app;

		return picked < 0 ? "" : model.functionOf(picked);
	}

	fillTags() {
		const { app } = this, p = app.source, { base, selection } = app.chooser, { view } = app.model;
		const nodes = passingNodes(p, app.shaper.shape.filters), factors = [view.factor || 1, 1];
		const sums = (base ? [base, selection] : [selection]).map((s, side) =>
			labelSums(p, app.column, s, nodes, base ? factors[side] : 1 / (view.mean || 1)));

		this.tags.fill(sums, app.model);
	}

	fillLines() {
		const { app } = this;

		if (this.linesOf !== app.tree) {
			this.lines = new Model(app.filteredView({ ...app.shaper.shape, level: "lines", group: "" }));
			this.linesOf = app.tree;
		}
		this.source.fill(this.lines, this.functionName());
	}
}
