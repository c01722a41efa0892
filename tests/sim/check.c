/* What must be true of every answer, acknowledgement and step: exactly one answer, no cross-talk, limits, books. */
#include "sim.h"
#include "watched.h"

/* As the engine has it: how long the end of a request that nobody read can be read. */
#define READABLE_MS 30000

/* ---- emission: what leaves the engine --------------------------------------------------------- */

/* I5: exactly one answer, and none to the gone. */
static void tell(struct sim *sim, caller_id id)
{
    CHECK(sim, id > 0 && id <= sim->caller_count);
    struct caller *caller = &sim->callers[id - 1];
    CHECK(sim, caller->state == CALLER_OPEN);
    caller->state = CALLER_TOLD;
    caller->told_ms = sim->now_ms;
    /* Nobody is held longer than it wanted; only a stall delays the clock. */
    CHECK(sim, sim->now_ms <= caller->since_ms + caller->hold_ms || caller->hold_ms == 0 ||
                   sim->plan.strength[FAULT_STALL] > 0);
}

static void emit_answer(struct sim *sim, const struct answer *answer)
{
    tell(sim, answer->caller);
    if (sim->callers[answer->caller - 1].kind == CALLER_ASK)
        sim->tally.refused += answer->refusal != REFUSAL_NONE;
    CHECK(sim, !sim->callers[answer->caller - 1].is_drained || answer->refusal == REFUSAL_DRAINING);
    if (answer->text != NULL) {
        const uint32_t token = token_of(sim, blob_slice(answer->text));
        CHECK(sim, token != MAP_NONE);
        sim->tokens[token].emitted++;
    }
    /* Its end was told, so that it may be forgotten for room, though the answer may get lost. */
    const uint32_t known = map_get(&sim->known_by_id, answer->id);
    if (known != MAP_NONE && answer->refusal == REFUSAL_NONE)
        sim->knowns[known].is_end_told |=
            answer->state == REQUEST_SOLVED || answer->state == REQUEST_FAILED;
}

void check_emitted(struct sim *sim, const struct action *action)
{
    CHECK(sim, action->kind == ACTION_JOURNAL || action->after <= sim->disk.appended);
    if (sim->reference != NULL)
        reference_action(sim, action);
    if (action->kind == ACTION_ANSWER) {
        emit_answer(sim, &action->answer);
    } else if (action->kind == ACTION_ACCOUNT) {
        tell(sim, action->account.caller);
    } else if (action->kind == ACTION_LETTERS) {
        tell(sim, action->letters.caller);
    } else if (action->kind == ACTION_ACK) {
        tell(sim, action->ack);
    } else if (action->kind == ACTION_SUBMIT) {
        sim->tally.submits++;
        /* A client in shadow mode waits neither for slots nor for the breaker. */
        if (!is_watched(sim, action->call.client))
            sim->submitted_step = sim->steps;
        ledger_issue(sim, action);
    } else if (action->kind == ACTION_POLL) {
        sim->tally.polls++;
    } else if (action->kind == ACTION_PROBE) {
        sim->tally.probes++;
    } else if (action->kind == ACTION_JOURNAL) {
        ledger_record(sim, action);
    } else if (action->kind == ACTION_NOTIFY) {
        notices_emitted(sim, &action->notify);
    }
}

/* ---- execution: what callers see ---------------------------------------------------------------- */

/* A request becomes known with the first answer that names it. */
static struct known *introduce(struct sim *sim, const struct caller *caller, request_id id)
{
    CHECK(sim, id > 0 && id < REQUEST_ID_LIMIT && map_get(&sim->known_by_id, id) == MAP_NONE);
    const struct need *need = &sim->needs[caller->need];
    sim->knowns = array_grow(sim->knowns, sim->known_count, &sim->known_room, sizeof *sim->knowns);
    sim->knowns[sim->known_count] = (struct known){
        .id = id,
        .asked_ms = caller->since_ms,
        .key = need->is_mutated ? need->other_key : need->key,
        .idempotency = watched_idempotency(sim, need),
        .token = MAP_NONE,
        .client = need->client,
        .reuse = watched_reuse(sim, need),
    };
    map_set(&sim->known_by_id, id, (uint32_t)sim->known_count);
    /* Its address may have heard before its caller. */
    const struct notice_note *note = notice_of(sim, id);
    if (note != NULL) {
        sim->knowns[sim->known_count].token = note->token;
        sim->knowns[sim->known_count].is_unsafe = note->is_unsafe;
    }
    return &sim->knowns[sim->known_count++];
}

