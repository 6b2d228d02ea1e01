/* SPDX-License-Identifier: Apache-2.0 */
/*
 * svg.mjs MODULES BROWSER DIR: pictures that zoom and search. DIR has large.svg with the numbers
 * of large.json (and focus.json: what passes through FOCUS), diff.svg with diff.json, and
 * hostile.svg, deep.svg, empty.svg, narrow.svg.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { is, launch, ok, openPicture, settle } from "./harness.mjs";

const [, , modules, executable, dir] = process.argv;
const browser = await launch(modules, executable);
const json = (name) => JSON.parse(readFileSync(`${dir}/${name}.json`, "utf8")).types[0];
const FOCUS = "sort1|^pkg9\\.";

const percent = (part, whole) => {
	const p = part / whole * 100;
	return p >= 99.95 && p <= 100.05 ? "100%" : p >= 0.995 ? `${p.toFixed(2)}%` : `${p ? p.toPrecision(2) : 0}%`;
};
const quoted = (name) => `^${name.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&")}$`;

/* What is to be seen: { name, title, class, x, width, y, shown, label, and how much of it sticks out }. */
const boxes = (page) => page.evaluate(() => [...document.querySelectorAll("g rect")].map((rect) => {
	const at = (name) => Number(rect.getAttribute(name)), title = rect.textContent, next = rect.nextElementSibling;
	const text = next && next.tagName === "text" && window.getComputedStyle(next).display !== "none" ? next : null;
	return { name: title.split("\n")[0], title, class: rect.getAttribute("class"), x: at("x"), width: at("width"), y: at("y"),
		value: Number(rect.dataset.v.split(" ")[0]), shown: window.getComputedStyle(rect).display !== "none", label: text ? text.textContent : "",
		over: text && text.textContent ? Number(text.getAttribute("x")) + text.getComputedTextLength() - at("x") - at("width") : 0 };
}));
const named = async (page, name) => (await boxes(page)).filter((b) => b.name === name && b.shown).sort((a, b) => b.width - a.width)[0];
const result = (page) => page.locator("output").textContent();
const isMarked = (box, name) => box.class.split(" ").includes(name);
const chosen = async (page) => (await boxes(page)).filter((b) => isMarked(b, "at")).map((b) => b.name);

async function click(page, name) {
	const box = await named(page, name);

	await page.mouse.click(box.x + Math.min(box.width / 2, 400), box.y + 8);
	await settle(page);
	return box;
}

async function searchFor(page, text) {
	await page.locator("input").fill(text);
	return result(page);
}

/* The picture is one of the box that has this name: its callers above, its callees below. */
function claimZoomed(all, name, what) {
	const at = all.findIndex((b) => b.name === name && b.shown && !isMarked(b, "up")), box = all[at];
	const above = all.filter((b) => isMarked(b, "up")), shown = all.filter((b) => b.shown);
	let end = at + 1;

	while (all[end] && all[end].y > box.y)
		end++;
	is([above.length, above.every((b) => b.x === 12 && b.width === box.width && b.y < box.y)], [(box.y - all[0].y) / 18, true],
		`${what}: its callers are as wide as it is, and paler`);
	ok(all.slice(at, end).every((b) => b.shown || b.value / box.value * box.width < 0.1), `${what}: all below it is there`);
	is(shown.filter((b) => !above.includes(b) && !all.slice(at, end).includes(b)).length, 0, `${what}: nothing else is`);
	const wrong = shown.filter((b) => b.y >= box.y && Math.abs(b.value / box.value * (box.width + 0.6) - b.width) > 0.71);
	is(wrong, [], `${what}: widths are shares of its value`);
	is(all.filter((b) => b.over > 0), [], `${what}: labels fit`);
	ok(shown.filter((b) => b.width > 120).every((b) => b.label), `${what}: where there is room there is a label`);
}

/* Drawn as it was, but for the rounding; what has no width need not be. */
async function claimWhole(p, was, what) {
	const now = await boxes(p), far = (a, b) => Math.abs(a - b) > 0.11;

	is(now.filter((b, i) => was[i].width >= 0.1 && (!b.shown || b.y !== was[i].y || far(b.width, was[i].width) || far(b.x, was[i].x) ||
		b.label !== was[i].label)), [], what);
}

/* --- zoom, by mouse and by keyboard ----------------------------------------------------------- */
const large = await openPicture(browser, `${dir}/large.svg`), { page } = large;
const before = await boxes(page);
const second = before.filter((b) => b.y === before[0].y + 36 && !isMarked(b, "r"))[1];

