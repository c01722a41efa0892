/* Once a second: the engine's totals and levels become a point of the lines over time (base/series.h). */
#ifndef SOLVEGATE_GATE_SAMPLING_H
#define SOLVEGATE_GATE_SAMPLING_H

struct gate;

/* Takes all the memory that the lines will ever need. */
void sampling_open(struct gate *gate);
/* The engine is there: from now on there are points. */
void sampling_start(struct gate *gate);
void sampling_free(struct gate *gate);

#endif
