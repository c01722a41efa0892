#include "engine/health.h"

#include "engine/attempt.h"

#define MINUTE_MS 60000
/* Fewer solves than this say nothing about the vendor. */
#define LEAST_SOLVES 10

static unsigned this_minute(struct engine *engine)
{
    struct health *health = &engine->health;
    const uint64_t minute = engine->now_ms / MINUTE_MS;
    const unsigned place = (unsigned)(minute % HEALTH_MINUTES);
    if (health->minute[place] != minute) {
        health->minute[place] = minute;
        health->arrived[place] = 0;
        health->missed[place] = 0;
    }
    return place;
}

/* Counts a solve whose callback arrived. */
static void count_arrived(struct engine *engine)
{
    engine->health.arrived[this_minute(engine)]++;
}

/* Counts a solve that a poll had to find. */
static void count_missed(struct engine *engine)
{
    engine->health.missed[this_minute(engine)]++;
}

/* Corrects the count for a callback that arrived after our poll. */
static void correct(struct engine *engine)
{
    const unsigned place = this_minute(engine);
    /* The poll may have been counted in a minute that is over; then only the arrival is counted. */
    if (engine->health.missed[place] > 0)
        engine->health.missed[place]--;
    engine->health.arrived[place]++;
}

bool health_is_good(const struct engine *engine)
{
    const uint64_t minute = engine->now_ms / MINUTE_MS;
    uint64_t arrived = 0;
    uint64_t missed = 0;
    for (unsigned place = 0; place < HEALTH_MINUTES; place++) {
        if (engine->health.minute[place] + HEALTH_MINUTES <= minute)
            continue;
        arrived += engine->health.arrived[place];
        missed += engine->health.missed[place];
    }
    return arrived + missed < LEAST_SOLVES || arrived >= missed;
}

void health_note_missed(struct engine *engine, struct attempt *attempt)
{
    if (!engine->options.has_callbacks)
        return;
    attempt->is_missed = true;
    count_missed(engine);
}

void health_note_arrival(struct engine *engine, struct attempt *attempt)
{
    if (attempt->is_missed)
        correct(engine);
    else if (!attempt_is_over(attempt) && attempt->partial == NULL)
        count_arrived(engine);
    attempt->is_missed = false;
}
