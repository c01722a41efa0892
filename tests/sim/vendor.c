/* A vendor that loses, doubles, delays and repeats; its ledger of accepted submits is the judge. */
#include "sim.h"

#include <stdio.h>
#include <stdlib.h>

#define SUBMIT_TIMEOUT_MS 15000
#define POLL_TIMEOUT_MS 10000
/* Longer than flights live in some worlds. */
#define QUEUE_MOST_MS 90000
#define NEVER UINT64_MAX

struct error {
    enum error_class class;
    const char *code;
};

static const struct error errors[] = {
    {CLASS_BUSY, "ERROR_NO_SLOT_AVAILABLE"}, {CLASS_TRANSIENT, "ERROR_SERVER_ERROR"},
    {CLASS_UNKNOWN, "ERROR_NEW_MOON"},       {CLASS_CALLER, "ERROR_PAGEURL"},
    {CLASS_PROXY, "ERROR_BAD_PROXY"},        {CLASS_UNSOLVABLE, "ERROR_CAPTCHA_UNSOLVABLE"},
    {CLASS_ACCOUNT, "ERROR_ZERO_BALANCE"},   {CLASS_ACCOUNT, "ERROR_KEY_DOES_NOT_EXIST"},
};
#define ERROR_UNSOLVABLE 5
#define ERROR_ACCOUNT 6

/* What a callback brings. */
enum bringing { BRINGS_RESULT, BRINGS_TWIN, BRINGS_OTHER, BRINGS_NOTHING, BRINGS_FORGERY };

/* ---- tokens ---------------------------------------------------------------------------------- */

static uint32_t token_new(struct sim *sim, uint32_t submit, uint64_t born_ms)
{
    sim->tokens = array_grow(sim->tokens, sim->token_count, &sim->token_room, sizeof *sim->tokens);
    sim->tokens[sim->token_count] =
        (struct token){.submit = submit, .key = sim->submits[submit].key, .born_ms = born_ms};
    return (uint32_t)sim->token_count++;
}

uint32_t token_of(const struct sim *sim, struct slice text)
{
    unsigned long long number = 0;
    if (text.len < 2 || text.data[0] != 't' ||
        !slice_to_u64((struct slice){.data = text.data + 1, .len = text.len - 1}, &number) ||
        number >= sim->token_count)
        return MAP_NONE;
    return (uint32_t)number;
}

static struct blob *token_text(uint32_t token)
{
    char text[16];
    const int len = snprintf(text, sizeof text, "t%u", token);
    return blob_new((struct slice){.data = text, .len = (size_t)len});
}

/* ---- submits ----------------------------------------------------------------------------------- */

static uint64_t draw_solve_ms(struct sim *sim)
{
    if (sim_chance(sim, FAULT_NEVER))
        return NEVER;
    if (sim_chance(sim, FAULT_QUICK_SOLVE))
        return sim_below(sim, 300);
    if (sim_chance(sim, FAULT_SLOW_SOLVE))
        return sim_below(sim, 400000);
    return sim->plan.solve_ms / 2 + sim_below(sim, sim->plan.solve_ms);
}

static void plan_callback(struct sim *sim, uint32_t place, uint64_t in_ms, enum bringing brings,
                          uint32_t tries)
{
    sim_at(sim, in_ms,
           (struct moment){
               .what = HAPPEN_CALLBACK, .subject = place, .detail = brings, .detail2 = tries});
}

static uint64_t draw_callback_ms(struct sim *sim)
{
    if (!sim_chance(sim, FAULT_CALLBACK_LATE))
        return sim_below(sim, 500);
    return sim_below(sim, sim_coin(sim, 100) ? 4000000 : 200000);
}

