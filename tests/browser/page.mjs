/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page.mjs MODULES CHROMIUM DIR: the pages in DIR, opened from there by a browser, and what one
 * can do with them. DIR also has what other programs say about the same input.
 */
import { readFileSync } from "node:fs";
import { is, knowsAll, launch, ok, open, settle, until } from "./harness.mjs";

const [, , modules, chromium, dir] = process.argv;
const browser = await launch(modules, chromium);
const text = (name) => readFileSync(`${dir}/${name}`, "utf8");

/* Flat and total by function, from folded stacks: nothing of ours but the lines. */
function fromFolded(name) {
	const sums = new Map();

	for (const line of text(name).split("\n").filter((l) => l)) {
		const at = line.lastIndexOf(" "), value = Number(line.slice(at + 1));
		const stack = line.slice(0, at) === "[no frames]" ? [] : line.slice(0, at).split(";");
		const sum = (f) => sums.get(f) || sums.set(f, { name: f, self: [0], total: [0] }).get(f);
		for (const f of new Set(stack))
			sum(f).total[0] += value;
		if (stack.length)
			sum(stack.at(-1)).self[0] += value;
	}
	return sums;
}

const byName = (a, b) => (a.name < b.name ? -1 : 1);
const sorted = (rows) => [...rows].sort(byName);

/* Boxes of a row never overlap, and stay within the picture. */
function rowsAreSound(drawn, width) {
	return drawn.every((d) => d.boxes.every((b, i) => b.x >= 0 && b.x + b.width <= width + 1 &&
		(!i || b.x >= d.boxes[i - 1].x + d.boxes[i - 1].width - 1)));
}

async function clickBox(page, ask, name) {
	const drawn = await ask("drawn()"), place = await page.locator("#marks").boundingBox();

	for (const d of drawn)
		for (const b of d.boxes)
			if (b.name === name && b.nodes === 1) {
				await page.mouse.click(place.x + b.x + b.width / 2, place.y + d.y + 8);
				await settle(page);
				return true;
			}
	return false;
}