/* docs/design.md 5.2: what one must have alone nobody else gets, but for the retries of its own key. */
static void hand_out(struct sim *sim, uint32_t place, const struct known *known)
{
    struct token *token = &sim->tokens[place];
    struct submit *submit = &sim->submits[token->submit];
    const bool is_exclusive = known->reuse != REUSE_SHARED;
    const bool is_retry = known->idempotency != 0 && known->idempotency == token->idempotency;
    trace_note(sim, "r%llu gets t%u", (unsigned long long)known->id, place);
    if (token->handed > 0 && !is_retry && !token->is_unsafe)
        CHECK(sim, !token->is_exclusive && !is_exclusive);
    if (token->handed == 0)
        token->idempotency = known->idempotency;
    token->is_exclusive |= is_exclusive;
    token->handed++;
    /* Reported ones are for nobody who asks afterwards. */
    CHECK(sim, token->bad_ms == 0 || known->asked_ms <= token->bad_ms || token->is_unsafe ||
                   sim->has_skewed);
    /* Of two texts for one task only the first is believed. */
    if (place == submit->twin)
        return;
    CHECK(sim, submit->handed == MAP_NONE || submit->handed == place || token->is_unsafe);
    if (!token->is_unsafe)
        submit->handed = place;
}

/* The lifetime of a solution is never overrated. */
static void check_age(struct sim *sim, const struct caller *caller, const struct answer *answer,
                      const struct token *token)
{
    /* A letter does not say how long a life was when it was made. */
    if (sim->has_skewed || (token->is_lettered && sim->plan.strength[FAULT_RELOAD] > 0) ||
        (token->is_unsafe && sim->plan.strength[FAULT_TASK_TWICE] > 0))
        return;
    /* Under an id that the vendor gave twice it says what it knows of the first task: this one seems younger. */
    if (sim->submits[token->submit].task != token->submit)
        return;
    const uint64_t age_ms = caller->told_ms - token->born_ms;
    CHECK(sim, token->born_ms <= caller->told_ms && answer->age_ms >= age_ms);
    const uint64_t life_ms = sim->spans.most.ttl_ms[answer->type];
    CHECK(sim, answer->expires_in_ms == 0 || answer->expires_in_ms + age_ms <= life_ms);
    const bool is_from_memory = answer->source == SOURCE_DEDUP_CACHE ||
                                answer->source == SOURCE_POOL ||
                                (answer->source == SOURCE_IDEMPOTENT &&
                                 caller->told_ms == caller->since_ms && caller->must_be_same);
    if (caller->kind != CALLER_ASK || !is_from_memory)
        return;
    CHECK(sim, answer->expires_in_ms > 0);
    /* A retry gets its own, whatever it demands. */
    if (answer->source == SOURCE_IDEMPOTENT)
        return;
    CHECK(sim, answer->expires_in_ms >= caller->min_ttl_ms);
    CHECK(sim, answer->age_ms <= caller->max_age_ms);
}

static void check_solution(struct sim *sim, const struct caller *caller,
                           const struct answer *answer, struct known *known, bool is_unsafe)
{
    const uint32_t place = token_of(sim, blob_slice(answer->text));
    CHECK(sim, place != MAP_NONE);
    struct token *token = &sim->tokens[place];
    token->is_unsafe |= is_unsafe;
    /* I6: nobody gets what was solved for something else. */
    CHECK(sim, pool_fits(sim, token->key, known->key));
    CHECK(sim, token->key == known->key || answer->source == SOURCE_POOL ||
                   answer->source == SOURCE_IDEMPOTENT);
    /* I4: durable before it is given to anybody. */
    CHECK(sim, token->is_durable || is_unsafe);
    CHECK(sim, token->is_reached);
    check_age(sim, caller, answer, token);
    /* What is made from a one-time input is never kept. */
    CHECK(sim, !sim_is_one_time(sim, known->key) || answer->source != SOURCE_DEDUP_CACHE);
    CHECK(sim, known->reuse != REUSE_NONE || answer->source == SOURCE_API ||
                   answer->source == SOURCE_IDEMPOTENT);
    /* What is for one is no longer kept for others on disk when the one gets it. */
    const struct record *row = disk_find(&sim->disk, RECORD_SOLUTION, token->uid);
    CHECK(sim, known->reuse == REUSE_SHARED || is_unsafe || row == NULL ||
                   row->solution.handed > 0 || !row->solution.is_kept ||
                   answer->expires_in_ms == 0 || sim->has_skewed);
    if (known->token == MAP_NONE)
        hand_out(sim, place, known);
    else
        CHECK(sim, known->token == place || known->is_unsafe);
    known->token = place;
    watched_answer(sim, known, answer);
}

