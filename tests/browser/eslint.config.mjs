/* SPDX-License-Identifier: Apache-2.0 */
/* What eslint looks at: the viewer (in a browser) and its tests (under node). */
import js from "@eslint/js";

const names = (text) => Object.fromEntries(text.split(" ").map((n) => [n, "readonly"]));
const BROWSER = names("window document requestAnimationFrame ResizeObserver Blob Response DecompressionStream TextDecoder TextEncoder atob Worker URL self");

const rules = {
	...js.configs.recommended.rules,
	complexity: ["error", 16],
	"max-depth": ["error", 4],
	"max-lines": ["error", 600],
	"max-lines-per-function": ["error", 80],
	eqeqeq: "error",
	"no-eval": "error",
	"no-implied-eval": "error",
	"no-new-func": "error",
	"no-shadow": "error",
	"no-var": "error",
	"prefer-const": "error",
	"no-restricted-properties": ["error",
		...["innerHTML", "outerHTML", "insertAdjacentHTML", "write"].map((property) => ({
			property, message: "names come from strangers: textContent" }))],
};

export default [
	{ files: ["**/*.js"], languageOptions: { ecmaVersion: 2023, sourceType: "module", globals: BROWSER }, rules },
	{ files: ["**/*.mjs"], languageOptions: { ecmaVersion: 2023, sourceType: "module",
		globals: { ...BROWSER, ...names("process console setTimeout") } },
	rules: { ...rules, "max-lines-per-function": "off", complexity: "off" } },
];