/* --- numbers ------------------------------------------------------------------------------ */
{
	const { context, page, trouble, ask } = await open(browser, `${dir}/large.html`);
	const rows = await ask("rows()"), want = fromFolded("large.folded");

	is(sorted(rows), sorted([...want.values()].filter((r) => r.self[0] || r.total[0])), "all functions, flat and total: as folded stacks give them");
	ok(rows.every((r, i) => !i || Math.abs(r.self[0]) <= Math.abs(rows[i - 1].self[0])), "sorted by flat, largest first");
	if (text("large.pprof")) {
		const lines = text("large.pprof").split("\n").map((l) => /^ *(\S+)ns +\S+% +\S+% +(\S+)ns +\S+% {2}(.*?)( \(.*\))?$/.exec(l.replace(/ 0 /g, " 0ns ")));
		const pprof = lines.filter((m) => m).map((m) => ({ name: m[3], self: [Number(m[1])], total: [Number(m[2])] }));
		is(sorted(rows), sorted(pprof), "all functions, flat and total: as go tool pprof -top gives them");
	}
	is(await ask("title()"), await page.title(), "the title");
	is(await ask("nodes()"), Number(text("large.nodes")), "as many nodes as there are starts of folded stacks");
	const drawn = await ask("drawn()"), width = (await page.locator("#marks").boundingBox()).width;
	ok(rowsAreSound(drawn, width), "boxes do not overlap");
	await page.screenshot({ path: `${dir}/shot-1400-light.png` });

	/* search: the share through what is found, against each folded stack */
	await page.keyboard.press("/");
	await page.keyboard.type("READ");
	let sum = 0;
	for (const line of text("large.folded").split("\n"))
		if (/read/i.test(line.slice(0, line.lastIndexOf(" "))))
			sum += Number(line.slice(line.lastIndexOf(" ") + 1));
	is((await ask("found()")).sum, [sum], "search: what passes through matches, each stack once");
	const share = `${(sum / (await ask("totals()"))[0] * 100).toFixed(2)}% of total`;
	ok((await page.locator("#search-result").textContent()).includes(share), `search says ${share}`);
	ok((await ask("rows()")).every((r) => /read/i.test(r.name)), "the table shows what is found");
	await page.click("#search-case");
	is((await ask("found()")).count, [...want.keys()].filter((n) => n.includes("READ")).length, "with case");
	await page.click("#search-regex");
	await page.fill("#search", "^[a-m].*1$");
	is((await ask("found()")).count, [...want.keys()].filter((n) => /^[a-m].*1$/.test(n)).length, "by pattern");
	await page.fill("#search", "(");
	ok(/error/.test(await page.locator("#search-result").getAttribute("class")), "a bad pattern is told");
	await page.keyboard.press("Escape");
	is((await ask("found()")).count, 0, "Escape ends the search");

	/* zoom and the ways back */
	const second = (await ask("drawn()"))[1].boxes[0].name, third = (await ask("drawn()"))[2].boxes[0].name;
	ok(await clickBox(page, ask, second), "a box to click");
	is(await ask("zoomed()"), second, "a click zooms");
	is((await ask("drawn()"))[1].boxes.map((b) => Math.round(b.width)), [Math.round(width)], "the box is as wide as the picture");
	ok((await page.locator("#path").textContent()).startsWith("all"), "the path is shown");
	await clickBox(page, ask, third);
	is(await ask("zoomed()"), third, "deeper");
	await page.screenshot({ path: `${dir}/shot-1400-zoomed.png` });
	await page.goBack();
	await until(page, `window.profpipe.zoomed() === ${JSON.stringify(second)}`);
	is(await ask("zoomed()"), second, "the browser's Back");
	await page.reload();
	await until(page, "!!window.profpipe");
	is(await ask("zoomed()"), second, "a reload keeps the zoom");
	await page.keyboard.press("Backspace");
	await until(page, "window.profpipe.zoomed() === 'all'");
	ok(true, "Backspace");
	await clickBox(page, ask, third);
	await page.keyboard.press("Escape");
	is(await ask("zoomed()"), "all", "Escape");
	await clickBox(page, ask, third);
	await page.click("#path button >> nth=0");
	is(await ask("zoomed()"), "all", "the path");

	/* the narrow ones, together */
	const run = (await ask("drawn()")).flatMap((d) => d.boxes.map((b) => ({ ...b, y: d.y }))).find((b) => b.nodes > 3);
	const place = await page.locator("#marks").boundingBox();
	await page.mouse.move(place.x + run.x + run.width / 2, place.y + run.y + 8);
	is(await page.locator("#card .name").textContent(), `${run.nodes} boxes too narrow to draw`, "narrow boxes are told of");
	await page.mouse.click(place.x + run.x + run.width / 2, place.y + run.y + 8);
	await settle(page);
	ok((await ask("drawn()")).some((d) => d.boxes.length >= 2 && d.boxes[0].name === run.name && d.boxes[0].nodes < run.nodes), "a click tells them apart");
	await page.keyboard.press("Escape");

	/* hover */
	await page.mouse.move(place.x + 20, place.y + 27);
	is(await page.locator("#card .name").textContent(), second, "the card names what is under the pointer");

	/* keys alone */
	await page.mouse.move(5, 5);
	await page.locator("#marks").focus();
	await page.keyboard.press("Escape");
	await page.keyboard.press("ArrowDown");
	is(await ask("focused()"), second, "ArrowDown: the widest callee");
	await page.keyboard.press("ArrowDown");
	await page.keyboard.press("ArrowUp");
	await page.keyboard.press("ArrowRight");
	is(await ask("focused()"), (await ask("drawn()"))[1].boxes[1].name, "ArrowRight: the neighbour");
	await page.keyboard.press("ArrowLeft");
	await page.keyboard.press("Enter");
	is(await ask("zoomed()"), second, "Enter zooms");
	ok((await page.locator("#live").textContent()).startsWith(`${(await ask("focused()"))}: total `), "what has the focus is said");

	/* the table */
	await page.keyboard.press("Escape");
	await page.locator("#table-scroller").focus();
	await page.keyboard.press("Home");
	await page.keyboard.press("ArrowDown");
	const name = (await ask("rows()"))[1].name;
	is(await page.locator("#table .row.picked .name").getAttribute("title"), name, "arrows choose a row");
	await page.keyboard.press("Enter");
	is(await ask("zoomed()"), name, "Enter zooms to its widest box");
	await page.click("#table-head .total button");
	const totals = (await ask("rows()")).map((r) => r.total[0]);
	ok(totals.every((v, i) => !i || v <= totals[i - 1]), "a head sorts");
	await page.click("#columns");
	await page.click('#menu button >> text="File"');
	const cells = await page.locator("#table-rows .row").evaluateAll((v) => v.map((e) => [e.querySelector(".name").title, e.querySelector(".file").textContent]));
	ok(cells.length > 10 && cells.every(([n, file]) => file === `src/${/\d+$/.exec(n)[0] % 12}.go:${/\d+$/.exec(n)[0]}`), "a column of files", cells);
	ok(page.url().includes("columns="), "which the address keeps");
	await page.click("#table-head .file button");
	const files = await page.locator("#table-rows .row .file").evaluateAll((v) => v.map((e) => e.title));
	is(files, [...files].sort(), "and which sorts");
	await page.click("#columns");
	is(await page.locator('#menu [aria-checked="true"]').allTextContents(), ["Flat", "Flat, %", "Total", "Total, %", "File"], "the menu says which there are");
	await page.click('#menu button >> text="As many as there is room for"');
	is(await page.locator("#table-head .file").count(), 0, "and takes it away");
	await page.click("#table-head .total button");
	if (knowsAll(browser)) {
		await page.emulateMedia({ media: "print" });
		is([await page.locator("#controls").isVisible(), await page.locator("#shape").isVisible(), await page.locator("#boxes").isVisible()],
			[false, false, true], "in print the picture is there, and no controls");
		await page.emulateMedia({ media: "screen" });
	}
	await page.locator("#table-scroller").evaluate((e) => { e.scrollTop = 1e9; });
	await settle(page);
	const shown = await page.locator("#table-rows .row .name").last().getAttribute("title");
	is(shown, (await ask("rows()")).at(-1).name, "the last row can be reached");
	ok(await page.locator("#table-rows .row").count() < 200, "only rows in view are in the document");
	is(trouble, [], "large: no message, violation, dialog or request");
	await context.close();
}

