/* The known word nearest to a mistyped one, for "did you mean". */
#ifndef SOLVEGATE_CONFIG_NEAREST_H
#define SOLVEGATE_CONFIG_NEAREST_H

#include "base/slice.h"

struct nearest {
    struct slice wanted; /* borrowed: the mistyped word */
    struct slice best;   /* borrowed: the nearest word so far; not given if none is near */
    size_t distance;     /* of best; a better word must be below it */
};

void nearest_init(struct nearest *nearest, struct slice wanted);

/* Considers a word; keeps it if it is nearer than all before it. */
void nearest_offer(struct nearest *nearest, struct slice word);

#endif
