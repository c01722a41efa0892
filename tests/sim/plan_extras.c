/* Draws what a world may have besides: pools, callers' own addresses, reloads and drains. A stream of its own, so that
 * the world without them stays the one it was. */
#include "sim.h"
#include "watched.h"

static const uint16_t most[FAULT_COUNT] = {
#define FAULT_AS_MOST(name, word, strength) [FAULT_##name] = (strength),
    EXTRA_LIST(FAULT_AS_MOST)
#undef FAULT_AS_MOST
};

static bool coin(struct rand *rand, unsigned percent)
{
    return rand_below(rand, 100) < percent;
}

static uint32_t between(struct rand *rand, uint32_t least, uint32_t largest)
{
    return least + (uint32_t)rand_below(rand, (uint64_t)largest - least + 1);
}

static void draw_strengths(struct rand *rand, struct plan *plan)
{
    for (int fault = FAULT_EXTRAS; fault < FAULT_QUEUED; fault++) {
        const uint64_t strength = 1 + rand_below(rand, most[fault]);
        plan->strength[fault] = coin(rand, 35) ? (uint16_t)strength : 0;
    }
    if (plan->size != SIZE_LARGE)
        return;
    /* Many moments make a large world. */
    plan->strength[FAULT_RELOAD] = plan->strength[FAULT_RELOAD] > 0;
    plan->strength[FAULT_DRAIN] = plan->strength[FAULT_DRAIN] > 0;
    plan->strength[FAULT_PINGBACK] /= 8;
}

static void draw_pools(struct rand *rand, struct plan *plan)
{
    const uint32_t size_most = plan->size == SIZE_LARGE ? 40 : 4;
    plan->options.pool_count = (uint16_t)between(rand, 1, SIM_POOLS);
    for (int i = 0; i < SIM_POOLS; i++) {
        struct pool_options *pool = &plan->pools[i];
        pool->size = between(rand, 1, size_most);
        pool->idle_after_ms = coin(rand, 60) ? between(rand, 10000, 120000) : 600000;
        pool->max_waste = coin(rand, 50) ? between(rand, 1, 4) : 0;
        pool->min_ttl_ms = coin(rand, 50) ? between(rand, 0, 15000) : 0;
        pool->client = (client_id)rand_below(rand, SIM_CLIENTS);
    }
}

/* Who starts it again may want smaller pools, and then there is more than they hold. From numbers of its own, so that
 * whoever does not is where he was. */
static void draw_sizes(struct plan *plan)
{
    struct rand rand;
    rand_init(&rand, plan->seed ^ UINT64_C(0xbd7));
    const bool has_others = coin(&rand, 40);
    for (int i = 0; i < SIM_POOLS && has_others; i++) {
        plan->pools[i].size = between(&rand, 4, plan->size == SIZE_LARGE ? 40 : 12);
        plan->other_sizes[i] = between(&rand, 1, 2);
    }
}

static void draw_notices(struct rand *rand, struct plan *plan)
{
    plan->options.notice_retries = (uint16_t)between(rand, 0, 4);
    plan->options.notice_base_ms = between(rand, 100, 3000);
    plan->options.notice_cap_ms = between(rand, 1000, 20000);
}

static void change(struct rand *rand, uint32_t *number, uint32_t least, uint32_t largest)
{
    const uint32_t drawn = between(rand, least, largest);
    if (coin(rand, 30))
        *number = drawn;
}

static void change_small(struct rand *rand, uint16_t *number, uint32_t largest)
{
    const uint32_t drawn = between(rand, 0, largest);
    if (coin(rand, 30))
        *number = (uint16_t)drawn;
}

static void change_options(struct rand *rand, const struct plan *plan,
                           struct engine_options *options)
{
    const uint32_t slots_most = plan->is_roomy ? 2000 : plan->size == SIZE_SMALL ? 8 : 512;
    change(rand, &options->slots, plan->is_roomy ? 1000 : 1, slots_most);
    if (coin(rand, 10))
        options->slots_are_auto = !options->slots_are_auto;
    if (coin(rand, 20))
        options->resend_ambiguous = !options->resend_ambiguous;
    change(rand, &options->solve_timeout_ms, 20000, 180000);
    change(rand, &options->ambiguity_window_ms, 5000, 60000);
    change(rand, &options->idempotency_ttl_ms, 2000, 300000);
    change(rand, &options->fallback_after_ms, 5000, 120000);
    change(rand, &options->poll_interval_ms, 500, 5000);
    change(rand, &options->caller_error_ttl_ms, 0, 30000);
    change(rand, &options->retry_base_ms, 100, 2000);
    change(rand, &options->letter_alert_above, 1, 8);
    change(rand, &options->notice_base_ms, 100, 3000);
    change_small(rand, &options->retry_busy, 6);
    change_small(rand, &options->retry_unsolvable, 3);
    change_small(rand, &options->retry_transient, 4);
    change_small(rand, &options->notice_retries, 5);
    for (int type = 0; type < TYPE_COUNT; type++)
        change(rand, &options->ttl_ms[type], 1000, 80000);
}

