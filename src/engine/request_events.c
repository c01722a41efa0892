#include "engine/request_events.h"

#include "engine/advice.h"
#include "engine/bad.h"
#include "engine/errand.h"
#include "engine/find.h"
#include "engine/hold.h"
#include "engine/placed.h"
#include "engine/request.h"
#include "engine/task.h"

void request_on_look(struct engine *engine, const struct look *look)
{
    struct request *request = request_find(engine, look->client, look->id);
    if (request == NULL) {
        find_look(engine, look);
        return;
    }
    /* Nobody waits for the answer: it was only to be found. */
    if (look->caller == 0)
        return;
    request_hold(engine, request, look->caller, look->hold_ms);
}

void request_on_gone(struct engine *engine, caller_id caller)
{
    struct numbers_node *node = numbers_find(&engine->holds_by_caller, caller);
    if (node == NULL)
        return;
    struct hold *hold = CONTAINER_OF(node, struct hold, by_caller);
    struct request *request = hold->request;
    hold_free(engine, hold);
    if (request == NULL)
        return;
    /* Nobody else knows this request's id, so nobody will ever come for it. */
    const bool is_secret = !request->is_id_told || request_is_unsure(request);
    if (is_secret && list_is_empty(&request->holds))
        request_detach(engine, request);
}

/* Nobody is answered whose caller is 0. */
static void withdraw(struct engine *engine, struct request *request, caller_id caller)
{
    /* Held callers are told the state that the request had when it was given up. */
    while (!list_is_empty(&request->holds))
        hold_on_timer(engine, CONTAINER_OF(list_first(&request->holds), struct hold, link));
    if (caller != 0)
        request_answer(engine, request, caller);
    request_detach(engine, request);
}

static void on_detach(struct engine *engine, const struct detach *detach)
{
    struct request *request = request_find(engine, detach->client, detach->id);
    if (request != NULL) {
        withdraw(engine, request, detach->caller);
        return;
    }
    errand_send(engine, &(struct errand){.verb = ERRAND_DETACH,
                                         .client = detach->client,
                                         .id = detach->id,
                                         .caller = detach->caller});
}

/* Its caller was refused, and asks again. What ended meanwhile stays for whoever asks next. */
static void on_untold(struct engine *engine, const struct untold *untold)
{
    struct request *request = request_find(engine, untold->client, untold->id);
    if (request == NULL)
        return;
    if (request->flight == NULL)
        request_free(engine, request);
    else
        request_give_up(engine, request);
}

void request_on_given_up(struct engine *engine, const struct event *event)
{
    if (event->kind == EVENT_DETACH)
        on_detach(engine, &event->detach);
    else
        on_untold(engine, &event->untold);
}

enum refusal request_withdraw(struct engine *engine, client_id client, request_id id)
{
    struct request *request = request_find(engine, client, id);
    if (request == NULL)
        return REFUSAL_UNKNOWN_ID;
    withdraw(engine, request, 0);
    return REFUSAL_NONE;
}

/* The vendor is told once, and only if it alone is responsible: a solution that aged in our cache
 * or was given to several callers may have gone bad here (docs/design.md 5.2). */
static void forward_report(struct engine *engine, const struct solution *solution, bool is_good,
                           enum source source)
{
    const bool is_fresh = source == SOURCE_API || source == SOURCE_DEDUP_WAIT;
    const bool is_ours = solution->handed > 1 || !is_fresh;
    if (solution->task_id == NULL || (!is_good && is_ours))
        return;
    struct action *action = engine_push(engine, ACTION_REPORT);
    if (!is_good && engine->options.store_is_shared)
        action->after = engine->seq;
    task_id_copy(action->call.task_id, solution->task_id);
    action->call.is_good = is_good;
}

static void hear_report(struct engine *engine, struct request *request, bool is_good)
{
    /* A bad report before a crash stands in the solution's row. */
    bool is_news = !request->is_reported;
    if (is_news)
        advice_note(engine, request->solution, is_good);
    if (is_good) {
        COUNT(engine, reports_good);
    } else {
        COUNT(engine, reports_bad);
        is_news &= bad_report(engine, request->solution);
    }
    if (is_news)
        forward_report(engine, request->solution, is_good, request->source);
    request->is_reported = true;
}

void request_on_report(struct engine *engine, const struct report *report)
{
    struct request *request = request_find(engine, report->client, report->id);
    if (request == NULL) {
        errand_send(engine, &(struct errand){.verb = report->is_good ? ERRAND_REPORT_GOOD
                                                                     : ERRAND_REPORT_BAD,
                                             .client = report->client,
                                             .id = report->id,
                                             .caller = report->caller});
        return;
    }
    if (request->solution == NULL) {
        request_refuse(engine, report->caller, REFUSAL_NOT_SOLVED, SLICE_NONE, 0);
        return;
    }
    hear_report(engine, request, report->is_good);
    if (report->is_good)
        request_answer(engine, request, report->caller);
    else
        request_confirm(engine, request, report->caller);
}

enum refusal request_report(struct engine *engine, client_id client, request_id id, bool is_good)
{
    struct request *request = request_find(engine, client, id);
    if (request == NULL)
        return REFUSAL_UNKNOWN_ID;
    if (request->solution == NULL)
        return REFUSAL_NOT_SOLVED;
    hear_report(engine, request, is_good);
    request_mark_read(engine, request);
    return REFUSAL_NONE;
}

void request_on_expiry(struct engine *engine, struct request *request)
{
    if (request->notice != NULL) {
        wheel_arm(&engine->wheel, &request->expiry, engine->now_ms + SOLUTION_KEEP_MS);
        return;
    }
    request_free(engine, request);
}
