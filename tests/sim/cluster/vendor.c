/* A vendor that loses, delays and refuses; its ledger of submits is the judge. */
#include "cluster.h"

#include <stdio.h>
#include <stdlib.h>

#define REPLY_MS 200
#define TIMEOUT_MS 3000

static const struct {
    enum error_class class;
    const char *code;
} errors[] = {{CLASS_BUSY, "ERROR_NO_SLOT_AVAILABLE"},
              {CLASS_TRANSIENT, "ERROR_SERVER_ERROR"},
              {CLASS_CALLER, "ERROR_PAGEURL"},
              {CLASS_UNSOLVABLE, "ERROR_CAPTCHA_UNSOLVABLE"}};
#define ERROR_COUNT (sizeof errors / sizeof errors[0])
#define ERROR_UNSOLVABLE 3

uint32_t submit_named(const struct cluster *c, attempt_id name)
{
    for (size_t i = c->submit_count; i > 0; i--)
        if (c->submits[i - 1].name == name)
            return (uint32_t)(i - 1);
    return NONE;
}

uint32_t token_of(const struct cluster *c, const struct blob *text)
{
    const unsigned long number = strtoul(text->data + 1, NULL, 10);
    return text->data[0] == 't' && number < c->token_count ? (uint32_t)number : NONE;
}

static struct blob *text_of(uint32_t token)
{
    char text[16];
    const int len = snprintf(text, sizeof text, "t%u", token);
    return blob_new((struct slice){.data = text, .len = (size_t)len});
}

/* ---- submits ------------------------------------------------------------------------------------ */

/* What the engine wrote before. */
static const struct attempt_row *intent_of(const struct node *node, attempt_id name)
{
    for (size_t i = node->queue_count; i > 0; i--) {
        const struct entry *entry = &node->queue[i - 1];
        if (entry->kind == ACTION_JOURNAL && entry->record.kind == RECORD_ATTEMPT &&
            entry->record.attempt.name == name)
            return &entry->record.attempt;
    }
    UNREACHABLE();
}

void vendor_note_row(struct cluster *c, const struct record *record)
{
    const uint32_t place =
        record->kind == RECORD_ATTEMPT ? submit_named(c, record->attempt.name) : NONE;
    if (place == NONE)
        return;
    struct submit *submit = &c->submits[place];
    /* A task whose next poll would be too late is forgotten, but none that a flight may still wait for. */
    if (!record->is_drop)
        submit->reuse = record->attempt.reuse;
    else if (c->now_ms >= submit->issued_ms + clocks_least_ms(c, c->plan.options.solve_timeout_ms))
        submit->is_ended = true;
}

void vendor_issue(struct cluster *c, uint32_t node, const struct call *call)
{
    c->submits = room_for(c->submits, c->submit_count, &c->submit_room, sizeof *c->submits);
    struct submit *submit = &c->submits[c->submit_count++];
    *submit = (struct submit){.name = call->attempt,
                              .node = node,
                              .incarnation = c->nodes[node].incarnation,
                              .run = c->nodes[node].run,
                              .issued_ms = c->now_ms,
                              .ready_ms = UINT64_MAX,
                              .day = node_wall_ms(c, node) / DAY_MS,
                              .token = NONE};
    submit->key = (uint32_t)strtoul(call->params->data + 1, NULL, 10);
    const struct attempt_row *const intent = intent_of(&c->nodes[node], call->attempt);
    submit->reuse = intent->reuse;
    submit->is_first = intent->why == CAUSE_FIRST;
    tell(c, "n%u issues a submit for %u (%llx)%s", node, submit->key,
         (unsigned long long)submit->name, submit->reuse == REUSE_SHARED ? "" : " alone");
}

static void end_submit(struct cluster *c, uint32_t place, uint64_t in_ms, enum outcome outcome,
                       uint64_t error)
{
    const struct submit *submit = &c->submits[place];
    at(c, in_ms,
       (struct moment){.what = HAPPEN_SUBMITTED,
                       .node = submit->node,
                       .incarnation = submit->incarnation,
                       .subject = place,
                       .detail = (uint32_t)outcome,
                       .number = error});
}

