/* The gateway: wires the doors, the engine and the vendor together and runs the loop. */
#ifndef SOLVEGATE_IO_GATE_H
#define SOLVEGATE_IO_GATE_H

struct config;

/* Listens, prints the ready line on stdout, serves until SIGTERM or SIGINT. Returns an exit code. */
int gate_run(const struct config *config);

#endif
