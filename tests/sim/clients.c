/* Clients that ask, poll, leave, come back, repeat themselves and change their minds. */
#include "sim.h"
#include "watched.h"

#define POLL_LEAST_MS 1000
#define POLL_PATIENT_MS 5000
#define POLL_SPAN_MS 15000

/* ---- callers ------------------------------------------------------------------------------------- */

caller_id clients_call(struct sim *sim, enum caller_kind kind, uint32_t need)
{
    sim->callers =
        array_grow(sim->callers, sim->caller_count, &sim->caller_room, sizeof *sim->callers);
    sim->open_callers =
        array_grow(sim->open_callers, sim->open_count, &sim->open_room, sizeof *sim->open_callers);
    sim->callers[sim->caller_count] = (struct caller){
        .kind = kind,
        .need = need,
        .about = MAP_NONE,
        .since_ms = sim->now_ms,
        .open_place = (uint32_t)sim->open_count,
    };
    sim->open_callers[sim->open_count++] = (uint32_t)sim->caller_count;
    return ++sim->caller_count;
}

void clients_close_caller(struct sim *sim, caller_id id)
{
    struct caller *caller = &sim->callers[id - 1];
    CHECK(sim, caller->state != CALLER_CLOSED);
    caller->state = CALLER_CLOSED;
    const uint32_t last = sim->open_callers[--sim->open_count];
    sim->open_callers[caller->open_place] = last;
    sim->callers[last].open_place = caller->open_place;
}

static void done(struct sim *sim, struct need *need)
{
    if (need->state == NEED_DONE)
        return;
    need->state = NEED_DONE;
    sim->needs_done++;
}

static void act_in(struct sim *sim, const struct need *need, uint64_t in_ms)
{
    sim_at(sim, in_ms,
           (struct moment){.what = HAPPEN_NEED, .subject = (uint32_t)(need - sim->needs)});
}

/* ---- asking --------------------------------------------------------------------------------------- */

/* Some things are wanted much more often than others; a thing is one client's own or everybody's. */
static uint32_t draw_key(struct sim *sim, client_id client)
{
    uint64_t number = sim_below(sim, sim->plan.keys);
    if (sim_coin(sim, 512))
        number = sim_below(sim, number + 1);
    const bool is_own = number % 2 == 0 || !sim->plan.options.clients_share;
    return (uint32_t)number * SIM_CLIENTS + (is_own ? client : 0);
}

static enum reuse draw_reuse(struct sim *sim)
{
    if (sim_chance(sim, FAULT_SINGLE))
        return REUSE_SINGLE;
    return sim_chance(sim, FAULT_NONE) ? REUSE_NONE : REUSE_SHARED;
}

static void promise_new(struct sim *sim, struct need *need)
{
    sim->promises =
        array_grow(sim->promises, sim->promise_count, &sim->promise_room, sizeof *sim->promises);
    sim->promises[sim->promise_count++] = (struct promise){.key = need->key, .token = MAP_NONE};
    need->idempotency = sim->promise_count;
}

/* Somebody else with the same idempotency key: a worker that was started twice. */
static bool become_twin(struct sim *sim, struct need *need)
{
    if (sim->need_count < 2 || !sim_chance(sim, FAULT_TWIN))
        return false;
    const size_t span = sim->need_count - 1 < 8 ? sim->need_count - 1 : 8;
    const struct need *other = &sim->needs[sim->need_count - 2 - sim_below(sim, span)];
    if (other->idempotency == 0)
        return false;
    need->client = other->client;
    need->key = other->key;
    need->reuse = other->reuse;
    need->idempotency = other->idempotency;
    /* Drawn for whoever it was before. */
    if (!sim->plan.options.clients_share)
        need->other_key = other->other_key;
    return true;
}

static void arrive(struct sim *sim)
{
    sim->needs = array_grow(sim->needs, sim->need_count, &sim->need_room, sizeof *sim->needs);
    struct need *need = &sim->needs[sim->need_count++];
    *need = (struct need){.known = MAP_NONE, .client = (client_id)sim_below(sim, SIM_CLIENTS)};
    need->key = draw_key(sim, need->client);
    need->other_key = draw_key(sim, need->client);
    need->reuse = draw_reuse(sim);
    need->is_told = sim_coin(sim, 400);
    need->is_strict = sim_coin(sim, 200);
    need->priority = (uint8_t)sim_below(sim, 12);
    if (!become_twin(sim, need) && sim_chance(sim, FAULT_IDEMPOTENCY))
        promise_new(sim, need);
    act_in(sim, need, 0);
    if (sim->need_count < sim->plan.needs)
        sim_at(sim, sim_below(sim, UINT64_C(2) * sim->plan.gap_ms + 1),
               (struct moment){.what = HAPPEN_ARRIVE});
}

