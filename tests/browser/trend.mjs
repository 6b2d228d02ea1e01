/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trend.mjs MODULES CHROMIUM DIR: shares by release on the pages in DIR, against what -f json has
 * of each release and -f timeline of their sums.
 */
import { readFileSync } from "node:fs";
import { drag, is, launch, ok, open, settle, until } from "./harness.mjs";

const [, , modules, chromium, dir] = process.argv;
const browser = await launch(modules, chromium), RELEASES = ["1.8", "1.9", "1.10", "1.11-rc1"];

/* "12.34%", as the page writes it. */
function percent(part, whole) {
	const p = part / whole * 100;

	return p >= 99.95 ? "100%" : p >= 0.995 || !p ? `${p ? p.toFixed(2) : "0"}%` : `${p.toPrecision(2)}%`;
}

/* Of each release that is there: share of the total, flat share, and the share as a number, of a function. */
function want(name, prefix = "") {
	return RELEASES.map((v) => {
		const t = JSON.parse(readFileSync(`${dir}/${prefix}${v}.json`, "utf8")).types.find((c) => c.type === "cpu");
		const f = t.functions.find((g) => g.name === name) || { flat: 0, cum: 0 };
		return { name: v, total: percent(f.cum, t.total), flat: percent(f.flat, t.total), share: f.cum / t.total, whole: t.total };
	}).filter((r) => r.whole);
}

const rows = (page) => page.locator("#trend table tr").evaluateAll((v) => v.slice(1).map((tr) => [...tr.children].map((c) => c.textContent)));
const pick = async (page, name) => {
	await page.click("#tab-functions");
	await page.locator("#table-rows .row").filter({ has: page.locator(`.cell.name[title="${name}"]`) }).click();
	await page.click("#tab-trend");
};
/* Heights of the points of the picture, as shares of its highest. */
const heights = (page, of) => page.locator(`#trend .chart path.stroke.${of}`).getAttribute("d")
	.then((d) => [...d.matchAll(/[ML]\S+ ([\d.]+)/g)].map((m) => 1 - Number(m[1]) / 100));

async function equals(page, name, prefix, what) {
	const got = await rows(page), wanted = want(name, prefix), most = Math.max(...wanted.map((r) => r.share));

	is(got.map((r) => [r[0], r[1], r[3]]), wanted.map((r) => [r.name, r.total, r.flat]), `${what}: as -f json has them`);
	is(got.map((r) => r[2]), wanted.map((r, i) => {
		const d = i ? r.share - wanted[i - 1].share : 0, text = (Math.abs(d) * 100).toFixed(2);
		return !i ? "" : text === "0.00" ? "0" : (d < 0 ? "−" : "+") + text;
	}), `${what}: and what changed`);
	ok((await heights(page, "total")).every((h, i) => Math.abs(h - wanted[i].share / most) < 1e-9), `${what}: and the picture`);
}