static void plan_callbacks(struct sim *sim, uint32_t place, uint64_t in_ms)
{
    const struct submit *submit = &sim->submits[place];
    if (!sim->plan.options.has_callbacks)
        return;
    if (submit->twin != MAP_NONE && !sim_chance(sim, FAULT_CALLBACK_LOST))
        plan_callback(sim, place, in_ms + draw_callback_ms(sim), BRINGS_TWIN, 0);
    if (sim_chance(sim, FAULT_CALLBACK_EMPTY))
        plan_callback(sim, place, sim_below(sim, in_ms + 1), BRINGS_NOTHING, 0);
    if (sim_chance(sim, FAULT_CALLBACK_FORGED))
        plan_callback(sim, place, sim_below(sim, in_ms + 1), BRINGS_FORGERY, 0);
    if (sim_chance(sim, FAULT_CALLBACK_LOST))
        return;
    const enum bringing brings =
        sim_chance(sim, FAULT_CALLBACK_OTHER) ? BRINGS_OTHER : BRINGS_RESULT;
    plan_callback(sim, place, in_ms + draw_callback_ms(sim), brings, 0);
}

/* A vendor that counts anew, or forgets: the id names the other's task, but for callbacks. The engine can tell only if
 * it was told of the other, has room to remember it, and a task has one text. */
static uint32_t draw_task(struct sim *sim, uint32_t place)
{
    if (sim->plan.strength[FAULT_TASK_TWICE] == 0 || place == 0 ||
        sim->plan.strength[FAULT_CALLBACK_OTHER] > 0 ||
        sim->submit_count > sim->plan.options.max_flights * 2 || !sim_chance(sim, FAULT_TASK_TWICE))
        return place;
    const uint32_t span = place < 8 ? place : 8;
    const struct submit *other = &sim->submits[place - 1 - (uint32_t)sim_below(sim, span)];
    return other->is_id_told && other->has_id_row ? other->task : place;
}

static void accept(struct sim *sim, uint32_t place)
{
    sim->submits[place].task = draw_task(sim, place);
    const uint64_t wait_ms = draw_solve_ms(sim);
    const bool is_unsolvable = sim_chance(sim, FAULT_UNSOLVABLE);
    const bool is_doubled = sim_chance(sim, FAULT_DOUBLED);
    struct submit *submit = &sim->submits[place];
    submit->is_accepted = true;
    sim->accepted[submit->client]++;
    if (wait_ms == NEVER)
        return;
    submit->ready_ms = sim->now_ms + wait_ms;
    if (is_unsolvable)
        submit->error = errors[ERROR_UNSOLVABLE].class;
    else
        submit->token = token_new(sim, place, submit->ready_ms);
    if (is_doubled)
        submit->twin = token_new(sim, place, submit->ready_ms);
    plan_callbacks(sim, place, wait_ms);
}

static void reply_in(struct sim *sim, uint32_t place, uint64_t in_ms, enum outcome outcome,
                     uint32_t error)
{
    sim_at(sim, in_ms,
           (struct moment){.what = HAPPEN_SUBMITTED,
                           .incarnation = sim->incarnation,
                           .subject = place,
                           .detail = outcome,
                           .detail2 = error});
}

static uint64_t draw_reply_ms(struct sim *sim)
{
    return sim_chance(sim, FAULT_REPLY_SLOW) ? sim_below(sim, SUBMIT_TIMEOUT_MS)
                                             : sim_below(sim, 300);
}

static void lose_reply(struct sim *sim, uint32_t place)
{
    const uint64_t in_ms = sim_coin(sim, 512) ? SUBMIT_TIMEOUT_MS : sim_below(sim, 1000);
    reply_in(sim, place, in_ms, OUTCOME_AMBIGUOUS, 0);
}

static void reject(struct sim *sim, uint32_t place, uint32_t error)
{
    reply_in(sim, place, draw_reply_ms(sim), OUTCOME_REJECTED, error);
}

/* Its first byte leaves. */
static void send(struct sim *sim, uint32_t place)
{
    struct submit *submit = &sim->submits[place];
    CHECK(sim, !submit->is_executed && !submit->is_void);
    submit->is_waiting = false;
    submit->is_executed = true;
    submit->submitted_in = sim->incarnation;
    ledger_sent(sim, submit);
    if (sim_chance(sim, FAULT_NOT_SENT)) {
        reply_in(sim, place, sim_below(sim, 5000), OUTCOME_NOT_SENT, 1);
    } else if (sim_chance(sim, FAULT_REJECTED)) {
        reject(sim, place, (uint32_t)sim_below(sim, ERROR_ACCOUNT));
    } else if (sim_chance(sim, FAULT_ACCOUNT)) {
        reject(sim, place, ERROR_ACCOUNT + (uint32_t)sim_below(sim, 2));
    } else if (sim_chance(sim, FAULT_REQUEST_LOST)) {
        lose_reply(sim, place);
    } else {
        accept(sim, place);
        if (sim_chance(sim, FAULT_REPLY_LOST))
            lose_reply(sim, place);
        else
            reply_in(sim, place, draw_reply_ms(sim), OUTCOME_ACCEPTED, 0);
    }
}

