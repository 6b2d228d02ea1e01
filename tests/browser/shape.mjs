/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shape.mjs MODULES CHROMIUM DIR: the tree in other shapes, against prof-render's options for
 * the same, and against folded stacks.
 */
import { readFileSync } from "node:fs";
import { is, knowsAll, launch, ok, open, settle, until } from "./harness.mjs";

const [, , modules, chromium, dir] = process.argv;
const browser = await launch(modules, chromium);
const byName = (a, b) => (a[0] < b[0] ? -1 : 1);

function fromJson(name) {
	const t = JSON.parse(readFileSync(`${dir}/${name}.json`, "utf8")).types[0];

	return { total: t.total, rows: t.functions.map((f) => [f.name, f.flat, f.cum]).filter((r) => r[1] || r[2]).sort(byName) };
}

async function fromPage(ask) {
	return { total: (await ask("totals()"))[0], rows: (await ask("rows()")).map((r) => [r.name, r.self[0], r.total[0]]).sort(byName) };
}

const stacks = readFileSync(`${dir}/stream.folded`, "utf8").trim().split("\n").map((line) => {
	const at = line.lastIndexOf(" ");
	return { frames: line.slice(0, at).split(";"), value: Number(line.slice(at + 1)) };
});

/* What stands before or after the outermost `name`, with the sum of its stacks. */
function beside(name, step) {
	const sums = new Map();

	for (const { frames, value } of stacks) {
		const at = frames.indexOf(name), next = frames[at + step];
		if (at >= 0 && next !== undefined)
			sums.set(next, (sums.get(next) || 0) + value);
	}
	return [...sums].sort(byName);
}

async function rightClick(page, ask, name) {
	const place = await page.locator("#marks").boundingBox();

	for (const d of await ask("drawn()"))
		for (const b of d.boxes)
			if (b.name === name && b.nodes === 1) {
				await page.mouse.click(place.x + b.x + b.width / 2, place.y + d.y + 8, { button: "right" });
				return;
			}
	throw new Error(`no box of ${name}`);
}

const choose = (page, item) => page.click(`#menu button >> text="${item}"`);

