#include "audit.h"

/* The first, the retries of every class (5, 2, 3, 1), and a resend per window until the deadline (4). */
#define ATTEMPTS_MOST (1 + 5 + 2 + 3 + 1 + 4)

/* ---- looking things up ------------------------------------------------------------------- */

struct known_request *model_request(struct audit *audit, request_id id)
{
    for (size_t i = audit->request_count; i-- > 0;) {
        if (audit->requests[i].id == id)
            return &audit->requests[i];
    }
    return NULL;
}

static struct known_attempt *attempt_of(struct audit *audit, attempt_id id)
{
    for (size_t i = audit->attempt_count; i-- > 0;) {
        if (audit->attempts[i].id == id)
            return &audit->attempts[i];
    }
    return NULL;
}

static struct token *token_of(struct audit *audit, struct slice text)
{
    for (size_t i = audit->token_count; i-- > 0;) {
        if (slice_equals(slice_from(audit->tokens[i].text), text))
            return &audit->tokens[i];
    }
    return NULL;
}

/* Of the one shared flight of this key: number, and client if it is scoped. */
static uint64_t *flight_deadline(struct audit *audit, const struct key *key)
{
    const unsigned scope = key->bytes[1] == 0 ? AUDIT_CLIENTS : key->bytes[1] - (unsigned)'a';
    return &audit->flight_deadline_ms[key->bytes[0] - (unsigned)'0'][scope];
}

void model_add_token(struct audit *audit, const struct known_attempt *attempt, const char *text)
{
    AUDIT(audit, audit->token_count < AUDIT_MOST);
    struct token *token = &audit->tokens[audit->token_count++];
    *token = (struct token){.key = attempt->key, .born_ms = attempt->solved_ms};
    memcpy(token->text, text, strlen(text) + 1);
}

static struct visit *visit_of(struct audit *audit, caller_id caller)
{
    AUDIT(audit, caller > 0 && caller <= audit->visit_count);
    struct visit *visit = &audit->visits[caller - 1];
    /* I5: exactly one answer, and none to the gone. */
    AUDIT(audit, visit->is_open);
    visit->is_open = false;
    return visit;
}

/* ---- answers ----------------------------------------------------------------------------- */

/* A request becomes known with the first answer that names it. */
static struct known_request *introduce(struct audit *audit, const struct visit *visit,
                                       request_id id)
{
    AUDIT(audit, id > 0 && id < REQUEST_ID_LIMIT && model_request(audit, id) == NULL);
    AUDIT(audit, audit->request_count < AUDIT_MOST);
    struct known_request *request = &audit->requests[audit->request_count++];
    *request = (struct known_request){
        .id = id,
        .client = visit->ask.client,
        .key = visit->ask.key,
        .reuse = visit->ask.reuse,
        .has_idempotency = visit->ask.has_idempotency,
        .idempotency = visit->ask.idempotency,
        .step = visit->step,
    };
    return request;
}

static bool is_retry_of_owner(const struct token *token, const struct known_request *request)
{
    return token->has_idempotency && request->has_idempotency &&
           key_equals(&token->idempotency, &request->idempotency);
}

/* docs/design.md 5.2: what one must have alone nobody else gets, but for the retries of its own key. */
static void hand_out(struct audit *audit, struct token *token, const struct known_request *request)
{
    const bool is_exclusive = request->reuse != REUSE_SHARED;
    if (token->handed > 0 && !is_retry_of_owner(token, request))
        AUDIT(audit, !token->is_exclusive && !is_exclusive);
    if (token->handed == 0) {
        token->has_idempotency = request->has_idempotency;
        token->idempotency = request->idempotency;
    }
    token->is_exclusive |= is_exclusive;
    token->handed++;
    AUDIT(audit, !token->is_bad || request->step <= token->bad_step);
}

