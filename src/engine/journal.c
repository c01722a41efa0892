#include "engine/journal.h"

static struct record *append(struct engine *engine, enum record_kind kind, journal_seq *seq)
{
    struct action *action = engine_push(engine, ACTION_JOURNAL);
    action->after = ++engine->seq;
    action->record.kind = kind;
    action->record.wall_ms = engine->wall_ms;
    *seq = action->after;
    return &action->record;
}

journal_seq journal_intent(struct engine *engine, const struct attempt *attempt,
                           const struct flight *flight)
{
    journal_seq seq = 0;
    if (!engine->options.has_journal)
        return seq;
    struct record *record = append(engine, RECORD_INTENT, &seq);
    record->attempt = attempt->name;
    record->client = flight->client;
    record->captcha = flight->captcha;
    record->key = flight->node.key;
    record->params = blob_ref(flight->params);
    /* A further attempt is recorded with its reason: how the one before ended. */
    if (flight->error != NULL) {
        record->class = flight->error_class;
        code_copy(record->code, blob_slice(flight->error));
    }
    return seq;
}

journal_seq journal_outcome(struct engine *engine, const struct attempt *attempt,
                            const struct vendor_result *result)
{
    journal_seq seq = 0;
    if (!engine->options.has_journal)
        return seq;
    struct record *record = append(engine, RECORD_OUTCOME, &seq);
    record->attempt = attempt->name;
    record->outcome = result->outcome;
    record->class = result->class;
    memcpy(record->code, result->code, ERROR_CODE_MAX);
    memcpy(record->task_id, result->task_id, TASK_ID_MAX);
    return seq;
}

journal_seq journal_solution(struct engine *engine, const struct attempt *attempt,
                             const struct solution *solution)
{
    journal_seq seq = 0;
    if (!engine->options.has_journal)
        return seq;
    struct record *record = append(engine, RECORD_SOLUTION, &seq);
    record->attempt = attempt->name;
    record->client = attempt->client;
    record->captcha = attempt->captcha;
    record->key = attempt->key;
    record->text = blob_ref(solution->text);
    record->extra = blob_ref(solution->extra);
    memcpy(record->task_id, solution->task_id, TASK_ID_MAX);
    return seq;
}

journal_seq journal_request(struct engine *engine, const struct request *request,
                            const struct ask *ask)
{
    journal_seq seq = 0;
    if (!engine->options.has_journal)
        return seq;
    struct record *record = append(engine, RECORD_REQUEST, &seq);
    record->request = request->public_id;
    record->client = request->client;
    record->captcha = ask->captcha;
    record->key = ask->key;
    record->has_idempotency = ask->has_idempotency;
    record->idempotency = ask->idempotency;
    return seq;
}

void journal_handout(struct engine *engine, struct request *request,
                     const struct solution *solution)
{
    journal_seq seq = 0;
    if (!engine->options.has_journal)
        return;
    struct record *record = append(engine, RECORD_HANDOUT, &seq);
    record->request = request->public_id;
    record->client = request->client;
    record->key = solution->node.key;
    memcpy(record->task_id, solution->task_id, TASK_ID_MAX);
    request->seq = seq;
}

journal_seq journal_failed(struct engine *engine, const struct flight *flight)
{
    journal_seq seq = 0;
    if (!engine->options.has_journal)
        return seq;
    struct record *record = append(engine, RECORD_FAILED, &seq);
    record->client = flight->client;
    record->captcha = flight->captcha;
    record->key = flight->node.key;
    record->class = flight->error_class;
    code_copy(record->code, blob_slice(flight->error));
    record->params = blob_ref(flight->params);
    return seq;
}
