/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names made to fit, by what matters least: as they are; without arguments and template
 * arguments; without most of the namespaces; the last part; cut in the middle, or at the end
 * where there is little room. The same ladder as that of the tables and of the SVG
 * (lib/ui/name.c).
 */

const KEPT = ["(anonymous namespace)", "operator()", "operator<<", "operator<=>", "operator<=", "operator<",
	"operator->", "operator>>", "operator>=", "operator>", "(*"];
const TINY_COLUMNS = 14;
const OPEN = "(<[{", CLOSE = ")>]}";

/* Characters that take two columns: East Asian ones and pictures. First and last of each range. */
const WIDE = [[0x1100, 0x115f], [0x2e80, 0xa4cf], [0xac00, 0xd7a3], [0xf900, 0xfaff], [0xfe30, 0xfe6f],
	[0xff00, 0xff60], [0x1f300, 0x1faff], [0x20000, 0x3fffd]];

function columnsOf(code) {
	return code >= WIDE[0][0] && WIDE.some(([first, last]) => code >= first && code <= last) ? 2 : 1;
}

export function textColumns(text) {
	let n = 0;

	for (const c of text)
		n += columnsOf(c.codePointAt(0));
	return n;
}

export function withoutArguments(name) {
	let out = "", depth = 0;

	for (let i = 0; i < name.length;) {
		const kept = depth ? undefined : KEPT.find((w) => name.startsWith(w, i));
		if (kept) {
			out += kept;
			i += kept.length;
			continue;
		}
		const c = name[i];
		/* a name may begin with a bracket: "<T as Trait>::f", "(lambda)" */
		if (!depth && i && c === "(")
			break;
		if (i && c === "<")
			depth++;
		else if (depth && c === ">")
			depth--;
		else if (!depth)
			out += c;
		i++;
	}
	return out;
}

/* What compilers append to the names of pieces and copies of functions; no part of a name. */
const CLONE = /(\.(isra|part|constprop|llvm|lto_priv)\.[0-9]+|\.cold(\.[0-9]+)?)+$/;

/* Where the part after the last `separator` outside of brackets starts, or 0. */
function afterLast(name, end, separator) {
	let at = 0, depth = 0;

	if (end === name.length)
		end -= (CLONE.exec(name) || [""])[0].length;

	for (let i = 0; i < end; i++) {
		if (OPEN.includes(name[i]))
			depth++;
		else if (depth && CLOSE.includes(name[i]))
			depth--;
		else if (!depth && name.startsWith(separator, i) && i + separator.length <= end)
			at = i + separator.length;
	}
	return at;
}

/* "Class::method", "pkg.Func", "Class.method". */
function shortName(name) {
	const slash = afterLast(name, name.length, "/");

	if (slash)
		return name.slice(slash);
	let last = afterLast(name, name.length, "::");
	if (last > 2)
		return name.slice(afterLast(name, last - 2, "::"));
	last = afterLast(name, name.length, ".");
	return last > 1 ? name.slice(afterLast(name, last - 1, ".")) : name;
}

/* "method", "method.func1": a part by which a compiler counts closures says nothing alone. */
function lastPart(name) {
	let dot = afterLast(name, name.length, ".");

	while (dot > 1 && /^(func)?[0-9]/.test(name.slice(dot)) && afterLast(name, dot - 1, "."))
		dot = afterLast(name, dot - 1, ".");
	const at = Math.max(afterLast(name, name.length, "::"), dot);
	return at < name.length ? name.slice(at) : name;
}

/* The forms of a name, each shorter than the one before it. */
export function nameForms(name) {
	const bare = withoutArguments(name), short = shortName(bare);

	return [name, bare, short, lastPart(short)];
}

function cutMiddle(text, columns) {
	const chars = Array.from(text);
	const tailColumns = Math.floor((columns - 1) / 2);
	let head = "", tail = "", used = 0, end = chars.length;

	for (let i = 0; i < chars.length; i++) {
		used += columnsOf(chars[i].codePointAt(0));
		if (used > columns - 1 - tailColumns)
			break;
		head += chars[i];
	}
	for (used = 0; end; end--) {
		used += columnsOf(chars[end - 1].codePointAt(0));
		if (used > tailColumns)
			break;
		tail = chars[end - 1] + tail;
	}
	return head + "…" + tail;
}

function cutEnd(text, columns) {
	let out = "", used = 0;

	for (const c of text) {
		used += columnsOf(c.codePointAt(0));
		if (used > columns - 1)
			break;
		out += c;
	}
	return out + "…";
}

/* The longest of the forms that fits into `columns`, cut if none does. */
export function fitForms(forms, columns) {
	const [full, bare, short, last] = forms;

	/* no character takes less than a column and a UTF-16 unit takes at least half of one */
	for (const form of [full, bare, short])
		if (form.length <= columns * 2 && textColumns(form) <= columns)
			return form;
	if (last.length <= columns * 2 && textColumns(last) <= columns)
		return last;
	return columns < TINY_COLUMNS ? cutEnd(last, columns) : cutMiddle(short, columns);
}

export function fitName(name, columns) {
	return fitForms(nameForms(name), columns);
}

/* "app" of "/usr/bin/app"; "[kernel.kallsyms]" without the symbol that may follow it. */
export function moduleName(file) {
	const base = file.replace(/\/+$/, "").replace(/^.*\//s, "") || file;

	return base[0] === "[" && base.includes("]") ? base.slice(0, base.indexOf("]") + 1) : base;
}