static void see_solution(struct audit *audit, const struct action *action,
                         struct known_request *request)
{
    const struct answer *answer = &action->answer;
    struct token *token = token_of(audit, blob_slice(answer->text));
    AUDIT(audit, token != NULL);
    /* I6: nobody gets what was solved for something else. */
    AUDIT(audit, key_equals(&token->key, &request->key));
    /* The age is never underrated. */
    AUDIT(audit, answer->age_ms >= audit->now_ms - token->born_ms);
    AUDIT(audit, action->after >= token->seq && (!audit->options.has_journal || token->seq > 0));
    if (!request->is_final)
        hand_out(audit, token, request);
    else
        AUDIT(audit, slice_equals(slice_from(request->text), blob_slice(answer->text)));
    memcpy(request->text, token->text, AUDIT_TEXT_MAX);
    AUDIT(audit, request->reuse != REUSE_NONE || answer->source == SOURCE_API ||
                     answer->source == SOURCE_IDEMPOTENT);
}

/* What is answered in the very step it was asked for came from memory, and has to be fresh. */
static void see_freshness(struct audit *audit, const struct visit *visit,
                          const struct answer *answer)
{
    if (visit->kind != VISIT_ASK || visit->step != audit->step || answer->state != REQUEST_SOLVED)
        return;
    if (answer->source != SOURCE_DEDUP_CACHE && answer->source != SOURCE_IDEMPOTENT)
        return;
    /* A retry gets its own solution, whatever it demands. */
    if (answer->source == SOURCE_IDEMPOTENT)
        return;
    AUDIT(audit, answer->expires_in_ms >= visit->ask.min_ttl_ms);
    AUDIT(audit, answer->age_ms <= visit->ask.max_age_ms);
    AUDIT(audit, !visit->ask.is_one_time);
}

static void see_answer(struct audit *audit, const struct action *action)
{
    const struct answer *answer = &action->answer;
    const struct visit *visit = visit_of(audit, answer->caller);
    if (answer->refusal != REFUSAL_NONE)
        return;
    struct known_request *request = visit->kind == VISIT_ASK ? introduce(audit, visit, answer->id)
                                                             : model_request(audit, answer->id);
    AUDIT(audit, request != NULL && request->client == visit->client);
    AUDIT(audit, visit->kind == VISIT_ASK || visit->wanted == answer->id);
    /* I8: what is final stays as it is. */
    AUDIT(audit, !request->is_final || request->state == answer->state);
    see_freshness(audit, visit, answer);
    if (answer->state == REQUEST_SOLVED)
        see_solution(audit, action, request);
    AUDIT(audit, (answer->state == REQUEST_SOLVED) == (answer->text != NULL));
    AUDIT(audit, (answer->state == REQUEST_FAILED) == (answer->code[0] != '\0'));
    AUDIT(audit, answer->attempts <= ATTEMPTS_MOST);
    request->is_final |= answer->state == REQUEST_SOLVED || answer->state == REQUEST_FAILED;
    request->state = answer->state;
}

/* ---- calls to the vendor ----------------------------------------------------------------- */

void model_close(struct audit *audit, struct known_attempt *attempt, bool is_solved)
{
    attempt->is_open = false;
    if (!is_solved || attempt->reuse != REUSE_SHARED)
        return;
    /* A solution ends the key's flight, whichever attempt brought it. */
    for (size_t i = 0; i < audit->attempt_count; i++) {
        if (key_equals(&audit->attempts[i].key, &attempt->key))
            audit->attempts[i].is_open = false;
    }
}

static bool is_open_now(const struct audit *audit, const struct known_attempt *attempt)
{
    const bool is_window_over =
        attempt->is_uncertain &&
        audit->now_ms >= attempt->started_ms + audit->options.ambiguity_window_ms;
    return attempt->is_open && !is_window_over && audit->now_ms < attempt->deadline_ms;
}

/* I1: at most one open submit per shared key. */
static void see_single_intent(struct audit *audit, const struct known_attempt *attempt)
{
    if (attempt->reuse != REUSE_SHARED)
        return;
    for (size_t i = 0; i < audit->attempt_count; i++) {
        const struct known_attempt *other = &audit->attempts[i];
        if (other == attempt || other->reuse != REUSE_SHARED ||
            !key_equals(&other->key, &attempt->key))
            continue;
        AUDIT(audit, !is_open_now(audit, other));
    }
}

