// SPDX-License-Identifier: Apache-2.0

// Package mathdep is the dependency of the demo service: it adds numbers, and checks itself
// first in a way that costs more than anybody meant it to.
package mathdep

const (
	checkN   = 29
	checkFib = 514229
)

// Addition returns the sum of a and b.
//
//go:noinline
func Addition(a, b int64) int64 {
	if fib(checkN) != checkFib {
		panic("mathdep: the check failed")
	}
	return a + b
}
