// SPDX-License-Identifier: Apache-2.0
module example.com/mathdep

go 1.19
