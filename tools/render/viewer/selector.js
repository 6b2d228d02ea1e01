/* SPDX-License-Identifier: Apache-2.0 */
/* Label selectors, as option -s of the programs has them: comm="app",pod=~"api-.*". */

const TERM = /^\s*([A-Za-z_][A-Za-z0-9_.:/-]*)\s*(=~|!~|!=|=)\s*(?:"((?:[^"\\]|\\.)*)"|([A-Za-z0-9_./:-]*))\s*/;

function unquote(text) {
	return text.replace(/\\(.)/g, (_, c) => ({ n: "\n", t: "\t" })[c] || c);
}

/* How a value is written, so that it is read back. */
export function quote(value) {
	return `"${value.replace(/["\\]/g, "\\$&")}"`;
}

function testFor(operator, value) {
	if (!operator.endsWith("~"))
		return (v) => v === value;
	const re = new RegExp(`^(?:${value})$`, "u");

	return (v) => re.test(v);
}

/* [{ key, operator, value, test }] of a text; what is wrong with it is thrown. */
export function parseSelector(text) {
	const terms = [];
	let rest = text.trim();

	if (rest.startsWith("{"))
		rest = rest.replace(/^\{|\}$/g, "");
	while (rest.trim()) {
		const m = TERM.exec(rest);
		if (!m)
			throw new Error(`not a condition: ${rest.trim().slice(0, 40)}`);
		const value = m[3] === undefined ? m[4] : unquote(m[3]);
		let test;
		try {
			test = testFor(m[2], value);
		} catch {
			throw new Error(`not a regular expression: ${value.slice(0, 40)}`);
		}
		terms.push({ key: m[1], operator: m[2], value, test });
		rest = rest.slice(m[0].length);
		if (rest && !rest.startsWith(","))
			throw new Error(`a comma is missing before: ${rest.slice(0, 40)}`);
		rest = rest.slice(1);
	}
	return terms;
}

/*
 * Whether a label set, pairs of key and value, fits all terms. An absent label is empty; of
 * several values of a key one has to fit = and =~, and all have to fit != and !~.
 */
export function fits(terms, pairs) {
	return terms.every(({ key, operator, test }) => {
		const values = pairs.filter((p) => p[0] === key).map((p) => p[1]);
		if (!values.length)
			values.push("");
		return operator.startsWith("!") ? values.every((v) => !test(v)) : values.some(test);
	});
}
