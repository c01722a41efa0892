/* The operator: reloads the configuration in mid-flight, and drains the gateway to start it again. */
#include "sim.h"

#define DRAIN_MOST_MS 30000
#define DRAINS_MOST 20
#define DRAINS_LARGE 2
/* More than the vendor of this world ever has. */
#define THREADS_MOST 64

static void reload(struct sim *sim)
{
    const uint64_t choice = sim_below(sim, SIM_RELOADS);
    const struct reload *reload = &sim->plan.reloads[choice];
    trace_note(sim, "reload %llu", (unsigned long long)choice);
    trace_mix(sim, choice);
    const struct engine_options *built = &sim->plan.options;
    const struct pool_options *pools = built->pools;
    const uint16_t pool_count = built->pool_count;
    sim->plan.options = reload->options;
    memcpy(sim->plan.clients, reload->clients, sizeof sim->plan.clients);
    sim->plan.options.clients = sim->plan.clients;
    sim->plan.options.pools = pools;
    sim->plan.options.pool_count = pool_count;
    places_reload(sim);
    struct engine_options options;
    places_options(sim, &options);
    engine_configure(sim->engine, &options);
}

static void drain(struct sim *sim)
{
    struct event event = {.kind = EVENT_DRAIN};
    sim->is_draining = true;
    sim->drains++;
    sim->drained_flights = engine_stats(sim->engine)->flights;
    sim_at(sim, 1 + sim_below(sim, DRAIN_MOST_MS),
           (struct moment){.what = HAPPEN_STOP, .incarnation = sim->incarnation});
    sim_step(sim, &event);
}

void operator_acts(struct sim *sim)
{
    const uint32_t drains_most = sim->plan.size == SIZE_LARGE ? DRAINS_LARGE : DRAINS_MOST;
    if (sim_chance(sim, FAULT_RELOAD))
        reload(sim);
    if (!sim->is_draining && sim->drains < drains_most && sim_chance(sim, FAULT_DRAIN))
        drain(sim);
}

/* As the gateway has it: the answers have left, and no submit is on the wire whose reply would be lost. */
bool operator_is_done(const struct sim *sim)
{
    if (!sim->is_draining || sim->crash_now || sim->engine == NULL)
        return false;
    return sim->open_count == 0 && sim->submits_out == 0 && sim->held_count == 0;
}

void operator_check(struct sim *sim, const struct gauges *gauges)
{
    const struct engine_options *options = &sim->plan.options;
    CHECK(sim, options->slots_are_auto || gauges->slots_plan == options->slots);
    /* Whoever drains begins nothing new. */
    CHECK(sim, !sim->is_draining || engine_stats(sim->engine)->flights == sim->drained_flights);
    /* Replays that wait are given up, as many in a step as fit. */
    CHECK(sim, !sim->is_draining || gauges->replays == 0 ||
                   engine_next_deadline(sim->engine) <= sim->now_ms);
}

/* Without faults the vendor says how many threads it has, if it is asked. */
bool operator_knows_plan(const struct sim *sim)
{
    struct gauges gauges;
    engine_gauges(sim->engine, &gauges);
    return sim->plan.strength[FAULT_RELOAD] == 0 || !sim->plan.options.slots_are_auto ||
           gauges.slots_plan <= THREADS_MOST;
}