static void make_token(struct cluster *c, uint32_t place)
{
    struct submit *submit = &c->submits[place];
    c->tokens = room_for(c->tokens, c->token_count, &c->token_room, sizeof *c->tokens);
    submit->token = (uint32_t)c->token_count;
    c->tokens[c->token_count++] =
        (struct token){.key = submit->key,
                       .submit = place,
                       .expires_ms = submit->issued_ms + c->plan.options.ttl_ms[0],
                       .need = NONE};
    c->solved++;
}

static void accept(struct cluster *c, uint32_t place)
{
    struct submit *submit = &c->submits[place];
    const uint64_t most_ms = chance(c, FAULT_SLOW_SOLVE)
                                 ? (uint64_t)c->plan.options.solve_timeout_ms * 2
                                 : c->plan.solve_ms;
    submit->is_accepted = true;
    check_budget(c, submit);
    if (chance(c, FAULT_NEVER))
        return;
    submit->ready_ms = c->now_ms + 1 + below(c, most_ms);
    submit->is_unsolvable = chance(c, FAULT_UNSOLVABLE);
    if (!submit->is_unsolvable)
        make_token(c, place);
    if (c->plan.options.has_callbacks && chance(c, FAULT_CALLBACK))
        at(c, submit->ready_ms - c->now_ms,
           (struct moment){.what = HAPPEN_CALLBACK,
                           .node = (uint32_t)rand_below(&c->pulse_rand, c->plan.nodes),
                           .subject = place});
}

void vendor_submit(struct cluster *c, uint32_t node, const struct action *action)
{
    const uint32_t place = submit_named(c, action->call.attempt);
    CHECK(c, place != NONE);
    struct submit *submit = &c->submits[place];
    if (!engine_wants(c->nodes[node].engine, action)) {
        end_submit(c, place, 0, OUTCOME_WITHDRAWN, 0);
        return;
    }
    if (chance(c, FAULT_NOT_SENT)) {
        end_submit(c, place, 1 + below(c, REPLY_MS), OUTCOME_NOT_SENT, 1);
        return;
    }
    tell(c, "n%u submits %u (%llx)", node, submit->key, (unsigned long long)submit->name);
    check_lease(c, submit);
    check_submit(c, submit);
    check_needed(c, submit);
    submit->is_executed = true;
    if (chance(c, FAULT_REJECTED)) {
        end_submit(c, place, 1 + below(c, REPLY_MS), OUTCOME_REJECTED, below(c, ERROR_COUNT));
        return;
    }
    if (chance(c, FAULT_REQUEST_LOST)) {
        end_submit(c, place, TIMEOUT_MS, OUTCOME_AMBIGUOUS, 0);
        return;
    }
    accept(c, place);
    if (chance(c, FAULT_REPLY_LOST))
        end_submit(c, place, TIMEOUT_MS, OUTCOME_AMBIGUOUS, 0);
    else
        end_submit(c, place, 1 + below(c, REPLY_MS), OUTCOME_ACCEPTED, 0);
}

/* ---- results -------------------------------------------------------------------------------------- */

static void name_task(const struct submit *submit, struct vendor_result *result)
{
    (void)snprintf(result->task_id, sizeof result->task_id, "T%llu",
                   (unsigned long long)submit->name);
}

/* Whoever reports again was not told that it was recorded; unless the store lost that, the row knows. */
void vendor_hear_report(struct cluster *c, const struct call *call)
{
    const uint32_t place = submit_named(c, strtoull(call->task_id + 1, NULL, 10));
    CHECK(c, place != NONE);
    CHECK(c, !c->submits[place].is_reported || c->losses > 0);
    c->submits[place].is_reported = true;
}

static void fill_error(struct vendor_result *result, uint64_t error)
{
    result->class = errors[error].class;
    (void)snprintf(result->code, sizeof result->code, "%s", errors[error].code);
}

