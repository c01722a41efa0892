/* SIGHUP: adopts the new configuration if it is valid; else the old one stays. */
#ifndef SOLVEGATE_GATE_RELOAD_H
#define SOLVEGATE_GATE_RELOAD_H

#include <stdbool.h>

struct gate;

/* To be called first of all: a SIGHUP that nobody can obey yet waits, instead of ending the process. */
void reload_defer(void);
/* From now on the loop hears it, also the one that has waited. */
void reload_allow(void);

void reload(struct gate *gate);

/* For the end: does not wait for a thread that still reads. True if there is one, which may then
 * read the loader and its context until the process ends. */
bool reload_abandon(struct gate *gate);

#endif