/* What must come of a repeat, as far as anything is promised. */
static void expect_of(struct sim *sim, const struct need *need, struct caller *caller)
{
    if (watched_idempotency(sim, need) == 0)
        return;
    struct promise *promise = &sim->promises[need->idempotency - 1];
    const uint32_t key = need->is_mutated ? need->other_key : need->key;
    const bool is_alive = promise->token != MAP_NONE && promise->until_ms > sim->now_ms &&
                          !sim->has_skewed && sim->keys_full_ms <= promise->since_ms &&
                          !places_missed(sim, need->client, promise->since_ms);
    const bool is_bad = is_alive && sim->tokens[promise->token].is_reported;
    caller->must_refuse = is_alive && key != promise->key;
    caller->must_be_same =
        is_alive && key == promise->key && !is_bad && promise->fresh_ms > sim->now_ms;
    caller->about = promise->token;
    if (caller->must_refuse || caller->must_be_same)
        return;
    /* It may be solved anew, or for something else: nothing is sure until the next solution. */
    promise->epoch++;
    promise->token = MAP_NONE;
    caller->epoch = promise->epoch;
}

static void leave_some_day(struct sim *sim, caller_id caller, uint64_t within_ms)
{
    if (sim_chance(sim, FAULT_LEAVE))
        sim_at(sim, sim_below(sim, within_ms + 1),
               (struct moment){.what = HAPPEN_LEAVE,
                               .incarnation = sim->incarnation,
                               .subject = (uint32_t)caller});
}

static void fill_ask(struct sim *sim, struct need *need, struct ask *ask)
{
    const uint32_t key = need->is_mutated ? need->other_key : need->key;
    *ask = (struct ask){
        .client = need->client,
        /* The kind of captcha and being one-time are properties of the thing. */
        .type = (enum type)(key % TYPE_COUNT),
        .reuse = need->reuse,
        .is_one_time = sim_is_one_time(sim, key),
        .wants_rest = sim_wants_rest(key),
        .has_idempotency = need->idempotency != 0,
        .is_id_told = need->is_told,
        .priority = need->priority,
        .pool = pool_of_key(sim, key),
        .max_age_ms = need->is_picky ? 0 : UINT32_MAX,
        .key = sim->keys[key],
        .params = sim->params[key],
    };
    memcpy(ask->idempotency.bytes, &need->idempotency, sizeof need->idempotency);
    if (!need->is_told && sim_coin(sim, 850))
        ask->hold_ms = 1 + (uint32_t)sim_below(sim, 50000);
    if (need->is_strict) {
        ask->min_ttl_ms = (uint32_t)sim_below(sim, 20000);
        ask->max_age_ms = sim_coin(sim, 512) ? 20000 : UINT32_MAX;
    }
}

static struct blob *draw_pingback(struct sim *sim, struct caller *caller)
{
    static const char address[] = "https://hooks.example.com/done";
    caller->has_pingback = sim_chance(sim, FAULT_PINGBACK);
    return caller->has_pingback ? blob_new(SLICE_OF(address)) : NULL;
}

static void ask(struct sim *sim, struct need *need)
{
    struct event event = {.kind = EVENT_ASK};
    fill_ask(sim, need, &event.ask);
    event.ask.caller = clients_call(sim, CALLER_ASK, (uint32_t)(need - sim->needs));
    struct caller *caller = &sim->callers[event.ask.caller - 1];
    caller->hold_ms = event.ask.hold_ms;
    caller->min_ttl_ms = event.ask.min_ttl_ms;
    caller->max_age_ms = event.ask.max_age_ms;
    caller->must_be_pool = pool_has_for(sim, &event.ask);
    caller->is_drained = sim->is_draining;
    event.ask.pingback = draw_pingback(sim, caller);
    expect_of(sim, need, caller);
    leave_some_day(sim, event.ask.caller, event.ask.hold_ms);
    need->state = NEED_ASKING;
    need->tries++;
    sim->tally.requests++;
    sim->asking = (uint32_t)event.ask.caller - 1;
    sim->free_key = places_free_key(sim, &event.ask);
    sim_step(sim, &event);
    sim->asking = sim->free_key = MAP_NONE;
    blob_unref(event.ask.pingback);
}

void clients_come_for_new(struct sim *sim, uint32_t key, client_id client)
{
    sim->needs = array_grow(sim->needs, sim->need_count, &sim->need_room, sizeof *sim->needs);
    struct need *need = &sim->needs[sim->need_count++];
    *need = (struct need){
        .known = MAP_NONE, .key = key, .client = client, .reuse = REUSE_SHARED, .is_picky = true};
    ask(sim, need);
}

