/* What the log says about the journal that the start has read. */
#ifndef SOLVEGATE_GATE_PERSIST_TELL_H
#define SOLVEGATE_GATE_PERSIST_TELL_H

#include <stdint.h>

struct gate;

void persist_tell_restored(struct gate *gate, uint64_t start_ns);

#endif
