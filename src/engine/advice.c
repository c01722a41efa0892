#include "engine/advice.h"

#include <solvegate/findings.h>

#include <stdlib.h>

/* Fewer reports than this tell nothing. */
#define REPORTS_LEAST 10
/* By how many hundredths shared solutions are bad more often than those for one request: from here
 * on they wear out, and up to here they do not. In between more reports are needed. */
#define WORN_PERCENT 15
#define SAME_PERCENT 5

struct reported {
    struct blob *host; /* owned */
    enum type type;
    uint64_t own_good, own_bad, shared_good, shared_bad;
};

struct advice {
    uint32_t count, room;
    struct reported items[];
};

static uint64_t reports_of(const struct reported *target)
{
    return target->own_good + target->own_bad + target->shared_good + target->shared_bad;
}

static struct advice *advice_of(struct engine *engine)
{
    if (engine->advice != NULL)
        return engine->advice;
    const uint32_t room = engine->options.max_shadow_top;
    struct advice *advice = calloc(1, sizeof *advice + room * sizeof advice->items[0]);
    ASSERT(advice != NULL);
    advice->room = room;
    engine->advice = advice;
    return advice;
}

void advice_close(struct engine *engine)
{
    for (uint32_t i = 0; engine->advice != NULL && i < engine->advice->count; i++)
        blob_unref(engine->advice->items[i].host);
    free(engine->advice);
    engine->advice = NULL;
}

/* Reports are rare, so a search through at most a thousand targets is quick enough. The target with
 * the fewest reports makes room. */
static struct reported *place_for(struct advice *advice, struct blob *host, enum type type)
{
    struct reported *least = advice->items;
    for (uint32_t i = 0; i < advice->count; i++) {
        struct reported *target = &advice->items[i];
        if (target->type == type && slice_equals(blob_slice(target->host), blob_slice(host)))
            return target;
        if (reports_of(target) < reports_of(least))
            least = target;
    }
    if (advice->count < advice->room)
        least = &advice->items[advice->count++];
    else
        blob_unref(least->host);
    *least = (struct reported){.host = blob_ref(host), .type = type};
    return least;
}

void advice_note(struct engine *engine, const struct solution *solution, bool is_good)
{
    if (solution->host == NULL)
        return;
    struct reported *target = place_for(advice_of(engine), solution->host, solution->type);
    const bool is_shared = solution->handed > 1;
    target->own_good += !is_shared && is_good;
    target->own_bad += !is_shared && !is_good;
    target->shared_good += is_shared && is_good;
    target->shared_bad += is_shared && !is_good;
}

static uint64_t percent(uint64_t part, uint64_t whole)
{
    return whole == 0 ? 0 : part * 100 / whole;
}

/* Solutions for one request show how often this vendor is wrong about this target anyway. */
static enum reuse advise(const struct reported *target)
{
    const uint64_t shared = target->shared_good + target->shared_bad;
    const uint64_t own = target->own_good + target->own_bad;
    if (shared < REPORTS_LEAST)
        return REUSE_DEFAULT;
    const uint64_t usual = own < REPORTS_LEAST ? 0 : percent(target->own_bad, own);
    const uint64_t bad = percent(target->shared_bad, shared);
    if (bad >= usual + WORN_PERCENT)
        return REUSE_SINGLE;
    return bad <= usual + SAME_PERCENT ? REUSE_SHARED : REUSE_DEFAULT;
}

static int compare(const void *left, const void *right)
{
    const struct reported *a = *(const struct reported *const *)left;
    const struct reported *b = *(const struct reported *const *)right;
    if (reports_of(a) != reports_of(b))
        return reports_of(a) > reports_of(b) ? -1 : 1;
    const int order = strcmp(a->host->data, b->host->data);
    return order != 0 ? order : (int)a->type - (int)b->type;
}

size_t engine_list_targets(const struct engine *engine, struct target_view *views, size_t room)
{
    const struct advice *advice = engine->advice;
    if (advice == NULL)
        return 0;
    const struct reported **order = calloc(advice->count, sizeof *order);
    ASSERT(order != NULL);
    for (uint32_t i = 0; i < advice->count; i++)
        order[i] = &advice->items[i];
    qsort(order, advice->count, sizeof *order, compare);
    const size_t count = advice->count < room ? advice->count : room;
    for (size_t i = 0; i < count; i++)
        views[i] = (struct target_view){
            .host = blob_slice(order[i]->host),
            .type = order[i]->type,
            .own_good = order[i]->own_good,
            .own_bad = order[i]->own_bad,
            .shared_good = order[i]->shared_good,
            .shared_bad = order[i]->shared_bad,
            .advice = advise(order[i]),
        };
    free(order);
    return count;
}