await page.screenshot({ path: `${dir}/picture-whole.png` });
await click(page, second.name);
let all = await boxes(page);
claimZoomed(all, second.name, "a click");
is(all.map((b) => b.title), before.map((b) => b.title), "hover texts stay");
const inner = all.find((b) => b.shown && b.y > second.y + 36 && b.width > 20 && !b.title.startsWith(second.name));
await click(page, inner.name);
claimZoomed(await boxes(page), inner.name, "a click on what is below");
await page.screenshot({ path: `${dir}/picture-zoomed.png` });
await page.keyboard.press("Backspace");
claimZoomed(await boxes(page), second.name, "Backspace goes back");
await page.keyboard.press("Escape");
await claimWhole(page, before, "Escape shows all, as it was");
await click(page, second.name);
await click(page, "all samples");
await claimWhole(page, before, "a click on the root, too");
await click(page, second.name);
await page.click("button");
await claimWhole(page, before, "and the button");
is(await page.locator("button").isVisible(), false, "which is there only while there is somewhere to go");

await page.keyboard.press("ArrowDown");
is(await chosen(page), [before[1].name], "down: the heaviest callee");
await page.keyboard.press("ArrowDown");
await page.keyboard.press("ArrowRight");
is(await chosen(page), [second.name], "right: beside it");
ok((await page.locator("span").textContent()).startsWith(`${second.name} · total `), "its values are written out");
await page.keyboard.press("ArrowLeft");
is(await chosen(page), [before[2].name], "left: back");
await page.keyboard.press("ArrowUp");
is(await chosen(page), [before[1].name], "up: the caller");
await page.keyboard.press("ArrowDown");
await page.keyboard.press("ArrowRight");
await page.keyboard.press("Enter");
claimZoomed(await boxes(page), second.name, "Enter");
await page.keyboard.press("Backspace");
await claimWhole(page, before, "Backspace shows all");

/* --- search ----------------------------------------------------------------------------------- */
const numbers = json("large");
await page.keyboard.press("/");
ok(await page.evaluate(() => document.activeElement.tagName === "input"), "/ searches");
await page.keyboard.press("Escape");
await page.keyboard.press("Control+f");
ok(await page.evaluate(() => document.activeElement.tagName === "input"), "so does Ctrl-F");
const some = numbers.functions.filter((f, i) => i % 11 === 0);
const wrong = [];
for (const f of some) {
	const got = await searchFor(page, quoted(f.name)), n = before.filter((b) => b.name === f.name).length;
	if (!got.startsWith(`${percent(f.cum, numbers.total)} of the total, `) || !got.endsWith(` in ${n} box${n === 1 ? "" : "es"}`))
		wrong.push([f, got, n]);
}
is([wrong, some.length > 5], [[], true], "search: shares are those of -f json, however deep the recursion");
const share = percent(json("focus").shown, numbers.total);
ok((await searchFor(page, FOCUS)).startsWith(`${share} of the total, `), "search: what passes through any of many is counted once", [await result(page), share]);
all = await boxes(page);
is(all.filter((b) => isMarked(b, "hit") !== new RegExp(FOCUS).test(b.name)), [], "and what matches has its colour");
is(await searchFor(page, FOCUS.replace("sort", "SoRT")), await searchFor(page, FOCUS), "upper and lower case are alike");
await page.keyboard.press("Enter");
const hits = before.filter((b) => new RegExp(FOCUS).test(b.name)).sort((a, b) => b.width - a.width);
is(await chosen(page), [hits[0].name], "Enter: the widest match");
await page.keyboard.press("n");
await page.keyboard.press("N");
is(await chosen(page), [hits[0].name], "n and N: the next, and back");
await page.keyboard.press("Enter");
is(await result(page), await searchFor(page, FOCUS), "a zoom does not change what a search found");
await page.screenshot({ path: `${dir}/picture-found.png` });
await searchFor(page, "(");
ok(await page.locator("output.bad").count() === 1 && /group|parenthe/iu.test(await result(page)), "a bad pattern is told");
await page.keyboard.press("Escape");
is([await page.evaluate(() => document.querySelector("input").value), await result(page), (await boxes(page)).filter((b) => isMarked(b, "hit")).length], ["", "", 0],
	"Escape ends the search");
await page.keyboard.press("Escape");
await claimWhole(page, before, "and then the zoom");
is(large.trouble, [], "no message, no request");
await large.context.close();