static struct known_attempt *know_attempt(struct audit *audit, attempt_id id)
{
    struct known_attempt *attempt = attempt_of(audit, id);
    if (attempt != NULL)
        return attempt;
    AUDIT(audit, id != 0 && audit->attempt_count < AUDIT_MOST);
    attempt = &audit->attempts[audit->attempt_count++];
    *attempt = (struct known_attempt){.id = id};
    return attempt;
}

/* The parameters of a submit are the key and, behind it, the reuse. */
static void see_submit(struct audit *audit, const struct action *action)
{
    const struct call *call = &action->call;
    struct known_attempt *attempt = know_attempt(audit, call->attempt);
    AUDIT(audit, attempt->started_ms == 0 && call->params->len == KEY_BYTES + 1);
    AUDIT(audit, audit->is_store_writable);
    memcpy(attempt->key.bytes, call->params->data, KEY_BYTES);
    attempt->reuse = (enum reuse)(call->params->data[KEY_BYTES] - '0');
    attempt->client = call->client;
    attempt->started_ms = audit->now_ms;
    attempt->deadline_ms = *flight_deadline(audit, &attempt->key);
    attempt->is_submitting = true;
    attempt->is_open = true;
    /* I2: the intent is journaled, and durable before the first byte. */
    AUDIT(audit, action->after == attempt->intent);
    AUDIT(audit, (attempt->intent > 0) == audit->options.has_journal);
    see_single_intent(audit, attempt);
    struct gauges gauges;
    engine_gauges(audit->engine, &gauges);
    AUDIT(audit, gauges.slots_used <= gauges.slots_limit);
    AUDIT(audit, gauges.breaker == BREAKER_CLOSED);
}

static void see_poll(struct audit *audit, const struct call *call)
{
    struct known_attempt *attempt = attempt_of(audit, call->attempt);
    AUDIT(audit, attempt != NULL && !attempt->is_polling && !attempt->is_submitting);
    /* Or the second one on its nonce, if that called back first and its answer is more than a text. */
    AUDIT(audit, strncmp(attempt->task, call->task_id, strlen(attempt->task)) == 0);
    attempt->is_polling = true;
    attempt->asks_double = strstr(call->task_id, "double") != NULL;
    attempt->asked_ms = audit->now_ms;
}

/* The first row of an attempt is its intent; later ones say what became of it. */
static void see_attempt_row(struct audit *audit, const struct attempt_row *row, journal_seq seq)
{
    struct known_attempt *attempt = know_attempt(audit, row->name);
    if (attempt->intent == 0)
        attempt->intent = seq;
}

static void see_record(struct audit *audit, const struct action *action)
{
    const struct record *record = &action->record;
    AUDIT(audit, action->after == audit->seq + 1);
    audit->seq = action->after;
    if (record->is_drop)
        return;
    if (record->kind == RECORD_ATTEMPT)
        see_attempt_row(audit, &record->attempt, action->after);
    if (record->kind != RECORD_SOLUTION)
        return;
    struct token *token = token_of(audit, blob_slice(record->solution.text));
    AUDIT(audit, token != NULL);
    if (token->seq == 0)
        token->seq = action->after;
}

static void see_ack(struct audit *audit, const struct action *action)
{
    const struct visit *visit = visit_of(audit, action->ack);
    AUDIT(audit, visit->kind == VISIT_CALLBACK);
    const struct token *token = token_of(audit, slice_from(visit->callback_text));
    /* I4: durable before we acknowledge it. */
    AUDIT(audit, token == NULL || action->after >= token->seq);
}

static void see_report(struct audit *audit, const struct call *call)
{
    /* A task we never had cannot be good or bad. */
    bool is_ours = false;
    for (size_t i = 0; i < audit->attempt_count; i++)
        is_ours |=
            strncmp(audit->attempts[i].task, call->task_id, strlen(audit->attempts[i].task)) == 0;
    AUDIT(audit, is_ours);
}

