// SPDX-License-Identifier: Apache-2.0

//go:build !fixed

package mathdep

func fib(n int) int64 {
	if n < 2 {
		return int64(n)
	}
	return fib(n-1) + fib(n-2)
}
