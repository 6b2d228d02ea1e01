# SPDX-License-Identifier: Apache-2.0
# Addresses as a profile has them, from `nm -S -n --defined-only` of a program: -v want=N of them,
# of -v hot=N functions weighted by 1/rank, each at any byte, or (hot=0) of all code, each byte as
# likely as another. -v seed=N chooses the addresses, -v functions=N the hot functions. Decimal,
# one a line, the same for the same arguments.

# awk counts in floating point, which 48 bits fit into
function hex(s, i, v)
{
	s = tolower(s)
	for (i = v = 0; i++ < length(s);)
		v = v * 16 + index("0123456789abcdef", substr(s, i, 1)) - 1
	return v
}

# Lehmer's generator: products stay below 2^46
function uniform()
{
	state = state * 16807 % 2147483647
	return state / 2147483647
}

# The first i with sum[i] > x.
function place(sum, count, x, lo, hi, mid)
{
	lo = 0
	hi = count - 1
	while (lo < hi) {
		mid = int((lo + hi) / 2)
		if (sum[mid] <= x)
			lo = mid + 1
		else
			hi = mid
	}
	return lo
}

# as a number: what has no value yet is the index "", and not 0
BEGIN { n = 0 }

NF == 4 && $3 ~ /^[tTwW]$/ {
	v = hex($1)
	if (n && v == at[n - 1] || !hex($2))
		next
	at[n] = v
	size[n] = hex($2)
	bytes += size[n]
	upto[n++] = bytes
}

END {
	state = functions ? functions : 1
	for (i = 0; i < hot; i++) {
		chosen[i] = int(uniform() * n)
		weight += 1 / (i + 1)
		weights[i] = weight
	}
	state = seed ? seed : 1
	for (k = 0; n && k < want; k++) {
		if (hot) {
			f = chosen[place(weights, hot, uniform() * weight)]
			v = at[f] + int(uniform() * size[f])
		} else {
			x = int(uniform() * bytes)
			f = place(upto, n, x)
			v = at[f] + x - (upto[f] - size[f])
		}
		printf "%.0f\n", v
	}
}
