/* SPDX-License-Identifier: Apache-2.0 */
/* What is beside the tree: functions, and what the tabs offer of the one that is chosen. */
import { byId } from "./card.js";
import { labelSums } from "./explore.js";
import { passingNodes } from "./grow.js";
import { Model } from "./model.js";
import { SourceList } from "./source.js";
import { Tabs } from "./tabs.js";
import { Tags } from "./tags.js";
import { Trend, releasesOf, trendKeys } from "./trend.js";

export class Panels {
	constructor(app) {
		this.app = app;
		this.tabs = new Tabs({ shown: () => this.shown(), choose: (name) => this.show(name) });
		this.tags = new Tags({ only: (key, value) => app.chooser.only(key, value) });
		this.source = new SourceList();
		this.trend = new Trend({ only: (key, value) => app.chooser.only(key, value),
			pick: (name) => app.pick(app.model.frames.name.indexOf(name), true), by: (key) => this.setTrend(key) });
	}

	setProfile(p) {
		const hasLabels = Boolean(p.cells) && p.labels.keys.length > 0, keys = trendKeys(p);

		this.trend.setKeys(keys);
		this.tabs.setPossible([p.lines ? "lines" : "", hasLabels ? "labels" : "", keys.length ? "trend" : ""]);
	}

	/* One of them by its name, which the address keeps; on a small screen it may be below. */
	show(name) {
		this.tabs.show(name);
		byId("list").scrollIntoView({ block: "nearest" });
		this.app.keep(false);
	}

	restore({ list, trend }) {
		this.trend.choose(trend);
		this.tabs.show(this.tabs.possible.includes(list) ? list : "functions");
	}

	/* What of it is not as the page opens. */
	state() {
		const { key, keys } = this.trend;

		return { list: this.tabs.shown === "functions" ? "" : this.tabs.shown, trend: key === keys[0] ? "" : key };
	}

	setTrend(key) {
		this.trend.choose(key);
		this.fillTrend();
		this.app.keep(false);
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
		else if (this.tabs.shown === "trend")
			this.fillTrend();
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

	/* Each release's samples by function; kept for as long as the same is chosen. */
	releases() {
		const { app, trend } = this, p = app.source, { selection } = app.chooser;

		if (this.trendOf !== app.tree || this.trendBy !== trend.key) {
			this.releasesNow = releasesOf(p, trend.key, selection).map((name) => {
				const { functions, totals } = new Model(app.filteredPart({ key: trend.key, value: name }));
				return { name, whole: totals[0], ...functions[0] };
			});
			this.trendOf = app.tree;
			this.trendBy = trend.key;
		}
		return this.releasesNow;
	}

	fillTrend() {
		const { app, trend } = this, { model } = app;

		if (app.chooser.base)
			trend.say("A trend is of one choice of samples: end the comparison to see it.");
		else
			trend.fill(this.releases(), model, app.picked);
	}
}
