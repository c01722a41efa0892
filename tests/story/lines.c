#include "lines.h"

#include "base/assert.h"

#include <solvegate/words.h>

#include <stdlib.h>

/* ---- names ------------------------------------------------------------------------------- */

struct key key_named(const char *name)
{
    struct key key = {{0}};
    ASSERT(strlen(name) < KEY_BYTES);
    memcpy(key.bytes, name, strlen(name));
    return key;
}

const char *name_of_key(const struct key *key)
{
    return (const char *)key->bytes;
}

static const char *name_of_caller(const struct world *world, caller_id caller)
{
    if (caller == 0)
        return "nobody";
    ASSERT(caller <= world->caller_count);
    return world->callers[caller - 1].name;
}

size_t number_of_request(struct world *world, request_id id)
{
    for (size_t i = 0; i < world->request_count; i++) {
        if (world->requests[i] == id)
            return i + 1;
    }
    ASSERT(id != 0 && id < REQUEST_ID_LIMIT);
    world->requests =
        realloc(world->requests, (world->request_count + 1) * sizeof *world->requests);
    ASSERT(world->requests != NULL);
    world->requests[world->request_count++] = id;
    return world->request_count;
}

size_t number_of_attempt(struct world *world, attempt_id id)
{
    for (size_t i = 0; i < world->attempt_count; i++) {
        if (world->attempts[i].id == id)
            return i + 1;
    }
    ASSERT(id != 0);
    world->attempts =
        realloc(world->attempts, (world->attempt_count + 1) * sizeof *world->attempts);
    ASSERT(world->attempts != NULL);
    world->attempts[world->attempt_count++] = (struct world_attempt){.id = id};
    return world->attempt_count;
}

size_t number_of_claim(struct world *world, uint64_t flight)
{
    for (size_t i = 0; i < world->claim_count; i++) {
        if (world->claims[i].last.flight == flight)
            return i + 1;
    }
    ASSERT(flight != 0);
    world->claims = realloc(world->claims, (world->claim_count + 1) * sizeof *world->claims);
    ASSERT(world->claims != NULL);
    world->claims[world->claim_count++] = (struct world_claim){.last = {.flight = flight}};
    return world->claim_count;
}

static const char *name_of_alert(enum alert_kind kind)
{
    switch (kind) {
    case ALERT_BREAKER_OPEN:
        return "breaker open";
    case ALERT_BREAKER_CLOSED:
        return "breaker closed";
    case ALERT_DUPLICATE_PROVEN:
        return "duplicate proven";
    case ALERT_OTHER_SOLUTION:
        return "other solution";
    case ALERT_TASK_TWICE:
        return "task twice";
    case ALERT_LETTERS:
        return "letters";
    }
    UNREACHABLE();
}

/* ---- answers ----------------------------------------------------------------------------- */

static void add_refusal(struct world *world, const struct answer *answer)
{
    struct buf *log = &world->log;
    buf_addf(log, " refused: %s", refusal_text(answer->refusal));
    if (answer->code[0] != '\0')
        buf_addf(log, ", %s", answer->code);
    if (answer->retry_after_ms != 0)
        buf_addf(log, ", retry after %u", answer->retry_after_ms);
}

static void add_solution(struct world *world, const struct answer *answer)
{
    struct buf *log = &world->log;
    buf_addf(log, " \"%s\"", answer->text->data);
    if (answer->extra != NULL)
        buf_addf(log, " extra %s", answer->extra->data);
    buf_addf(log, " source %s attempts %u", source_name(answer->source), answer->attempts);
    if (world->shows_ages)
        buf_addf(log, " age %llu left %llu", (unsigned long long)answer->age_ms,
                 (unsigned long long)answer->expires_in_ms);
}

static void add_failure(struct world *world, const struct answer *answer)
{
    struct buf *log = &world->log;
    buf_addf(log, " %s (%s) attempts %u", answer->code, error_class_name(answer->class),
             answer->attempts);
    if (answer->letter != 0)
        buf_addf(log, " letter %llu", (unsigned long long)answer->letter);
    if (answer->retry_after_ms != 0)
        buf_addf(log, ", retry after %u", answer->retry_after_ms);
}

