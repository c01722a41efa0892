/* The end: what is under way may finish, whoever still waits then is sent away, and every part is closed, in a limited
 * time. */
#ifndef SOLVEGATE_GATE_DRAIN_H
#define SOLVEGATE_GATE_DRAIN_H

struct gate;

/* SIGTERM and SIGINT end a start that waits for its store at once: it has touched nothing yet. */
void drain_catch_early(void);
/* From now on they drain; a second one ends the program at once. */
void drain_catch(struct gate *gate);

/* Ends soon with this exit code; finished answers are sent first. */
void drain_give_up(struct gate *gate, int code);

/* Closes everything once nobody waits any more; at the end of every turn. */
void drain_look(struct gate *gate);

/* Closes everything now. */
void drain_close(struct gate *gate);

#endif
