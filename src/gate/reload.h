/* SIGHUP: adopts the new configuration if it is valid; else the old one stays. */
#ifndef SOLVEGATE_GATE_RELOAD_H
#define SOLVEGATE_GATE_RELOAD_H

struct gate;

void reload(struct gate *gate);

#endif
