/* SPDX-License-Identifier: Apache-2.0 */
/* Claims as lines "ok TEXT" or "not ok TEXT", which tests/cli/html.t numbers; and a browser. */
import { createRequire } from "node:module";
import { isDeepStrictEqual } from "node:util";

export function ok(holds, what, why) {
	console.log(`${holds ? "ok" : "not ok"} ${what}`);
	if (!holds && why !== undefined)
		console.log(`# ${JSON.stringify(why)}`);
}

export function is(got, want, what) {
	ok(isDeepStrictEqual(got, want), what, { got, want });
}

const FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
	"--disable-background-networking", "--disable-component-update", "--disable-sync"];

/* modules: a directory with node_modules; browser: path of a Chromium, or of a Firefox. */
export async function launch(modules, browser, flags = []) {
	const { chromium, firefox } = createRequire(`${modules}/package.json`)("playwright-core");

	if (/firefox/u.test(browser))
		return firefox.launch({ channel: "moz-firefox", executablePath: browser });
	return chromium.launch({ executablePath: browser, args: [...FLAGS, ...flags] });
}

/*
 * Whether a browser can be told to do all that is asked of it. By WebDriver BiDi, as this version
 * of the tool speaks it, Firefox knows no touch, double click, paper or page without scripts.
 */
export const knowsAll = (browser) => browser.browserType().name() === "chromium";

/* Ask again until it holds. (The tool's own way to wait needs eval, which the page forbids.) */
export async function until(page, expression) {
	for (let round = 0; round < 3000; round++) {
		if (await page.evaluate(expression))
			return;
		await new Promise((r) => { setTimeout(r, 20); });
	}
	throw new Error(`never came true: ${expression}`);
}

/* Two frames later all is drawn. */
export const settle = (page) => page.evaluate(() => new Promise((r) => { requestAnimationFrame(() => requestAnimationFrame(r)); }));

/* All that must not be: console messages (a violation of the policy is one), exceptions, dialogs, requests. */
function troubleOf(page, file) {
	const trouble = [];

	page.on("console", (m) => trouble.push(`console: ${m.text()}`));
	page.on("pageerror", (e) => trouble.push(`exception: ${e.message}`));
	page.on("dialog", (d) => {
		trouble.push(`dialog: ${d.message()}`);
		d.dismiss();
	});
	page.on("request", (r) => {
		/* the worker's program is the page's own script */
		if (r.url().split("#")[0] !== `file://${file.split("#")[0]}` && !r.url().startsWith("blob:"))
			trouble.push(`request: ${r.url().slice(0, 100)}`);
	});
	return trouble;
}

/* A picture, which has no probe. */
export async function openPicture(browser, file, options = {}) {
	const context = await browser.newContext({ viewport: { width: 1240, height: 700 }, ...options });
	const page = await context.newPage(), trouble = troubleOf(page, file);

	await page.goto(`file://${file}`);
	return { context, page, trouble };
}

/* Open a page and wait for its probe; prepare: what to run in it before its own script. */
export async function open(browser, file, options = {}, prepare = null) {
	const context = await browser.newContext({ viewport: { width: 1400, height: 900 }, ...options });
	const page = await context.newPage(), trouble = troubleOf(page, file);

	if (!knowsAll(browser)) {
		/* before it takes a picture the tool adds a style of its own, which the page refuses */
		const take = page.screenshot.bind(page);

		page.screenshot = async (how) => {
			const before = trouble.length;

			await take(how);
			await settle(page);
			trouble.push(...trouble.splice(before).filter((t) => !t.includes("(style-src-elem)")));
		};
	}
	if (prepare)
		await page.addInitScript(prepare);
	await page.goto(`file://${file}`);
	await until(page, "!!window.profpipe");
	const ask = async (what) => {
		if (what === "drawn()")
			await settle(page);
		return page.evaluate(`window.profpipe.${what}`);
	};
	return { context, page, trouble, ask };
}

/* Choose the time from one bin of the timeline to another; ask: the page's own figures. */
export async function drag(page, ask, from, to) {
	const bins = await ask("bins()"), at = await page.locator("#time").boundingBox(), middle = (b) => at.x + (b[0] + b[1]) / 2;

	await page.mouse.move(middle(bins[from]), at.y + 40);
	await page.mouse.down();
	await page.mouse.move(middle(bins[to]), at.y + 50, { steps: 5 });
	await page.mouse.up();
	await settle(page);
}
