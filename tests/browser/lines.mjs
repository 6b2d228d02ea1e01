/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lines.mjs MODULES CHROMIUM DIR: the pages in DIR line by line, against what -f lines and
 * --granularity=lines say of the same input.
 */
import { readFileSync } from "node:fs";
import { drag, is, launch, ok, open, settle, until } from "./harness.mjs";

const [, , modules, chromium, dir] = process.argv;
const browser = await launch(modules, chromium);

function fromJson(name) {
	const t = JSON.parse(readFileSync(`${dir}/${name}.json`, "utf8")).types.find((v) => v.type === "cpu");

	return { total: t.total, rows: t.functions.map((f) => [f.name, f.flat, f.cum]).sort() };
}

async function fromPage(ask) {
	return { total: (await ask("totals()"))[0], rows: (await ask("rows()")).map((r) => [r.name, r.self[0], r.total[0]]).sort() };
}

/* Of each function of -f lines: its file, and rows of flat, cum, number and text. */
function fromLines(name) {
	const found = new Map();
	let rows;

	for (const line of readFileSync(`${dir}/${name}.lines`, "utf8").split("\n")) {
		const heading = /^(?! )(\S+)(?: in (\S+?))?(?: \(no source\))?$/.exec(line), row = /^ +(\S+) +(\S+) +(\d+|\?)(?: {2}(.*))?$/.exec(line);
		if (heading) {
			rows = [];
			found.set(heading[1], rows);
		} else if (row) {
			rows.push([row[1], row[2], row[3], row[4] || ""]);
		} else if (line.trim() === "...") {
			rows.push(["⋯"]);
		}
	}
	return found;
}

const pick = (page, name) => page.locator("#table-rows .row").filter({ has: page.locator(`.cell.name[title="${name}"]`) }).click();

/* The same of the panel: "." for what has no value, as -f lines writes it. */
const panel = (page) => page.locator("#source .line:not(.head)").evaluateAll((lines) => lines.map((line) => {
	const cells = [...line.querySelectorAll(".cell")].map((c) => c.textContent), code = line.querySelector("code");
	return code ? [cells[0] || ".", cells[1] || ".", cells[2], code.textContent] : ["⋯"];
}));

/* --- source text ------------------------------------------------------------------------------ */
{
	const { context, page, trouble, ask } = await open(browser, `${dir}/source.html`), want = fromLines("source");

	await page.click("#tab-lines");
	ok((await page.locator("#source").textContent()).startsWith("Choose a function"), "lines of no function yet");
	for (const name of ["main", "parse", "climb", "bare"]) {
		await page.click("#tab-functions");
		await pick(page, name);
		await page.click("#tab-lines");
		is(await panel(page), want.get(name), `lines of ${name} with their source, as -f lines has them`);
	}
	is((await panel(page)).length, 1, "one that has no file");
	ok(!readFileSync(`${dir}/source.html`, "utf8").includes("ends here"), "source text stands in the data alone");
	await page.click("#tab-functions");
	await pick(page, "main");
	await page.keyboard.press("l");
	ok((await page.locator("#source").textContent()).includes("main <b>ends here</b> &"), "l: the lines; hostile text is text");
	is(await page.locator("#source b").count(), 0, "and no element");
	ok((await page.locator("#source .heading").textContent()).startsWith("main in /build/app/src/main.c · flat 1s, 1.59%"), "function, file and what is spent in it");
	await page.screenshot({ path: `${dir}/lines-1400-light.png` });
	await page.keyboard.press("l");
	ok(await page.locator("#table").isVisible(), "l again: the functions");
	await page.locator("#act").click();
	await page.click('#menu button >> text="Its lines"');
	ok(await page.locator("#source").isVisible(), "or by the menu");
	await page.locator("#tab-lines").focus();
	await page.keyboard.press("ArrowRight");
	await page.keyboard.press("ArrowLeft");
	ok(await page.locator("#source").isVisible(), "and by arrows");

	/* the tree by lines */
	await page.selectOption("#level", "lines");
	is(await fromPage(ask), fromJson("source"), "the level of lines: as --granularity=lines has it");
	await page.reload();
	await until(page, "!!window.profpipe");
	is([await page.inputValue("#level"), await page.locator("#source").isVisible()], ["lines", true], "which the address keeps, and what is beside");
	await page.click("#tab-functions");
	await pick(page, "parse /build/app/src/parse.c:2");
	await page.click("#tab-lines");
	is(await panel(page), want.get("parse"), "a line’s function, and all its lines");
	await page.click("#act");
	await page.click('#menu button >> text="Hide its function"');
	await page.selectOption("#level", "functions");
	is((await ask("rows()")).map((r) => r.name).sort(), ["bare", "climb", "main"], "hidden is the function, at every level");
	await page.click("#chips button");
	await page.click("#tab-functions");
	await pick(page, "main");
	await page.click("#act");
	await page.click('#menu button >> text="Callees of it"');
	await page.click("#tab-lines");
	await page.selectOption("#level", "lines");
	is([await page.inputValue("#tree"), await panel(page)], ["callees", want.get("main")], "the chosen function is the same at another level, what the tree was around is not there");
	await page.click("#tab-functions");
	is(await page.locator("#table-rows .picked .name").getAttribute("title"), "main /build/app/src/main.c:20", "by its largest line");
	is(trouble, [], "lines: no message, violation, dialog or request");
	await context.close();
}

