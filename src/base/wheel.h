/* Hierarchical timer wheel, 1 ms ticks, time passed in: O(1) to arm and cancel, no callbacks. */
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

struct wheel_timer {
    struct list link;
    uint64_t due_ms;
    uint16_t kind; /* the owner's word for what to do, with CONTAINER_OF for whom */
    uint8_t level; /* where it hangs, kept by the wheel */
    uint8_t slot;
    bool is_armed;
};

struct wheel {
    uint64_t now_ms;
    uint64_t count;
    uint64_t occupied[WHEEL_LEVELS]; /* one bit per slot that is not empty */
    struct list slots[WHEEL_LEVELS][WHEEL_SLOTS];
    struct list due; /* collected by wheel_advance, taken by wheel_pop */
    struct list
        moving; /* of a slot whose time has come: to be hung anew, by as many advances as it takes */
};

void wheel_init(struct wheel *wheel, uint64_t now_ms);

void wheel_timer_init(struct wheel_timer *timer, uint16_t kind);

/* Arms or re-arms; a deadline in the past counts as now and is due at the next wheel_advance;
 * WHEEL_NEVER disarms. A zeroed timer may be armed and cancelled like an initialised one. */
void wheel_arm(struct wheel *wheel, struct wheel_timer *timer, uint64_t due_ms);

/* Idempotent; also takes back a timer that was collected and not yet popped. */
void wheel_cancel(struct wheel *wheel, struct wheel_timer *timer);

/* Moves time and collects what is due, earliest first, ties in the order they were armed.
 * A jump costs what it passes, not how long it is. Time that goes back is ignored.
 * A slot of far timers whose time has come may hold all there are: at most `most` of them are hung anew, and
 * then the wheel's own time stays behind until the next advance goes on. */
void wheel_advance(struct wheel *wheel, uint64_t now_ms, uint32_t most);
/* Did the last advance come to the end? */
bool wheel_is_advanced(const struct wheel *wheel);
/* Is anything collected that was not popped? */
bool wheel_has_due(const struct wheel *wheel);

/* The next collected timer, no longer armed, or NULL. Timers armed meanwhile wait for the next
 * advance. */
struct wheel_timer *wheel_pop(struct wheel *wheel);

/* When to advance next: never late, possibly early for far timers; WHEEL_NEVER when empty. */
uint64_t wheel_next_ms(const struct wheel *wheel);

/* Aborts if a timer hangs in the wrong slot or a bitmap lies. */
void wheel_check(const struct wheel *wheel);

#endif
