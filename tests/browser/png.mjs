/* SPDX-License-Identifier: Apache-2.0 */
/* Smaller PNG files: browsers compress for speed. */
import { Buffer } from "node:buffer";
import { crc32, deflateSync, inflateSync } from "node:zlib";

function chunk(type, body) {
	const out = Buffer.alloc(12 + body.length);

	out.writeUInt32BE(body.length, 0);
	out.set(Buffer.from(type, "latin1"), 4);
	body.copy(out, 8);
	out.writeUInt32BE(crc32(out.subarray(4, 8 + body.length)), 8 + body.length);
	return out;
}

function nearest(a, b, c) {
	const p = a + b - c, pa = Math.abs(p - a), pb = Math.abs(p - b), pc = Math.abs(p - c);

	return pa <= pb && pa <= pc ? a : pb <= pc ? b : c;
}

/* Rows as they are, each after a zero: text and flat areas repeat best so. */
function unfiltered(raw, height, bpp) {
	const out = Buffer.from(raw), row = raw.length / height;

	for (let y = 0; y < height; y++) {
		const from = y * row, filter = raw[from];
		out[from] = 0;
		for (let i = from + 1; i < from + row; i++) {
			const left = i > from + bpp ? out[i - bpp] : 0, up = y ? out[i - row] : 0, corner = y && i > from + bpp ? out[i - row - bpp] : 0;
			out[i] += [0, left, up, (left + up) >> 1, nearest(left, up, corner)][filter];
		}
	}
	return out;
}

/* To 65 levels a channel: the shades of letters' edges are most of a file. */
function coarser(raw, height) {
	const row = raw.length / height;

	return raw.map((v, i) => (i % row ? Math.min(255, (v + 2) & ~3) : v));
}

/* About the same pixels, of 8 bits of RGB or RGBA, compressed as well as zlib can. */
export function smaller(png) {
	const kept = [], data = [], height = png.readUInt32BE(20), bpp = png[25] === 6 ? 4 : 3;

	for (let at = 8; at < png.length;) {
		const length = png.readUInt32BE(at), type = png.toString("latin1", at + 4, at + 8);
		if (type === "IDAT")
			data.push(png.subarray(at + 8, at + 8 + length));
		else
			kept.push([type, png.subarray(at + 8, at + 8 + length)]);
		at += 12 + length;
	}
	kept.splice(-1, 0, ["IDAT", deflateSync(coarser(unfiltered(inflateSync(Buffer.concat(data)), height, bpp), height), { level: 9, memLevel: 9 })]);
	return Buffer.concat([png.subarray(0, 8), ...kept.map(([type, body]) => chunk(type, body))]);
}