/* The same again, to see whether the promise holds; or another thing under the same name. */
static bool repeats(struct sim *sim, struct need *need)
{
    if (need->idempotency == 0 || need->tries > 6)
        return false;
    const bool is_mutated = sim_chance(sim, FAULT_MUTATE);
    if (!is_mutated && !sim_chance(sim, FAULT_REPEAT))
        return false;
    need->is_mutated = is_mutated;
    need->state = NEED_AWAY;
    need->known = MAP_NONE;
    act_in(sim, need, sim_below(sim, sim_coin(sim, 512) ? 2000 : 100000));
    return true;
}

/* ---- coming back for a request --------------------------------------------------------------------- */

static void look(struct sim *sim, struct need *need, client_id client, uint32_t who)
{
    struct event event = {.kind = EVENT_LOOK};
    event.look = (struct look){
        .caller = clients_call(sim, CALLER_LOOK, who),
        .client = client,
        .id = sim->knowns[need->known].id,
        .hold_ms = sim_coin(sim, 400) ? (uint32_t)sim_below(sim, 20000) : 0,
    };
    sim->callers[event.look.caller - 1].about = need->known;
    sim->callers[event.look.caller - 1].hold_ms = event.look.hold_ms;
    leave_some_day(sim, event.look.caller, event.look.hold_ms);
    if (who != MAP_NONE)
        need->state = NEED_LOOKING;
    sim_step(sim, &event);
}

static void give_up(struct sim *sim, struct need *need)
{
    struct event event = {.kind = EVENT_DETACH};
    event.detach = (struct detach){
        .caller = clients_call(sim, CALLER_DETACH, MAP_NONE),
        .client = need->client,
        .id = sim->knowns[need->known].id,
    };
    sim->callers[event.detach.caller - 1].about = need->known;
    sim->knowns[need->known].is_detached = true;
    done(sim, need);
    sim_step(sim, &event);
}

static void report(struct sim *sim, struct need *need)
{
    struct event event = {.kind = EVENT_REPORT};
    event.report = (struct report){
        .caller = clients_call(sim, CALLER_REPORT, MAP_NONE),
        .client = need->client,
        .id = sim->knowns[need->known].id,
        .is_good = sim_coin(sim, 300),
    };
    const struct known *known = &sim->knowns[need->known];
    sim->callers[event.report.caller - 1].about = need->known;
    sim->callers[event.report.caller - 1].is_good = event.report.is_good;
    if (!event.report.is_good)
        sim->tokens[known->token].is_reported = true;
    need->is_reporting = false;
    if (!repeats(sim, need))
        done(sim, need);
    sim_step(sim, &event);
}

static void ask_for_account(struct sim *sim)
{
    struct event event = {.kind = EVENT_ACCOUNT};
    event.account = (struct account){
        .caller = clients_call(sim, CALLER_ACCOUNT, MAP_NONE),
        .probe = sim_coin(sim, 512) ? PROBE_BALANCE : PROBE_THREADS,
    };
    leave_some_day(sim, event.account.caller, 2000);
    sim_step(sim, &event);
}

void clients_operate(struct sim *sim, enum letter_verb verb)
{
    struct event event = {.kind = EVENT_LETTERS};
    struct letter_order *order = &event.letters;
    order->caller = clients_call(sim, CALLER_LETTERS, MAP_NONE);
    order->verb = verb;
    order->filter.class = CLASS_COUNT;
    order->filter.type = TYPE_COUNT;
    order->filter.has_client = !sim->is_healing && sim_coin(sim, 512);
    order->filter.client = (client_id)sim_below(sim, SIM_CLIENTS);
    if (places_change(sim) && !sim->is_healing && sim_coin(sim, 512))
        places_replay(sim, order);
    sim_step(sim, &event);
}

/* What else goes on while somebody waits. */
static void mind_other_things(struct sim *sim, struct need *need)
{
    if (sim_chance(sim, FAULT_LETTERS))
        clients_operate(sim, (enum letter_verb)sim_below(sim, 3));
    if (!sim->crash_now && sim_chance(sim, FAULT_ASK_ACCOUNT))
        ask_for_account(sim);
    if (!sim->crash_now && need->known != MAP_NONE && sim_chance(sim, FAULT_STRANGER))
        look(sim, need, (client_id)((need->client + 1) % SIM_CLIENTS), MAP_NONE);
}

static void act(struct sim *sim, uint32_t place)
{
    struct need *need = &sim->needs[place];
    if (sim->engine == NULL) {
        act_in(sim, need, sim->up_ms - sim->now_ms + 1 + sim_below(sim, 1000));
        return;
    }
    if (sim->is_absent[need->client]) {
        /* Nobody lets it in; some give up. */
        if (sim->is_healing || sim_coin(sim, 200))
            done(sim, need);
        else
            act_in(sim, need, sim_below(sim, 10000));
        return;
    }
    mind_other_things(sim, need);
    if (sim->crash_now) {
        act_in(sim, need, 1);
        return;
    }
    switch (need->state) {
    case NEED_AWAY:
        ask(sim, need);
        return;
    case NEED_KNOWN:
        if (need->is_reporting)
            report(sim, need);
        else if (sim_chance(sim, FAULT_DETACH))
            give_up(sim, need);
        else
            look(sim, need, need->client, place);
        return;
    case NEED_ASKING:
    case NEED_LOOKING:
    case NEED_DONE:
        return;
    }
    UNREACHABLE();
}

