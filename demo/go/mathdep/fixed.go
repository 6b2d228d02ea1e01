// SPDX-License-Identifier: Apache-2.0

//go:build fixed

package mathdep

//go:noinline
func fib(n int) int64 {
	a, b := int64(0), int64(1)
	for ; n > 0; n-- {
		a, b = b, a+b
	}
	return a
}
