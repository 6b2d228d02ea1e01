/* SPDX-License-Identifier: Apache-2.0 */
/* The list of labels: what each value has of what is chosen, as -f tags; a click chooses it. */
import { byId, element } from "./card.js";
import { formatDelta, formatShare, formatValue, plural } from "./format.js";

const VALUES_MAX = 100;

function rowOf(className, texts, name) {
	const row_ = element("div", `tag ${className}`);

	row_.append(...texts.map((t) => element("span", "cell", t)), name);
	return row_;
}

export class Tags {
	/* on.only(key, value) */
	constructor(on) {
		this.on = on;
	}

	/* sums: of labelSums(), for each side; whole: what shares are of */
	fill(sums, model) {
		const last = sums.at(-1), keys = [...new Set(sums.flat().map((k) => k.key))];

		byId("tags").replaceChildren(...keys.flatMap((key) => {
			const sides = sums.map((side) => side.find((k) => k.key === key) || { sum: 0, values: [] });
			const values = [...new Set([...sides.at(-1).values, ...sides[0].values].map((v) => v.value))];
			const head = rowOf("key", this.texts(sides.map((s) => s.sum), model), element("span", "name", key));
			const rows = values.slice(0, VALUES_MAX).map((value) => this.valueRow(key, value, sides, model));
			const more = values.length - rows.length;
			return [head, ...rows, ...(more > 0 ? [element("p", "soft", `${plural(more, "value", "values")} more`)] : [])];
		}));
		if (!keys.length)
			byId("tags").append(element("p", "soft", last.length ? "no values" : "no labels on these samples"));
	}

	valueRow(key, value, sides, model) {
		const sums = sides.map((s) => (s.values.find((v) => v.value === value) || { sum: 0 }).sum);
		const button = element("button", "name", value || '""');

		button.type = "button";
		button.title = `Only ${key}=${value}`;
		button.addEventListener("click", () => this.on.only(key, value));
		return rowOf("", this.texts(sums, model), button);
	}

	texts(sums, model) {
		const { unit } = model;

		return sums.length === 2 ? [formatValue(sums[0], unit), formatValue(sums[1], unit), formatDelta(sums[1] - sums[0], unit)]
			: [formatValue(sums[0], unit), formatShare(sums[0], model.whole)];
	}
}
