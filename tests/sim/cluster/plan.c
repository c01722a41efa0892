#include "../../engine_defaults.h"
#include "cluster.h"

#define LEASE_MS 8000
#define LEASE_MARGIN_MS 1500

static const uint16_t most[FAULT_COUNT] = {
#define FAULT_AS_MOST(name, word, strength) [FAULT_##name] = (strength),
    FAULT_LIST(FAULT_AS_MOST)
#undef FAULT_AS_MOST
};

const char *fault_word(enum fault fault)
{
    static const char *const words[FAULT_COUNT] = {
#define FAULT_AS_WORD(name, word, strength) [FAULT_##name] = (word),
        FAULT_LIST(FAULT_AS_WORD)
#undef FAULT_AS_WORD
    };
    return words[fault];
}

void stream_init(struct rand *rand, const struct plan *plan, enum stream stream)
{
    rand_init(rand, plan->seed + stream);
}

static uint32_t between(struct rand *rand, uint32_t least, uint32_t largest)
{
    return least + (uint32_t)rand_below(rand, (uint64_t)largest - least + 1);
}

static void draw_options(struct rand *rand, struct engine_options *options)
{
    engine_options_init(options);
    options->has_journal = true;
    options->store_is_shared = options->store_adopts = true;
    options->max_requests = 512;
    options->max_flights = 256;
    options->max_per_flight = 256;
    options->max_callers = 512;
    options->max_solutions = rand_below(rand, 4) == 0 ? between(rand, 1, 4) : 256;
    options->max_idempotency = 256;
    options->max_finished = 256;
    options->max_letters = 64;
    options->wake_batch = between(rand, 1, 16);
    options->slots = between(rand, 1, 12);
    options->solve_timeout_ms = between(rand, 10000, 60000);
    options->ambiguity_window_ms = between(rand, 5000, 15000);
    options->poll_interval_ms = between(rand, 500, 3000);
    options->fallback_after_ms = between(rand, 2000, 20000);
    options->has_callbacks = rand_below(rand, 2) == 0;
    options->resend_ambiguous = rand_below(rand, 4) != 0;
    options->breaker_probe_ms = 1000;
    options->lease_ms = LEASE_MS;
    options->lease_margin_ms = LEASE_MARGIN_MS;
    options->idempotency_ttl_ms = between(rand, 60000, 200000);
    for (int type = 0; type < TYPE_COUNT; type++) {
        options->ttl_ms[type] = between(rand, 5000, 60000);
        options->poll_first_ms[type] = between(rand, 500, 5000);
    }
}

static void draw_faults(struct rand *rand, struct plan *plan, int first, int end, bool is_calm)
{
    for (int fault = first; fault < end; fault++) {
        const uint64_t strength = 1 + rand_below(rand, most[fault]);
        const bool exists = rand_below(rand, 2) == 0;
        plan->strength[fault] = exists && !is_calm ? (uint16_t)strength : 0;
    }
}

/* In some worlds midnight comes while it is spent. */
static void draw_budget(struct rand *rand, struct plan *plan)
{
    const uint32_t busy_ms = plan->needs * plan->gap_ms + 30000;
    const bool is_limited = rand_below(rand, 2) == 0;
    const uint32_t budget = between(rand, 1, plan->needs * 2);
    const uint32_t midnight_ms = between(rand, 1, busy_ms);
    plan->budget = is_limited ? budget : UINT64_MAX;
    plan->client = (struct client_options){.weight = 1, .budget_per_day = plan->budget};
    if (is_limited && rand_below(rand, 3) == 0)
        plan->day_ms = DAY_MS / 2 - START_MS - (int64_t)midnight_ms;
}

/* In a third of the worlds the first key has a pool. */
static void draw_pool(struct plan *plan)
{
    struct rand rand;
    stream_init(&rand, plan, STREAM_POOL);
    if (rand_below(&rand, 3) != 0)
        return;
    plan->pool = (struct pool_options){.type = (enum type)0,
                                       .size = between(&rand, 1, 6),
                                       .min_ttl_ms = between(&rand, 0, 3000),
                                       .max_waste = between(&rand, 0, 5),
                                       .idle_after_ms = between(&rand, 5000, 60000)};
}

/* In three of four worlds clocks disagree, in one of four all nodes are restarted in turn, and in half of them whoever
 * must beats sooner than usual. */
static void draw_habits(struct plan *plan)
{
    struct rand rand;
    stream_init(&rand, plan, STREAM_CLOCKS);
    plan->strength[FAULT_CLOCKS] = !plan->is_early && rand_below(&rand, 4) != 0;
    stream_init(&rand, plan, STREAM_ROLLS);
    plan->strength[FAULT_ROLL] = !plan->is_early && rand_below(&rand, 4) == 0;
    stream_init(&rand, plan, STREAM_HURRIES);
    plan->strength[FAULT_HURRY] = !plan->is_early && rand_below(&rand, 2) == 0;
}

void plan_draw(struct plan *plan, uint64_t seed, bool is_early)
{
    struct rand rand;
    *plan = (struct plan){.seed = seed, .is_early = is_early};
    stream_init(&rand, plan, STREAM_PLAN);
    plan->nodes = between(&rand, 2, NODES_MAX);
    plan->needs = between(&rand, 5, 80);
    plan->keys = between(&rand, 1, rand_below(&rand, 2) == 0 ? 3 : 12);
    plan->gap_ms = between(&rand, 1, 3000);
    plan->solve_ms = between(&rand, 500, 10000);
    const bool is_calm = rand_below(&rand, 10) == 0;
    draw_faults(&rand, plan, 0, FAULT_BEAT_LOST, is_calm);
    draw_options(&rand, &plan->options);
    draw_faults(&rand, plan, FAULT_BEAT_LOST, FAULT_FORGET, is_calm);
    draw_budget(&rand, plan);
    draw_pool(plan);
    draw_habits(plan);
    (void)forget_is_planned(plan);
}
