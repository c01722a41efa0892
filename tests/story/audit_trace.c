/* What happened in a replayed seed, for whoever has to find out why. */
#include "../event_name.h"
#include "audit.h"

#include <stdio.h>

static bool is_traced;

void audit_trace(void)
{
    is_traced = true;
}

static void print_trace(void *context, uint64_t now_ms, const char *text)
{
    const struct audit *audit = context;
    (void)fprintf(stderr, "%4u [%llu]     %s\n", audit->step,
                  (unsigned long long)(now_ms - AUDIT_START_MS), text);
}

void trace_engine(struct audit *audit)
{
    if (is_traced)
        engine_set_trace(audit->engine, print_trace, audit);
}

void trace_action(const struct audit *audit, const struct action *action)
{
    if (!is_traced)
        return;
    static const char *const names[] = {"answer", "account", "letters", "ack",    "submit",
                                        "poll",   "report",  "probe",   "notify", "journal",
                                        "alert",  "paid",    "withdraw"};
    (void)fprintf(stderr, "%4u [%llu] %s", audit->step,
                  (unsigned long long)(audit->now_ms - AUDIT_START_MS), names[action->kind]);
    if (action->kind == ACTION_ANSWER)
        (void)fprintf(stderr, " caller %llu request %llu refusal %d state %d source %d text %s",
                      (unsigned long long)action->answer.caller,
                      (unsigned long long)action->answer.id, (int)action->answer.refusal,
                      (int)action->answer.state, (int)action->answer.source,
                      action->answer.text == NULL ? "-" : action->answer.text->data);
    if (action->kind == ACTION_SUBMIT || action->kind == ACTION_POLL)
        (void)fprintf(stderr, " %llx task %s", (unsigned long long)action->call.attempt,
                      action->call.task_id);
    (void)fputc('\n', stderr);
}

void trace_event(const struct audit *audit, const struct event *event)
{
    if (!is_traced)
        return;
    (void)fprintf(stderr, "%4u [%llu] > %s", audit->step,
                  (unsigned long long)(audit->now_ms - AUDIT_START_MS), event_name(event->kind));
    if (event->kind == EVENT_ASK)
        (void)fprintf(stderr, " caller %llu client %u key %.2s reuse %d idempotency %.2s",
                      (unsigned long long)event->ask.caller, event->ask.client,
                      (const char *)event->ask.key.bytes, (int)event->ask.reuse,
                      (const char *)event->ask.idempotency.bytes);
    if (event->kind == EVENT_SUBMITTED || event->kind == EVENT_POLLED ||
        event->kind == EVENT_CALLBACK)
        (void)fprintf(stderr, " %llx outcome %d %s text %s",
                      (unsigned long long)event->result.attempt, (int)event->result.outcome,
                      event->result.code,
                      event->result.text == NULL ? "-" : event->result.text->data);
    (void)fputc('\n', stderr);
}
