/* SPDX-License-Identifier: Apache-2.0 */
/*
 * corpus.mjs MODULES CHROMIUM DIR: each page NAME.html of DIR opens, shows the values that
 * NAME.json has, and then every other type; every other page on a narrow screen.
 */
import { readFileSync, readdirSync } from "node:fs";
import { ok, launch, open } from "./harness.mjs";

const [, , modules, chromium, dir] = process.argv;
const browser = await launch(modules, chromium);
const NARROW = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };
const isExact = (v) => Math.abs(v) <= Number.MAX_SAFE_INTEGER;
/* Functions with a value. */
const inOrder = (rows) => rows.filter((r) => r.some((v) => v)).map((r) => r.join(" ")).sort();

/* Of a difference the change, as the table and JSON have it. */
const change = (v) => (v.length === 2 ? v[1] - v[0] : v[0]);

async function differences(page, ask, types) {
	const got = inOrder((await ask("rows()")).map((r) => [change(r.self), change(r.total)]));
	const want = types[0].functions.map((f) => [f.flat, f.cum]), options = await page.locator("#type option").evaluateAll((v) => v.map((o) => o.value));

	for (const value of options.length > 1 ? options : [])
		await page.selectOption("#type", value);
	return want.flat().every(isExact) && got.join() !== inOrder(want).join() ? [`${got.length} functions for ${want.length}`] : [];
}

for (const [i, file] of readdirSync(dir).filter((f) => f.endsWith(".html")).sort().entries()) {
	const name = file.slice(0, -5), { types } = JSON.parse(readFileSync(`${dir}/${name}.json`, "utf8"));
	const { context, page, trouble, ask } = await open(browser, `${dir}/${file}`, i % 2 ? NARROW : {});
	const wrong = await differences(page, ask, types);
	if (await page.evaluate("document.documentElement.scrollWidth > window.innerWidth"))
		wrong.push("wider than the screen");
	ok(!wrong.length && !trouble.length, name, [...wrong, ...trouble]);
	await context.close();
}
await browser.close();
