/* SPDX-License-Identifier: Apache-2.0 */
/* Which functions a text is about. Names are asked, not nodes: there are far fewer. */

/* { marked: Uint8Array by frame or null, count, error } */
export function search(frames, text, options) {
	const none = { marked: null, count: 0, error: "" };
	let test;

	if (!text)
		return none;
	if (options.regex) {
		let re;
		try {
			re = new RegExp(text, options.matchCase ? "u" : "iu");
		} catch (e) {
			return { ...none, error: e.message.replace(/^Invalid regular expression: /, "") };
		}
		test = (name) => re.test(name);
	} else if (options.matchCase) {
		test = (name) => name.includes(text);
	} else {
		const lower = text.toLowerCase();
		test = (name) => name.toLowerCase().includes(lower);
	}
	const marked = new Uint8Array(frames.n);
	let count = 0;
	for (let i = 0; i < frames.n; i++) {
		if (test(frames.name[i])) {
			marked[i] = 1;
			count++;
		}
	}
	return { marked, count, error: "" };
}

/* The outermost nodes that are found and have a width, the widest first. */
export function foundNodes(model, layout, marked) {
	const nodes = [];

	for (let i = 1; i < model.n;) {
		const hit = marked[model.frame[i]] && layout.size[i] > 0;
		if (hit)
			nodes.push(i);
		i = hit ? model.end[i] : i + 1;
	}
	return nodes.sort((a, b) => layout.size[b] - layout.size[a]);
}
