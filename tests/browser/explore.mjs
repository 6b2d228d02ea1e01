/* SPDX-License-Identifier: Apache-2.0 */
/*
 * explore.mjs MODULES CHROMIUM DIR: choosing time and labels on the pages in DIR, and what is
 * added up then, against what prof-merge and prof-render say of the same part.
 */
import { readFileSync } from "node:fs";
import { drag, is, knowsAll, launch, ok, open, settle, until } from "./harness.mjs";

const [, , modules, chromium, dir] = process.argv;
const browser = await launch(modules, chromium);
const text = (name) => readFileSync(`${dir}/${name}`, "utf8");

/* Functions and total of a document of -f json. */
function fromJson(name, type = "cpu") {
	const t = JSON.parse(text(`${name}.json`)).types.find((v) => v.type === type);

	return { total: t.total, rows: t.functions.map((f) => [f.name, f.flat, f.cum]).sort() };
}

async function fromPage(ask) {
	return { total: (await ask("totals()"))[0], rows: (await ask("rows()")).map((r) => [r.name, r.self[0], r.total[0]]).sort() };
}

async function clickBin(page, ask, bin) {
	const bins = await ask("bins()"), at = await page.locator("#time").boundingBox();

	await page.mouse.click(at.x + (bins[bin][0] + bins[bin][1]) / 2, at.y + 40);
	await settle(page);
}

/* --- time and labels ------------------------------------------------------------------------ */
{
	const { context, page, trouble, ask } = await open(browser, `${dir}/stream.html`);

	is((await ask("bins()")).length, 40, "a bin for each interval");
	await page.selectOption("#by", "comm");
	const api = (await ask("lines()")).find((l) => l.name === "api");
	is(api.sums, text("api.txt").trim().split("\n").map(Number), "a line: each interval’s sum by label");
	ok(api.rates.every((v, i) => Math.abs(v - api.sums[i] / 1e10) < 1e-9), "CPU as cores");
	await page.screenshot({ path: `${dir}/explore-1400-light.png` });

	await drag(page, ask, 10, 19);
	is(await ask("range()"), { since: "2025-12-01T00:01:40.12Z", until: "2025-12-01T00:03:20.12Z" }, "a range by dragging, as --since and --until have it");
	is(await fromPage(ask), fromJson("range"), "a range: functions and total as prof-merge and prof-render have them");
	ok((await page.locator("#facts").textContent()).includes(" over 100s"), "its length is said");
	await page.fill("#filter", 'pod=~"api-.*", pod!="api-1"');
	is(await fromPage(ask), fromJson("both"), "range and labels");
	await page.click("#all-time");
	await page.fill("#filter", "");
	await clickBin(page, ask, 12);
	is(await fromPage(ask), fromJson("one"), "a click chooses one interval");
	await page.goBack();
	await until(page, "window.profpipe.range() === null");
	ok(true, "the browser’s Back takes a choice back");
	await page.click("#lines button >> text=api");
	is(await page.inputValue("#filter"), 'comm="api"', "a click on a line’s name makes a filter of its label");
	is(await fromPage(ask), fromJson("label"), "labels alone");
	const chosen = page.url();
	await page.reload();
	await until(page, "!!window.profpipe");
	is([await page.inputValue("#filter"), await page.inputValue("#by"), await fromPage(ask)], ['comm="api"', "comm", fromJson("label")], "the address keeps filter and lines");
	ok(page.url() === chosen, "and does not change by itself");
	await page.fill("#filter", 'pod="<b>&\\"x"');
	is(await fromPage(ask), fromJson("hostile"), "a hostile value, quoted");
	await page.selectOption("#by", "pod");
	is(await page.locator("#lines .name").allTextContents(), ['<b>&"x'], "and shown as text");
	for (const [bad, why] of [["comm=", ""], ["pod=~\"(\"", "not a regular expression: ("], ["nope=\"a\"", "no label nope here"],
		["comm=\"x\"", "nothing has these labels"], ["a b", "not a condition: a b"]]) {
		await page.fill("#filter", bad);
		is(await page.locator("#filter-result").textContent(), why || "nothing has these labels", `what is wrong with ${bad}`);
	}
	is(await fromPage(ask), fromJson("hostile"), "and what was chosen before stays");
	await page.fill("#filter", "");
	await page.selectOption("#type", "0/0");
	is((await ask("totals()"))[0] * 1e7, (await ask("lines()")).reduce((sum, l) => sum + l.sums.reduce((x, y) => x + y, 0), 0) * 1e7, "another column, and its lines");
	is(trouble, [], "no message, violation, dialog or request");
	await context.close();
}