void vendor_submit(struct sim *sim, const struct action *action)
{
    const uint32_t place = map_get(&sim->submit_by_name, action->call.attempt);
    CHECK(sim, place != MAP_NONE);
    sim->submits_out++;
    /* While it waited for the disk its flight may have ended. */
    if (!engine_wants(sim->engine, action)) {
        reply_in(sim, place, 0, OUTCOME_WITHDRAWN, 0);
        return;
    }
    if (sim->plan.strength[FAULT_QUEUED] == 0 || !sim_chance(sim, FAULT_QUEUED)) {
        send(sim, place);
        return;
    }
    sim->submits[place].is_waiting = true;
    sim_at(sim, sim_below(sim, QUEUE_MOST_MS),
           (struct moment){.what = HAPPEN_SENT, .incarnation = sim->incarnation, .subject = place});
}

void vendor_withdraw(struct sim *sim, const struct withdrawal *withdrawal)
{
    const uint32_t place = map_get(&sim->submit_by_name, withdrawal->attempt);
    CHECK(sim, place != MAP_NONE);
    if (withdrawal->is_poll || !sim->submits[place].is_waiting)
        return;
    sim->submits[place].is_waiting = false;
    reply_in(sim, place, sim_below(sim, 20), OUTCOME_WITHDRAWN, 0);
}

/* Nothing is sent for a flight that is over. */
static void leave_queue(struct sim *sim, uint32_t place)
{
    struct submit *submit = &sim->submits[place];
    if (!submit->is_waiting)
        return;
    struct action action = {.kind = ACTION_SUBMIT};
    action.call.attempt = submit->name;
    CHECK(sim, engine_wants(sim->engine, &action));
    send(sim, place);
}

static void set_task_id(const struct sim *sim, struct vendor_result *result, uint32_t place,
                        char letter)
{
    const uint32_t number = letter == 'T' ? sim->submits[place].task : place;
    (void)snprintf(result->task_id, sizeof result->task_id, "%c%u", letter, number);
}

static void set_error(struct sim *sim, struct vendor_result *result, uint32_t error)
{
    result->class = errors[error].class;
    memcpy(result->code, errors[error].code, strlen(errors[error].code) + 1);
    result->is_short = strcmp(result->code, "ERROR_ZERO_BALANCE") == 0;
    if (sim_coin(sim, 200))
        result->retry_after_ms = (uint32_t)sim_below(sim, 100000);
}

/* Hands it to model and engine. */
static void deliver(struct sim *sim, enum event_kind kind, uint32_t place,
                    struct vendor_result *result)
{
    static const char extra[] = "{\"useragent\":\"x\"}";
    result->attempt = sim->submits[place].name;
    if (result->text != NULL && sim_coin(sim, 100))
        result->extra = blob_new(SLICE_OF(extra));
    struct event event = {.kind = kind};
    event.result = *result;
    ledger_told(sim, place, result);
    sim_step(sim, &event);
    if (kind == EVENT_SUBMITTED && !sim->crash_now)
        ledger_after_told(sim, place);
    blob_unref(result->text);
    blob_unref(result->extra);
}

static void submit_ends(struct sim *sim, const struct moment *moment)
{
    struct vendor_result result = {.outcome = (enum outcome)moment->detail};
    sim->submits[moment->subject].submitted_in = 0;
    sim->submits_out--;
    if (result.outcome == OUTCOME_ACCEPTED) {
        sim->tally.accepted++;
        set_task_id(sim, &result, moment->subject, 'T');
    } else if (result.outcome == OUTCOME_AMBIGUOUS) {
        sim->tally.ambiguous++;
    } else if (result.outcome != OUTCOME_WITHDRAWN) {
        set_error(sim, &result, moment->detail2);
    }
    deliver(sim, EVENT_SUBMITTED, moment->subject, &result);
}

