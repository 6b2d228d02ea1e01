/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scale.mjs MODULES CHROMIUM FILE: what a large page costs in a browser that draws by software,
 * as cells of a Markdown row: stack nodes; from the start of loading to the first picture; zooms,
 * mean and most; searches, choices of labels and time, comparisons, turning the tree over, the
 * most of each; memory of the page's process when loaded, and at the end. Times are CPU of the
 * process's main thread in ms, frames and all: neighbours do not count, as they would in wall
 * time.
 */
import { readFileSync } from "node:fs";
import { launch, until } from "./harness.mjs";

const [, , modules, chromium, file] = process.argv;
const browser = await launch(modules, chromium);
const context = await browser.newContext({ viewport: { width: 1400, height: 900 } });
const page = await context.newPage();

/* What an element is told, and when the frames after it are there. */
await page.addInitScript(() => {
	const ask = window.requestAnimationFrame.bind(window), send = (id, event) => document.getElementById(id).dispatchEvent(event);

	window.bench = {
		frames: () => new Promise((then) => { ask(() => ask(() => ask(then))); }),
		key: (id, key) => send(id, new window.KeyboardEvent("keydown", { key, bubbles: true })),
		type: (id, text) => {
			document.getElementById(id).value = text;
			send(id, new window.Event("input", { bubbles: true }));
		},
		choose: (id, value) => {
			document.getElementById(id).value = value;
			send(id, new window.Event("change", { bubbles: true }));
		},
	};
});

const session = await browser.newBrowserCDPSession();

/* The process of the page is the largest one that draws pages. */
async function rendererOf() {
	const { processInfo } = await session.send("SystemInfo.getProcessInfo");
	const sizes = processInfo.filter((p) => p.type === "renderer").map((p) => [p.id, residentMb(p.id)]);

	return sizes.reduce((a, b) => (b[1] > a[1] ? b : a))[0];
}

function residentMb(pid) {
	return Number(/VmRSS:\s*(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))[1]) / 1024;
}

const cpuMs = (pid) => Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, "utf8").split(" ")[0]) / 1e6;

await page.goto(`file://${file}`);
await until(page, "!!window.profpipe && window.profpipe.drawn().length > 0");
await page.evaluate("window.bench.frames()");
const pid = await rendererOf(), painted = cpuMs(pid), loadedMb = residentMb(pid);

/* CPU of something that is done in the page. */
async function cost(expression) {
	const begin = cpuMs(pid);

	await page.evaluate(`(() => { ${expression} })()`);
	await page.evaluate("window.bench.frames()");
	return cpuMs(pid) - begin;
}

async function costs(expressions) {
	const all = [];

	for (const e of expressions)
		all.push(await cost(e));
	return all;
}

const most = (values) => Math.round(Math.max(...values)), mean = (values) => Math.round(values.reduce((a, b) => a + b, 0) / values.length);
const nodes = await page.evaluate("window.profpipe.nodes()");

/* into the widest callee, again and again, and back */
const zooms = [];
await cost('document.getElementById("marks").focus()');
for (let k = 0; k < 12; k++) {
	await cost('bench.key("marks", "ArrowDown")');
	zooms.push(await cost('bench.key("marks", "Enter")'));
}
for (let k = 0; k < 12; k++)
	zooms.push(await cost('document.querySelector("#path button:nth-last-of-type(2)")?.click()'));
await cost('bench.key("marks", "Escape")');

const searches = await costs(["pkg4", "pkg42", ""].map((text) => `bench.type("search", "${text}")`));
const chosen = await costs(['pod="api-1"', 'pod=~"api-[23]"', ""].map((text) => `bench.type("filter", ${JSON.stringify(text)})`));
chosen.push(...await costs(Array(4).fill('bench.key("time", "ArrowRight"); bench.key("time", "Enter")')));
const compared = await costs(['document.getElementById("compare").click()', 'bench.key("time", "ArrowRight"); bench.key("time", "Enter")']);
await costs(['document.getElementById("compare").click()', 'bench.key("time", "Escape")']);
const turned = await costs(['bench.choose("tree", "inverted")']);
console.log([nodes, Math.round(painted), mean(zooms), most(zooms), most(searches), most(chosen), most(compared), most(turned),
	Math.round(loadedMb), Math.round(residentMb(pid))].join(" | "));
await browser.close();