/* What was told may be asked for again, with the same idempotency key, and is the same. */
static void promise(struct sim *sim, const struct caller *caller, const struct known *known,
                    const struct answer *answer)
{
    const bool is_only_cached =
        answer->source == SOURCE_DEDUP_CACHE && known->reuse == REUSE_SHARED;
    if (caller->kind != CALLER_ASK || known->idempotency == 0 || is_only_cached ||
        caller->must_be_same)
        return;
    struct promise *made = &sim->promises[known->idempotency - 1];
    if (made->epoch != caller->epoch)
        return;
    const uint64_t until_ms = caller->since_ms + sim->spans.least.idempotency_ttl_ms;
    /* A restart gives no solution more than what the lifetime is by then. */
    const uint64_t life_ms = sim->spans.least.ttl_ms[answer->type];
    const uint64_t least_ms = answer->age_ms < life_ms ? life_ms - answer->age_ms : 0;
    const bool is_sure = sim->plan.strength[FAULT_RELOAD] == 0 || answer->expires_in_ms < least_ms;
    const uint64_t left_ms = is_sure ? answer->expires_in_ms : least_ms;
    made->key = known->key;
    made->token = known->token;
    made->until_ms = until_ms;
    made->since_ms = caller->since_ms;
    made->fresh_ms = caller->told_ms + left_ms;
}

/* I5, I8: what a caller knows of is found again, until its end was read or could have been, or others needed
 * its place. */
static void check_unknown(struct sim *sim, const struct caller *caller)
{
    if (caller->need == MAP_NONE || caller->kind != CALLER_LOOK)
        return;
    const struct known *known = &sim->knowns[caller->about];
    CHECK(sim, known->is_end_told || known->is_final || known->is_detached || known->is_unsafe ||
                   caller->since_ms >= known->seen_ms + READABLE_MS || sim->has_skewed ||
                   sim->requests_full_ms > known->seen_ms ||
                   places_missed(sim, known->client, known->seen_ms));
}

/* Whatever could be read before the crash can be read for as long after it. */
void check_after_restart(struct sim *sim)
{
    for (size_t i = 0; i < sim->known_count; i++) {
        struct known *known = &sim->knowns[i];
        if (!known->is_final && sim->crash_ms < known->seen_ms + READABLE_MS &&
            sim->requests_full_ms <= known->seen_ms &&
            !places_missed(sim, known->client, known->seen_ms))
            known->seen_ms = sim->now_ms;
    }
}

static void check_refusal(struct sim *sim, const struct caller *caller, const struct answer *answer)
{
    CHECK(sim, !caller->must_be_same || answer->refusal != REFUSAL_MISMATCH);
    if (answer->refusal == REFUSAL_UNKNOWN_ID)
        check_unknown(sim, caller);
    const bool is_possible =
        caller->kind == CALLER_ASK
            ? answer->refusal != REFUSAL_UNKNOWN_ID && answer->refusal != REFUSAL_NOT_SOLVED
            : answer->refusal == REFUSAL_UNKNOWN_ID || answer->refusal == REFUSAL_NOT_SOLVED ||
                  caller->kind == CALLER_ACCOUNT;
    CHECK(sim, is_possible);
}

/* The first, the retries of every class, and a resend per window until the deadline; a restart
 * forgets how often it was tried. */
static uint32_t attempts_most(const struct sim *sim)
{
    const struct engine_options *options = &sim->spans.most;
    if (sim->crashes > 0)
        return UINT32_MAX;
    return 2u + options->retry_busy + options->retry_unsolvable + options->retry_transient +
           options->retry_unknown +
           options->solve_timeout_ms / sim->spans.least.ambiguity_window_ms;
}

