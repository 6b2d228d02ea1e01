/* SPDX-License-Identifier: Apache-2.0 */
/*
 * worker.mjs MODULES BROWSER DIR: large data are decoded by a worker, and by the page where there
 * can be none. DIR has large.html with the functions of large.json, part.json of its second
 * profile, refused.html whose policy knows no workers, cut.html with data that end too soon.
 */
import { readFileSync } from "node:fs";
import { drag, is, launch, ok, open, settle, until } from "./harness.mjs";

const [, , modules, executable, dir] = process.argv;
const browser = await launch(modules, executable);
const json = (name) => JSON.parse(readFileSync(`${dir}/${name}.json`, "utf8")).types[0];
const whole = json("large"), part = json("part"), byName = (a, b) => (a.name < b.name ? -1 : 1);

/* Before the page's own script. */
const WAYS = {
	worker: () => {
		const { Worker } = window;
		window.Worker = function (url) {
			window.workers = (window.workers || 0) + 1;
			return new Worker(url);
		};
	},
	refused: () => {},
	thrown: () => {
		window.Worker = function () {
			throw new Error("no workers from files");
		};
	},
	missing: () => {
		delete window.Worker;
	},
};

const seen = {};
for (const [way, prepare] of Object.entries(WAYS)) {
	const { context, page, trouble, ask } = await open(browser, `${dir}/${way === "refused" ? "refused" : "large"}.html`, {}, prepare);

	const rows = (await ask("rows()")).sort(byName);
	if (way === "worker") {
		is(await page.evaluate(() => window.workers), 1, "a worker decodes");
		is([rows.length, rows.map((r) => [r.name, r.self[0], r.total[0]])],
			[whole.functions.length, whole.functions.map((f) => [f.name, f.flat, f.cum]).sort((a, b) => (a[0] < b[0] ? -1 : 1))],
			"all functions, with the values of -f json");
	}
	await drag(page, ask, 1, 1);
	is(await ask("root()"), [part.total], `${way}: a part of the time`);
	seen[way] = [rows, await ask("nodes()"), await ask("lines()"), await ask("drawn()")];
	await page.locator("#tab-lines").click();
	await settle(page);
	seen[way].push(await page.locator("#lines").textContent());
	/* that it was refused is said by the browser, not by the page */
	is(trouble.filter((t) => way !== "refused" || !/worker/iu.test(t)), [], `${way}: no message, no request`);
	await context.close();
}
for (const way of ["refused", "thrown", "missing"])
	ok(JSON.stringify(seen[way]) === JSON.stringify(seen.worker), `${way}: the page decodes by itself, and shows the same`);

/* what is wrong with the data is told as ever */
{
	const context = await browser.newContext(), page = await context.newPage(), errors = [];
	page.on("pageerror", (e) => errors.push(e.message));
	await page.goto(`file://${dir}/cut.html`);
	await until(page, "document.getElementById('message').textContent.startsWith('The call tree cannot')");
	ok((await page.locator("#message").textContent()).includes("the data ends too soon") && await page.locator("#plain table").isVisible(),
		"data cut short: the worker's reason is the page's", await page.locator("#message").textContent());
	is(errors, ["the data ends too soon"], "and the only message");
	await context.close();
}
await browser.close();
