/* SPDX-License-Identifier: Apache-2.0 */
/* Values as people read them: the figures and units of prof-render's tables. */

const KIB = 1024;
const FAMILIES = [
	{
		aliases: /^(b|bytes?|kb|kbytes?|kilobytes?|mb|mbytes?|megabytes?|gb|gbytes?|gigabytes?|tb|tbytes?|terabytes?)$/i,
		units: [["B", 1], ["kB", KIB], ["MB", KIB ** 2], ["GB", KIB ** 3], ["TB", KIB ** 4], ["PB", KIB ** 5]],
		least: ["B", 1],
	},
	{
		aliases: /^(ns|nanoseconds?|us|μs|microseconds?|ms|milliseconds?|s|secs?|seconds?|hrs?|hours?)$/i,
		units: [["ns", 1], ["us", 1e3], ["ms", 1e6], ["s", 1e9], ["hrs", 3600e9]],
		least: ["s", 1e9],
	},
];

function ownFactor(unit) {
	const u = unit.toLowerCase();
	const bytes = "kmgt".indexOf(u[0]) + 1;

	if (u === "b" || u.startsWith("byte"))
		return 1;
	if (/^[kmgt](b|bytes?)$/.test(u) || /^(kilo|mega|giga|tera)bytes?$/.test(u))
		return KIB ** bytes;
	if (u.startsWith("n"))
		return 1;
	if (u.startsWith("u") || u.startsWith("μ") || u.startsWith("micro"))
		return 1e3;
	if (u.startsWith("ms") || u.startsWith("milli"))
		return 1e6;
	return u.startsWith("h") ? 3600e9 : 1e9;
}

/* Nanoseconds in one of the unit, or 0 where it is no unit of time. */
export function nanoseconds(unit) {
	return FAMILIES[1].aliases.test(unit) ? ownFactor(unit) : 0;
}

/* "1.25s", "-312", "0": two digits after the point, unless they are zero. */
export function formatValue(v, unit) {
	const family = FAMILIES.find((f) => f.aliases.test(unit));
	let name = "", scaled = Math.abs(v), text;

	if (family) {
		const base = scaled * ownFactor(unit);
		const best = family.units.findLast((u) => base / u[1] >= 1) || family.least;
		name = best[0];
		scaled = base / best[1];
	}
	text = scaled < 1e21 ? scaled.toFixed(2) : String(scaled);
	if (text.endsWith(".00"))
		text = text.slice(0, -3);
	if (text === "0")
		return "0";
	return (v < 0 ? "-" : "") + text + name;
}

/* With the sign always, for differences; the minus is one that can be seen. */
export function formatDelta(v, unit) {
	const text = formatValue(Math.abs(v), unit);

	if (text === "0")
		return "0";
	return (v < 0 ? "−" : "+") + text;
}

/* "12.34%", "0.12%", "100%"; "–" where there is nothing to be a part of. */
export function formatShare(v, total) {
	const p = Math.abs(v / total) * 100;

	if (!total)
		return "–";
	if (p >= 99.95 && p <= 100.05)
		return "100%";
	if (p >= 0.995 || !p)
		return (p ? p.toFixed(2) : "0") + "%";
	return (p >= 1e-4 ? p.toPrecision(2) : "<0.0001") + "%";
}

export function formatDeltaShare(v, total) {
	const text = formatShare(v, total);

	return v === 0 || !total ? text : (v < 0 ? "−" : "+") + text;
}

/* 1234567 as "1,234,567". */
export function formatCount(n) {
	return String(n).replace(/\B(?=(\d{3})+$)/g, ",");
}

export function plural(n, one, many) {
	return formatCount(n) + " " + (n === 1 ? one : many);
}
