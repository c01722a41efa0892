/* Time, chance and the order of things. */
#include "cluster.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define STEPS_MAX 3000000
/* Long enough for every flight, stray and idempotency key of the slowest world to end. */
#define HEAL_MS 900000

/* ---- helpers --------------------------------------------------------------------------------- */

void *room_for(void *items, size_t count, size_t *room, size_t item_bytes)
{
    if (count < *room)
        return items;
    *room = *room == 0 ? 64 : *room * 2;
    void *larger = realloc(items, *room * item_bytes);
    ASSERT(larger != NULL);
    return larger;
}

uint64_t below(struct cluster *c, uint64_t bound)
{
    return rand_below(&c->rand, bound);
}

bool chance(struct cluster *c, enum fault fault)
{
    /* Drawn in any case, so that a world without a fault is otherwise the same. */
    const bool strikes = below(c, 1000) < c->plan.strength[fault];
    return strikes && !c->is_healing;
}

int64_t wall_ms(const struct cluster *c)
{
    return START_WALL_MS + c->plan.day_ms + (int64_t)c->now_ms;
}

struct key key_numbered(uint32_t key)
{
    return key_from_u64((uint64_t)key + 1);
}

uint32_t number_of_key(const struct key *key)
{
    uint64_t number = 0;
    memcpy(&number, key->bytes, sizeof number);
    return (uint32_t)(number - 1);
}

struct key digest_numbered(uint64_t idempotency)
{
    struct key digest = key_from_u64(idempotency);
    digest.bytes[KEY_BYTES - 1] = 1;
    return digest;
}

void tell(const struct cluster *c, const char *format, ...)
{
    if (!c->is_traced)
        return;
    va_list args;
    (void)printf("[%7llu] ", (unsigned long long)c->now_ms);
    va_start(args, format);
    (void)vprintf(format, args);
    va_end(args);
    (void)putchar('\n');
}

_Noreturn void cluster_fail(const struct cluster *c, const char *rule, const char *file, int line)
{
    (void)fflush(stdout);
    (void)fprintf(stderr, "seed %llu breaks %s at %llu ms (%s:%d)\n",
                  (unsigned long long)c->plan.seed, rule, (unsigned long long)c->now_ms, file,
                  line);
    abort();
}

/* ---- the heap --------------------------------------------------------------------------------- */

static bool is_before(const struct moment *a, const struct moment *b)
{
    return a->at_ms != b->at_ms ? a->at_ms < b->at_ms : a->order < b->order;
}

void at(struct cluster *c, uint64_t in_ms, struct moment moment)
{
    moment.at_ms = c->now_ms + in_ms;
    moment.order = c->order++;
    c->heap = room_for(c->heap, c->heap_count, &c->heap_room, sizeof *c->heap);
    size_t place = c->heap_count++;
    for (; place > 0 && is_before(&moment, &c->heap[(place - 1) / 2]); place = (place - 1) / 2)
        c->heap[place] = c->heap[(place - 1) / 2];
    c->heap[place] = moment;
}

static struct moment pop(struct cluster *c)
{
    const struct moment first = c->heap[0];
    const struct moment last = c->heap[--c->heap_count];
    size_t place = 0;
    for (;;) {
        size_t child = 2 * place + 1;
        if (child >= c->heap_count)
            break;
        if (child + 1 < c->heap_count && is_before(&c->heap[child + 1], &c->heap[child]))
            child++;
        if (!is_before(&c->heap[child], &last))
            break;
        c->heap[place] = c->heap[child];
        place = child;
    }
    c->heap[place] = last;
    return first;
}

/* ---- running ----------------------------------------------------------------------------------- */

/* What happens to a process that does not run waits until it does; what happens at the store does not. */
static bool is_postponed(struct cluster *c, const struct moment *moment)
{
    const bool is_elsewhere =
        moment->what == HAPPEN_AT_STORE || moment->what == HAPPEN_BEAT_AT_STORE ||
        moment->what == HAPPEN_ARRIVE || moment->what == HAPPEN_NEED || moment->what == HAPPEN_UP ||
        moment->what == HAPPEN_ADOPT || moment->what == HAPPEN_FIND ||
        moment->what == HAPPEN_REPORT || moment->what == HAPPEN_ORDER ||
        moment->what == HAPPEN_SIGHT || moment->what == HAPPEN_ROLL;
    if (is_elsewhere || !node_is_paused(c, moment->node))
        return false;
    at(c, c->nodes[moment->node].paused_until_ms - c->now_ms, *moment);
    return true;
}

static void happen(struct cluster *c, const struct moment *moment)
{
    if (is_postponed(c, moment))
        return;
    if (moment->incarnation != 0 && (c->nodes[moment->node].incarnation != moment->incarnation ||
                                     c->nodes[moment->node].engine == NULL))
        return;
    switch (moment->what) {
    case HAPPEN_ARRIVE:
    case HAPPEN_NEED:
    case HAPPEN_LEAVE:
        clients_happen(c, moment);
        return;
    case HAPPEN_SUBMITTED:
    case HAPPEN_POLLED:
    case HAPPEN_CALLBACK:
        vendor_happens(c, moment);
        return;
    case HAPPEN_AT_STORE:
    case HAPPEN_BACK:
    case HAPPEN_SEND:
    case HAPPEN_WOKEN:
    case HAPPEN_UP:
    case HAPPEN_RESUME:
    case HAPPEN_FENCED:
    case HAPPEN_LOST:
    case HAPPEN_INBOX:
        node_happens(c, moment);
        return;
    case HAPPEN_LEFT:
        drain_happens(c, moment);
        return;
    case HAPPEN_FIND:
    case HAPPEN_FOUND:
        finds_happen(c, moment);
        return;
    case HAPPEN_REPORT:
        errands_happen(c, moment);
        return;
    case HAPPEN_ORDER:
        orders_happen(c);
        return;
    case HAPPEN_SIGHT:
        sights_happen(c, moment);
        return;
    case HAPPEN_ROLL:
        rolls_happen(c, moment);
        return;
    case HAPPEN_BEAT:
    case HAPPEN_BEAT_AT_STORE:
    case HAPPEN_BEAT_BACK:
    case HAPPEN_ADOPT:
    case HAPPEN_ADOPTED:
        pulse_happens(c, moment);
        return;
    }
    UNREACHABLE();
}