static void add_answer(struct world *world, const struct answer *answer)
{
    struct buf *log = &world->log;
    buf_addf(log, "answer %s", name_of_caller(world, answer->caller));
    if (answer->refusal != REFUSAL_NONE) {
        add_refusal(world, answer);
        return;
    }
    buf_addf(log, " r%zu %s", number_of_request(world, answer->id),
             request_state_name(answer->state));
    if (answer->state == REQUEST_SOLVED)
        add_solution(world, answer);
    if (answer->state == REQUEST_FAILED)
        add_failure(world, answer);
    if (answer->is_replayed)
        buf_addf(log, " replayed");
    if (answer->is_renewed)
        buf_addf(log, " renewed");
}

/* ---- everything else --------------------------------------------------------------------- */

static void add_account(struct world *world, const struct account_answer *account)
{
    const struct probed *probed = &account->probed;
    struct buf *log = &world->log;
    buf_addf(log, "account %s", name_of_caller(world, account->caller));
    if (!probed->is_ok)
        buf_addf(log, " %s", probed->code);
    else if (probed->probe == PROBE_THREADS)
        buf_addf(log, " threads %u/%u", probed->working_threads, probed->threads);
    else
        buf_addf(log, " balance %s", probed->balance);
}

static void add_call(struct world *world, const struct action *action)
{
    const struct call *call = &action->call;
    struct buf *log = &world->log;
    if (action->kind == ACTION_REPORT) {
        buf_addf(log, "report %s task %s", call->is_good ? "good" : "bad", call->task_id);
        return;
    }
    const size_t number = number_of_attempt(world, call->attempt);
    if (action->kind == ACTION_POLL)
        buf_addf(log, "poll a%zu task %s", number, call->task_id);
    else
        buf_addf(log, "submit a%zu %s", number, call->params->data);
    if (call->client != 0)
        buf_addf(log, " of client %u", call->client);
}

static void add_alert(struct world *world, const struct alert *alert)
{
    struct buf *log = &world->log;
    buf_addf(log, "alert %s", name_of_alert(alert->kind));
    if (alert->attempt != 0)
        buf_addf(log, " a%zu", number_of_attempt(world, alert->attempt));
    if (alert->count != 0)
        buf_addf(log, " %u", alert->count);
    if (alert->code[0] != '\0')
        buf_addf(log, " %s (%s)", alert->code, error_class_name(alert->class));
}

static void add_draw(struct world *world, const struct draw *draw)
{
    buf_addf(&world->log, "draw used %llu need %llu", (unsigned long long)draw->used,
             (unsigned long long)draw->need);
    if (draw->before > 0)
        buf_addf(&world->log, " before %llu", (unsigned long long)draw->before);
    if (draw->block == 0)
        buf_addf(&world->log, " alone");
    if (draw->client != 0)
        buf_addf(&world->log, " of client %u", draw->client);
}

static void add_claim(struct world *world, const struct claim *claim)
{
    struct buf *log = &world->log;
    buf_addf(log, "claim f%zu %s", number_of_claim(world, claim->flight), name_of_key(&claim->key));
    if (claim->has_idempotency)
        buf_addf(log, " idempotency %s", name_of_key(&claim->idempotency));
    if (!claim->has_name)
        buf_addf(log, " or nothing");
    else if (claim->may_take && claim->reuse == REUSE_SHARED)
        buf_addf(log, " or one that is offered");
    if (claim->solution != 0)
        buf_addf(log, ", proposing one");
    if (claim->max_age_ms != UINT32_MAX && !claim->is_held)
        buf_addf(log, " max age %u", claim->max_age_ms);
    if (claim->following != 0)
        buf_addf(log, " again");
    if (claim->is_held)
        buf_addf(log, " as before");
}

static void add_letter_errand(struct world *world, const struct fact *fact)
{
    static const char *const verbs[] = {
        [LETTER_REPLAY] = "replay", [LETTER_CANCEL] = "cancel", [LETTER_DROP] = "drop"};
    const struct letter_filter *filter = &fact->letters.filter;
    buf_addf(&world->log, "tell n%u: %s", fact->errand.to, verbs[fact->letters.verb]);
    if (filter->number != 0)
        buf_addf(&world->log, " letter %llu", (unsigned long long)filter->number);
    else
        buf_addf(&world->log, " letters until %lld", (long long)filter->until_wall_ms);
    if (fact->letters.has_into || filter->has_client)
        buf_addf(&world->log, " %s client %u", fact->letters.has_into ? "into" : "of",
                 fact->errand.client);
}