static void change_client(struct rand *rand, const struct plan *plan, struct client_options *client)
{
    const uint32_t budget = between(rand, 1, 8);
    const uint64_t former = client->budget_per_day;
    change(rand, &client->weight, 0, 3);
    change(rand, &client->slots, 0, plan->is_roomy ? 2000 : 8);
    change(rand, &client->requests, 0, plan->is_roomy ? 2000 : 16);
    if (coin(rand, 20) && !plan->is_roomy)
        client->budget_per_day = former == UINT64_MAX ? UINT64_MAX : budget;
    if (coin(rand, 5))
        client->budget_per_day = plan->is_roomy || former != UINT64_MAX ? UINT64_MAX : budget;
}

static void draw_reloads(struct rand *rand, struct plan *plan)
{
    for (int i = 0; i < SIM_RELOADS; i++) {
        struct reload *reload = &plan->reloads[i];
        reload->options = plan->options;
        memcpy(reload->clients, plan->clients, sizeof reload->clients);
        /* One of them is the way back. */
        if (i == 0)
            continue;
        change_options(rand, plan, &reload->options);
        for (int client = 0; client < SIM_CLIENTS; client++)
            change_client(rand, plan, &reload->clients[client]);
    }
}

/* As with the sizes: from numbers of its own. */
static void draw_queue(struct plan *plan)
{
    struct rand rand;
    rand_init(&rand, plan->seed ^ UINT64_C(0x90e0e));
    const uint64_t strength = 1 + rand_below(&rand, most[FAULT_QUEUED]);
    const bool exists = coin(&rand, 35) && plan->size != SIZE_LARGE;
    plan->strength[FAULT_QUEUED] = exists ? (uint16_t)strength : 0;
}

/* The same. */
static void draw_rare(struct plan *plan, enum fault fault, uint64_t salt, unsigned percent)
{
    struct rand rand;
    rand_init(&rand, plan->seed ^ salt);
    const uint64_t strength = 1 + rand_below(&rand, most[fault]);
    const bool exists = coin(&rand, percent) && plan->size != SIZE_LARGE;
    plan->strength[fault] = exists ? (uint16_t)strength : 0;
}

void plan_draw_extras(struct plan *plan)
{
    struct rand rand;
    rand_init(&rand, plan->seed ^ UINT64_C(0xe57a5));
    draw_strengths(&rand, plan);
    const bool is_for_reference = coin(&rand, 50);
    if (plan->has_reference && is_for_reference) {
        /* The slow model knows neither flights that nobody asked for nor restarts. */
        plan->strength[FAULT_POOL] = 0;
        plan->strength[FAULT_DRAIN] = 0;
    }
    draw_pools(&rand, plan);
    draw_sizes(plan);
    draw_notices(&rand, plan);
    draw_reloads(&rand, plan);
    draw_queue(plan);
    draw_rare(plan, FAULT_TASK_TWICE, UINT64_C(0x7a5c), 15);
    draw_rare(plan, FAULT_CLIENTS, UINT64_C(0xc11e27), 25);
    watched_draw(plan);
}

/* ---- what may be in force ---------------------------------------------------------------------- */

static void span_number(uint32_t *least, uint32_t *largest, uint32_t number)
{
    *least = *least < number ? *least : number;
    *largest = *largest > number ? *largest : number;
}

static void span_small(uint16_t *largest, uint16_t number)
{
    *largest = *largest > number ? *largest : number;
}

static void span_options(struct spans *spans, const struct engine_options *options)
{
    struct engine_options *least = &spans->least;
    struct engine_options *largest = &spans->most;
    span_number(&least->solve_timeout_ms, &largest->solve_timeout_ms, options->solve_timeout_ms);
    span_number(&least->ambiguity_window_ms, &largest->ambiguity_window_ms,
                options->ambiguity_window_ms);
    span_number(&least->idempotency_ttl_ms, &largest->idempotency_ttl_ms,
                options->idempotency_ttl_ms);
    span_number(&least->fallback_after_ms, &largest->fallback_after_ms, options->fallback_after_ms);
    span_number(&least->poll_interval_ms, &largest->poll_interval_ms, options->poll_interval_ms);
    for (int type = 0; type < TYPE_COUNT; type++)
        span_number(&least->ttl_ms[type], &largest->ttl_ms[type], options->ttl_ms[type]);
    span_small(&largest->retry_busy, options->retry_busy);
    span_small(&largest->retry_unsolvable, options->retry_unsolvable);
    span_small(&largest->retry_transient, options->retry_transient);
    span_small(&largest->retry_unknown, options->retry_unknown);
    span_small(&largest->notice_retries, options->notice_retries);
}

void plan_span(const struct plan *plan, struct spans *spans)
{
    *spans = (struct spans){.least = plan->options, .most = plan->options};
    for (int i = 0; i < SIM_CLIENTS; i++)
        spans->budget_least[i] = spans->budget_most[i] = plan->clients[i].budget_per_day;
    for (int i = 0; i < SIM_RELOADS && plan->strength[FAULT_RELOAD] > 0; i++) {
        const struct reload *reload = &plan->reloads[i];
        span_options(spans, &reload->options);
        for (int client = 0; client < SIM_CLIENTS; client++) {
            const uint64_t budget = reload->clients[client].budget_per_day;
            if (budget < spans->budget_least[client])
                spans->budget_least[client] = budget;
            if (budget > spans->budget_most[client])
                spans->budget_most[client] = budget;
        }
    }
}
