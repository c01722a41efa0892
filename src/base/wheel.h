/* Hierarchical timer wheel with 1 ms ticks; time is passed in. O(1) to arm and cancel, no callbacks. */
#ifndef SOLVEGATE_BASE_WHEEL_H
#define SOLVEGATE_BASE_WHEEL_H

#include "base/list.h"

#include <stdbool.h>
#include <stdint.h>

#define WHEEL_LEVELS 6
#define WHEEL_SLOT_BITS 6
#define WHEEL_SLOTS (1 << WHEEL_SLOT_BITS)
/* No deadline at all. */
#define WHEEL_NEVER UINT64_MAX

/* The last deadline, in nine thousand years: later ones count as this. It leaves a timer's last bytes
 * to its kind and state, and there are several timers to each flight. */
#define WHEEL_DUE_BITS 48
#define WHEEL_LAST_MS ((UINT64_C(1) << WHEEL_DUE_BITS) - 1)

struct wheel_timer {
    struct list link;
    uint64_t due_ms : WHEEL_DUE_BITS;
    uint8_t kind; /* the timer's purpose, chosen by its owner; CONTAINER_OF finds the owner */
    bool is_armed;
};

struct wheel {
    uint64_t now_ms;
    uint64_t count;
    uint64_t occupied[WHEEL_LEVELS]; /* one bit per slot that is not empty */
    struct list slots[WHEEL_LEVELS][WHEEL_SLOTS];
    struct list due;    /* collected by wheel_advance, taken by wheel_pop */
    struct list moving; /* timers of a slot whose time has come, re-hung over several advances */
};

void wheel_init(struct wheel *wheel, uint64_t now_ms);

void wheel_timer_init(struct wheel_timer *timer, uint8_t kind);

/* Arms or re-arms. A deadline in the past counts as now and is due at the next wheel_advance;
 * WHEEL_NEVER disarms. A zeroed timer may be armed and cancelled like an initialised one. */
void wheel_arm(struct wheel *wheel, struct wheel_timer *timer, uint64_t due_ms);

/* Idempotent; also removes a timer that was collected and not yet popped. */
void wheel_cancel(struct wheel *wheel, struct wheel_timer *timer);

/* Moves time forward and collects due timers, earliest first, ties in the order they were armed.
 * The cost depends on the timers passed, not on the length of the jump. Time that goes back is
 * ignored. A slot of far timers may hold all there are: at most `most` of them are re-hung, and
 * then the wheel's own time lags behind until the next advance. */
void wheel_advance(struct wheel *wheel, uint64_t now_ms, uint32_t most);
/* Did the last advance reach its target time? */
bool wheel_is_advanced(const struct wheel *wheel);
/* Are there collected timers that were not popped? */
bool wheel_has_due(const struct wheel *wheel);

/* Returns the next collected timer, no longer armed, or NULL. Timers armed meanwhile wait for the
 * next advance. */
struct wheel_timer *wheel_pop(struct wheel *wheel);

/* When to advance next: never late, possibly early for far timers; WHEEL_NEVER when empty. */
uint64_t wheel_next_ms(const struct wheel *wheel);

/* Aborts if a timer is in the wrong slot or a bitmap is wrong. */
void wheel_check(const struct wheel *wheel);

#endif
