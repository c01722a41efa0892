#include "base/wheel.h"

#include "base/assert.h"

#include <stddef.h>

/*
 * Read time as digits of WHEEL_SLOT_BITS bits, level 0 the lowest. A timer hangs at the level of
 * the highest digit in which its deadline differs from now, in the slot this digit names. Hence
 *  - every timer of a level is due before every timer of the level above, and the first occupied
 *    slot of the lowest occupied level is the next thing to happen;
 *  - the slot of now's own digit is empty at every level, but for level 0, where it holds what is
 *    due already, and for the last level, where it holds what comes one whole round later;
 *  - the place depends on nothing but deadline and now, so that equal deadlines share one list all
 *    their life and fire in the order they were armed.
 * When time reaches the start of a slot above level 0, all levels below are empty, and its timers
 * are placed anew. The last level is a ring: it is visited once in a round of 2^36 ms (2.2 years),
 * and what is due in a later round stays where it is.
 */

#define TOP_LEVEL (WHEEL_LEVELS - 1)
#define DIGIT_MASK (WHEEL_SLOTS - 1)

_Static_assert(WHEEL_SLOTS == 64, "one bitmap word holds one level");

struct place {
    unsigned level;
    unsigned slot;
};

static unsigned digit_of(uint64_t time_ms, unsigned level)
{
    return (unsigned)(time_ms >> (level * WHEEL_SLOT_BITS)) & DIGIT_MASK;
}

static struct place place_of(uint64_t due_ms, uint64_t now_ms)
{
    if (due_ms <= now_ms)
        return (struct place){.level = 0, .slot = digit_of(now_ms, 0)};
    const unsigned highest_bit = 63 - (unsigned)__builtin_clzll(due_ms ^ now_ms);
    const unsigned differing = highest_bit / WHEEL_SLOT_BITS;
    const unsigned level = differing < TOP_LEVEL ? differing : TOP_LEVEL;
    return (struct place){.level = level, .slot = digit_of(due_ms, level)};
}

static void hang(struct wheel *wheel, struct wheel_timer *timer)
{
    const struct place place = place_of(timer->due_ms, wheel->now_ms);
    list_append(&wheel->slots[place.level][place.slot], &timer->link);
    wheel->occupied[place.level] |= UINT64_C(1) << place.slot;
}

static void unhang(struct wheel *wheel, struct wheel_timer *timer)
{
    /* Both neighbours of the last one are the list's head, which tells the slot; a collected timer is
     * in none. */
    const struct list *head = timer->link.next;
    const bool is_last = head == timer->link.prev;
    list_unlink(&timer->link);
    const uintptr_t offset = (uintptr_t)head - (uintptr_t)wheel->slots;
    if (!is_last || offset >= sizeof wheel->slots)
        return;
    const size_t place = offset / sizeof *head;
    wheel->occupied[place / WHEEL_SLOTS] &= ~(UINT64_C(1) << place % WHEEL_SLOTS);
}

void wheel_init(struct wheel *wheel, uint64_t now_ms)
{
    wheel->now_ms = now_ms;
    wheel->count = 0;
    list_init(&wheel->due);
    list_init(&wheel->moving);
    for (unsigned level = 0; level < WHEEL_LEVELS; level++) {
        wheel->occupied[level] = 0;
        for (unsigned slot = 0; slot < WHEEL_SLOTS; slot++)
            list_init(&wheel->slots[level][slot]);
    }
}

void wheel_timer_init(struct wheel_timer *timer, uint8_t kind)
{
    *timer = (struct wheel_timer){.kind = kind};
    list_init(&timer->link);
}

void wheel_arm(struct wheel *wheel, struct wheel_timer *timer, uint64_t due_ms)
{
    wheel_cancel(wheel, timer);
    if (due_ms == WHEEL_NEVER)
        return;
    timer->due_ms = (due_ms < WHEEL_LAST_MS ? due_ms : WHEEL_LAST_MS) & WHEEL_LAST_MS;
    timer->is_armed = true;
    wheel->count++;
    hang(wheel, timer);
}

void wheel_cancel(struct wheel *wheel, struct wheel_timer *timer)
{
    if (!timer->is_armed)
        return;
    unhang(wheel, timer);
    timer->is_armed = false;
    wheel->count--;
}

/* Bits of the level's slots that are ahead of now in this round. */
static uint64_t ahead_of(const struct wheel *wheel, unsigned level)
{
    const unsigned digit = digit_of(wheel->now_ms, level);
    return wheel->occupied[level] & ~(UINT64_MAX >> (DIGIT_MASK - digit));
}

/* The start time of a slot, in the current round of now. */
static uint64_t start_of(const struct wheel *wheel, unsigned level, unsigned slot)
{
    const unsigned shift = level * WHEEL_SLOT_BITS;
    const uint64_t round = wheel->now_ms >> shift >> WHEEL_SLOT_BITS;
    return (round << WHEEL_SLOT_BITS | slot) << shift;
}

