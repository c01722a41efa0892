#include "sim/clock.h"

#include "base/assert.h"

#include <stdlib.h>
#include <time.h>
#include <uv.h>

struct clock {
    uv_loop_t *loop;
    uv_timer_t timer;
    uv_prepare_t prepare;
    uint64_t armed_for_ms; /* WHEEL_NEVER while the uv timer is stopped */
    uint64_t wall_offset_ms;
    struct wheel wheel;
    clock_handler handlers[CLOCK_KINDS];
    void *contexts[CLOCK_KINDS];
};

static void on_timer(uv_timer_t *timer)
{
    struct clock *clock = timer->data;
    struct wheel_timer *due;

    clock->armed_for_ms = WHEEL_NEVER;
    wheel_advance(&clock->wheel, uv_now(clock->loop), UINT32_MAX);
    while ((due = wheel_pop(&clock->wheel)) != NULL) {
        ASSERT(due->kind < CLOCK_KINDS);
        clock->handlers[due->kind](clock->contexts[due->kind], due);
    }
}

/* The next deadline is final only just before the loop sleeps. */
static void on_prepare(uv_prepare_t *prepare)
{
    struct clock *clock = prepare->data;
    const uint64_t next_ms = wheel_next_ms(&clock->wheel);

    if (next_ms == clock->armed_for_ms)
        return;
    clock->armed_for_ms = next_ms;
    if (next_ms == WHEEL_NEVER) {
        uv_timer_stop(&clock->timer);
        return;
    }
    const uint64_t now_ms = uv_now(clock->loop);
    const uint64_t wait_ms = next_ms > now_ms ? next_ms - now_ms : 0;
    ASSERT(uv_timer_start(&clock->timer, on_timer, wait_ms, 0) == 0);
}

static void on_unset(void *context, struct wheel_timer *timer)
{
    (void)context;
    (void)timer;
    UNREACHABLE();
}

struct clock *clock_new(struct uv_loop_s *loop)
{
    struct clock *clock = calloc(1, sizeof *clock);
    struct timespec wall;

    ASSERT(clock != NULL);
    clock->loop = loop;
    clock->armed_for_ms = WHEEL_NEVER;
    for (size_t i = 0; i < CLOCK_KINDS; i++)
        clock->handlers[i] = on_unset;
    uv_update_time(loop);
    wheel_init(&clock->wheel, uv_now(loop));
    clock_gettime(CLOCK_REALTIME, &wall);
    clock->wall_offset_ms =
        (uint64_t)wall.tv_sec * 1000 + (uint64_t)wall.tv_nsec / 1000000 - uv_now(loop);
    ASSERT(uv_timer_init(loop, &clock->timer) == 0);
    ASSERT(uv_prepare_init(loop, &clock->prepare) == 0);
    clock->timer.data = clock;
    clock->prepare.data = clock;
    ASSERT(uv_prepare_start(&clock->prepare, on_prepare) == 0);
    return clock;
}

void clock_close(struct clock *clock)
{
    uv_close((uv_handle_t *)&clock->timer, NULL);
    uv_close((uv_handle_t *)&clock->prepare, NULL);
}

void clock_free(struct clock *clock)
{
    free(clock);
}

void clock_handle(struct clock *clock, enum clock_kind kind, clock_handler handler, void *context)
{
    clock->handlers[kind] = handler;
    clock->contexts[kind] = context;
}

uint64_t clock_now_ms(const struct clock *clock)
{
    return uv_now(clock->loop);
}

uint64_t clock_wall_ms(const struct clock *clock, uint64_t at_ms)
{
    return clock->wall_offset_ms + at_ms;
}

void clock_arm(struct clock *clock, struct wheel_timer *timer, uint64_t due_ms)
{
    wheel_arm(&clock->wheel, timer, due_ms);
}

void clock_cancel(struct clock *clock, struct wheel_timer *timer)
{
    wheel_cancel(&clock->wheel, timer);
}