{
	const { context, page, trouble } = await open(browser, `${dir}/large.html`, { viewport: { width: 390, height: 844 }, deviceScaleFactor: 2, isMobile: true });

	await page.screenshot({ path: `${dir}/shot-390-light.png` });
	is(trouble, [], "large at 390 px: no message, violation, dialog or request");
	await context.close();
}

/* --- types -------------------------------------------------------------------------------- */
{
	const { context, page, trouble, ask } = await open(browser, `${dir}/types.html`, { colorScheme: "dark" });

	is(await page.locator("#type option").allTextContents(), ["alloc_space (bytes)", "cpu (nanoseconds)", "samples (count)"], "all types of all profiles");
	is(await ask("totals()"), [4096], "one of them first");
	await page.selectOption("#type", "1/0");
	is(await ask("totals()"), [70], "another profile: its default column");
	await page.selectOption("#type", "1/1");
	is([await ask("totals()"), (await ask("rows()")).map((r) => r.name)], [[7], ["b", "a"]], "another column");
	await page.selectOption("#type", "0/0");
	is([await ask("totals()"), (await ask("rows()")).map((r) => r.name)], [[4096], ["heap"]], "and back");
	await page.screenshot({ path: `${dir}/shot-1400-dark.png` });
	is(trouble, [], "types: no message, violation, dialog or request");
	await context.close();
}