/* ---- polls ---------------------------------------------------------------------------------------- */

/* What the vendor says when the question reaches it; the answer arrives later. */
static enum outcome look_up(struct sim *sim, const struct submit *submit, uint64_t at_ms)
{
    if (sim_chance(sim, FAULT_POLL_UNHEARD))
        return sim_coin(sim, 512) ? OUTCOME_UNHEARD : OUTCOME_NOT_SENT;
    if (submit->ready_ms > at_ms)
        return OUTCOME_PENDING;
    return submit->error == CLASS_NONE ? OUTCOME_SOLVED : OUTCOME_FAILED;
}

void vendor_poll(struct sim *sim, const struct call *call)
{
    const uint32_t place = map_get(&sim->submit_by_name, call->attempt);
    CHECK(sim, place != MAP_NONE);
    struct submit *submit = &sim->submits[place];
    const bool is_twin = call->task_id[0] == 'D';
    const uint32_t task = is_twin ? place : submit->task;
    char wanted[TASK_ID_MAX];
    (void)snprintf(wanted, sizeof wanted, "%u", task);
    CHECK(sim, submit->is_accepted && submit->polled_in != sim->incarnation);
    CHECK(sim, call->task_id[0] == 'T' || (call->task_id[0] == 'D' && submit->twin != MAP_NONE));
    CHECK(sim, strcmp(call->task_id + 1, wanted) == 0);
    submit->polled_in = sim->incarnation;
    const uint64_t there_ms = sim_below(sim, 200);
    enum outcome outcome = look_up(sim, &sim->submits[task], sim->now_ms + there_ms);
    if (is_twin && outcome == OUTCOME_FAILED)
        outcome = OUTCOME_SOLVED;
    const uint64_t back_ms =
        outcome == OUTCOME_UNHEARD ? sim_below(sim, POLL_TIMEOUT_MS) : sim_below(sim, 200);
    sim_at(sim, there_ms + back_ms,
           (struct moment){.what = HAPPEN_POLLED,
                           .incarnation = sim->incarnation,
                           .subject = place,
                           .detail = outcome,
                           .detail2 = is_twin});
}

static void poll_ends(struct sim *sim, const struct moment *moment)
{
    struct submit *submit = &sim->submits[moment->subject];
    struct vendor_result result = {.outcome = (enum outcome)moment->detail};
    submit->polled_in = 0;
    if (result.outcome == OUTCOME_SOLVED)
        result.text =
            token_text(moment->detail2 != 0 ? submit->twin : sim->submits[submit->task].token);
    else if (result.outcome == OUTCOME_FAILED)
        set_error(sim, &result, ERROR_UNSOLVABLE);
    else if (result.outcome != OUTCOME_PENDING && sim_coin(sim, 300))
        result.retry_after_ms = 20000;
    deliver(sim, EVENT_POLLED, moment->subject, &result);
}

/* ---- callbacks -------------------------------------------------------------------------------------- */

static void bring_forgery(struct sim *sim)
{
    struct event event = {.kind = EVENT_FORGED};
    sim->tally.forged++;
    sim_step(sim, &event);
}

static uint32_t choose_token(struct sim *sim, uint32_t place, enum bringing brings)
{
    struct submit *submit = &sim->submits[place];
    if (brings == BRINGS_TWIN)
        return submit->twin;
    if (brings != BRINGS_OTHER || submit->error != CLASS_NONE)
        return submit->token;
    if (submit->other == MAP_NONE) {
        const uint32_t other = token_new(sim, place, submit->ready_ms);
        sim->submits[place].other = other;
    }
    return sim->submits[place].other;
}