void model_see(struct audit *audit, const struct action *action)
{
    AUDIT(audit, action->kind == ACTION_JOURNAL || action->after <= audit->seq);
    switch (action->kind) {
    case ACTION_ANSWER:
        see_answer(audit, action);
        return;
    case ACTION_ACCOUNT:
        (void)visit_of(audit, action->account.caller);
        return;
    case ACTION_LETTERS:
        (void)visit_of(audit, action->letters.caller);
        return;
    case ACTION_SHOWN:
        AUDIT(audit, false); /* nobody asks for it there */
        return;
    case ACTION_ACK:
        see_ack(audit, action);
        return;
    case ACTION_SUBMIT:
        see_submit(audit, action);
        return;
    case ACTION_POLL:
        see_poll(audit, &action->call);
        return;
    case ACTION_REPORT:
        see_report(audit, &action->call);
        return;
    case ACTION_PROBE:
        AUDIT(audit, !audit->is_probing[action->probe]);
        audit->is_probing[action->probe] = true;
        return;
    case ACTION_NOTIFY:
        return;
    case ACTION_JOURNAL:
        AUDIT(audit, audit->options.has_journal);
        see_record(audit, action);
        return;
    case ACTION_ALERT:
    case ACTION_WITHDRAW:
        return;
    case ACTION_CLAIM:
    case ACTION_RELEASE:
    case ACTION_FORGET:
    case ACTION_TELL:
    case ACTION_ADOPT:
    case ACTION_FIND:
    case ACTION_DRAW:
        break;
    case ACTION_PAID:
        AUDIT(audit, action->paid.client < audit->options.client_count);
        return;
    }
    UNREACHABLE();
}

/* ---- after each step --------------------------------------------------------------------- */

void model_after_step(struct audit *audit)
{
    struct flight_view views[16];
    uint64_t cursor = 0;
    const size_t count = engine_list_flights(audit->engine, 0, &cursor, views, 16);
    AUDIT(audit, cursor == 0 && count <= audit->options.max_flights);
    for (size_t i = 0; i < count; i++) {
        if (views[i].reuse == REUSE_SHARED)
            *flight_deadline(audit, &views[i].key) = audit->now_ms + views[i].deadline_in_ms;
    }
    struct gauges gauges;
    engine_gauges(audit->engine, &gauges);
    /* A plan that was asked about may have shrunk under those that are in flight. A task that nobody had
     * heard of may turn out to exist while all slots are taken, and be ridden on then. */
    const bool may_exceed =
        audit->options.slots_are_auto || engine_stats(audit->engine)->submits_proven > 0;
    AUDIT(audit, may_exceed || gauges.slots_used <= gauges.slots_plan);
    AUDIT(audit, gauges.requests <= audit->options.max_requests);
    AUDIT(audit, gauges.callers <= audit->options.max_callers);
    AUDIT(audit, gauges.solutions <= audit->options.max_solutions);
    AUDIT(audit, gauges.idempotency <= audit->options.max_idempotency);
    AUDIT(audit, gauges.letters <= audit->options.max_letters);
    for (size_t i = 0; i < AUDIT_CLIENTS; i++) {
        const uint64_t budget = audit->clients[i].budget_per_day;
        AUDIT(audit, budget == UINT64_MAX || audit->accepted[i] <= budget * audit->days);
    }
}

void model_at_the_end(struct audit *audit)
{
    struct gauges gauges;
    engine_gauges(audit->engine, &gauges);
    AUDIT(audit, gauges.waiting == 0 && gauges.flights == 0 && gauges.queued == 0);
    AUDIT(audit, gauges.callers == 0 && gauges.slots_used == 0);
    AUDIT(audit, gauges.breaker == BREAKER_CLOSED);
    for (size_t i = 0; i < audit->visit_count; i++)
        AUDIT(audit, !audit->visits[i].is_open);
}
