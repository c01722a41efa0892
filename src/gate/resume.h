/* Wakes the loop after the machine slept: the loop's own timers use a clock that stands still
 * during sleep. */
#ifndef SOLVEGATE_GATE_RESUME_H
#define SOLVEGATE_GATE_RESUME_H

struct uv_loop_s;
struct resume;

/* NULL if the system lacks timerfd: then the loop wakes up at its next event. */
struct resume *resume_new(struct uv_loop_s *loop);
/* Freed by the loop's next turn. */
void resume_close(struct resume *resume);

#endif