static void bring(struct sim *sim, uint32_t place, enum bringing brings)
{
    struct vendor_result result = {.outcome = OUTCOME_SOLVED};
    const uint32_t token = choose_token(sim, place, brings);
    result.caller = clients_call(sim, CALLER_CALLBACK, MAP_NONE);
    struct caller *caller = &sim->callers[result.caller - 1];
    caller->submit = place;
    caller->about = MAP_NONE;
    caller->min_ttl_ms = brings; /* to be called again with, should it be refused */
    if (brings == BRINGS_TWIN)
        set_task_id(sim, &result, place, 'D');
    else if (!sim_chance(sim, FAULT_CALLBACK_NO_ID))
        set_task_id(sim, &result, place, 'T');
    if (brings == BRINGS_NOTHING) {
        result.outcome = OUTCOME_PENDING;
    } else if (brings != BRINGS_TWIN && sim->submits[place].error != CLASS_NONE) {
        result.outcome = OUTCOME_FAILED;
        set_error(sim, &result, ERROR_UNSOLVABLE);
    } else {
        result.text = token_text(token);
        caller->about = token;
    }
    sim->tally.callbacks++;
    deliver(sim, EVENT_CALLBACK, place, &result);
}

static void call_again(struct sim *sim, uint32_t place, enum bringing brings, uint32_t tries)
{
    if (tries < 4)
        plan_callback(sim, place, 1000 + sim_below(sim, 60000), brings, tries + 1);
}

static void callback_comes(struct sim *sim, const struct moment *moment)
{
    const enum bringing brings = (enum bringing)moment->detail;
    if (sim->engine == NULL) {
        /* Some vendors try again, and some do not. */
        if (sim_coin(sim, 512))
            call_again(sim, moment->subject, brings, moment->detail2);
        return;
    }
    if (brings == BRINGS_FORGERY) {
        bring_forgery(sim);
        return;
    }
    if (sim_chance(sim, FAULT_CALLBACK_AGAIN))
        call_again(sim, moment->subject,
                   brings == BRINGS_RESULT && sim_chance(sim, FAULT_CALLBACK_OTHER) ? BRINGS_OTHER
                                                                                    : brings,
                   moment->detail2);
    bring(sim, moment->subject, brings);
}

void vendor_on_ack(struct sim *sim, const struct caller *caller, bool is_refused)
{
    if (is_refused && !caller->is_gone)
        call_again(sim, caller->submit, (enum bringing)caller->min_ttl_ms, 0);
}

/* ---- probes -------------------------------------------------------------------------------------------- */

void vendor_probe(struct sim *sim, enum probe probe)
{
    CHECK(sim, sim->probing_in[probe] != sim->incarnation);
    sim->probing_in[probe] = sim->incarnation;
    sim_at(
        sim, sim_below(sim, 2000),
        (struct moment){.what = HAPPEN_PROBED, .incarnation = sim->incarnation, .subject = probe});
}

static void probe_ends(struct sim *sim, enum probe probe)
{
    struct event event = {.kind = EVENT_PROBED};
    struct probed *probed = &event.probed;
    *probed = (struct probed){.probe = probe, .is_ok = true};
    sim->probing_in[probe] = 0;
    const bool is_bad = sim_chance(sim, FAULT_PROBE_BAD);
    if (is_bad && sim_coin(sim, 512)) {
        probed->is_ok = false;
        probed->class = sim_coin(sim, 300) ? CLASS_ACCOUNT : CLASS_TRANSIENT;
        memcpy(probed->code, "ERROR_PROBE", sizeof "ERROR_PROBE");
    } else if (probe == PROBE_THREADS) {
        probed->has_threads = !is_bad;
        probed->threads = 4 + (uint32_t)sim_below(sim, 60);
        probed->working_threads = sim_coin(sim, 512) && !sim->is_healing ? probed->threads : 0;
    } else {
        memcpy(probed->balance, is_bad ? "0.0" : "1.5", sizeof "1.5");
    }
    sim_step(sim, &event);
}

void vendor_happens(struct sim *sim, const struct moment *moment)
{
    if (moment->what == HAPPEN_CALLBACK)
        callback_comes(sim, moment);
    else if (moment->what == HAPPEN_SENT)
        leave_queue(sim, moment->subject);
    else if (moment->what == HAPPEN_SUBMITTED)
        submit_ends(sim, moment);
    else if (moment->what == HAPPEN_POLLED)
        poll_ends(sim, moment);
    else
        probe_ends(sim, (enum probe)moment->subject);
}