{
	const { context, page, trouble } = await open(browser, `${dir}/stream.html`);

	await page.click("#tab-trend");
	is([await page.inputValue("#trend-by"), await page.locator("#trend-by option").allTextContents()], ["version", ["version", "comm", "pod"]], "releases are told by the version");
	ok((await page.locator("#trend").textContent()).includes("Choose a function"), "of no function yet");
	const changed = page.locator("#trend li");
	is((await changed.allTextContents())[0].replace(/.*%/, ""), "hash", "what changed most comes first");
	await changed.first().locator("button").click();
	await equals(page, "hash", "", "a function that was chosen from the list");
	/* the sums, from time,seconds,profiles,version,type,unit,value,rate */
	const sums = new Map();
	for (const line of readFileSync(`${dir}/timeline.csv`, "utf8").trim().split(/\r?\n/).slice(1)) {
		const cells = line.replaceAll('"', "").split(",");
		sums.set(cells[3], (sums.get(cells[3]) || 0) + Number(cells[6]));
	}
	is(want("hash").map((r) => r.whole), RELEASES.map((v) => sums.get(v)), "whose sums are those of -f timeline");
	const seconds = (text) => (text.endsWith("ms") ? Number(text.slice(0, -2)) / 1000 : Number(text.slice(0, -1)));
	ok((await rows(page)).every((r, i) => Math.abs(seconds(r[4]) - want("hash")[i].whole / 1e9) < 0.006), "and are shown");
	await settle(page);
	await page.screenshot({ path: `${dir}/trend-1400-light.png` });
	for (const name of ["main", "write", "idle"]) {
		await pick(page, name);
		if (name !== "idle")
			await equals(page, name, "", name);
		else
			is((await rows(page)).map((r) => r[1]), ["0%", "0%", "0%", "0%"], "what has no version is in none of them");
	}

	/* a part of all */
	await drag(page, () => page.evaluate("window.profpipe.bins()"), 10, 29);
	await page.fill("#filter", 'pod="p1"');
	await page.click("#tab-functions");
	await page.locator("#table-rows .row").filter({ has: page.locator('.cell.name[title="parse"]') }).click();
	await page.click("#act");
	await page.click('#menu button >> text="Hide it"');
	await pick(page, "hash");
	await equals(page, "hash", "part-", "of a part of the time, of labels and of frames");
	await page.click("#chips button");
	await page.click("#all-time");
	await page.fill("#filter", "");

	/* labels, address, comparison */
	await page.selectOption("#trend-by", "comm");
	is((await rows(page)).map((r) => r[0]), ["api", "cron"], "by another label");
	await page.reload();
	await until(page, "!!window.profpipe");
	ok(await page.locator("#trend").isVisible() && await page.inputValue("#trend-by") === "comm", "the address keeps both");
	await page.selectOption("#trend-by", "version");
	await page.click("#trend li button >> nth=0");
	await page.click("#trend table button >> text=1.10");
	is(await page.inputValue("#filter"), 'version="1.10"', "a click on a release chooses it");
	ok((await page.locator("#trend").textContent()).includes("is of one release"), "of which there is no trend");
	await page.fill("#filter", 'pod="p1"');
	await page.click("#compare");
	ok((await page.locator("#trend").textContent()).includes("end the comparison"), "nor of a comparison");
	await page.click("#compare");
	await page.locator("#tab-trend").focus();
	await page.keyboard.press("ArrowRight");
	ok(await page.locator("#table").isVisible(), "arrows lead to the other tabs");
	is(trouble, [], "trends: no message, violation, dialog or request");
	await context.close();
}

const NARROW = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };
for (const [name, options] of [["390-light", NARROW], ["390-dark", { ...NARROW, colorScheme: "dark" }], ["1400-dark", { colorScheme: "dark" }]]) {
	const { context, page, trouble } = await open(browser, `${dir}/hostile.html`, options);

	await page.click("#tab-trend");
	await page.click("#trend li button >> nth=0");
	ok((await rows(page)).some((r) => r[0] === "<b>&1.9") && await page.locator("#trend b").count() === 0, `${name}: a hostile release is text`);
	/* by the page's own doing: the tool would scroll to what it clicks */
	await page.evaluate(() => {
		document.documentElement.scrollTop = 0;
		document.getElementById("tab-functions").click();
		document.documentElement.scrollTop = 0;
		document.getElementById("tab-trend").click();
	});
	await settle(page);
	const box = await page.locator("#trend .chart").boundingBox(), { height } = page.viewportSize();
	ok(box.y >= 0 && box.y + box.height <= height, `${name}: its tab brings the chart into view`, { ...box, of: height });
	ok(await page.evaluate("document.documentElement.scrollWidth <= innerWidth"), `${name}: nothing is wider than the screen`);
	await settle(page);
	await page.screenshot({ path: `${dir}/trend-${name}.png` });
	is(trouble, [], `${name}: no message, violation, dialog or request`);
	await context.close();
}
{
	const { context, page, trouble } = await open(browser, `${dir}/stream.html#level=lines`);

	await page.locator("#table-rows .row").last().click();
	await page.click("#tab-trend");
	await page.selectOption("#level", "binaries");
	await settle(page);
	ok(page.url().includes("level=binaries"), "a line's trend is open: the level changes all the same");
	is(trouble, [], "another level: no message, violation, dialog or request");
	await context.close();
}
{
	const one = await open(browser, `${dir}/one.html`);

	ok(!(await one.page.locator("#trend-by option").allTextContents()).includes("version"), "one release is no trend");
	await one.context.close();
	const comms = await open(browser, `${dir}/comms.html#list=trend`);
	is([await comms.page.inputValue("#trend-by"), await comms.page.locator("#trend").isVisible()], ["comm", true], "without versions another label tells what to set side by side");
	await comms.context.close();
}
await browser.close();
