/* What must hold when a running configuration adopts another one. */
#ifndef SOLVEGATE_TESTS_FUZZ_ADOPT_H
#define SOLVEGATE_TESTS_FUZZ_ADOPT_H

#include "config/config_reload.h"

/* Both accepted; afterwards both are still to be closed. */
void adopt_and_check(struct config *running, struct config *fresh, size_t client_room);

/* The same file loaded twice: nothing takes a restart. */
void adopt_the_same(struct config *running, struct config *again);

#endif
