/* Event sequences for the engine: it checks itself after every step, answers every caller at most once, and when the
 * vendor answers again and time passes, nobody is left waiting.
 *
 * Input: bytes for the engine's options, then one deed after the other, each with the bytes it needs. The shell is
 * played as the contract has it: actions wait for the journal, calls end once, gone callers are gone. */
#include "../engine_defaults.h"
#include "engine_world.h"

#include <stdlib.h>

#define DEEDS_MAX 400

/* ---- the world --------------------------------------------------------------------------- */

static uint32_t draw_limit(struct input *input)
{
    return 1 + input_below(input, 8);
}

static void draw_clients(struct world *world, struct input *input)
{
    for (size_t i = 0; i < WORLD_CLIENTS; i++) {
        const uint8_t choice = input_byte(input);
        world->clients[i] = (struct client_options){
            .weight = choice & 3,
            .slots = (choice & 4) != 0 ? 1 + (choice >> 6) : 0,
            .requests = (choice & 8) != 0 ? 1 + (choice >> 6) : 0,
            .budget_per_day = (choice & 16) != 0 ? UINT64_C(1) + (choice >> 5) : UINT64_MAX,
        };
    }
    world->options.clients_share = true; /* what is one client's own has its name in the key */
    world->options.clients = world->clients;
    world->options.client_count = WORLD_CLIENTS;
}

static void draw_options(struct world *world, struct input *input)
{
    struct engine_options *options = &world->options;
    const uint8_t flags = input_byte(input);
    engine_options_init(options);
    options->has_journal = (flags & 1) != 0;
    options->has_callbacks = (flags & 2) != 0;
    options->resend_ambiguous = (flags & 4) != 0;
    options->slots_are_auto = (flags & 8) != 0;
    options->wake_batch = (flags & 16) != 0 ? 1 : 256;
    options->retry_budget_permille = (flags & 32) != 0 ? 200 : 0;
    options->idempotency_ttl_ms = (flags & 64) != 0 ? 3000 : 300000;
    options->max_solution_bytes = (flags & 128) != 0 ? 700 : UINT64_C(1) << 20;
    options->max_requests = draw_limit(input);
    options->max_flights = draw_limit(input);
    options->max_per_flight = draw_limit(input);
    options->max_callers = draw_limit(input);
    options->max_solutions = draw_limit(input);
    options->max_idempotency = draw_limit(input);
    options->max_finished = draw_limit(input);
    options->max_letters = draw_limit(input);
    options->letter_alert_above = draw_limit(input);
    options->slots = draw_limit(input);
    world->is_draining = input_flag(input);
    draw_clients(world, input);
}

/* ---- deeds ------------------------------------------------------------------------------- */

static void somebody_asks(struct world *world, struct input *input)
{
    struct event event = {.kind = EVENT_ASK};
    struct ask *ask = &event.ask;
    const uint8_t flags = input_byte(input);
    ask->client = (client_id)input_below(input, WORLD_CLIENTS);
    ask->key = world_key(input_below(input, WORLD_KEYS), ask->client);
    ask->type = (enum type)(flags & 7);
    ask->reuse = (enum reuse)(REUSE_SHARED + input_below(input, 3));
    ask->has_idempotency = (flags & 8) != 0;
    if (ask->has_idempotency) {
        ask->idempotency.bytes[0] = (uint8_t)(1 + ask->client);
        ask->idempotency.bytes[1] = (uint8_t)(1 + (flags >> 6));
    }
    /* Being one-time is a property of the parameters, and those are the key. */
    ask->is_one_time = ask->key.bytes[0] == WORLD_KEYS - 1;
    ask->wants_rest = ask->key.bytes[0] == 1;
    ask->is_id_told = (flags & 16) != 0;
    ask->priority = flags >> 5;
    ask->hold_ms = (flags & 32) != 0 ? 1 + input_byte(input) * UINT32_C(200) : 0;
    ask->min_ttl_ms = (flags & 64) != 0 ? 10000 : 0;
    ask->max_age_ms = (flags & 128) != 0 ? 20000 : UINT32_MAX;
    if (ask->is_id_told && (flags & 4) != 0)
        ask->pingback = blob_new(SLICE_OF("https://caller.example/done"));
    ask->params = blob_new((struct slice){(const char *)ask->key.bytes, KEY_BYTES});
    ask->caller = world_visit(world, VISIT_ASK, ask->client, 0);
    world->visits[ask->caller - 1].key = ask->key;
    struct outlook outlook;
    engine_explain(world->engine, ask, &outlook);
    HOLDS(outlook.refusal < REFUSAL_COUNT && outlook.source < SOURCE_COUNT);
    world_step(world, &event);
    blob_unref(ask->params);
    blob_unref(ask->pingback);
}

static enum visit_kind visit_of(enum event_kind kind)
{
    if (kind == EVENT_LOOK)
        return VISIT_LOOK;
    return kind == EVENT_DETACH ? VISIT_DETACH : VISIT_REPORT;
}

