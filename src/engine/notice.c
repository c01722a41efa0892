#include "engine/notice.h"

#include "engine/finished.h"
#include "engine/history.h"
#include "engine/journal.h"
#include "engine/letters.h"
#include "engine/request.h"
#include "engine/retry.h"

/* Pause when the wire is full and the notice was not tried. */
#define BUSY_WAIT_MS 1000

/* Replayed letters have places of their own, so that requests always find one. */
#define REPLAYS_MOST 256

uint32_t notices_room(uint32_t requests)
{
    return requests + REPLAYS_MOST;
}

static struct notice *find(const struct engine *engine, request_id request)
{
    struct numbers_node *node = numbers_find(&engine->notices_by_request, request);
    return node == NULL ? NULL : CONTAINER_OF(node, struct notice, node);
}

static struct notice *notice_new(struct engine *engine, request_id request, struct blob *url,
                                 struct blob *code)
{
    slab_id id;
    struct notice *notice = slab_alloc(&engine->notices, &id);
    /* There is a place for each request, and some for letters. */
    ASSERT(notice != NULL);
    notice->id = id;
    notice->url = blob_ref(url);
    notice->code = blob_ref(code);
    notice->node.number = request;
    notice->request_id = request;
    numbers_insert(&engine->notices_by_request, &notice->node);
    wheel_timer_init(&notice->timer, TIMER_NOTICE);
    return notice;
}

void notice_close(struct notice *notice)
{
    blob_unref(notice->url);
    blob_unref(notice->code);
    history_free(notice->history);
}

static void notice_free(struct engine *engine, struct notice *notice)
{
    if (notice->request != NULL)
        notice->request->notice = NULL;
    if (notice->letter != NULL) {
        notice->letter->notice = NULL;
        engine->notice_replays--;
    }
    wheel_cancel(&engine->wheel, &notice->timer);
    numbers_remove(&engine->notices_by_request, &notice->node);
    notice_close(notice);
    slab_free(&engine->notices, notice->id);
}

static void send(struct engine *engine, struct notice *notice, journal_seq after)
{
    struct action *action = engine_push(engine, ACTION_NOTIFY);
    action->after = after;
    action->notify.request = notice->request_id;
    action->notify.client = notice->client;
    action->notify.url = blob_ref(notice->url);
    action->notify.code = blob_ref(notice->code);
    notice->started_ms = engine->now_ms;
}

/* The notice waits for the same records as the answer itself. */
void notice_start(struct engine *engine, struct request *request)
{
    const bool is_solved = request->solution != NULL;
    struct notice *notice = notice_new(engine, request->by_id.number, request->pingback,
                                       is_solved ? request->solution->text : request->error);
    notice->client = request->client;
    notice->request = request;
    request->notice = notice;
    journal_seq after = request->seq;
    if (is_solved && request->solution->seq > after)
        after = request->solution->seq;
    send(engine, notice, after);
}

bool notice_replay(struct engine *engine, struct letter *letter)
{
    if (find(engine, letter->request) != NULL || engine->notice_replays == REPLAYS_MOST)
        return false;
    struct notice *notice = notice_new(engine, letter->request, letter->pingback, letter->text);
    engine->notice_replays++;
    notice->client = letter->client;
    notice->letter = letter;
    letter->notice = notice;
    send(engine, notice, 0);
    return true;
}

bool notice_is_due(const struct engine *engine, request_id request)
{
    const struct notice *notice = find(engine, request);
    return notice != NULL && !notice->timer.is_armed;
}

void notice_cancel(struct engine *engine, struct notice *notice)
{
    notice_free(engine, notice);
}

/* Drops the request's address, so that it is not told again after a crash. */
static void settle_request(struct engine *engine, struct request *request, bool is_heard)
{
    if (request == NULL)
        return;
    finished_enter(engine, request);
    if (is_heard)
        request_mark_read(engine, request);
    request_drop_pingback(engine, request);
    if (request->is_journaled)
        journal_request(engine, request);
}

static void heard(struct engine *engine, struct notice *notice)
{
    struct letter *letter = notice->letter;
    struct request *request = notice->request;
    COUNT(engine, notices_delivered);
    TRACE(engine, "notice delivered");
    notice_free(engine, notice);
    settle_request(engine, request, true);
    if (letter != NULL)
        letter_settle(engine, letter);
}

static void give_up(struct engine *engine, struct notice *notice)
{
    struct letter *letter = notice->letter;
    struct request *request = notice->request;
    COUNT(engine, notices_failed);
    TRACE(engine, "notice given up");
    if (letter != NULL)
        letter_stays(engine, letter, notice->history);
    else
        letter_of_notice(engine, notice);
    notice_free(engine, notice);
    settle_request(engine, request, false);
}

void notice_on_told(struct engine *engine, const struct notified *notified)
{
    struct notice *notice = find(engine, notified->request);
    if (notice == NULL || notice->timer.is_armed) {
        COUNT(engine, late_completions);
        return;
    }
    if (notified->end == NOTICE_DELIVERED) {
        heard(engine, notice);
        return;
    }
    if (notified->end == NOTICE_BUSY) {
        wheel_arm(&engine->wheel, &notice->timer, engine->now_ms + BUSY_WAIT_MS);
        return;
    }
    history_note(engine, &notice->history, notice->started_ms, slice_from(notified->why));
    if (notice->tries >= engine->options.notice_retries) {
        give_up(engine, notice);
        return;
    }
    wheel_arm(&engine->wheel, &notice->timer,
              engine->now_ms + retry_backoff_ms(engine, engine->options.notice_base_ms,
                                                engine->options.notice_cap_ms, notice->tries, 0));
    notice->tries++;
}

void notice_on_timer(struct engine *engine, struct notice *notice)
{
    send(engine, notice, 0);
}