/* --- by pointer ------------------------------------------------------------------------------ */
{
	const { context, page, trouble, ask } = await open(browser, `${dir}/stream.html`);
	const plain = await fromPage(ask);

	await page.selectOption("#group", "pod");
	is(await fromPage(ask), fromJson("group"), "below label values: as --root-by has it");
	is((await ask("callees()")).map((c) => c[0]).sort(), ['<b>&"x', "api-0", "api-1"], "and they are the first level");
	await page.screenshot({ path: `${dir}/shape-1400-group.png` });
	await page.selectOption("#group", "");
	for (const level of ["files", "binaries"]) {
		await page.selectOption("#level", level);
		is(await fromPage(ask), fromJson(level), `${level}: as --granularity has it`);
	}
	await page.selectOption("#level", "functions");
	is(await fromPage(ask), plain, "and back");

	await rightClick(page, ask, "read");
	is(await page.locator("#menu .name").textContent(), "read", "a right click opens a menu");
	await choose(page, "Hide it");
	is(await fromPage(ask), fromJson("hide"), "hidden: as --hide has it");
	ok((await page.locator("#facts").textContent()).startsWith("cpu "), "with the total as it was");
	await page.click("#chips button");
	is(await fromPage(ask), plain, "a click on what is hidden brings it back");
	await rightClick(page, ask, "read");
	await choose(page, "Only stacks through it");
	is(await fromPage(ask), fromJson("focus"), "only through: as --focus has it");
	ok(/shown .* \(\d+\.\d\d%\)/.test(await page.locator("#facts").textContent()), "and what part that is");
	await page.goBack();
	await until(page, "document.querySelectorAll('#chips button').length === 0");
	is(await fromPage(ask), plain, "the browser’s Back takes it away");
	await rightClick(page, ask, "read");
	await choose(page, "Without stacks through it");
	await rightClick(page, ask, "sort");
	await choose(page, "Hide it");
	is(await fromPage(ask), fromJson("ignore"), "two at once: as --ignore and --hide have it");
	await page.reload();
	await until(page, "!!window.profpipe");
	is(await fromPage(ask), fromJson("ignore"), "the address keeps them");
	is(await page.locator("#chips button").allTextContents(), ["not through read ×", "without sort ×"], "and they are shown");
	await page.click("#chips button >> nth=0");
	await page.click("#chips button >> nth=0");
	is(await page.locator("#hide option").allTextContents(), ["Hide…", "C library"], "presets that have something to hide");
	await page.selectOption("#hide", { label: "C library" });
	ok(!(await ask("rows()")).some((r) => r.name === "write") && (await ask("root()"))[0] === plain.total, "a preset: its functions are gone, its value is not");
	await page.click("#chips button");

	/* colours, and the legend */
	await page.selectOption("#colour", "binary");
	is(await page.locator("#legend .group").allTextContents(), ["app", "libc.so.6"], "the legend: binaries, those with most first");
	const share = (plain.rows.find((r) => r[0] === "write")[1] / plain.total * 100).toFixed(2);
	is(await page.locator("#legend .share >> nth=1").textContent(), `${share}%`, "and how much each has");
	await page.click("#legend .group >> text=libc.so.6");
	await choose(page, "Hide it");
	ok(!(await ask("rows()")).some((r) => r.name === "write") && (await ask("root()"))[0] === plain.total, "a click on one hides it");
	await page.reload();
	await until(page, "!!window.profpipe");
	is([await page.inputValue("#colour"), await page.locator("#legend .group").allTextContents()], ["binary", ["app"]], "the address keeps colours");
	await page.click("#chips button");
	await page.selectOption("#colour", "file");
	await page.click("#legend .group >> text=src/all.c");
	await choose(page, "Only stacks through it");
	is((await ask("root()"))[0], stacks.filter((s) => s.frames.some((f) => f === "parse" || f === "sort")).reduce((sum, s) => sum + s.value, 0), "only through a file");
	await page.click("#chips button");
	await page.selectOption("#colour", "kind");
	is(await page.locator("#legend .group").allTextContents(), ["native code"], "kinds");
	await page.selectOption("#colour", "package");

	/* the other way round, and around one function */
	await page.selectOption("#tree", "inverted");
	is((await ask("callees()")).sort(byName), plain.rows.filter((r) => r[1]).map((r) => [r[0], r[1]]), "callers below: the first level has each function’s flat value");
	is(await fromPage(ask), plain, "and the table is the same");
	await page.selectOption("#tree", "callees");
	await rightClick(page, ask, "read");
	await choose(page, "Callers of it");
	is(await ask("callees()"), [["read", plain.rows.find((r) => r[0] === "read")[2]]], "callers of one: it comes first, with its total");
	await page.locator("#marks").focus();
	await page.keyboard.press("Escape");
	await page.keyboard.press("ArrowDown");
	await page.keyboard.press("Enter");
	is(await ask("zoomed()"), "read", "and can be zoomed to");
	is((await ask("callees()")).sort(byName), beside("read", -1), "below it who calls it, each stack once");
	await page.screenshot({ path: `${dir}/shape-1400-callers.png` });
	await page.selectOption("#tree", "of");
	is(await ask("zoomed()"), "read", "the zoom stays where it is the same");
	is((await ask("callees()")).sort(byName), beside("read", 1), "or what it calls");
	await page.selectOption("#tree", "around");
	await page.keyboard.press("Escape");
	await settle(page);
	const picture = await ask("drawn()"), at = picture.findIndex((d) => !d.above), sizes = Object.fromEntries(plain.rows.map((r) => [r[0], r[2]]));
	is(picture[at].boxes.map((b) => b.name), ["read"], "around one: it has one line");
	ok(picture.every((d, i) => !i || d.y > picture[i - 1].y), "lines come from top to bottom");
	ok(picture.slice(0, at).every((d) => d.above) && picture.slice(at).every((d) => !d.above), "callers above it, callees below");
	is(picture[at - 1].boxes.map((b) => b.name).sort(), beside("read", -1).map((r) => r[0]), "those that call it");
	is((picture[at + 1] || { boxes: [] }).boxes.map((b) => b.name).sort(), beside("read", 1).map((r) => r[0]), "those that it calls");
	const wide = picture[at].boxes[0].width;
	ok(picture[at - 1].boxes.every((b) => Math.abs(b.width / wide - beside("read", -1).find((r) => r[0] === b.name)[1] / sizes.read) < 2 / wide), "each as wide as what passes through both");
	is((await ask("root()"))[0], sizes.read, "the whole is worth what it is");
	is(await fromPage(ask), plain, "and the table is that of all");
	await page.screenshot({ path: `${dir}/shape-1400-around.png` });
	await page.locator("#marks").focus();
	await page.keyboard.press("ArrowUp");
	is(await ask("focused()"), "read", "the first arrow leads to the function");
	await page.keyboard.press("ArrowUp");
	const caller = await ask("focused()");
	ok(beside("read", -1).some((r) => r[0] === caller), "up to a caller");
	await page.keyboard.press("Enter");
	is(await ask("zoomed()"), caller, "which can be zoomed to");
	await settle(page);
	is((await ask("drawn()")).find((d) => !d.above).boxes[0].width, wide, "while the other part is there as a whole");
	await page.keyboard.press("ArrowDown");
	is(await ask("focused()"), "read", "and down again");
	await page.reload();
	await until(page, "!!window.profpipe");
	is([await page.inputValue("#tree"), await ask("zoomed()")], ["around", caller], "the address keeps it");
	await page.click("#chips button");
	is(trouble, [], "shapes: no message, violation, dialog or request");
	await context.close();
}

