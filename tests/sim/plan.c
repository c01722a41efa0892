/* Draws a world: which faults exist and how strong, how large everything is, how the engine is configured. */
#include "../engine_defaults.h"
#include "sim.h"

static const uint16_t most[FAULT_EXTRAS] = {
#define FAULT_AS_MOST(name, word, strength) [FAULT_##name] = (strength),
    FAULT_LIST(FAULT_AS_MOST)
#undef FAULT_AS_MOST
};

const char *fault_word(enum fault fault)
{
    static const char *const words[FAULT_COUNT] = {
#define FAULT_AS_WORD(name, word, strength) [FAULT_##name] = (word),
        FAULT_LIST(FAULT_AS_WORD) EXTRA_LIST(FAULT_AS_WORD)
#undef FAULT_AS_WORD
    };
    ASSERT(fault < FAULT_COUNT);
    return words[fault];
}

static bool coin(struct rand *rand, unsigned percent)
{
    return rand_below(rand, 100) < percent;
}

static uint32_t between(struct rand *rand, uint32_t least, uint32_t largest)
{
    return least + (uint32_t)rand_below(rand, (uint64_t)largest - least + 1);
}

/* A fault exists in half of the worlds, and is then anything between rare and frequent. */
static void draw_faults(struct rand *rand, struct plan *plan)
{
    const bool is_calm = coin(rand, 10);
    for (int fault = 0; fault < FAULT_EXTRAS; fault++) {
        const uint64_t strength = 1 + rand_below(rand, most[fault]);
        const bool exists = coin(rand, 50);
        plan->strength[fault] = exists && !is_calm ? (uint16_t)strength : 0;
    }
}

/* Large worlds are about volume: faults are rarer, and most of them have room for everybody. */
static void draw_large(struct rand *rand, struct plan *plan)
{
    plan->needs = between(rand, 6000, 12000);
    plan->keys = between(rand, plan->needs / 4, plan->needs * 2);
    plan->solve_ms = between(rand, 1000, 4000);
    plan->gap_ms = between(rand, 8, 30);
    plan->is_roomy = coin(rand, 80);
    for (int fault = 0; fault < FAULT_COUNT; fault++) {
        const bool is_habit = fault == FAULT_SINGLE || fault == FAULT_IDEMPOTENCY ||
                              fault == FAULT_CRASH || fault == FAULT_TWIN;
        if (!is_habit && plan->strength[fault] > 0)
            plan->strength[fault] = (uint16_t)(1 + plan->strength[fault] / 16);
    }
    plan->strength[FAULT_ACCOUNT] = plan->strength[FAULT_ACCOUNT] > 0;
}

static void draw_size(struct rand *rand, struct plan *plan)
{
    const uint64_t drawn = rand_below(rand, 200);
    plan->size = drawn < 12 ? SIZE_LARGE : drawn < 18 ? SIZE_MEDIUM : SIZE_SMALL;
    if (plan->size == SIZE_LARGE) {
        draw_large(rand, plan);
        return;
    }
    plan->needs = plan->size == SIZE_SMALL ? between(rand, 10, 64) : between(rand, 400, 1500);
    plan->keys = coin(rand, 40) ? between(rand, 1, 4) : between(rand, 1, 1 + plan->needs);
    plan->solve_ms = between(rand, 1000, 12000);
    plan->gap_ms = between(rand, 1, plan->size == SIZE_SMALL ? 4000 : 500);
}

/* Mostly small: small pools find the overflows. */
static uint32_t draw_limit(struct rand *rand, const struct plan *plan)
{
    if (plan->is_roomy)
        return between(rand, 1000, 2000);
    if (plan->size == SIZE_SMALL)
        return coin(rand, 40) ? between(rand, 1, 8) : between(rand, 9, 64);
    return between(rand, 64, plan->size == SIZE_MEDIUM ? 512 : 4096);
}

