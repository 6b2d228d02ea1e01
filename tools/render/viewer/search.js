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
