/* A run as readable lines, and as one number that must be the same everywhere. */
#include "../event_name.h"
#include "sim.h"

#include <stdarg.h>
#include <stdio.h>

void trace_mix(struct sim *sim, uint64_t value)
{
    uint64_t hash = (sim->hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    sim->hash = hash ^ hash >> 29;
}

static void line(const struct sim *sim, const char *mark)
{
    (void)printf("%6llu [%llu] %s ", (unsigned long long)sim->steps,
                 (unsigned long long)(sim->now_ms - 10000000), mark);
}

void trace_note(struct sim *sim, const char *format, ...)
{
    if (!sim->is_traced)
        return;
    va_list arguments;
    line(sim, "*");
    va_start(arguments, format);
    (void)vprintf(format, arguments);
    va_end(arguments);
    (void)putchar('\n');
}

static void on_engine(void *context, uint64_t now_ms, const char *text)
{
    (void)now_ms;
    line(context, "   ");
    (void)puts(text);
}

void trace_engine(struct sim *sim)
{
    if (sim->is_traced)
        engine_set_trace(sim->engine, on_engine, sim);
}

/* ---- events -------------------------------------------------------------------------------------- */

/* A new one gets its number right after its first line. */
static uint32_t submit_number(const struct sim *sim, attempt_id name)
{
    const uint32_t place = map_get(&sim->submit_by_name, name);
    return place == MAP_NONE ? (uint32_t)sim->submit_count : place;
}

static const char *outcome_name(enum outcome outcome)
{
    static const char *const names[] = {
        [OUTCOME_NOT_SENT] = "not sent",
        [OUTCOME_ACCEPTED] = "accepted",
        [OUTCOME_REJECTED] = "rejected",
        [OUTCOME_AMBIGUOUS] = "ambiguous",
        [OUTCOME_PENDING] = "pending",
        [OUTCOME_SOLVED] = "solved",
        [OUTCOME_FAILED] = "failed",
        [OUTCOME_UNHEARD] = "unheard",
        [OUTCOME_UNDELIVERABLE] = "undeliverable",
        [OUTCOME_WITHDRAWN] = "withdrawn",
    };
    return names[outcome];
}

static void print_event(const struct sim *sim, const struct event *event)
{
    static const char *const reuses[] = {"default", "shared", "single", "none"};
    uint64_t number = 0;
    line(sim, ">");
    (void)printf("%s", event_name(event->kind));
    if (event->kind == EVENT_ASK) {
        memcpy(&number, event->ask.idempotency.bytes, sizeof number);
        (void)printf(" caller %llu client %u %s %s idempotency %llu hold %u%s%s%s",
                     (unsigned long long)event->ask.caller, event->ask.client,
                     event->ask.params->data, reuses[event->ask.reuse], (unsigned long long)number,
                     event->ask.hold_ms, event->ask.is_id_told ? " told" : "",
                     event->ask.is_one_time ? " one-time" : "",
                     event->ask.pingback != NULL ? " pingback" : "");
        if (event->ask.pool != 0)
            (void)printf(" pool %u", event->ask.pool);
    } else if (event->kind == EVENT_NOTIFIED) {
        static const char *const ends[] = {"delivered", "refused", "busy"};
        (void)printf(" r%llu %s", (unsigned long long)event->notified.request,
                     ends[event->notified.end]);
    } else if (event->kind == EVENT_LOOK) {
        (void)printf(" caller %llu client %u r%llu hold %u", (unsigned long long)event->look.caller,
                     event->look.client, (unsigned long long)event->look.id, event->look.hold_ms);
    } else if (event->kind == EVENT_DETACH || event->kind == EVENT_REPORT) {
        /* Both begin alike. */
        (void)printf(" caller %llu r%llu", (unsigned long long)event->detach.caller,
                     (unsigned long long)event->detach.id);
    } else if (event->kind == EVENT_GONE) {
        (void)printf(" caller %llu", (unsigned long long)event->gone);
    } else if (event->kind == EVENT_DURABLE) {
        (void)printf(" %llu", (unsigned long long)event->durable);
    } else if (event->kind == EVENT_SUBMITTED || event->kind == EVENT_POLLED ||
               event->kind == EVENT_CALLBACK) {
        const struct vendor_result *result = &event->result;
        (void)printf(" a%u %s %s %s %s", submit_number(sim, result->attempt),
                     outcome_name(result->outcome), result->task_id, result->code,
                     result->text == NULL ? "" : result->text->data);
    }
    (void)putchar('\n');
}

void trace_event(struct sim *sim, const struct event *event)
{
    trace_mix(sim, (uint64_t)event->kind << 48 ^ event->now_ms);
    trace_mix(sim, event->random);
    if (sim->is_traced)
        print_event(sim, event);
}

/* ---- actions ------------------------------------------------------------------------------------- */

static void print_answer(const struct action *action)
{
    const struct answer *answer = &action->answer;
    (void)printf("answer caller %llu", (unsigned long long)answer->caller);
    if (answer->refusal != REFUSAL_NONE) {
        (void)printf(" refused %d", (int)answer->refusal);
        return;
    }
    static const char *const states[] = {"queued", "solving", "solved", "failed"};
    static const char *const sources[] = {"api", "wait", "cache", "idempotent", "pool"};
    (void)printf(" r%llu %s %s %s %s", (unsigned long long)answer->id, states[answer->state],
                 answer->text == NULL ? "" : answer->text->data, answer->code,
                 answer->source < SOURCE_COUNT ? sources[answer->source] : "?");
}

static void print_record(const struct sim *sim, const struct action *action)
{
    static const char *const kinds[] = {
        [RECORD_DAY] = "day",         [RECORD_SPENT] = "spent",
        [RECORD_TALLY] = "tally",     [RECORD_SOLUTION] = "solution",
        [RECORD_FLIGHT] = "flight",   [RECORD_ATTEMPT] = "attempt",
        [RECORD_REQUEST] = "request", [RECORD_IDEMPOTENCY] = "idempotency",
        [RECORD_LETTER] = "letter",
    };
    const struct record *record = &action->record;
    const size_t count = sizeof kinds / sizeof kinds[0];
    (void)printf("journal %llu %s%s", (unsigned long long)action->after,
                 record->is_drop ? "drop " : "",
                 (size_t)record->kind < count ? kinds[record->kind] : "row");
    if (record->kind == RECORD_ATTEMPT)
        (void)printf(" a%u %s%s", submit_number(sim, record->attempt.name),
                     record->is_drop ? "" : record->attempt.task_id,
                     !record->is_drop && record->attempt.is_closed ? " closed" : "");
    else if (record->kind == RECORD_SOLUTION && !record->is_drop)
        (void)printf(" %llx %s handed %u%s", (unsigned long long)record->solution.id,
                     record->solution.text->data, record->solution.handed,
                     record->solution.is_kept ? " kept" : "");
    else if (record->kind == RECORD_SOLUTION)
        (void)printf(" %llx", (unsigned long long)record->solution.id);
    else if (record->kind == RECORD_FLIGHT)
        (void)printf(" %llx%s", (unsigned long long)record->flight.id,
                     !record->is_drop && record->flight.is_over ? " over" : "");
    else if (record->kind == RECORD_REQUEST)
        (void)printf(" r%llu flight %llx solution %llx", (unsigned long long)record->request.id,
                     (unsigned long long)(record->is_drop ? 0 : record->request.flight),
                     (unsigned long long)(record->is_drop ? 0 : record->request.solution));
}

static void print_action(const struct sim *sim, const struct action *action)
{
    line(sim, "<");
    if (action->kind == ACTION_ANSWER)
        print_answer(action);
    else if (action->kind == ACTION_JOURNAL)
        print_record(sim, action);
    else if (action->kind == ACTION_SUBMIT || action->kind == ACTION_POLL)
        (void)printf("%s a%u %s", action->kind == ACTION_SUBMIT ? "submit" : "poll",
                     submit_number(sim, action->call.attempt), action->call.task_id);
    else if (action->kind == ACTION_NOTIFY)
        (void)printf("notify r%llu %s", (unsigned long long)action->notify.request,
                     action->notify.code->data);
    else if (action->kind == ACTION_ACK)
        (void)printf("ack caller %llu", (unsigned long long)action->ack);
    else
        (void)printf("action %d", (int)action->kind);
    if (action->kind != ACTION_JOURNAL && action->after > 0)
        (void)printf(" after %llu", (unsigned long long)action->after);
    (void)putchar('\n');
}

void trace_action(struct sim *sim, const struct action *action)
{
    trace_mix(sim, (uint64_t)action->kind << 56 ^ action->after);
    if (action->kind == ACTION_ANSWER) {
        trace_mix(sim, action->answer.caller ^ action->answer.id << 8);
        trace_mix(sim, (uint64_t)action->answer.refusal << 8 ^ (uint64_t)action->answer.state);
        if (action->answer.text != NULL)
            trace_mix(sim, token_of(sim, blob_slice(action->answer.text)));
    } else if (action->kind == ACTION_SUBMIT || action->kind == ACTION_POLL) {
        trace_mix(sim, action->call.attempt);
    } else if (action->kind == ACTION_NOTIFY) {
        trace_mix(sim, action->notify.request);
    } else if (action->kind == ACTION_JOURNAL) {
        trace_mix(sim, (uint64_t)action->record.kind << 1 ^ (uint64_t)action->record.is_drop);
    }
    if (sim->is_traced)
        print_action(sim, action);
}
