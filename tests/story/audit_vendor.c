/* A vendor that loses replies, doubles submits, repeats itself and fails in every way it knows. */
#include "audit.h"

#include <stdio.h>

struct error {
    enum error_class class;
    const char *code;
};

static const struct error errors[] = {
    {CLASS_BUSY, "ERROR_NO_SLOT_AVAILABLE"}, {CLASS_UNSOLVABLE, "ERROR_CAPTCHA_UNSOLVABLE"},
    {CLASS_TRANSIENT, "ERROR_SERVER_ERROR"}, {CLASS_ACCOUNT, "ERROR_KEY_DOES_NOT_EXIST"},
    {CLASS_ACCOUNT, "ERROR_ZERO_BALANCE"},   {CLASS_CALLER, "ERROR_PAGEURL"},
    {CLASS_PROXY, "ERROR_BAD_PROXY"},        {CLASS_UNKNOWN, "ERROR_NEW_MOON"},
};

static void set_error(struct audit *audit, struct vendor_result *result)
{
    const struct error *error = &errors[audit_below(audit, sizeof errors / sizeof errors[0])];
    result->class = error->class;
    memcpy(result->code, error->code, strlen(error->code) + 1);
    result->is_short = strcmp(error->code, "ERROR_ZERO_BALANCE") == 0;
    if (audit_chance(audit, 20))
        result->retry_after_ms = (uint32_t)audit_below(audit, 100000);
}

/* A random one of those that fit, or NULL. */
static struct known_attempt *pick(struct audit *audit, bool (*fits)(const struct known_attempt *))
{
    struct known_attempt *picked = NULL;
    uint64_t seen = 0;
    /* The old ones are long forgotten; looking at the newest keeps the audit quick. */
    const size_t first = audit->attempt_count > 64 ? audit->attempt_count - 64 : 0;
    for (size_t i = first; i < audit->attempt_count; i++) {
        if (fits(&audit->attempts[i]) && audit_below(audit, ++seen) == 0)
            picked = &audit->attempts[i];
    }
    return picked;
}

static void accept(struct audit *audit, struct known_attempt *attempt)
{
    if (attempt->is_accepted)
        return;
    attempt->is_accepted = true;
    audit->accepted[attempt->client]++;
    (void)snprintf(attempt->task, sizeof attempt->task, "T%zu.", attempt - audit->attempts + 1);
}

static void make_token(struct audit *audit, struct known_attempt *attempt)
{
    if (attempt->is_solved)
        return;
    attempt->is_solved = true;
    attempt->solved_ms = audit->now_ms;
    (void)snprintf(attempt->text, sizeof attempt->text, "token %zu", attempt - audit->attempts + 1);
    model_add_token(audit, attempt, attempt->text);
}

static void deliver(struct audit *audit, enum event_kind kind, struct vendor_result *result,
                    const char *text)
{
    if (text != NULL)
        result->text = blob_new(slice_from(text));
    if (text != NULL && audit_chance(audit, 20))
        result->extra = blob_new(SLICE_OF("{\"useragent\":\"x\"}"));
    struct event event = {.kind = kind};
    event.result = *result;
    audit_step(audit, &event);
    blob_unref(result->text);
    blob_unref(result->extra);
}

/* ---- submits ----------------------------------------------------------------------------- */

static bool is_submitting(const struct known_attempt *attempt)
{
    return attempt->is_submitting;
}

static void choose_reply(struct audit *audit, struct known_attempt *attempt,
                         struct vendor_result *result)
{
    const struct swarm *swarm = &audit->swarm;
    if (!attempt->is_accepted && audit_chance(audit, swarm->not_sent)) {
        result->outcome = OUTCOME_NOT_SENT;
        result->class = CLASS_TRANSIENT;
        memcpy(result->code, "ERROR_NOT_SENT", sizeof "ERROR_NOT_SENT");
    } else if (!attempt->is_accepted && audit_chance(audit, swarm->rejected)) {
        result->outcome = OUTCOME_REJECTED;
        set_error(audit, result);
    } else if (audit_chance(audit, swarm->lost)) {
        result->outcome = OUTCOME_AMBIGUOUS;
        if (audit_chance(audit, 50))
            accept(audit, attempt);
    } else {
        accept(audit, attempt);
        result->outcome = OUTCOME_ACCEPTED;
        memcpy(result->task_id, attempt->task, TASK_ID_MAX);
    }
}

bool vendor_end_submit(struct audit *audit)
{
    struct known_attempt *attempt = pick(audit, is_submitting);
    if (attempt == NULL)
        return false;
    struct vendor_result result = {.attempt = attempt->id};
    choose_reply(audit, attempt, &result);
    attempt->is_submitting = false;
    attempt->is_uncertain = result.outcome == OUTCOME_AMBIGUOUS;
    if (result.outcome == OUTCOME_NOT_SENT || result.outcome == OUTCOME_REJECTED)
        model_close(audit, attempt, false);
    deliver(audit, EVENT_SUBMITTED, &result, NULL);
    return true;
}

/* ---- polls ------------------------------------------------------------------------------- */

static bool is_polling(const struct known_attempt *attempt)
{
    return attempt->is_polling;
}