/* Finds the occupied slot that time reaches next, and returns its start; WHEEL_NEVER if there is none. */
static uint64_t find_next(const struct wheel *wheel, struct place *place)
{
    for (unsigned level = 0; level < WHEEL_LEVELS; level++) {
        const uint64_t ahead = ahead_of(wheel, level);
        if (ahead == 0)
            continue;
        *place = (struct place){.level = level, .slot = (unsigned)__builtin_ctzll(ahead)};
        return start_of(wheel, level, place->slot);
    }
    const uint64_t next_round = wheel->occupied[TOP_LEVEL];
    if (next_round == 0)
        return WHEEL_NEVER;
    *place = (struct place){.level = TOP_LEVEL, .slot = (unsigned)__builtin_ctzll(next_round)};
    const uint64_t round_ms = UINT64_C(1) << (WHEEL_LEVELS * WHEEL_SLOT_BITS);
    return start_of(wheel, TOP_LEVEL, place->slot) + round_ms;
}

/* Takes the timers off a slot whose time has come. */
static void take_off(struct wheel *wheel, struct place place)
{
    list_splice(&wheel->moving, &wheel->slots[place.level][place.slot]);
    wheel->occupied[place.level] &= ~(UINT64_C(1) << place.slot);
}

/* Re-hangs the timers at their new places; false when some are left over. */
static bool cascade(struct wheel *wheel, uint32_t *left)
{
    while (!list_is_empty(&wheel->moving) && *left > 0) {
        struct list *node = list_first(&wheel->moving);
        list_unlink(node);
        hang(wheel, CONTAINER_OF(node, struct wheel_timer, link));
        --*left;
    }
    return list_is_empty(&wheel->moving);
}

static void collect(struct wheel *wheel)
{
    const unsigned slot = digit_of(wheel->now_ms, 0);
    list_splice(&wheel->due, &wheel->slots[0][slot]);
    wheel->occupied[0] &= ~(UINT64_C(1) << slot);
}

void wheel_advance(struct wheel *wheel, uint64_t now_ms, uint32_t most)
{
    uint32_t left = most;
    if (!cascade(wheel, &left))
        return;
    collect(wheel);
    struct place place;
    uint64_t next_ms = find_next(wheel, &place);
    while (next_ms <= now_ms && next_ms != WHEEL_NEVER) {
        wheel->now_ms = next_ms;
        if (place.level > 0)
            take_off(wheel, place);
        if (!cascade(wheel, &left))
            return;
        collect(wheel);
        next_ms = find_next(wheel, &place);
    }
    if (now_ms > wheel->now_ms)
        wheel->now_ms = now_ms;
}

bool wheel_is_advanced(const struct wheel *wheel)
{
    return list_is_empty(&wheel->moving);
}

bool wheel_has_due(const struct wheel *wheel)
{
    return !list_is_empty(&wheel->due);
}

struct wheel_timer *wheel_pop(struct wheel *wheel)
{
    struct list *node = list_first(&wheel->due);
    if (node == NULL)
        return NULL;
    struct wheel_timer *timer = CONTAINER_OF(node, struct wheel_timer, link);
    list_unlink(node);
    timer->is_armed = false;
    wheel->count--;
    return timer;
}

uint64_t wheel_next_ms(const struct wheel *wheel)
{
    const uint64_t overdue = wheel->occupied[0] >> digit_of(wheel->now_ms, 0) & 1;
    if (overdue != 0 || !list_is_empty(&wheel->due) || !list_is_empty(&wheel->moving))
        return wheel->now_ms;
    struct place place;
    return find_next(wheel, &place);
}

static uint64_t check_slot(const struct wheel *wheel, unsigned level, unsigned slot)
{
    const struct list *head = &wheel->slots[level][slot];
    const bool is_occupied = (wheel->occupied[level] >> slot & 1) != 0;
    ASSERT(is_occupied == !list_is_empty(head));
    list_check(head, wheel->count);
    uint64_t count = 0;
    LIST_FOR_EACH(node, head) {
        const struct wheel_timer *timer = CONTAINER_OF(node, struct wheel_timer, link);
        const struct place place = place_of(timer->due_ms, wheel->now_ms);
        ASSERT(timer->is_armed);
        ASSERT(place.level == level && place.slot == slot);
        count++;
    }
    return count;
}

void wheel_check(const struct wheel *wheel)
{
    list_check(&wheel->due, wheel->count);
    uint64_t count = 0;
    LIST_FOR_EACH(node, &wheel->due) {
        const struct wheel_timer *timer = CONTAINER_OF(node, struct wheel_timer, link);
        ASSERT(timer->is_armed);
        ASSERT(timer->due_ms <= wheel->now_ms);
        count++;
    }
    list_check(&wheel->moving, wheel->count);
    LIST_FOR_EACH(node, &wheel->moving) {
        const struct wheel_timer *timer = CONTAINER_OF(node, struct wheel_timer, link);
        ASSERT(timer->is_armed && timer->due_ms >= wheel->now_ms);
        count++;
    }
    for (unsigned level = 0; level < WHEEL_LEVELS; level++)
        for (unsigned slot = 0; slot < WHEEL_SLOTS; slot++)
            count += check_slot(wheel, level, slot);
    ASSERT(count == wheel->count);
}