/* --- labels ----------------------------------------------------------------------------------- */
{
	const { context, page, trouble, ask } = await open(browser, `${dir}/stream.html`);
	/* "key: Total N of …" and "N (share): value" lines, numbers in ns */
	const want = readFileSync(`${dir}/labels.tags`, "utf8").split("\n").flatMap((line) => {
		const m = /^(.*): Total (\d+)ns of/.exec(line) || /^ *(\d+)ns \(.*?\): (.*)$/.exec(line);
		return !m ? [] : m[0].includes(": Total ") ? [[m[1], Number(m[2])]] : [[m[2], Number(m[1])]];
	});

	await page.locator("#tab-functions").focus();
	await page.keyboard.press("ArrowRight");
	ok(await page.locator("#tags").isVisible() && await page.locator("#table").isHidden(), "labels in place of functions, by key");
	await rightClick(page, ask, "read");
	await choose(page, "Only stacks through it");
	const bins = await ask("bins()"), at = await page.locator("#time").boundingBox();
	await page.mouse.move(at.x + bins[10][0] + 3, at.y + 40);
	await page.mouse.down();
	await page.mouse.move(at.x + bins[19][0] + 3, at.y + 40, { steps: 4 });
	await page.mouse.up();
	await settle(page);
	const seconds = (text) => (text.endsWith("ms") ? Number(text.slice(0, -2)) / 1000 : Number(text.slice(0, -1)));
	const rows = await page.locator("#tags .tag").evaluateAll((v) => v.map((r) => [r.querySelector(".name").textContent, r.querySelector(".cell").textContent]));
	ok(want.length === 7 && rows.length === 7 && rows.every((r, i) => r[0] === want[i][0] && Math.abs(seconds(r[1]) - want[i][1] / 1e9) < 0.006),
		"values of labels in a part of the time and of stacks: as -f tags has them");
	await page.screenshot({ path: `${dir}/shape-1400-labels.png` });
	await page.click("#tags button >> text=api-1");
	is(await page.inputValue("#filter"), 'pod="api-1"', "a click on a value chooses it");
	await page.click("#all-time");
	await page.click("#compare");
	await page.fill("#filter", 'pod="api-0"');
	is(await page.locator("#tags .tag >> nth=0").locator(".cell").count(), 3, "of a comparison: old, new, delta");
	await page.click("#tab-functions");
	ok(await page.locator("#table").isVisible() && await page.locator("#table-rows .row").count() > 3, "and functions again");
	is(trouble, [], "labels: no message, violation, dialog or request");
	await context.close();
}