/* --- keys ----------------------------------------------------------------------------------- */
{
	const { context, page, trouble, ask } = await open(browser, `${dir}/stream.html`, { colorScheme: "dark" });

	await page.locator("#time").focus();
	for (let i = 0; i < 13; i++)
		await page.keyboard.press("ArrowRight");
	ok((await page.locator("#live").textContent()).startsWith("2025-12-01T00:02:00.12Z: all "), "arrows go from interval to interval, and say what is there");
	await page.keyboard.press("Enter");
	is(await fromPage(ask), fromJson("one"), "Enter chooses one");
	await page.keyboard.press("ArrowLeft");
	await page.keyboard.press("ArrowLeft");
	for (let i = 0; i < 9; i++)
		await page.keyboard.press("Shift+ArrowRight");
	is(await fromPage(ask), fromJson("range"), "Shift and arrows choose a range");
	await page.keyboard.press("Escape");
	is(await ask("range()"), null, "Escape: all time");
	await page.keyboard.press("Home");
	await page.keyboard.press("Shift+End");
	is((await ask("range()")).since, "2025-12-01T00:00:00.12Z", "Home and End");

	/* comparing */
	await page.keyboard.press("Escape");
	await drag(page, ask, 10, 19);
	await page.click("#compare");
	await clickBin(page, ask, 12);
	const range = fromJson("range"), one = fromJson("one");
	is((await ask("totals()")).map(Math.round), [Math.round(range.total / 10), one.total], "a comparison: the old side scaled to the new one’s time");
	await page.click("#scaled");
	is(await ask("totals()"), [range.total, one.total], "or as it is");
	const rows = new Map((await ask("rows()")).map((r) => [r.name, r]));
	is([...new Set([...range.rows, ...one.rows].map((r) => r[0]))].sort().map((n) => [n, ...rows.get(n).total]),
		[...new Set([...range.rows, ...one.rows].map((r) => r[0]))].sort().map((n) => [n, ...[range, one].map((s) => (s.rows.find((r) => r[0] === n) || [n, 0, 0])[2])]),
		"both sides of each function");
	await page.screenshot({ path: `${dir}/explore-1400-compare.png` });
	await page.click("#swap");
	is(await ask("totals()"), [one.total, range.total], "sides swapped");
	await page.reload();
	await until(page, "!!window.profpipe");
	is(await ask("totals()"), [one.total, range.total], "the address keeps a comparison");
	await page.click("#compare");
	is(await ask("totals()"), [range.total], "and an end to it");
	is(trouble, [], "keys: no message, violation, dialog or request");
	await context.close();
}

/* --- touch, narrow ---------------------------------------------------------------------------- */
{
	const { context, page, trouble, ask } = await open(browser, `${dir}/stream.html`,
		{ viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true, deviceScaleFactor: 2 });

	await page.selectOption("#by", "pod");
	const bins = await ask("bins()"), at = await page.locator("#time").boundingBox();
	const touch = knowsAll(browser) ? page.touchscreen.tap.bind(page.touchscreen) : page.mouse.click.bind(page.mouse);
	await touch(at.x + (bins[12][0] + bins[12][1]) / 2, at.y + 40);
	await settle(page);
	is(await fromPage(ask), fromJson("one"), "a tap chooses one interval");
	ok(await page.evaluate("document.documentElement.scrollWidth <= 390"), "nothing is wider than a narrow screen");
	await page.screenshot({ path: `${dir}/explore-390.png` });
	is(trouble, [], "touch: no message, violation, dialog or request");
	await context.close();
}

/* --- many intervals, other labels, levels, no time, stack filters ------------------------------- */
{
	const { context, page, trouble, ask } = await open(browser, `${dir}/many.html`);
	const bins = await ask("bins()");

	ok(bins.length <= 240, `six hundred intervals of two machines in ${bins.length} bins`);
	ok((await page.locator("#legend").textContent()).includes("time in steps of "), "what was folded is said");
	const step = 3000 / bins.length;
	await drag(page, ask, Math.round(600 / step), Math.round(1200 / step) - 1);
	is(await ask("range()"), { since: "2025-12-01T00:10:00Z", until: "2025-12-01T00:20:00Z" }, "windows since the epoch");
	is(await fromPage(ask), fromJson("many"), "and what is in them");
	await page.screenshot({ path: `${dir}/explore-1400-many.png` });
	is(trouble, [], "many: no message, violation, dialog or request");
	await context.close();
}
for (const name of ["pids", "gauge", "timeless", "filtered"]) {
	const { context, page, trouble, ask } = await open(browser, `${dir}/${name}.html`);
	const keys = await page.locator("#by option").allTextContents();

	if (name === "pids") {
		is(keys, ["nothing", "pid"], "--by: the labels asked for, however many values they have");
	} else if (name === "gauge") {
		is(keys, ["nothing", "comm", "node", "pod"], "without it, those that have few values");
		ok((await page.locator("#facts").textContent()).includes("mean of 80 profiles"), "levels are averaged over all");
		const mean = (await ask("totals()"))[0], [line] = await ask("lines()");
		ok(Math.abs(mean - line.sums.reduce((a, b) => a + b, 0) / 80) < 1e-3 && line.rates.every((v, i) => v === line.sums[i] / 2), "and each interval’s is its own");
		const rows = readFileSync(`${dir}/gauge.csv`, "utf8").trim().split("\n").map((row) => row.split(","));
		await page.selectOption("#by", "node");
		is(Object.fromEntries((await ask("lines()")).map((l) => [l.name, l.rates])),
			Object.fromEntries(["n1", "n2"].map((n) => [n, rows.filter((row) => row[3] === `"${n}"`).map((row) => Number(row.at(-1)))])),
			"a machine’s is the mean of its own profiles: as -f timeline has it");
		await page.fill("#filter", "node=n2");
		ok(Math.abs((await ask("totals()"))[0] - mean) < 1e-3, "in the table too");
	} else if (name === "timeless") {
		is(await fromPage(ask), fromJson("timeless"), "profiles without a time are part of all");
		is((await ask("bins()")).length, 27, "and have no place on the line");
	} else {
		await drag(page, ask, 10, 19);
		is(await fromPage(ask), fromJson("filtered"), "stack filters: what they leave, of all there was");
	}
	is(trouble, [], `${name}: no message, violation, dialog or request`);
	await context.close();
}
await browser.close();
