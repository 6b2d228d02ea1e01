/* SPDX-License-Identifier: Apache-2.0 */
/* screenshots.mjs MODULES CHROMIUM DIR OUT: pictures of DIR/shop.html and DIR/shop.svg into OUT. */
import { writeFileSync } from "node:fs";
import { drag, launch, open, settle } from "./harness.mjs";
import { smaller } from "./png.mjs";

const [, , modules, chromium, dir, out] = process.argv;
const browser = await launch(modules, chromium, ["--disable-lcd-text"]), WIDE = { viewport: { width: 1240, height: 660 } };

async function shoot(page, name) {
	writeFileSync(`${out}/${name}.png`, smaller(await page.screenshot()));
}

/* The middle of a function's widest box. */
async function placeOf(page, ask, name) {
	const boxes = (await ask("drawn()")).flatMap((d) => d.boxes.map((b) => ({ ...b, y: d.y }))), at = await page.locator("#marks").boundingBox();
	const [box] = boxes.filter((b) => b.name === name && b.nodes === 1).sort((a, b) => b.width - a.width);

	return [at.x + box.x + box.width / 2, at.y + box.y + 8];
}

async function clickOn(page, ask, name) {
	await page.mouse.click(...await placeOf(page, ask, name));
	await settle(page);
}

const PICTURES = {
	explore: [WIDE, async (page, ask) => {
		await page.selectOption("#by", "pod");
		await drag(page, ask, 30, 59);
		await settle(page);
		await page.mouse.move(...await placeOf(page, ask, "regexp.(*machine).backtrack"));
	}],
	zoomed: [WIDE, async (page, ask) => {
		await clickOn(page, ask, "shop/cart.(*Handler).Checkout");
		await page.fill("#search", "sha256");
		await page.locator("#search").blur();
		await page.mouse.move(5, 5);
	}],
	sandwich: [WIDE, async (page, ask) => {
		await clickOn(page, ask, "shop/price.Parse");
		await page.click("#act");
		await page.click('#menu button >> text="Callers and callees of it"');
		await page.mouse.move(5, 5);
	}],
	compare: [WIDE, async (page, ask) => {
		await page.fill("#filter", 'pod="shop-1"');
		await drag(page, ask, 0, 29);
		await page.click("#compare");
		await drag(page, ask, 30, 59);
		await page.mouse.move(5, 5);
	}],
	dark: [{ ...WIDE, colorScheme: "dark" }, async (page) => {
		await page.selectOption("#by", "pod");
		await page.selectOption("#colour", "binary");
	}],
	narrow: [{ viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true }, async (page) => {
		await page.selectOption("#by", "pod");
	}],
};

for (const [name, [options, prepare]] of Object.entries(PICTURES)) {
	const { context, page, trouble, ask } = await open(browser, `${dir}/shop.html`, options);
	await prepare(page, ask);
	await settle(page);
	await shoot(page, name);
	if (trouble.length)
		throw new Error(`${name}: ${trouble.join("; ")}`);
	await context.close();
}
const page = await browser.newPage({ viewport: { width: 1200, height: 700 } });
await page.goto(`file://${dir}/shop.svg`);
const { width, height } = await page.evaluate(() => document.documentElement.getBoundingClientRect().toJSON());
await page.setViewportSize({ width: Math.ceil(width), height: Math.ceil(height) });
await shoot(page, "svg");
await browser.close();
