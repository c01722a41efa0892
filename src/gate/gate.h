/* The gateway: wires the doors, the engine and the vendor together and runs the loop. */
#ifndef SOLVEGATE_GATE_GATE_H
#define SOLVEGATE_GATE_GATE_H

struct buf;
struct config;

/* Reads the configuration again; 0, or anything else with a line per mistake. Opens the buffer. */
struct gate_loader {
    void *context;
    int (*load)(void *context, struct config *config, struct buf *mistakes);
};

/* Listens, prints the ready line on stdout, serves until SIGTERM or SIGINT; SIGHUP reloads. Returns an exit code. */
int gate_run(struct config *config, const struct gate_loader *loader);

#endif
