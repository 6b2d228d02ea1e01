/* SPDX-License-Identifier: Apache-2.0 */
/* What is beside the tree: functions, and what else the tabs offer. */
import { labelSums } from "./explore.js";
import { passingNodes } from "./grow.js";
import { Tabs } from "./tabs.js";
import { Tags } from "./tags.js";

export class Panels {
	constructor(app) {
		this.app = app;
		this.tabs = new Tabs({ shown: () => this.shown() });
		this.tags = new Tags({ only: (key, value) => app.chooser.only(key, value) });
	}

	setProfile(p) {
		const hasLabels = Boolean(p.cells) && p.labels.keys.length > 0;

		this.tabs.setPossible([hasLabels ? "labels" : ""]);
	}

	shown() {
		this.fill();
		this.app.table.render();
	}

	/* What is in view, anew. */
	fill() {
		if (this.tabs.shown === "labels")
			this.fillTags();
	}

	fillTags() {
		const { app } = this, p = app.data.profiles[app.profile], { base, selection } = app.chooser, { view } = app.model;
		const nodes = passingNodes(p, app.shaper.shape.filters), factors = [view.factor || 1, 1];
		const sums = (base ? [base, selection] : [selection]).map((s, side) =>
			labelSums(p, app.column, s, nodes, base ? factors[side] : 1 / (view.mean || 1)));

		this.tags.fill(sums, app.model);
	}
}