static void add_errand(struct world *world, const struct errand *errand)
{
    static const char *const verbs[] = {[ERRAND_REPORT_GOOD] = "report good",
                                        [ERRAND_REPORT_BAD] = "report bad",
                                        [ERRAND_DETACH] = "detach",
                                        [ERRAND_LOOK] = "look for"};
    buf_addf(&world->log, "tell n%u: %s r%zu", errand->to, verbs[errand->verb],
             number_of_request(world, errand->id));
    if (errand->client != 0)
        buf_addf(&world->log, " of client %u", errand->client);
}

static void add_show(struct world *world, const struct fact *fact)
{
    buf_addf(&world->log, "tell n%u: show %s", fact->errand.to,
             name_of_key(&fact->show.prefix.key));
    if (fact->show.prefix.digits < 2 * (size_t)KEY_BYTES)
        buf_addf(&world->log, " by %zu digits", fact->show.prefix.digits);
    if (!fact->show.sees_all)
        buf_addf(&world->log, " to client %u", fact->errand.client);
}

static void add_shown(struct world *world, const struct shown_answer *answer)
{
    buf_addf(&world->log, "shown %s ", name_of_caller(world, answer->show.caller));
    if (answer->refusal != REFUSAL_NONE)
        buf_addf(&world->log, "refused: %s", refusal_text(answer->refusal));
    else
        buf_addf(&world->log, "\"%s\"", answer->text->data);
}

static void add_sighting(struct world *world, const struct fact *fact)
{
    buf_addf(&world->log, ", %s", request_state_name(fact->sighting.state));
    if (fact->result.text != NULL)
        buf_addf(&world->log, " \"%s\" source %s", fact->result.text->data,
                 source_name(fact->sighting.source));
    if (fact->sighting.state == REQUEST_FAILED)
        buf_addf(&world->log, " %s", fact->result.code);
}

static void add_fact(struct world *world, const struct fact *fact)
{
    if (fact->kind == FACT_ERRAND && fact->errand.verb == ERRAND_LETTERS) {
        add_letter_errand(world, fact);
        return;
    }
    if (fact->kind == FACT_ERRAND && fact->errand.verb == ERRAND_SHOW) {
        add_show(world, fact);
        return;
    }
    if (fact->kind == FACT_ERRAND) {
        add_errand(world, &fact->errand);
        return;
    }
    if (fact->kind == FACT_REPLY) {
        buf_addf(&world->log, "tell n%u: %s", fact->errand.to, refusal_text(fact->errand.refusal));
        if (fact->errand.verb == ERRAND_LETTERS)
            buf_addf(&world->log, ", %u letters", fact->errand.count);
        if (fact->errand.verb == ERRAND_LOOK && fact->errand.refusal == REFUSAL_NONE)
            add_sighting(world, fact);
        if (fact->errand.verb == ERRAND_SHOW && fact->result.text != NULL)
            buf_addf(&world->log, ", \"%s\"", fact->result.text->data);
        return;
    }
    if (fact->kind == FACT_BAD) {
        buf_addf(&world->log, "tell all: %s of a%zu is bad", name_of_key(&fact->bad.key),
                 number_of_attempt(world, fact->bad.attempt));
        return;
    }
    if (fact->kind == FACT_TAKEN) {
        buf_addf(&world->log, "tell n%u: %s was taken", fact->errand.to,
                 name_of_key(&fact->taken.key));
        return;
    }
    buf_addf(&world->log, "tell a%zu", number_of_attempt(world, fact->result.attempt));
    if (fact->result.task_id[0] != '\0')
        buf_addf(&world->log, " task %s", fact->result.task_id);
    if (fact->result.text != NULL)
        buf_addf(&world->log, " \"%s\"", fact->result.text->data);
}

