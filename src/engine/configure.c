/* A reload: options that only matter from now on are taken, everything that memory was reserved for stays. */
#include "engine/account.h"
#include "engine/letters_retry.h"
#include "engine/slots.h"
#include "engine/state.h"

/* Limits, the journal, callbacks, pools and secrets: what the engine was built for. */
static void keep_structure(const struct engine_options *built, struct engine_options *options)
{
    options->max_requests = built->max_requests;
    options->max_flights = built->max_flights;
    options->max_flight_bytes = built->max_flight_bytes;
    options->max_pingback_bytes = built->max_pingback_bytes;
    options->max_per_flight = built->max_per_flight;
    options->max_callers = built->max_callers;
    options->max_solutions = built->max_solutions;
    options->max_solution_bytes = built->max_solution_bytes;
    options->max_idempotency = built->max_idempotency;
    options->max_records = built->max_records;
    options->max_record_bytes = built->max_record_bytes;
    options->max_finished = built->max_finished;
    options->max_letters = built->max_letters;
    options->max_letter_bytes = built->max_letter_bytes;
    options->max_clients = built->max_clients;
    options->wake_batch = built->wake_batch;
    options->step_batch = built->step_batch;
    options->has_journal = built->has_journal;
    options->has_callbacks = built->has_callbacks;
    options->pool_count = built->pool_count;
    memcpy(options->secret, built->secret, sizeof options->secret);
    options->clients = NULL;
    options->pools = NULL;
}

void engine_configure(struct engine *engine, const struct engine_options *options)
{
    const struct engine_options built = engine->options;
    engine->options = *options;
    keep_structure(&built, &engine->options);
    const bool is_switched = built.slots_are_auto != options->slots_are_auto;
    /* What the vendor said about its threads holds, whatever number stands beside it. */
    if (is_switched || (!options->slots_are_auto && built.slots != options->slots))
        slots_set_plan(engine);
    if (is_switched)
        account_watch_plan(engine);
    letters_watch(engine);
    slots_configure(engine, options->clients, options->client_count);
}