/* ---- answers ------------------------------------------------------------------------------------------ */

static void on_refusal(struct sim *sim, struct need *need, const struct caller *caller,
                       const struct answer *answer)
{
    if (caller->kind == CALLER_LOOK || answer->refusal == REFUSAL_MISMATCH || need->is_mutated ||
        need->tries > 6) {
        done(sim, need);
        return;
    }
    need->state = NEED_AWAY;
    const uint64_t wait_ms = answer->retry_after_ms < 20000 ? answer->retry_after_ms : 20000;
    act_in(sim, need, wait_ms + sim_below(sim, 5000));
}

static void on_final(struct sim *sim, struct need *need)
{
    const bool is_solved = sim->knowns[need->known].state == REQUEST_SOLVED;
    if (is_solved && need->state != NEED_DONE && sim_chance(sim, FAULT_REPORT)) {
        need->state = NEED_KNOWN;
        need->is_reporting = true;
        act_in(sim, need, sim_below(sim, 3000));
        return;
    }
    if (!repeats(sim, need))
        done(sim, need);
}

void clients_on_answer(struct sim *sim, struct caller *caller, const struct answer *answer)
{
    if (caller->need == MAP_NONE)
        return;
    struct need *need = &sim->needs[caller->need];
    if (need->state != NEED_ASKING && need->state != NEED_LOOKING)
        return;
    if (answer->refusal != REFUSAL_NONE) {
        on_refusal(sim, need, caller, answer);
        return;
    }
    need->known = map_get(&sim->known_by_id, answer->id);
    sim->answered += sim->knowns[need->known].is_final;
    if (sim->knowns[need->known].is_final) {
        on_final(sim, need);
        return;
    }
    need->state = NEED_KNOWN;
    /* Most solves are over by the first look of a patient client. */
    const uint64_t least_ms = sim->plan.size == SIZE_LARGE ? POLL_PATIENT_MS : POLL_LEAST_MS;
    act_in(sim, need, least_ms + sim_below(sim, POLL_SPAN_MS));
}

/* The connection is gone, and with it what was on it; some come back. */
static void lose_connection(struct sim *sim, struct need *need)
{
    const bool comes_back = sim_chance(sim, FAULT_COME_BACK) || need->state == NEED_LOOKING;
    if (need->state == NEED_DONE)
        return;
    if (!comes_back || need->tries > 6) {
        done(sim, need);
        return;
    }
    need->state = need->state == NEED_LOOKING ? NEED_KNOWN : NEED_AWAY;
    act_in(sim, need, sim_below(sim, 8000));
}

static void leave(struct sim *sim, caller_id id)
{
    struct caller *caller = &sim->callers[id - 1];
    if (caller->state == CALLER_CLOSED || sim->engine == NULL)
        return;
    caller->is_gone = true;
    if (caller->state == CALLER_OPEN)
        clients_close_caller(sim, id);
    if (caller->need != MAP_NONE)
        lose_connection(sim, &sim->needs[caller->need]);
    struct event event = {.kind = EVENT_GONE};
    event.gone = id;
    sim_step(sim, &event);
}

/* Workers that crashed along repeat what they had asked for last, to get what they had got. */
static void repeat_after_crash(struct sim *sim)
{
    const size_t span = sim->need_count < 12 ? sim->need_count : 12;
    for (size_t i = sim->need_count - span; i < sim->need_count; i++) {
        struct need *need = &sim->needs[i];
        if (need->state == NEED_DONE && repeats(sim, need))
            sim->needs_done--;
    }
}

void clients_on_crash(struct sim *sim)
{
    repeat_after_crash(sim);
    while (sim->open_count > 0) {
        const uint32_t place = sim->open_callers[sim->open_count - 1];
        struct caller *caller = &sim->callers[place];
        const bool was_gone = caller->is_gone;
        caller->is_gone = true;
        clients_close_caller(sim, (caller_id)place + 1);
        if (caller->need != MAP_NONE && !was_gone)
            lose_connection(sim, &sim->needs[caller->need]);
    }
}

void clients_happen(struct sim *sim, const struct moment *moment)
{
    if (moment->what == HAPPEN_ARRIVE)
        arrive(sim);
    else if (moment->what == HAPPEN_NEED)
        act(sim, moment->subject);
    else
        leave(sim, moment->subject);
}