static void add_release(struct world *world, const struct release *release)
{
    struct buf *log = &world->log;
    buf_addf(log, "release f%zu %s", number_of_claim(world, release->flight),
             name_of_key(&release->name));
    if (release->solution != 0)
        buf_addf(log, " solved");
    if (release->is_kept)
        buf_addf(log, " kept");
    if (release->class != CLASS_NONE)
        buf_addf(log, " %s (%s) attempts %u", release->code, error_class_name(release->class),
                 release->attempts);
    if (release->keep_ms != 0)
        buf_addf(log, " for %u", release->keep_ms);
}

static void add_words(struct world *world, const struct action *action)
{
    switch (action->kind) {
    case ACTION_ANSWER:
        add_answer(world, &action->answer);
        return;
    case ACTION_ACCOUNT:
        add_account(world, &action->account);
        return;
    case ACTION_LETTERS:
        buf_addf(&world->log, "letters %s %u", name_of_caller(world, action->letters.caller),
                 action->letters.count);
        if (action->letters.refusal != REFUSAL_NONE)
            buf_addf(&world->log, " refused: %s", refusal_text(action->letters.refusal));
        return;
    case ACTION_SHOWN:
        add_shown(world, &action->shown);
        return;
    case ACTION_ACK:
        buf_addf(&world->log, "ack %s", name_of_caller(world, action->ack));
        return;
    case ACTION_SUBMIT:
    case ACTION_POLL:
    case ACTION_REPORT:
        add_call(world, action);
        return;
    case ACTION_PROBE:
        buf_addf(&world->log, "probe %s", action->probe == PROBE_BALANCE ? "balance" : "threads");
        return;
    case ACTION_NOTIFY:
        buf_addf(&world->log, "notify %s of r%zu: %s", action->notify.url->data,
                 number_of_request(world, action->notify.request), action->notify.code->data);
        return;
    case ACTION_JOURNAL:
        buf_addf(&world->log, "journal %llu ", (unsigned long long)action->after);
        lines_add_record(world, &action->record);
        return;
    case ACTION_ALERT:
        add_alert(world, &action->alert);
        return;
    case ACTION_WITHDRAW:
        buf_addf(&world->log, "withdraw %s a%zu", action->withdrawal.is_poll ? "poll" : "submit",
                 number_of_attempt(world, action->withdrawal.attempt));
        return;
    case ACTION_CLAIM:
        add_claim(world, &action->claim);
        return;
    case ACTION_RELEASE:
        add_release(world, &action->release);
        return;
    case ACTION_TELL:
        add_fact(world, &action->tell);
        return;
    case ACTION_FORGET:
        buf_addf(&world->log, "forget %llu", (unsigned long long)action->forget);
        return;
    case ACTION_ADOPT:
        buf_addf(&world->log, "adopt node %llu", (unsigned long long)action->adopt.id);
        return;
    case ACTION_FIND:
        buf_addf(&world->log, "find r%zu", number_of_request(world, action->find.id));
        if (action->find.client != 0)
            buf_addf(&world->log, " of client %u", action->find.client);
        return;
    case ACTION_DRAW:
        add_draw(world, &action->draw);
        return;
    case ACTION_PAID:
        break;
    }
    UNREACHABLE();
}

/* ---- what every action has to obey ------------------------------------------------------- */

static void note_answered(struct world *world, caller_id caller)
{
    if (caller == 0)
        return;
    ASSERT(caller <= world->caller_count);
    struct world_caller *who = &world->callers[caller - 1];
    ASSERT(!who->is_answered && !who->is_gone);
    who->is_answered = true;
}

static void count_answer(struct world_tally *tally, const struct answer *answer)
{
    tally->answers++;
    if (answer->refusal != REFUSAL_NONE)
        tally->refused++;
    else if (answer->state == REQUEST_SOLVED)
        tally->solved++;
    else if (answer->state == REQUEST_FAILED)
        tally->failed++;
}

static void note_record(struct world *world, const struct action *action)
{
    world->tally.records++;
    /* Records are numbered in the order in which they are appended. */
    ASSERT(action->after == world->seq + 1);
    world->seq = action->after;
}

static void note_call(struct world *world, const struct action *action)
{
    if (action->kind == ACTION_REPORT) {
        world->tally.reports++;
        world->last_report_after = action->after;
        return;
    }
    const size_t number = number_of_attempt(world, action->call.attempt);
    struct world_attempt *attempt = &world->attempts[number - 1];
    ASSERT(!attempt->is_submitting && !attempt->is_polling);
    if (action->kind == ACTION_SUBMIT) {
        world->tally.submits++;
        attempt->is_submitting = true;
    } else {
        world->tally.polls++;
        attempt->is_polling = true;
    }
}

