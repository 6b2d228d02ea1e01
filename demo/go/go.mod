// SPDX-License-Identifier: Apache-2.0
module example.com/server

go 1.19

require example.com/mathdep v1.0.0

replace example.com/mathdep => ./mathdep