static void check_known(struct sim *sim, const struct caller *caller, const struct answer *answer,
                        struct known *known, bool is_unsafe)
{
    const bool is_final = answer->state == REQUEST_SOLVED || answer->state == REQUEST_FAILED;
    known->is_unsafe |= is_unsafe;
    /* I8: what is final stays as it is. */
    CHECK(sim, !known->is_final || known->state == answer->state || known->is_unsafe);
    CHECK(sim, (answer->state == REQUEST_SOLVED) == (answer->text != NULL));
    CHECK(sim, (answer->state == REQUEST_FAILED) == (answer->code[0] != '\0'));
    CHECK(sim, answer->attempts <= attempts_most(sim));
    if (answer->state == REQUEST_SOLVED)
        check_solution(sim, caller, answer, known, is_unsafe);
    CHECK(sim,
          !caller->must_be_same || caller->kind != CALLER_ASK || known->token == caller->about);
    if (answer->state == REQUEST_SOLVED && !is_unsafe)
        promise(sim, caller, known, answer);
    known->is_final |= is_final;
    known->state = answer->state;
    if (!is_final)
        known->seen_ms = caller->told_ms;
}

void check_answer(struct sim *sim, const struct caller *caller, const struct answer *answer,
                  bool is_unsafe)
{
    CHECK(sim, caller->state == CALLER_TOLD);
    if (answer->refusal != REFUSAL_NONE) {
        check_refusal(sim, caller, answer);
        return;
    }
    CHECK(sim, !caller->must_refuse);
    CHECK(sim, !caller->must_be_pool || answer->source == SOURCE_POOL);
    CHECK(sim, !caller->has_pingback || notice_of(sim, answer->id) != NULL);
    /* I6: another client's request is nobody's business. */
    CHECK(sim, caller->kind != CALLER_LOOK || caller->need != MAP_NONE);
    CHECK(sim, caller->kind != CALLER_ACCOUNT && caller->kind != CALLER_CALLBACK);
    struct known *known = caller->kind == CALLER_ASK ? introduce(sim, caller, answer->id)
                                                     : &sim->knowns[caller->about];
    CHECK(sim, known->id == answer->id);
    check_known(sim, caller, answer, known, is_unsafe);
    if (caller->kind == CALLER_REPORT && !caller->is_good && known->token != MAP_NONE)
        sim->tokens[known->token].bad_ms = sim->now_ms;
}

/* An address hears what its caller could read: the same rules. */
void check_notice(struct sim *sim, struct notice_note *note, const struct notify *notify,
                  bool is_unsafe)
{
    const uint32_t place = token_of(sim, blob_slice(notify->code));
    const uint32_t known = map_get(&sim->known_by_id, note->id);
    CHECK(sim, place == MAP_NONE || is_unsafe || sim->tokens[place].is_durable);
    CHECK(sim, note->token == MAP_NONE || note->token == place || note->is_unsafe);
    if (known != MAP_NONE && sim->knowns[known].is_final && !sim->knowns[known].is_unsafe)
        CHECK(sim, sim->knowns[known].token == place);
    if (place == MAP_NONE)
        return;
    sim->tokens[place].is_unsafe |= is_unsafe;
    CHECK(sim, pool_fits(sim, sim->tokens[place].key, note->key));
    const struct known as_known = {.id = note->id,
                                   .asked_ms = note->asked_ms,
                                   .idempotency = note->idempotency,
                                   .key = note->key,
                                   .reuse = note->reuse};
    if (note->token == MAP_NONE && (known == MAP_NONE || sim->knowns[known].token == MAP_NONE))
        hand_out(sim, place, &as_known);
    note->token = place;
    if (known == MAP_NONE)
        return;
    sim->knowns[known].token = place;
    sim->knowns[known].is_unsafe |= is_unsafe;
}

/* I4: a solution that reached us is on disk before the vendor hears that we have it. */
void check_ack(struct sim *sim, const struct caller *caller)
{
    if (caller->about == MAP_NONE || sim->tokens[caller->about].is_durable ||
        sim->tokens[caller->about].is_partial)
        return;
    const struct submit *submit = &sim->submits[caller->submit];
    const bool is_other_text = submit->is_durable && caller->about != submit->twin;
    /* Without the task's name nobody can tell a second one from the first after a restart. */
    const bool is_nameless = sim->crashes > 0 && !submit->has_id_row;
    /* Whoever shared the solution of another attempt under the same id is solved, and after a restart nobody can tell
     * its own from a repeat. */
    const bool is_twice = sim->crashes > 0 && sim->plan.strength[FAULT_TASK_TWICE] > 0;
    CHECK(sim, submit->is_forgotten || is_other_text || is_nameless || is_twice);
}

/* ---- after each step ------------------------------------------------------------------------------ */

