/* The known word nearest to a mistyped one, for "did you mean". */
#ifndef SOLVEGATE_CONFIG_NEAREST_H
#define SOLVEGATE_CONFIG_NEAREST_H

#include "base/slice.h"

struct nearest {
    struct slice wanted; /* borrowed: what was typed */
    struct slice best;   /* borrowed: the nearest offer so far, not given when none is near */
    size_t distance;     /* of best; offers must beat it */
};

void nearest_init(struct nearest *nearest, struct slice wanted);

/* Takes note of a word if it is nearer than all before it. */
void nearest_offer(struct nearest *nearest, struct slice word);

#endif
