/* Wakes the loop when the machine has slept: its own timers count by a clock that stood still meanwhile. */
#ifndef SOLVEGATE_GATE_RESUME_H
#define SOLVEGATE_GATE_RESUME_H

struct uv_loop_s;
struct resume;

/* NULL where the system has nothing of the kind: the loop wakes up when something else happens then. */
struct resume *resume_new(struct uv_loop_s *loop);
/* Freed by the loop's next turn. */
void resume_close(struct resume *resume);

#endif
