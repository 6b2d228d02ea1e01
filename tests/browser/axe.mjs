/* SPDX-License-Identifier: Apache-2.0 */
/*
 * axe.mjs MODULES CHROMIUM DIR: what axe-core finds in the pages of DIR, wide and narrow, light
 * and dark. It sees the document, not what is drawn on canvases.
 */
import { readFileSync } from "node:fs";
import { is, launch, open } from "./harness.mjs";

const [, , modules, chromium, dir] = process.argv;
const browser = await launch(modules, chromium), axe = readFileSync(`${modules}/node_modules/axe-core/axe.min.js`, "utf8");
const SCREENS = {
	"1400 px, light": {},
	"1400 px, dark": { colorScheme: "dark" },
	"390 px, light": { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true },
	"390 px, dark": { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true, colorScheme: "dark" },
};

async function findings(page) {
	const found = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));

	return found.violations.filter((v) => v.impact === "serious" || v.impact === "critical")
		.map((v) => `${v.id}: ${v.nodes.map((n) => `${n.target.join(" ")} ${n.any.map((a) => a.message).join(" ")}`).join("; ")}`.slice(0, 600));
}

/* pages, and what is done there before looking */
const STATES = {
	stream: async (page) => {
		await page.selectOption("#by", "pod");
		await page.fill("#search", "(");
		await page.click("#search-regex");
	},
	compare: async (page) => {
		await page.fill("#filter", 'comm="api"');
		await page.click("#compare");
		await page.fill("#filter", 'comm="db"');
		await page.click("#tab-labels");
	},
	lines: async (page) => {
		await page.click("#table-rows .row >> nth=0");
		await page.click("#tab-lines");
	},
};

for (const [screen, options] of Object.entries(SCREENS)) {
	for (const [name, prepare] of Object.entries(STATES)) {
		const { context, page, trouble } = await open(browser, `${dir}/stream.html`, options);
		await page.evaluate(axe);
		is(await findings(page), [], `${screen}: nothing serious as the page opens`);
		await prepare(page);
		is(await findings(page), [], `${screen}: nor with ${name}`);
		is(trouble, [], `${screen}, ${name}: no message, violation, dialog or request`);
		await context.close();
	}
}
await browser.close();