/* --- by keys ----------------------------------------------------------------------------------- */
{
	const { context, page, trouble, ask } = await open(browser, `${dir}/stream.html`, { colorScheme: "dark" });
	const yOfAll = async () => (await ask("drawn()")).find((d) => d.boxes[0].name === "all").y;

	await page.locator("#marks").focus();
	await page.keyboard.press("f");
	await settle(page);
	ok(await yOfAll() > 200, "f: roots at the bottom");
	await page.keyboard.press("ArrowDown");
	await page.keyboard.press("ArrowUp");
	is(await ask("focused()"), "main", "where up is to the callee");
	await page.screenshot({ path: `${dir}/shape-1400-flame.png` });
	await page.keyboard.press("f");
	await settle(page);
	is(await yOfAll(), 0, "f again: on top");
	await page.keyboard.press("i");
	is(await page.inputValue("#tree"), "inverted", "i: callers below");
	await page.keyboard.press("i");
	await page.keyboard.press("ArrowDown");
	await page.keyboard.press("ArrowDown");
	await page.keyboard.press("m");
	is(await page.evaluate("document.activeElement.textContent"), "Zoom to its widest box", "m: the menu, with the focus in it");
	await page.keyboard.press("ArrowDown");
	is(await page.evaluate("document.activeElement.textContent"), "Callers and callees of it", "arrows go through it");
	await page.keyboard.press("Escape");
	ok(await page.locator("#menu").isHidden() && await page.evaluate("document.activeElement.id") === "marks", "Escape closes it, and the focus is back");
	await page.keyboard.press("m");
	await page.keyboard.press("ArrowUp");
	await page.keyboard.press("Enter");
	await until(page, "document.getElementById('told').textContent === 'Copied the stack.'");
	await page.locator("#search").focus();
	await page.keyboard.press("Control+v");
	is(await page.inputValue("#search"), "main", "copied: the stack of the box");
	await page.keyboard.press("Escape");
	for (const way of ["around", "callers", "of", "around"]) {
		await page.keyboard.press("s");
		is(await page.inputValue("#tree"), way, `s: the tree ${way} of the chosen function`);
	}
	await page.selectOption("#tree", "callees");

	/* next match, widest first */
	await page.keyboard.press("/");
	await page.fill("#search", "h");
	await page.locator("#marks").focus();
	await page.keyboard.press("n");
	const first = await ask("focused()");
	ok(first.includes("h") && / · 1 of \d+$/.test(await page.locator("#search-result").textContent()), "n: the first match, and how many there are");
	await page.keyboard.press("n");
	ok(/ · 2 of \d+$/.test(await page.locator("#search-result").textContent()), "n again: the next");
	await page.keyboard.press("N");
	await page.keyboard.press("N");
	const [, at, of] = / · (\d+) of (\d+)$/.exec(await page.locator("#search-result").textContent());
	is(at, of, "N: back, and around");
	is(trouble, [], "keys: no message, violation, dialog or request");
	await context.close();
}

/* --- narrow, touch ------------------------------------------------------------------------------ */
if (knowsAll(browser)) {
	const { context, page, trouble, ask } = await open(browser, `${dir}/stream.html`,
		{ viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true, deviceScaleFactor: 2 });

	const place = await page.locator("#marks").boundingBox();
	await page.touchscreen.tap(place.x + 30, place.y + 28);
	await page.tap("#act");
	ok(await page.locator("#menu").isVisible(), "the menu, by a tap on a box and one on the button");
	const menu = await page.locator("#menu").boundingBox();
	ok(menu.x >= 0 && menu.x + menu.width <= 390, "within the screen");
	await page.screenshot({ path: `${dir}/shape-390-menu.png` });
	await page.tap('#menu button >> text="Callees of it"');
	is(await page.inputValue("#tree"), "of", "and what it does");
	ok(await page.evaluate("document.documentElement.scrollWidth <= 390"), "nothing is wider than the screen");
	is((await ask("callees()")).length >= 1, true, "there is a tree");
	is(trouble, [], "touch: no message, violation, dialog or request");
	await context.close();
}

/* --- hostile names, a difference ------------------------------------------------------------------ */
{
	const { context, page, trouble, ask } = await open(browser, `${dir}/stream.html#f=hide%3D(%0Anope%3Dx%0Ahide%3D%5Eread%24&way=callers&level=x&group=nope&z=0.1`);

	is([await page.inputValue("#tree"), await page.inputValue("#level"), await page.locator("#chips button").allTextContents()],
		["callees", "functions", ["without read ×"]], "an address that is wrong in parts: the rest counts");
	await page.selectOption("#by", "comm");
	await page.click("#lines button >> nth=0");
	await page.click("#compare");
	await page.click("#lines button >> nth=0");
	await page.fill("#filter", "");
	await page.selectOption("#group", "pod");
	is((await ask("callees()")).map((c) => [c[0], c.length]).sort(byName), [['<b>&"x', 3], ["api-0", 3], ["api-1", 3]], "a comparison below label values: both sides");
	const sums = (await ask("callees()")).reduce((sum, c) => [sum[0] + c[1], sum[1] + c[2]], [0, 0]);
	is(sums, await ask("root()"), "which add up");
	is(trouble, [], "comparison: no message, violation, dialog or request");
	await context.close();
}
await browser.close();