bool vendor_end_poll(struct audit *audit)
{
    struct known_attempt *attempt = pick(audit, is_polling);
    if (attempt == NULL)
        return false;
    const struct swarm *swarm = &audit->swarm;
    struct vendor_result result = {.attempt = attempt->id};
    const char *text = NULL;
    /* Of the second task this vendor only ever calls back. */
    if (attempt->asks_double || audit_chance(audit, swarm->unheard)) {
        result.outcome = audit_chance(audit, 50) ? OUTCOME_UNHEARD : OUTCOME_NOT_SENT;
        result.retry_after_ms = audit_chance(audit, 30) ? 20000 : 0;
    } else if ((!attempt->is_solved || attempt->solved_ms > attempt->asked_ms) &&
               audit_chance(audit, swarm->pending)) {
        /* Perhaps it was solved while this very answer was on its way. */
        result.outcome = OUTCOME_PENDING;
    } else if (!attempt->is_solved && audit_chance(audit, swarm->failed)) {
        result.outcome = OUTCOME_FAILED;
        set_error(audit, &result);
        model_close(audit, attempt, false);
    } else {
        make_token(audit, attempt);
        result.outcome = OUTCOME_SOLVED;
        text = attempt->text;
        model_close(audit, attempt, true);
    }
    attempt->is_polling = false;
    deliver(audit, EVENT_POLLED, &result, text);
    return true;
}

static bool is_unsolved(const struct known_attempt *attempt)
{
    return attempt->is_accepted && !attempt->is_solved;
}

bool vendor_solve(struct audit *audit)
{
    struct known_attempt *attempt = pick(audit, is_unsolved);
    if (attempt != NULL)
        make_token(audit, attempt);
    return attempt != NULL;
}

/* ---- callbacks --------------------------------------------------------------------------- */

static bool can_call_back(const struct known_attempt *attempt)
{
    /* An accepted task, or one that is being accepted while its reply is on its way. */
    return attempt->started_ms != 0 && (attempt->is_accepted || attempt->is_submitting);
}

static void bring_solution(struct audit *audit, struct vendor_result *result, const char *text)
{
    memcpy(audit->visits[result->caller - 1].callback_text, text, strlen(text) + 1);
    result->outcome = OUTCOME_SOLVED;
    deliver(audit, EVENT_CALLBACK, result, text);
}

/* A second task on the same nonce, with a token of its own, which is the same every time. */
static void call_back_double(struct audit *audit, const struct known_attempt *attempt,
                             struct vendor_result *result)
{
    char text[AUDIT_TEXT_MAX];
    (void)snprintf(text, sizeof text, "double %zu", attempt - audit->attempts + 1);
    (void)snprintf(result->task_id, sizeof result->task_id, "%.40sdouble", attempt->task);
    bool is_known = false;
    for (size_t i = 0; i < audit->token_count; i++)
        is_known |= strcmp(audit->tokens[i].text, text) == 0;
    if (!is_known) {
        struct known_attempt twin = *attempt;
        twin.solved_ms = audit->now_ms;
        model_add_token(audit, &twin, text);
    }
    bring_solution(audit, result, text);
}

/* Another text for the same task: nobody may believe it, but it must be known when it comes first. */
static void choose_text(struct audit *audit, struct known_attempt *attempt, char *text)
{
    make_token(audit, attempt);
    memcpy(text, attempt->text, AUDIT_TEXT_MAX);
    if (!audit_chance(audit, audit->swarm.callback_different))
        return;
    (void)snprintf(text, AUDIT_TEXT_MAX, "other %u", audit->step);
    model_add_token(audit, attempt, text);
}

bool vendor_call_back(struct audit *audit)
{
    struct known_attempt *attempt =
        audit->options.has_callbacks ? pick(audit, can_call_back) : NULL;
    if (attempt == NULL ||
        (attempt->is_solved && !audit_chance(audit, audit->swarm.callback_repeated)))
        return false;
    accept(audit, attempt);
    struct vendor_result result = {.attempt = attempt->id};
    result.caller = audit_visit(audit, VISIT_CALLBACK, 0);
    model_close(audit, attempt, true);
    if (audit_chance(audit, audit->swarm.hidden_double)) {
        call_back_double(audit, attempt, &result);
        return true;
    }
    if (audit_chance(audit, 80))
        memcpy(result.task_id, attempt->task, TASK_ID_MAX);
    if (!attempt->is_solved && audit_chance(audit, audit->swarm.callback_failed)) {
        result.outcome = OUTCOME_FAILED;
        set_error(audit, &result);
        deliver(audit, EVENT_CALLBACK, &result, NULL);
        return true;
    }
    char text[AUDIT_TEXT_MAX];
    choose_text(audit, attempt, text);
    bring_solution(audit, &result, text);
    return true;
}

/* ---- probes ------------------------------------------------------------------------------ */

bool vendor_end_probe(struct audit *audit)
{
    const enum probe probe = audit_chance(audit, 50) ? PROBE_BALANCE : PROBE_THREADS;
    if (!audit->is_probing[probe])
        return false;
    audit->is_probing[probe] = false;
    struct event event = {.kind = EVENT_PROBED};
    event.probed = (struct probed){.probe = probe, .is_ok = true};
    if (audit_chance(audit, audit->swarm.probe_failed)) {
        event.probed.is_ok = false;
        event.probed.class = audit_chance(audit, 50) ? CLASS_ACCOUNT : CLASS_TRANSIENT;
        memcpy(event.probed.code, "ERROR_PROBE", sizeof "ERROR_PROBE");
    } else if (probe == PROBE_THREADS) {
        event.probed.has_threads = audit->is_healing || audit_chance(audit, 80);
        event.probed.threads = 1 + (uint32_t)audit_below(audit, 8);
        event.probed.working_threads =
            audit->is_healing ? 0
                              : (uint32_t)audit_below(audit, event.probed.threads + UINT64_C(1));
    } else {
        memcpy(event.probed.balance, audit->is_healing || audit_chance(audit, 50) ? "1.5" : "0.0",
               4);
    }
    audit_step(audit, &event);
    return true;
}