/* --- a diff ------------------------------------------------------------------------------- */
const screens = {
  1400: {},
  1000: { viewport: { width: 1000, height: 700 } },
  390: {
    viewport: { width: 390, height: 844 },
    hasTouch: true,
    isMobile: true,
    deviceScaleFactor: 2,
  },
};
for (const size of ["1400", "1000", "390"]) {
  const options = screens[size];
	const { context, page, trouble, ask } = await open(browser, `${dir}/diff.html`, options);
	const rows = Object.fromEntries((await ask("rows()")).map((r) => [r.name, r]));

	is(await ask("totals()"), [100, 100], `${size} px: both totals`);
	is([rows.slow, rows.gone, rows.fresh, rows.main].map((r) => [r.self, r.total]),
		[[[40, 70], [40, 70]], [[30, 0], [30, 0]], [[0, 20], [0, 20]], [[30, 10], [100, 100]]], `${size} px: old and new of each function`);
	const boxes = (await ask("drawn()"))[2].boxes, width = (await page.locator("#marks").boundingBox()).width;
	const wide = (name) => Math.round(boxes.find((b) => b.name === name).width / width * 100);
	is([wide("slow"), wide("gone"), wide("fresh")], [55, 15, 10], `${size} px: as wide as the mean of both shares, what is gone too`);
	const status = await page.locator("#table-rows .row .status").allTextContents();
	is(status.sort(), ["", "", "gone", "new"], `${size} px: new and gone are told`);
	const room = await page.evaluate(() => document.querySelector("#table-rows .row").lastElementChild.clientWidth);
	ok(room >= 120, `${size} px: the table has room for names`);
	await page.screenshot({ path: `${dir}/shot-${size}-diff.png` });
	await page.click('[data-width="old"]');
	await settle(page);
	is((await ask("drawn()"))[2].boxes.map((b) => b.name), ["slow", "gone"], `${size} px: width of the old side`);
	if (size === "390") {
		if (knowsAll(browser)) {
			const place = await page.locator("#marks").boundingBox();

			await page.touchscreen.tap(place.x + 30, place.y + 2 * 19 + 8);
			await settle(page);
			is(await ask("zoomed()"), "slow", "390 px: a tap zooms");
			is(await page.locator("#card .name").textContent(), "slow", "390 px: and tells");
		}
		const over = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
		is(over, 0, "390 px: nothing hangs out to the right");
	}
	is(trouble, [], `${size} px diff: no message, violation, dialog or request`);
	await context.close();
}

/* --- a difference that was tested ---------------------------------------------------------- */
{
	const { context, page, trouble, ask } = await open(browser, `${dir}/tested.html`);
	const status = await page.locator("#table-rows .row").evaluateAll((v) => v.map((e) => [e.querySelector(".name").title, e.querySelector(".status").textContent]));

	is(status.sort(), [["fresh", ""], ["gone", ""], ["main", ""], ["slow", "regressed"]], "tested: the verdicts of prof-diff, and no others");
	await page.click("#columns");
	await page.click('#menu button >> text="Ratio"');
	const ratios = await page.locator("#table-rows .row").evaluateAll((v) => v.map((e) => [e.querySelector(".name").title, e.querySelector(".ratio").textContent]));
	is(ratios.sort(), [["fresh", "–"], ["gone", "×0.00"], ["main", "×1.00"], ["slow", "×1.75"]], "tested: new as a multiple of old");
	is((await ask("rows()")).length, 4, "tested: all functions are there");
	is(trouble, [], "tested: no message, violation, dialog or request");
	await context.close();
}

