/* SPDX-License-Identifier: Apache-2.0 */
/*
 * speedscope.mjs MODULES CHROMIUM DIR NAME…: each DIR/NAME.speedscope.json is opened by
 * speedscope as its command line does it. What it has understood it saves again, and that is
 * compared with what it was given.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { is, launch, ok, until } from "./harness.mjs";

const [, , modules, chromium, dir, ...names] = process.argv;
const browser = await launch(modules, chromium);
const start = `file://${modules}/node_modules/speedscope/dist/release/index.html`;

/*
 * Of each profile: its name, unit, and the weight of each stack of (name, file, line). It writes
 * as events, by opening and closing frames, what it read as samples.
 */
function stacks(text) {
	const { shared, profiles } = JSON.parse(text);
	const place = ({ name, file, line }) => [name, file, line];

	return profiles.map(({ name, unit, samples, weights, events }) => {
		const sums = new Map(), open = [];
		let at = 0;
		const add = (stack, weight) => {
			const key = JSON.stringify(stack.map((f) => place(shared.frames[f])));
			if (stack.length && weight)
				sums.set(key, (sums.get(key) || 0) + weight);
		};
		samples?.forEach((stack, i) => add(stack, weights[i]));
		events?.forEach((e) => {
			add(open, e.at - at);
			({ at } = e);
			if (e.type === "O")
				open.push(e.frame);
			else
				open.pop();
		});
		return { name, unit, stacks: [...sums].sort((x, y) => (x[0] < y[0] ? -1 : 1)) };
	});
}

for (const name of names) {
	const file = `${name}.speedscope.json`, given = readFileSync(`${dir}/${file}`);
	const context = await browser.newContext(), page = await context.newPage(), trouble = [];

	page.on("pageerror", (e) => trouble.push(`exception: ${e.message}`));
	page.on("console", (m) => m.type() === "error" && trouble.push(`console: ${m.text()}`));
	page.on("dialog", (d) => {
		trouble.push(`dialog: ${d.message()}`);
		d.dismiss();
	});
	writeFileSync(`${dir}/load.js`, `speedscope.loadFileFromBase64(${JSON.stringify(file)}, "${given.toString("base64")}")`);
	await page.goto(`${start}#view=sandwich&localProfilePath=${encodeURIComponent(`${dir}/load.js`)}`);
	await until(page, 'document.title.endsWith(" - speedscope")');
	const download = page.waitForEvent("download");
	await page.keyboard.press("Control+s");
	await (await download).saveAs(`${dir}/saved.json`);
	is(trouble, [], `${name}: speedscope opens it without a complaint`);
	const want = stacks(given), got = stacks(readFileSync(`${dir}/saved.json`));
	ok(name === "empty" || want.some((p) => p.stacks.length > 0), `${name}: has stacks`);
	is(got, want, `${name}: speedscope has each stack with its weight`);
	await context.close();
}
await browser.close();