/* A flight asks for one thing at a time. */
static void note_claim(struct world *world, const struct claim *claim)
{
    const size_t number = number_of_claim(world, claim->flight);
    struct world_claim *own = &world->claims[number - 1];
    ASSERT(!own->is_asking);
    own->is_asking = true;
    own->last = *claim;
    world->tally.claims++;
}

static void note_letters(struct world *world, const struct letters_answer *letters)
{
    note_answered(world, letters->caller);
    world->tally.orders++;
    world->last_letters = *letters;
    world->last_letters.found = NULL;
}

static void note_answer(struct world *world, const struct action *action)
{
    note_answered(world, action->answer.caller);
    count_answer(&world->tally, &action->answer);
    world->last_answer_is_single = action->answer.is_single;
    world->last_answer_is_promise = action->answer.is_promise;
    world->last_answer_is_receipt = action->answer.is_receipt;
    world->last_answer_after = action->after;
}

static void note(struct world *world, const struct action *action)
{
    /* Whatever an action waits for must already be on its way to the journal. */
    ASSERT(action->kind == ACTION_JOURNAL || action->kind == ACTION_TELL ||
           action->after <= world->seq);
    switch (action->kind) {
    case ACTION_ANSWER:
        note_answer(world, action);
        return;
    case ACTION_ACCOUNT:
        note_answered(world, action->account.caller);
        return;
    case ACTION_LETTERS:
        note_letters(world, &action->letters);
        return;
    case ACTION_SHOWN:
        note_answered(world, action->shown.show.caller);
        return;
    case ACTION_ACK:
        world->tally.acks++;
        note_answered(world, action->ack);
        return;
    case ACTION_SUBMIT:
    case ACTION_POLL:
    case ACTION_REPORT:
        note_call(world, action);
        return;
    case ACTION_PROBE:
        world->tally.probes++;
        return;
    case ACTION_NOTIFY:
        return;
    case ACTION_JOURNAL:
        note_record(world, action);
        return;
    case ACTION_ALERT:
        world->tally.alerts++;
        return;
    case ACTION_WITHDRAW:
        world->tally.withdrawals++;
        return;
    case ACTION_CLAIM:
        note_claim(world, &action->claim);
        return;
    case ACTION_RELEASE:
        world->tally.releases++;
        return;
    case ACTION_TELL:
        world->last_errand = action->tell.errand;
        world->seq = action->after;
        return;
    case ACTION_FORGET:
    case ACTION_ADOPT:
        return;
    case ACTION_FIND:
        world->tally.finds++;
        world->last_find = action->find;
        return;
    case ACTION_DRAW:
        world->last_draw = action->draw;
        return;
    case ACTION_PAID:
        world->tally.paid++;
        world->last_paid = action->paid;
        world->has_paid_params = action->paid.params != NULL;
        world->last_paid.params = NULL;
        return;
    }
    UNREACHABLE();
}

void lines_add_action(struct world *world, const struct action *action)
{
    /* The audit trail tells again what the submit and its end have told, and what is taken back has mostly left
     * already. */
    const bool is_told = action->kind != ACTION_PAID &&
                         (action->kind != ACTION_WITHDRAW || world->shows_withdrawals) &&
                         (action->kind != ACTION_JOURNAL || !world->hides_records);
    if (!world->is_quiet && is_told) {
        buf_addf(&world->log, "[%6llu] ", (unsigned long long)world->now_ms);
        add_words(world, action);
        if (action->kind != ACTION_JOURNAL && action->after != 0 && !world->hides_records)
            buf_addf(&world->log, " after %llu", (unsigned long long)action->after);
        buf_add_char(&world->log, '\n');
    }
    note(world, action);
}

void lines_add_trace(void *context, uint64_t now_ms, const char *text)
{
    struct world *world = context;
    if (world->is_quiet || !world->shows_flights)
        return;
    buf_addf(&world->log, "[%6llu]     %s\n", (unsigned long long)(now_ms - WORLD_START_MS), text);
}