static void on_submitted(struct cluster *c, const struct moment *moment)
{
    struct submit *submit = &c->submits[moment->subject];
    struct event event = {.kind = EVENT_SUBMITTED};
    struct vendor_result *result = &event.result;
    result->attempt = submit->name;
    result->outcome = (enum outcome)moment->detail;
    if (result->outcome == OUTCOME_REJECTED || result->outcome == OUTCOME_NOT_SENT)
        fill_error(result, moment->number);
    if (result->outcome == OUTCOME_AMBIGUOUS)
        result->class = CLASS_AMBIGUOUS;
    if (result->outcome == OUTCOME_ACCEPTED) {
        name_task(submit, result);
        submit->is_id_told = true;
        c->nodes[moment->node].accepted++;
        c->accepted++;
    } else if (result->outcome != OUTCOME_AMBIGUOUS) {
        submit->is_ended = true;
    }
    node_step(c, moment->node, &event);
}

/* What a poll or a callback says about a task. */
static void fill_result(struct cluster *c, struct submit *submit, struct vendor_result *result)
{
    result->attempt = submit->name;
    if (submit->ready_ms > c->now_ms) {
        result->outcome = OUTCOME_PENDING;
        result->class = CLASS_PENDING;
        return;
    }
    submit->is_ended = true;
    result->outcome = submit->is_unsolvable ? OUTCOME_FAILED : OUTCOME_SOLVED;
    if (submit->is_unsolvable) {
        fill_error(result, ERROR_UNSOLVABLE);
        return;
    }
    c->tokens[submit->token].is_told = true;
    result->text = text_of(submit->token);
}

void vendor_poll(struct cluster *c, uint32_t node, const struct call *call)
{
    const uint32_t place = submit_named(c, call->attempt);
    CHECK(c, place != NONE);
    at(c, 1 + below(c, REPLY_MS),
       (struct moment){.what = HAPPEN_POLLED,
                       .node = node,
                       .incarnation = c->nodes[node].incarnation,
                       .subject = place});
}

void vendor_probe(struct cluster *c, uint32_t node, enum probe probe)
{
    at(c, 1 + below(c, REPLY_MS),
       (struct moment){.what = HAPPEN_POLLED,
                       .node = node,
                       .incarnation = c->nodes[node].incarnation,
                       .subject = NONE,
                       .detail = (uint32_t)probe});
}

static void on_probed(struct cluster *c, const struct moment *moment)
{
    struct event event = {.kind = EVENT_PROBED};
    event.probed = (struct probed){.probe = (enum probe)moment->detail,
                                   .is_ok = true,
                                   .has_threads = true,
                                   .threads = 50,
                                   .balance = "10"};
    node_step(c, moment->node, &event);
}

static void on_polled(struct cluster *c, const struct moment *moment)
{
    struct submit *submit = &c->submits[moment->subject];
    struct event event = {.kind = EVENT_POLLED};
    if (chance(c, FAULT_POLL_UNHEARD)) {
        event.result.attempt = submit->name;
        event.result.outcome = OUTCOME_UNHEARD;
        event.result.class = CLASS_TRANSIENT;
    } else {
        fill_result(c, submit, &event.result);
    }
    node_step(c, moment->node, &event);
    blob_unref(event.result.text);
}

/* The callback comes to any node; if that is down it is lost, and polling stands in. */
static void on_callback(struct cluster *c, const struct moment *moment)
{
    struct submit *submit = &c->submits[moment->subject];
    if (c->nodes[moment->node].engine == NULL)
        return;
    const bool is_known = engine_knows_attempt(c->nodes[moment->node].engine, submit->name);
    struct event event = {.kind = EVENT_CALLBACK};
    fill_result(c, submit, &event.result);
    name_task(submit, &event.result);
    event.result.caller = clients_call(c, NONE, moment->node);
    submit->is_id_told |= is_known;
    if (is_known) {
        submit->run = c->nodes[moment->node].run;
        submit->node = moment->node;
    }
    node_step(c, moment->node, &event);
    blob_unref(event.result.text);
}

void vendor_happens(struct cluster *c, const struct moment *moment)
{
    if (moment->what == HAPPEN_SUBMITTED)
        on_submitted(c, moment);
    else if (moment->what == HAPPEN_CALLBACK)
        on_callback(c, moment);
    else if (moment->subject == NONE)
        on_probed(c, moment);
    else
        on_polled(c, moment);
}