/* The node whose engine wants to be ticked first, or NONE. */
static uint32_t next_to_tick(const struct cluster *c, uint64_t *deadline_ms)
{
    uint32_t next = NONE;
    *deadline_ms = UINT64_MAX;
    for (uint32_t i = 0; i < c->plan.nodes; i++) {
        uint64_t due_ms = node_deadline_ms(c, i);
        if (node_is_paused(c, i) && due_ms < c->nodes[i].paused_until_ms)
            due_ms = c->nodes[i].paused_until_ms;
        if (due_ms < *deadline_ms) {
            *deadline_ms = due_ms;
            next = i;
        }
    }
    return next;
}

static void maybe_crash(struct cluster *c)
{
    if (!chance(c, FAULT_CRASH))
        return;
    const uint32_t node = (uint32_t)below(c, c->plan.nodes);
    if (c->nodes[node].engine == NULL)
        return;
    node_crash(c, node);
    at(c, 1 + below(c, 20000), (struct moment){.what = HAPPEN_UP, .node = node});
}

static void maybe_away(struct cluster *c)
{
    if (c->now_ms < c->store.away_until_ms || !chance(c, FAULT_STORE_AWAY))
        return;
    c->store.away_until_ms = c->now_ms + below(c, 30000);
    tell(c, "the store is away");
}

static void live(struct cluster *c, uint64_t until_ms)
{
    for (;;) {
        uint64_t due_ms = 0;
        const uint32_t node = next_to_tick(c, &due_ms);
        const uint64_t moment_ms = c->heap_count == 0 ? UINT64_MAX : c->heap[0].at_ms;
        const uint64_t next_ms = due_ms < moment_ms ? due_ms : moment_ms;
        if (next_ms > until_ms)
            break;
        CHECK(c, ++c->steps < STEPS_MAX);
        if (next_ms > c->now_ms)
            c->now_ms = next_ms;
        if (due_ms < moment_ms) {
            struct event event = {.kind = EVENT_TICK};
            node_step(c, node, &event);
            continue;
        }
        const struct moment moment = pop(c);
        happen(c, &moment);
        maybe_crash(c);
        maybe_away(c);
        pulse_disturb(c);
        drain_disturb(c);
        forget_disturb(c);
    }
    c->now_ms = until_ms;
}

static bool all_have_come(const struct cluster *c)
{
    return c->need_count == c->plan.needs;
}

void cluster_run(struct cluster *c, const struct plan *plan)
{
    const bool is_traced = c->is_traced;
    *c = (struct cluster){.plan = *plan, .is_traced = is_traced, .now_ms = START_MS};
    stream_init(&c->rand, plan, STREAM_WORLD);
    stream_init(&c->pulse_rand, plan, STREAM_PULSE);
    stream_init(&c->find_rand, plan, STREAM_FIND);
    stream_init(&c->drain_rand, plan, STREAM_DRAIN);
    stream_init(&c->forget_rand, plan, STREAM_FORGET);
    stream_init(&c->clock_rand, plan, STREAM_CLOCKS);
    orders_begin(c);
    sights_begin(c);
    /* An order for another node is in no memory either. */
    if (plan->strength[FAULT_FORGET] > 0)
        c->letter_strength = 0;
    c->params = calloc(plan->keys, sizeof *c->params);
    ASSERT(c->params != NULL);
    for (uint32_t i = 0; i < plan->keys; i++) {
        char text[16];
        const int len = snprintf(text, sizeof text, "k%u", i);
        c->params[i] = blob_new((struct slice){.data = text, .len = (size_t)len});
    }
    c->plan.pool.params = c->params[0];
    c->plan.pool.key = key_numbered(0);
    for (uint32_t i = 0; i < plan->nodes; i++) {
        c->nodes[i].offset_ms = below(c, 100000);
        clocks_draw(c, i);
        node_start(c, i);
    }
    at(c, 0, (struct moment){.what = HAPPEN_ARRIVE});
    rolls_begin(c);
    while (!all_have_come(c))
        live(c, c->now_ms + 1000);
    live(c, c->now_ms + 30000);
    c->is_healing = true;
    c->store.away_until_ms = 0;
    for (uint32_t i = 0; i < plan->nodes; i++)
        c->nodes[i].cut_until_ms = 0;
    live(c, c->now_ms + HEAL_MS);
    check_at_the_end(c);
}

void cluster_close(struct cluster *c)
{
    for (uint32_t i = 0; i < c->plan.nodes; i++)
        node_close(&c->nodes[i]);
    store_close(&c->store);
    finds_close(c);
    for (uint32_t i = 0; i < c->plan.keys; i++)
        blob_unref(c->params[i]);
    void *const owned[] = {c->params, c->heap, c->submits, c->tokens, c->needs, c->callers};
    for (size_t i = 0; i < sizeof owned / sizeof owned[0]; i++)
        free(owned[i]);
}
