/* SPDX-License-Identifier: Apache-2.0 */
/* apart.mjs MODULES CHROMIUM DIR: a comparison of sides without a function in common. */
import { is, knowsAll, launch, ok, open, settle } from "./harness.mjs";

const [, , modules, chromium, dir] = process.argv;
const browser = await launch(modules, chromium);
const WANT = [["main_new", 0, 4e9], ["main_old", 4e9, 0], ["read_new", 0, 3e9], ["read_old", 3e9, 0], ["write_new", 0, 1e9], ["write_old", 1e9, 0]];

/* Widths of the boxes of a row, by name. */
async function widths(ask, row) {
	const found = (await ask("drawn()")).find((d) => d.row === row);

	return Object.fromEntries((found ? found.boxes : []).map((b) => [b.name, b.width]));
}

async function look(name, page, ask) {
	const near = (a, b) => Math.abs(a - b) < 3;

	is((await ask("rows()")).map((r) => [r.name, r.total[0], r.total[1]]).sort(), WANT, `${name}: each function is on one side`);
	is(await ask("root()"), [4e9, 4e9], `${name}: the sides are worth what they are`);
	await settle(page);
	const whole = (await widths(ask, 0)).all, both = await widths(ask, 1);
	ok(near(both.main_old, whole / 2) && near(both.main_new, whole / 2), `${name}: each side has half of the width`);
	const cells = await page.locator("#table-rows .row").evaluateAll((rows) => rows.map((r) => [r.querySelector(".name").title, r.querySelector(".status").textContent]));
	is(cells.sort(), WANT.map(([f, old]) => [f, old ? "gone" : "new"]), `${name}: the table says which`);
	await page.screenshot({ path: `${dir}/apart-${name}.png` });
	for (const side of ["old", "new"]) {
		await page.click(`#diff-width button[data-width=${side}]`);
		await settle(page);
		is(Object.keys(await widths(ask, 1)), [`main_${side}`], `${name}: by the ${side} side’s width there is that side alone`);
		ok(near((await widths(ask, 1))[`main_${side}`], whole), `${name}: and has all of it`);
	}
	/* what has no width can still be chosen, and zoomed to where it has one */
	await page.locator("#table-rows .row").filter({ has: page.locator('.name[title="read_old"]') }).dblclick();
	await settle(page);
	is(await ask("zoomed()"), "all", `${name}: no zoom to what has no width`);
	await page.click("#diff-width button[data-width=mean]");
	if (knowsAll(browser)) {
		await page.locator("#table-rows .row").filter({ has: page.locator('.name[title="read_old"]') }).dblclick();
		await settle(page);
		is(await ask("zoomed()"), "read_old", `${name}: and by a double click in the table to it where it has one`);
	}
	await page.locator("#marks").focus();
	await page.keyboard.press("Escape");
	for (const tree of ["inverted", "callees"]) {
		await page.selectOption("#tree", tree);
		is(await ask("root()"), [4e9, 4e9], `${name}: ${tree}: nothing is lost`);
	}
	await page.fill("#search", "_old");
	ok((await page.locator("#search-result").textContent()).includes("3 functions, old 100%, new 0%"), `${name}: a search tells both shares`);
	await page.fill("#search", "");
}

{
	const { context, page, trouble, ask } = await open(browser, `${dir}/stream.html`);

	await page.fill("#filter", 'comm="old"');
	await page.click("#compare");
	await page.fill("#filter", 'comm="new"');
	await look("stream", page, ask);
	await page.click("#swap");
	is((await ask("rows()")).map((r) => [r.name, r.total[1], r.total[0]]).sort(), WANT, "swapped: the other way round");
	await page.fill("#filter", 'comm="nobody"');
	is([await page.locator("#filter-result").textContent(), await ask("root()")], ["nothing has these labels", [4e9, 4e9]], "a side of nothing is refused");
	is(trouble, [], "stream: no message, violation, dialog or request");
	await context.close();
}
{
	const { context, page, trouble, ask } = await open(browser, `${dir}/diff.html`);

	await look("diff", page, ask);
	is(trouble, [], "diff: no message, violation, dialog or request");
	await context.close();
}
await browser.close();
