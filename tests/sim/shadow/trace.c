#include "compare.h"

#include <string.h>

const char *weather_name(enum weather weather)
{
    static const char *const names[WEATHERS] = {
        [CALM] = "calm", [POLLED] = "polled", [QUEUED] = "queued", [STORMY] = "stormy"};
    return names[weather];
}

static uint32_t between(struct rand *rand, uint32_t least, uint32_t most)
{
    return least + (uint32_t)rand_below(rand, most - least + 1);
}

static bool coin(struct rand *rand, uint32_t percent)
{
    return rand_below(rand, 100) < percent;
}

uint64_t trace_fate(const struct trace *trace, uint32_t ask, uint32_t salt, uint64_t below)
{
    struct rand rand;
    rand_init(&rand, trace->seed * UINT64_C(1000003) + ask * UINT64_C(7919) + salt);
    (void)rand_u64(&rand);
    return rand_below(&rand, below);
}

/* Some keys are asked for much more often than others, as everywhere. */
static uint32_t draw_key(struct rand *rand, uint32_t keys)
{
    const uint32_t one = (uint32_t)rand_below(rand, keys);
    const uint32_t other = (uint32_t)rand_below(rand, keys);
    return coin(rand, 70) && other < one ? other : one;
}

/* How a world's requests are, on the whole. */
struct habits {
    uint32_t keys, gap_ms;
    uint32_t single, none, one_time, repeat, leave, picky; /* in percent */
};

static struct habits draw_habits(struct rand *rand)
{
    return (struct habits){
        .keys = between(rand, 1, 60),
        .gap_ms = between(rand, 20, 3000),
        .single = coin(rand, 40) ? between(rand, 1, 60) : 0,
        .none = coin(rand, 20) ? between(rand, 1, 20) : 0,
        .one_time = coin(rand, 20) ? between(rand, 1, 30) : 0,
        .repeat = coin(rand, 60) ? between(rand, 1, 30) : 0,
        .leave = coin(rand, 40) ? between(rand, 1, 20) : 0,
        .picky = coin(rand, 40) ? between(rand, 1, 30) : 0,
    };
}

/* A retry with its idempotency key repeats one of the last requests, now and then for another key. */
static void repeat_one(struct trace *trace, struct rand *rand, uint32_t i, struct asked *asked)
{
    const uint32_t back = between(rand, 1, i < 20 ? i : 20);
    struct asked *before = &trace->asks[i - back];
    const uint64_t at_ms = asked->at_ms;
    const uint32_t other_key = asked->key;
    if (before->idempotency == 0)
        return;
    *asked = *before;
    asked->at_ms = at_ms;
    asked->leaves_ms = 0;
    if (coin(rand, 3))
        asked->key = other_key;
}

static void draw_ask(struct trace *trace, struct rand *rand, const struct habits *habits,
                     uint32_t i, uint64_t at_ms)
{
    struct asked *asked = &trace->asks[i];
    *asked = (struct asked){
        .at_ms = at_ms,
        .key = draw_key(rand, habits->keys),
        .client = (client_id)rand_below(rand, trace->client_count),
        .is_id_told = coin(rand, 50),
        .min_ttl_ms = 10000,
        .max_age_ms = UINT32_MAX,
    };
    /* What is asked for has its policy, whoever asks. */
    const uint64_t policy = trace_fate(trace, asked->key, 1, 100);
    asked->reuse = policy < habits->single                  ? REUSE_SINGLE
                   : policy < habits->single + habits->none ? REUSE_NONE
                                                            : REUSE_SHARED;
    asked->is_one_time = trace_fate(trace, asked->key, 2, 100) < habits->one_time;
    asked->idempotency = habits->repeat > 0 && coin(rand, 60) ? i + 1 : 0;
    if (coin(rand, habits->leave) && !asked->is_id_told)
        asked->leaves_ms = at_ms + between(rand, 1, 60000);
    if (coin(rand, habits->picky))
        asked->min_ttl_ms = between(rand, 0, 90000);
    if (coin(rand, habits->picky))
        asked->max_age_ms = between(rand, 0, 90000);
    if (i > 0 && coin(rand, habits->repeat))
        repeat_one(trace, rand, i, asked);
}

void trace_draw(struct trace *trace, uint64_t seed)
{
    struct rand rand;
    memset(trace, 0, sizeof *trace);
    rand_init(&rand, seed);
    trace->seed = seed;
    trace->weather = (enum weather)(seed % WEATHERS);
    trace->count = between(&rand, 20, coin(&rand, 20) ? TRACE_MOST : 400);
    trace->client_count = (uint16_t)between(&rand, 1, TRACE_CLIENTS);
    trace->clients_share = coin(&rand, 50);
    trace->slots = trace->weather == QUEUED ? between(&rand, 1, 20) : 10000;
    trace->solve_least_ms = between(&rand, 500, 10000);
    trace->solve_most_ms = trace->solve_least_ms + between(&rand, 0, 40000);
    if (trace->weather == STORMY) {
        trace->busy_permille = coin(&rand, 50) ? between(&rand, 1, 150) : 0;
        trace->unsolvable_permille = coin(&rand, 70) ? between(&rand, 1, 200) : 0;
        trace->lost_permille = coin(&rand, 30) ? between(&rand, 1, 50) : 0;
        trace->wrong_permille = coin(&rand, 30) ? between(&rand, 1, 200) : 0;
    }
    const struct habits habits = draw_habits(&rand);
    uint64_t at_ms = 1000;
    for (uint32_t i = 0; i < trace->count; i++) {
        at_ms += rand_below(&rand, (uint64_t)habits.gap_ms * 2 + 1);
        draw_ask(trace, &rand, &habits, i, at_ms);
    }
}