static void check_limits(struct sim *sim)
{
    const struct engine_options *options = &sim->plan.options;
    struct gauges gauges;
    engine_gauges(sim->engine, &gauges);
    /* I7. More than the plan's slots may be taken after a restart, since what was given up before
     * it may have to be waited for again; but then nothing is submitted. What is sent again leaves
     * the first attempt behind, which takes a slot of its own if it may still be solved. */
    CHECK(sim, sim->submitted_step != sim->steps || gauges.slots_used <= gauges.slots_plan ||
                   gauges.strays > sim->strays);
    sim->strays = gauges.strays;
    CHECK(sim, sim->submitted_step != sim->steps || gauges.breaker == BREAKER_CLOSED);
    CHECK(sim, gauges.requests <= options->max_requests);
    CHECK(sim, gauges.flights <= options->max_flights);
    CHECK(sim, gauges.callers <= options->max_callers);
    CHECK(sim, gauges.solutions <= options->max_solutions);
    CHECK(sim, gauges.solution_bytes <= options->max_solution_bytes);
    CHECK(sim, gauges.idempotency <= options->max_idempotency);
    CHECK(sim, gauges.letters <= options->max_letters);
    operator_check(sim, &gauges);
    /* A clock that is set back while we are down brings a day back, and its budget. */
    const uint64_t days = sim->has_skewed ? UINT32_MAX : sim->last_day - sim->first_day + 1;
    for (size_t i = 0; i < SIM_CLIENTS; i++) {
        const uint64_t budget = sim->spans.budget_most[i];
        CHECK(sim, budget == UINT64_MAX || sim->accepted[i] <= budget * days);
    }
}

/* I10: what the engine counted is what happened. */
static void check_books(struct sim *sim)
{
    const struct stats *now = engine_stats(sim->engine);
    const struct stats *base = &sim->base;
    const struct counted *tally = &sim->tally;
    CHECK(sim, now->requests - base->requests == tally->requests);
    CHECK(sim, now->rejected - base->rejected == tally->refused);
    CHECK(sim, now->submits - base->submits == tally->submits);
    CHECK(sim, now->polls - base->polls == tally->polls);
    CHECK(sim, now->probes - base->probes == tally->probes);
    CHECK(sim, now->callbacks_forged - base->callbacks_forged == tally->forged);
    const uint64_t callbacks =
        now->callbacks_ok + now->callbacks_duplicate + now->callbacks_late + now->callbacks_unknown;
    CHECK(sim, callbacks - base->callbacks_ok - base->callbacks_duplicate - base->callbacks_late -
                       base->callbacks_unknown ==
                   tally->callbacks);
    /* A callback may prove it before the reply comes, or instead of a reply that is lost. */
    CHECK(sim, now->submits_accepted - base->submits_accepted <=
                   tally->accepted + tally->ambiguous + sim->submits_out);
    CHECK(sim, now->notices_delivered - base->notices_delivered <= tally->taken);
}

/* In a full table what is finished gives way, so that less is promised. Where few bytes may be kept, any solution can
 * fill them and give way in one step. */
static void note_full_tables(struct sim *sim)
{
    struct gauges gauges;
    engine_gauges(sim->engine, &gauges);
    const bool is_tight = sim->plan.options.max_finished_bytes < UINT64_C(1) << 22;
    if (is_tight || gauges.requests == sim->plan.options.max_requests)
        sim->requests_full_ms = sim->now_ms + 1;
    if (is_tight || gauges.idempotency == sim->plan.options.max_idempotency)
        sim->keys_full_ms = sim->now_ms + 1;
}

void check_after_step(struct sim *sim)
{
    note_full_tables(sim);
    static const uint64_t every[] = {[SIZE_SMALL] = 1, [SIZE_MEDIUM] = 64, [SIZE_LARGE] = 32768};
    if (sim->steps % every[sim->plan.size] != 0)
        return;
    engine_check(sim->engine);
    check_limits(sim);
    check_books(sim);
    pools_check(sim);
    if (sim->reference != NULL)
        reference_compare(sim);
}

/* I9: faults healed, nobody waits any more. */
void check_at_the_end(struct sim *sim)
{
    struct gauges gauges;
    engine_check(sim->engine);
    check_limits(sim);
    check_books(sim);
    engine_gauges(sim->engine, &gauges);
    CHECK(sim, gauges.waiting == 0 && gauges.flights == 0 && gauges.queued == 0);
    CHECK(sim, gauges.callers == 0 && gauges.slots_used == gauges.strays);
    CHECK(sim, gauges.breaker == BREAKER_CLOSED && sim->open_count == 0);
    CHECK(sim, sim->needs_done == sim->need_count);
    CHECK(sim, !notices_are_owed(sim));
    pools_check(sim);
    ledger_at_the_end(sim);
}
