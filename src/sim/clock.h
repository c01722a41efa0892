/* The simulator's time: one timer wheel behind one uv timer, and the handlers of its timers. */
#ifndef SOLVEGATE_SIM_CLOCK_H
#define SOLVEGATE_SIM_CLOCK_H

#include "base/wheel.h"

struct uv_loop_s;
struct clock;

enum clock_kind {
    CLOCK_TASK, /* a task is solved, or its result expires */
    CLOCK_CONN, /* an idle connection, or a reply held back */
    CLOCK_JOB,  /* a delayed callback */
    CLOCK_PEER, /* a callback that gets no answer */
    CLOCK_KINDS,
};

typedef void (*clock_handler)(void *context, struct wheel_timer *timer);

struct clock *clock_new(struct uv_loop_s *loop);

/* Starts closing its handles; clock_free once the loop has run out. */
void clock_close(struct clock *clock);
void clock_free(struct clock *clock);

/* Sets the handler of timers of this kind. */
void clock_handle(struct clock *clock, enum clock_kind kind, clock_handler handler, void *context);

/* Monotonic time of this turn of the loop. */
uint64_t clock_now_ms(const struct clock *clock);

/* The Unix time of a monotonic time. */
uint64_t clock_wall_ms(const struct clock *clock, uint64_t at_ms);

void clock_arm(struct clock *clock, struct wheel_timer *timer, uint64_t due_ms);
void clock_cancel(struct clock *clock, struct wheel_timer *timer);

#endif