/* --- time, labels and filters ------------------------------------------------------------------- */
{
	const { context, page, trouble, ask } = await open(browser, `${dir}/stream.html`), want = fromLines("stream");

	await drag(page, ask, 10, 19);
	await pick(page, "read");
	await page.click("#tab-lines");
	is(await panel(page), want.get("read"), "lines in a part of the time");
	ok((await page.locator("#source").textContent()).includes("--source DIR"), "without source text it is said how to have it");
	await page.selectOption("#level", "lines");
	is(await fromPage(ask), fromJson("stream"), "and the tree by lines, too");
	await page.fill("#filter", 'comm="db"');
	is(await fromPage(ask), fromJson("label"), "of one label’s samples");
	await page.fill("#filter", "");
	await page.goto(`file://${dir}/stream.html#f=focus%3D%5Eread%24&level=lines`);
	await page.reload();
	await until(page, "!!window.profpipe");
	is((await fromPage(ask)).rows, fromJson("focus").rows, "filters are about functions, whatever the level");
	await page.selectOption("#tree", "inverted");
	ok((await ask("callees()")).every((c) => / src\/\S+:\d+$/.test(c[0])), "callers of lines");
	await page.selectOption("#tree", "callees");
	await page.selectOption("#group", "comm");
	is((await ask("callees()")).map((c) => c[0]).sort(), ["api", "db"], "lines below label values");

	/* two sides */
	await page.goto(`file://${dir}/stream.html`);
	await until(page, "!!window.profpipe");
	await page.fill("#filter", 'comm="db"');
	await page.click("#compare");
	await page.fill("#filter", 'comm="api"');
	await pick(page, "read");
	await page.click("#tab-lines");
	is(await page.locator("#source .line.head").textContent(), "OldNewDeltaLine", "of a comparison: old, new, delta");
	await settle(page);
	await page.screenshot({ path: `${dir}/lines-1400-compare.png` });
	is(trouble, [], "lines in part: no message, violation, dialog or request");
	await context.close();
}

/* --- levels: what is asked for comes first, and the menu has the others --------------------------- */
const LEVELS = ["functions", "lines", "files", "binaries"];
for (const first of [...LEVELS, "addresses"]) {
	const { context, page, trouble, ask } = await open(browser, `${dir}/of-${first}.html`), isAddresses = first === "addresses";

	is(await page.inputValue("#level"), isAddresses ? "functions" : first, `--granularity=${first}: the page begins with them`);
	is(await fromPage(ask), fromJson(`of-${first}`), "and has the same numbers");
	is((await page.locator("#level option:not([disabled])").allTextContents()).map((t) => t.toLowerCase()),
		isAddresses ? ["addresses", "files", "binaries"] : LEVELS, "the menu has the other levels");
	for (const level of LEVELS.filter((l) => !isAddresses || l === "files" || l === "binaries")) {
		await page.selectOption("#level", level);
		is(await fromPage(ask), fromJson(`of-${level}`), `${level}, from ${first}`);
		await page.reload();
		await until(page, "!!window.profpipe");
		is(await page.inputValue("#level"), level, "kept by the address");
	}
	is(trouble, [], `${first} first: no message, violation, dialog or request`);
	await context.close();
}
{
	const { context, page, trouble, ask } = await open(browser, `${dir}/of-binaries.html`);

	await pick(page, "[libio.so]");
	await page.click("#act");
	await page.click('#menu button >> text="Hide it"');
	is(await fromPage(ask), fromJson("hidden"), "a binary is hidden as --hide hides it");
	is(trouble, [], "binaries: no message, violation, dialog or request");
	await context.close();
}
{
	/* faster than it can be drawn */
	const slow = "window.requestAnimationFrame = (f) => setTimeout(f, 5000); window.ResizeObserver = class { observe() {} }";
	const { context, page, trouble } = await open(browser, `${dir}/of-binaries.html`, {}, slow);
	const at = await page.locator("#marks").boundingBox();

	await page.mouse.move(at.x + 50, at.y + 5);
	await page.selectOption("#level", "lines");
	await page.mouse.move(at.x + 60, at.y + 25);
	await page.locator("#marks").press("ArrowDown");
	ok((await page.evaluate("location.hash")).includes("level=lines"), "what is chosen before a frame was drawn is in the address");
	is(trouble, [], "before a frame: no message, violation, dialog or request");
	await context.close();
}
{
	const { context, page } = await open(browser, `${dir}/none.html#level=lines`);

	is([await page.inputValue("#level"), await page.locator("#tab-lines").isHidden()], ["functions", true], "where no lines are known there is none of it");
	await context.close();
}
await browser.close();