static void draw_clients(struct rand *rand, struct plan *plan)
{
    for (int i = 0; i < SIM_CLIENTS; i++) {
        /* One draw after the other: an initialiser's order is the compiler's choice. */
        struct client_options *client = &plan->clients[i];
        client->weight = between(rand, 0, 3);
        client->slots = coin(rand, 25) ? draw_limit(rand, plan) : 0;
        client->requests = coin(rand, 25) ? draw_limit(rand, plan) : 0;
        const uint32_t budget =
            coin(rand, 50) ? between(rand, 1, 8) : between(rand, 1, plan->needs);
        client->budget_per_day = !plan->is_roomy && coin(rand, 35) ? budget : UINT64_MAX;
    }
    /* Whose a thing is, its key says: one client's own, or everybody's. */
    plan->options.clients_share = true;
    plan->options.clients = plan->clients;
    plan->options.client_count = SIM_CLIENTS;
}

static void draw_limits(struct rand *rand, struct plan *plan)
{
    struct engine_options *options = &plan->options;
    options->max_requests = draw_limit(rand, plan);
    options->max_flights = draw_limit(rand, plan);
    options->max_per_flight = draw_limit(rand, plan);
    options->max_callers = draw_limit(rand, plan);
    options->max_solutions = draw_limit(rand, plan);
    options->max_solution_bytes = coin(rand, 15) ? 700 : UINT64_C(1) << 22;
    options->max_idempotency = draw_limit(rand, plan);
    options->max_finished = draw_limit(rand, plan);
    /* Not drawn, so that older seeds still mean the same world. */
    options->max_finished_bytes =
        plan->is_roomy || options->max_finished % 4 != 0 ? UINT64_C(1) << 22 : 1500;
    options->max_letters = draw_limit(rand, plan);
    options->letter_alert_above = between(rand, 1, 8);
    options->slots =
        !plan->is_roomy && coin(rand, 50) ? between(rand, 1, 4) : draw_limit(rand, plan);
}

static void draw_policies(struct rand *rand, struct plan *plan)
{
    struct engine_options *options = &plan->options;
    options->wake_batch = coin(rand, 50) ? between(rand, 1, 3) : 256;
    options->step_batch = options->wake_batch;
    options->slots_are_auto = coin(rand, 15);
    options->has_callbacks = coin(rand, 65);
    options->resend_ambiguous = coin(rand, 70);
    options->retry_budget_permille = coin(rand, 50) ? 200 : 0;
    options->idempotency_ttl_ms = coin(rand, 60) ? 300000 : between(rand, 2000, 60000);
    options->solve_timeout_ms = coin(rand, 60) ? 180000 : between(rand, 20000, 120000);
    options->ambiguity_window_ms = coin(rand, 60) ? 45000 : between(rand, 5000, 60000);
    options->fallback_after_ms = coin(rand, 60) ? 120000 : between(rand, 5000, 60000);
    options->caller_error_ttl_ms = coin(rand, 50) ? 30000 : 0;
    for (int type = 0; type < TYPE_COUNT; type++) {
        options->ttl_ms[type] = coin(rand, 30) ? between(rand, 1000, 20000) : 80000;
        options->poll_first_ms[type] = between(rand, 500, 6000);
    }
    options->poll_interval_ms = coin(rand, 50) ? 5000 : between(rand, 500, 5000);
}

void plan_draw(struct plan *plan, uint64_t seed)
{
    struct rand rand;
    rand_init(&rand, seed ^ UINT64_C(0x51a7e9a7e));
    *plan = (struct plan){.seed = seed};
    engine_options_init(&plan->options);
    draw_faults(&rand, plan);
    draw_size(&rand, plan);
    draw_limits(&rand, plan);
    draw_policies(&rand, plan);
    draw_clients(&rand, plan);
    plan->options.has_journal = true;
    plan->options.secret[0] = rand_u64(&rand);
    plan->options.secret[1] = rand_u64(&rand);
    const uint32_t scale = plan->size == SIZE_SMALL    ? 400
                           : plan->size == SIZE_MEDIUM ? 10000
                                                       : 150000;
    const uint32_t every = between(&rand, scale / 20, scale);
    plan->crash_every = plan->strength[FAULT_CRASH] > 0 ? every : 0;
    plan->has_reference = plan->size == SIZE_SMALL && plan->crash_every == 0;
    if (plan->has_reference) {
        /* The slow model knows neither wake-ups in parts nor flights that nobody asked for. */
        plan->options.wake_batch = 256;
        plan->options.step_batch = 256;
        plan->strength[FAULT_LETTERS] = 0;
        plan->strength[FAULT_STALL] = 0;
    }
    plan_draw_extras(plan);
}