static void somebody_looks(struct world *world, struct input *input, enum event_kind kind)
{
    const uint8_t flags = input_byte(input);
    const struct known_request *request = world_request(world, input_byte(input));
    const request_id id = request == NULL ? flags : request->id;
    const client_id client =
        request == NULL || (flags & 7) == 7 ? (client_id)(flags % WORLD_CLIENTS) : request->client;
    struct event event = {.kind = kind};
    const caller_id caller = world_visit(world, visit_of(kind), client, id);
    if (kind == EVENT_LOOK)
        event.look = (struct look){.caller = caller,
                                   .client = client,
                                   .id = id,
                                   .hold_ms = (flags & 8) != 0 ? flags * UINT32_C(100) : 0};
    else if (kind == EVENT_DETACH)
        event.detach = (struct detach){.caller = caller, .client = client, .id = id};
    else
        event.report = (struct report){
            .caller = caller, .client = client, .id = id, .is_good = (flags & 16) != 0};
    world_step(world, &event);
}

static void somebody_leaves(struct world *world, struct input *input)
{
    const size_t back = input_byte(input);
    if (back >= world->visit_count)
        return;
    struct visit *visit = &world->visits[world->visit_count - 1 - back];
    if (visit->is_told || visit->is_gone)
        return;
    visit->is_gone = true;
    struct event event = {.kind = EVENT_GONE};
    event.gone = world->visit_count - back;
    world_step(world, &event);
}

static void the_operator_acts(struct world *world, struct input *input)
{
    const uint8_t flags = input_byte(input);
    struct event event = {.kind = EVENT_LETTERS};
    event.letters = (struct letter_order){
        .caller = world_visit(world, VISIT_LETTERS, 0, 0),
        .verb = (enum letter_verb)(flags % 3),
        .filter = {.class = (flags & 8) != 0 ? CLASS_UNSOLVABLE : CLASS_COUNT,
                   .type = (flags & 16) != 0 ? TYPE_IMAGE : TYPE_COUNT,
                   .has_client = (flags & 32) != 0,
                   .client = (client_id)(flags >> 6) % WORLD_CLIENTS},
    };
    world_step(world, &event);
}

static void somebody_asks_for_money(struct world *world, struct input *input)
{
    struct event event = {.kind = EVENT_ACCOUNT};
    event.account = (struct account){.caller = world_visit(world, VISIT_ACCOUNT, 0, 0),
                                     .probe = (enum probe)input_below(input, PROBE_COUNT)};
    world_step(world, &event);
}

static void the_store_changes(struct world *world, struct input *input)
{
    struct event event = {.kind = EVENT_STORE_STATE};
    event.store_is_writable = input_flag(input);
    world_step(world, &event);
}

static void time_passes(struct world *world, struct input *input)
{
    const uint8_t choice = input_byte(input);
    /* A stall now and then: the clock jumps, and nobody ticks before the next event. */
    if (choice % 8 == 7)
        world->now_ms += choice * UINT64_C(2000);
    else
        world_pass(world, (uint64_t)(choice / 8 + 1) * (choice % 8 == 6 ? 5000 : 200));
}

static void do_deed(struct world *world, struct input *input)
{
    switch (input_below(input, 20)) {
    case 0:
    case 1:
    case 2:
        somebody_asks(world, input);
        return;
    case 3:
        somebody_looks(world, input, EVENT_LOOK);
        return;
    case 4:
        somebody_looks(world, input, EVENT_DETACH);
        return;
    case 5:
        somebody_looks(world, input, EVENT_REPORT);
        return;
    case 6:
        somebody_leaves(world, input);
        return;
    case 7:
        the_operator_acts(world, input);
        return;
    case 8:
        somebody_asks_for_money(world, input);
        return;
    case 9:
        the_store_changes(world, input);
        return;
    case 10:
    case 11:
        (void)world_end_submit(world, input);
        return;
    case 12:
        (void)world_end_poll(world, input);
        return;
    case 13:
        (void)world_end_probe(world, input);
        return;
    case 14:
        world_call_back(world, input);
        return;
    case 15:
        world_become_durable(world, input_byte(input));
        return;
    case 16:
        world_event(world, input_flag(input) ? EVENT_FORGED : EVENT_STANDSTILL);
        return;
    case 17:
        (void)world_end_notice(world, input);
        return;
    default:
        time_passes(world, input);
        return;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input input = {.data = data, .len = size};
    struct world *world = calloc(1, sizeof(*world));
    HOLDS(world != NULL);
    draw_options(world, &input);
    world_open(world);
    for (unsigned i = 0; i < DEEDS_MAX && input.len > 0 && world_has_room(world); i++)
        do_deed(world, &input);
    world_heal(world);
    world_close(world);
    free(world);
    return 0;
}