/* --- narrow frames ----------------------------------------------------------------------------- */
{
	const { page: p, trouble } = await openPicture(browser, `${dir}/narrow.svg`);
	const rests = (await boxes(p)).filter((b) => isMarked(b, "r")), sum = rests.reduce((n, b) => n + b.value, 0);
	is(await searchFor(p, "no such name"), `0% of the total, 0, in 0 boxes; not looked into: ${percent(sum, numbers.total)} in grey boxes`,
		"what cannot be searched is told");
	await p.keyboard.press("Escape");
	const rest = rests.sort((a, b) => b.width - a.width)[0], list = await boxes(p);
	const caller = list.slice(0, list.findIndex((b) => b.title === rest.title && b.x === rest.x && b.y === rest.y)).findLast((b) => b.y === rest.y - 18);
	await p.mouse.click(rest.x + rest.width / 2, rest.y + 8);
	const now = (await boxes(p)).find((b) => b.shown && !isMarked(b, "up"));
	is([now.title, now.x], [caller.title, 12], "a click on a grey box zooms to its caller");
	is(trouble, [], "no message");
	await p.context().close();
}

/* --- a difference ------------------------------------------------------------------------------ */
{
	const { page: p, trouble } = await openPicture(browser, `${dir}/diff.svg`, { colorScheme: "dark" });
	const diff = json("diff"), whole = diff.shown, was = await boxes(p);
	const failed = [];
	for (const f of diff.functions) {
		const want = `base ${percent(f.cum.base, whole.base)}, new ${percent(f.cum.new, whole.new)} in 1 box`, got = await searchFor(p, quoted(f.name));
		if (got !== want)
			failed.push([got, want]);
	}
	is([failed, diff.functions.length > 2], [[], true], "difference: both shares of what is found");
	await p.keyboard.press("Escape");
	for (const name of ["slow (regressed)", "gone (gone)", "fresh (new)"]) {
		await click(p, name);
		const now = await named(p, name), f = diff.functions.find((g) => name.startsWith(`${g.name} `));
		const change = f.cum.new - f.cum.base;
		is([now.x, now.label], [12, `${f.name} ${change < 0 ? "-" : "+"}${percent(Math.abs(change), diff.total)}`],
			`difference: ${name} zoomed, its label without the verdict`);
		if (name.startsWith("slow"))
			await p.screenshot({ path: `${dir}/picture-diff.png` });
		await p.keyboard.press("Escape");
	}
	await claimWhole(p, was, "difference: all of it again");
	is(trouble, [], "no message");
	await p.context().close();
}

/* --- hostile names, shapes --------------------------------------------------------------------- */
{
	const { page: p, trouble } = await openPicture(browser, `${dir}/hostile.svg`);
	const script = (await boxes(p)).find((b) => b.name.startsWith("<script>"));
	const elements = () => p.evaluate(() => [...new Set([...document.querySelectorAll("*")].map((e) => e.tagName))].sort().join(" "));
	const tags = await elements();
	for (const b of await boxes(p)) {
		if (isMarked(b, "t"))
			continue;
		await click(p, b.name);
		const now = await named(p, b.name);
		is([now.x, now.label.includes("…") || now.label === now.name], [12, true], `${JSON.stringify(b.name).slice(0, 40)} as it is`);
		await p.keyboard.press("Escape");
	}
	ok((await searchFor(p, "<script>alert")).endsWith(" in 1 box"), "it is found by its name");
	await p.keyboard.press("Enter");
	ok((await p.locator("span").textContent()).startsWith(`${script.name} · `), "and written as text");
	is(await elements(), tags, "no element is made of a name");
	is(trouble, [], "nothing ran");
	await p.context().close();
}
for (const shape of ["deep", "empty", "zero", "negative"]) {
	const { page: p, trouble } = await openPicture(browser, `${dir}/${shape}.svg`);
	for (const key of ["ArrowDown", "Enter", "ArrowRight", "ArrowUp", "Backspace", "Enter", "/", "f", "Enter", "n", "Enter", "Escape", "Escape"])
		await p.keyboard.press(key);
	is(trouble, [], `${shape}: no exception`);
	await p.context().close();
}
/* what is deep comes into view, and the controls stay there */
{
	const { page: p } = await openPicture(browser, `${dir}/deep.svg`);
	await p.keyboard.press("/");
	await p.keyboard.type("leaf");
	await p.keyboard.press("Enter");
	await settle(p);
	const seen = await p.evaluate(() => [document.querySelector("rect.at"), document.querySelector("foreignObject")].map((e) => {
		const { top, bottom } = e.getBoundingClientRect();
		return top >= 0 && bottom <= window.innerHeight;
	}));
	is([await chosen(p), seen], [["leaf"], [true, true]], "depth 5000: what was found and the controls are in view");
	await p.context().close();
}
await browser.close();
writeFileSync(`${dir}/done`, "");