/* --- shapes and names that break others --------------------------------------------------- */
for (const name of ["empty", "zero", "one", "negative", "huge", "deep", "siblings", "mixed", "title"]) {
	const { context, page, trouble, ask } = await open(browser, `${dir}/${name}.html`);
	const root = await ask("root()"), drawn = await ask("drawn()");

	is(trouble, [], `${name}: no message, violation, dialog or request`);
	if (name === "empty" || name === "zero") {
		is([root, drawn], [[0], []], `${name}: nothing is drawn`);
		ok(/no samples|all values are 0/.test(await page.locator("#facts").textContent()), `${name}: says so`);
	} else if (name === "negative") {
		is([root, await ask("totals()")], [[20], [40]], "negative: net value, total of sizes");
		is(drawn[1].boxes.map((b) => b.name), ["f", "g"], "negative: both are drawn");
		ok(/negative values are drawn by their size/.test(await page.locator("#facts").textContent()), "negative: says so");
	} else if (name === "huge") {
		ok(Math.abs(root[0] / 2 ** 62 - 1) < 1e-9, "huge: near enough", root);
		ok(/rounded/.test(await page.locator("#facts").textContent()), "huge: says that it is not exact");
	} else if (name === "deep") {
		await page.locator("#scroller").evaluate((e) => { e.scrollTop = e.scrollHeight; });
		await settle(page);
		const last = (await ask("drawn()")).at(-1);
		is([last.row, last.boxes[0].name], [5000, "leaf"], "deep: the last of 5000 levels");
		await clickBox(page, ask, "leaf");
		is(await ask("zoomed()"), "leaf", "deep: zooms to the leaf");
	} else if (name === "siblings") {
		is([drawn.length, drawn[1].boxes.map((b) => b.nodes)], [2, [1000000]], "siblings: a million in one box");
		is(await ask("root()"), [1000000], "siblings: nothing is lost");
		is(await page.locator("#table-note").textContent(), "500,000 more: search for them", "siblings: half of the table is left out, and it says so");
		await page.selectOption("#tree", "inverted");
		is([await ask("root()"), await ask("nodes()")], [[1000000], 1001], "siblings: from the callees up a thousand, and the rest as one");
		await page.fill("#search", "f99999");
		is(await ask("found()"), { count: 11, sum: [11] }, "siblings: what is found is of all");
	} else if (name === "mixed") {
		is(sorted(await ask("rows()")), sorted(fromFolded("mixed.folded").values()), "mixed: all functions");
	} else if (name === "title") {
		is(await page.title(), text("title.txt").trim(), "title: as it was given, control characters written out");
	}
	await context.close();
}

{
	const { context, page, trouble, ask } = await open(browser, `${dir}/hostile.html`);
	const names = JSON.parse(text("hostile.json")), rows = await ask("rows()");

	is(rows.map((r) => r.name).sort(), names.sort(), "hostile: names as text, what cannot be shown written out");
	const titles = await page.locator("#table-rows .row .name").evaluateAll((v) => v.map((e) => e.title));
	ok(names.filter((n) => n.length < 1000).every((n) => titles.includes(n)), "hostile: in the table");
	is(await page.evaluate(() => document.querySelectorAll("script, img, b, iframe").length), 2, "hostile: no element came of a name");
	const place = await page.locator("#marks").boundingBox(), first = (await ask("drawn()"))[1].boxes[0];
	await page.mouse.move(place.x + first.x + 10, place.y + 27);
	is(await page.locator("#card .name").textContent(), first.name, "hostile: in the card");
	await page.screenshot({ path: `${dir}/shot-1400-hostile.png` });
	is(trouble, [], "hostile: no message, violation, dialog or request");
	await context.close();
}

/* --- without a script, and with broken data ------------------------------------------------ */
if (knowsAll(browser)) {
	const context = await browser.newContext({ javaScriptEnabled: false }), page = await context.newPage();

	await page.goto(`file://${dir}/large.html`);
	is(await page.locator("#plain tbody tr").count(), 50, "no script: a table of fifty");
	const top = await page.locator("#plain tbody tr >> nth=0").locator("td").allTextContents();
	is(top, text("large.top").trim().split("\t"), "no script: its first row as prof-render -f table has it");
	ok(await page.locator("#plain").isVisible() && !await page.locator("#app").isVisible(), "no script: and nothing else");
	await context.close();
}
{
	const context = await browser.newContext(), page = await context.newPage();

	await page.goto(`file://${dir}/cut.html`);
	await until(page, 'document.getElementById("message").textContent.startsWith("The call tree cannot be drawn")');
	ok(await page.locator("#plain table").isVisible(), "data cut short: the table stays, and the reason is said");
	await context.close();
}
await browser.close();
