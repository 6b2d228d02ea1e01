/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unpacking the data: large ones by a worker, so that the page answers meanwhile and what is left
 * over goes with the worker. Its program is the page's own script, which then is without a
 * document; while it starts, the page inflates. Where there can be no worker, the page decodes.
 */
import { buffersOf, decode, fromBase64, gunzip, nameFrames } from "./data.js";

const LARGE = 1 << 20; /* characters of base64 */

/* In the worker: one question, one answer. */
export function answer() {
	self.addEventListener("message", (e) => {
		try {
			const data = decode(e.data);
			self.postMessage({ data }, buffersOf(data));
		} catch (error) {
			self.postMessage({ error: error.message });
		}
	});
	self.postMessage("ready");
}

/* What the worker says next, or null if it has failed. */
function heard(worker) {
	return new Promise((then) => {
		worker.onmessage = (e) => then(e.data);
		worker.onerror = (e) => {
			e.preventDefault();
			then(null);
		};
	});
}

/* The worker once it is ready, or null. */
async function started(program) {
	const url = URL.createObjectURL(new Blob([program], { type: "text/javascript" }));

	try {
		const worker = new Worker(url);
		return await heard(worker) ? worker : null;
	} catch {
		return null;
	} finally {
		URL.revokeObjectURL(url);
	}
}

async function decodedBy(worker, bytes) {
	worker.postMessage(bytes, [bytes.buffer]);
	const result = await heard(worker);
	worker.terminate();
	if (!result?.data)
		throw new Error(result?.error || "the worker has failed");
	return result.data;
}

/* program: that of the page. */
export async function unpack(text, program) {
	const starting = text.length > LARGE && typeof Worker !== "undefined" ? started(program) : null;
	const bytes = await gunzip(fromBase64(text)), worker = await starting;

	return nameFrames(worker ? await decodedBy(worker, bytes) : decode(bytes));
}
