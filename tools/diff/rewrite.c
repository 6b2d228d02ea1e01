/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/diff/rewrite.h"

#include <stdlib.h>

void rewrite_side(struct pair *pair, enum side side, struct replicas *all,
		  stack_rewrite *rewrite, void *ctx)
{
	struct profile *p = pair->side[side];
	struct replica **r;
	size_t i, k, n;
	int column;

	for (i = 0; i < p->nsamples; i++)
		p->samples[i].stack = rewrite(ctx, p->store, p->samples[i].stack);
	r = replicas_of(all, side, &p->h, &n, &column);
	for (i = 0; i < n; i++) {
		for (k = 0; k < r[i]->ncosts; k++)
			r[i]->costs[k].stack =
				rewrite(ctx, p->store, r[i]->costs[k].stack);
	}
	free(r);
}
