#include "engine/letters.h"

#include "engine/aside.h"
#include "engine/ask.h"
#include "engine/cache.h"
#include "engine/history.h"
#include "engine/journal.h"
#include "engine/letter_orders.h"
#include "engine/letter_replay.h"
#include "engine/letters_retry.h"
#include "engine/notice.h"
#include "engine/orphan.h"
#include "engine/task.h"
#include "engine/undeliverable.h"
#include "engine/vigil.h"

void letters_init(struct engine *engine)
{
    list_init(&engine->letter_list);
    list_init(&engine->replays);
    wheel_timer_init(&engine->replay_timer, TIMER_REPLAY);
    wheel_timer_init(&engine->sweep_timer, TIMER_SWEEP);
}

/* ---- birth and death --------------------------------------------------------------------- */

uint32_t letter_bytes(const struct letter *letter)
{
    return letter->params->len + (letter->text == NULL ? 0 : letter->text->len) +
           (letter->extra == NULL ? 0 : letter->extra->len) +
           (letter->pingback == NULL ? 0 : letter->pingback->len);
}

static void join_client(struct engine *engine, struct letter *letter)
{
    list_append(&engine->clients[letter->client].letters, &letter->own);
    share_take(&engine->shares.letters, letter->client, 1);
    share_loosen(&engine->shares.letters, letter->client, 1);
    share_take(&engine->shares.letter_bytes, letter->client, letter_bytes(letter));
    share_loosen(&engine->shares.letter_bytes, letter->client, letter_bytes(letter));
}

static void leave_client(struct engine *engine, struct letter *letter)
{
    list_unlink(&letter->own);
    share_fasten(&engine->shares.letters, letter->client, 1);
    share_give(&engine->shares.letters, letter->client, 1);
    share_fasten(&engine->shares.letter_bytes, letter->client, letter_bytes(letter));
    share_give(&engine->shares.letter_bytes, letter->client, letter_bytes(letter));
}

void letter_move(struct engine *engine, struct letter *letter, client_id client)
{
    leave_client(engine, letter);
    letter->client = client;
    join_client(engine, letter);
}

static void letter_free(struct engine *engine, struct letter *letter)
{
    if (letter->notice != NULL)
        notice_cancel(engine, letter->notice);
    letter_leave_ride(engine, letter);
    letter_jobs_pass(engine, letter);
    letters_sweep_past(engine, letter);
    list_unlink(&letter->link);
    wheel_cancel(&engine->wheel, &letter->expiry);
    numbers_remove(&engine->letters_by_number, &letter->node);
    orphan_leave(engine, letter);
    undeliverable_leave(engine, letter);
    engine->letter_bytes -= letter_bytes(letter);
    leave_client(engine, letter);
    journal_letter_over(engine, letter);
    blob_unref(letter->params);
    blob_unref(letter->error);
    blob_unref(letter->pingback);
    blob_unref(letter->text);
    blob_unref(letter->extra);
    history_free(letter->history);
    slab_free(&engine->letters, letter->id);
    if (engine->letters.used <= engine->options.letter_alert_above)
        engine->letters_are_alerted = false;
}

void letter_drop(struct engine *engine, struct letter *letter)
{
    struct flight *flight = letter->flight;
    COUNT(engine, letters_dropped);
    letter_free(engine, letter);
    if (flight != NULL)
        flight_abandon(engine, flight);
}

static void alert_if_many(struct engine *engine)
{
    if (engine->letters_are_alerted || engine->letters.used <= engine->options.letter_alert_above)
        return;
    engine->letters_are_alerted = true;
    struct action *action = engine_push(engine, ACTION_ALERT);
    action->alert.kind = ALERT_LETTERS;
    action->alert.count = engine->letters.used;
    const struct letter *newest = CONTAINER_OF(engine->letter_list.prev, struct letter, link);
    action->alert.class = newest->class;
    code_copy(action->alert.code, blob_slice(newest->error));
}

/* Picks the oldest letter of the client that has most, so that no client's letters push out
 * another's (share.h). */
static struct letter *oldest_of_greediest(struct engine *engine)
{
    const bool is_full = engine->letters.used == engine->letters.capacity;
    const uint32_t greediest =
        share_greediest(is_full ? &engine->shares.letters : &engine->shares.letter_bytes);
    /* Letters may have no bytes at all, so that no client holds any. */
    const uint32_t client =
        greediest == NO_CLIENT ? share_greediest(&engine->shares.letters) : greediest;
    struct list *oldest = list_first(&engine->clients[client].letters);
    ASSERT(oldest != NULL);
    return CONTAINER_OF(oldest, struct letter, own);
}

/* Letters with images reach the byte limit long before the number. One large letter may displace
 * thousands, which are then dropped over several steps. */
static void make_room(struct engine *engine, uint32_t bytes)
{
    const bool is_alerted = engine->letters_are_alerted;
    uint32_t left = engine->options.step_batch;
    while (engine->letters.used == engine->letters.capacity ||
           (engine->letters.used > 0 && left > 0 &&
            engine->letter_bytes + bytes > engine->options.max_letter_bytes)) {
        letter_drop(engine, oldest_of_greediest(engine));
        left -= left > 0;
    }
    /* Dropping letters to make room must not re-arm the alert about their number. */
    engine->letters_are_alerted = is_alerted;
}

/* Links the letter into lists and tables and arms its expiry; all its other members must be set. */
static void enter(struct engine *engine, struct letter *letter, uint64_t left_ms)
{
    letter->node.number = letter->number;
    engine->letter_bytes += letter_bytes(letter);
    list_init(&letter->ride);
    letter->idle_ms = engine->now_ms;
    list_init(&letter->link);
    list_append(&engine->letter_list, &letter->link);
    list_init(&letter->own);
    join_client(engine, letter);
    numbers_insert(&engine->letters_by_number, &letter->node);
    orphan_enter(engine, letter);
    undeliverable_enter(engine, letter);
    wheel_timer_init(&letter->expiry, TIMER_LETTER);
    wheel_arm(&engine->wheel, &letter->expiry, engine->now_ms + left_ms);
}

static struct letter *letter_alloc(struct engine *engine, uint32_t bytes)
{
    slab_id id;
    if (engine->options.max_letters == 0)
        return NULL;
    make_room(engine, bytes);
    struct letter *letter = slab_alloc(&engine->letters, &id);
    ASSERT(letter != NULL);
    letter->id = id;
    return letter;
}

/* No two nodes give letters the same number; and since they go by the same clock, the newer letter of any two has the
 * larger one. */
static uint64_t next_number(struct engine *engine)
{
    if (!engine->options.store_is_shared)
        return ++engine->letter_serial;
    const uint64_t now = engine->wall_ms > 0 ? (uint64_t)engine->wall_ms : 0;
    const uint64_t next = engine->letter_serial / ENGINE_NODES + 1;
    engine->letter_serial = (next > now ? next : now) * ENGINE_NODES + engine->options.node;
    return engine->letter_serial;
}

/* Numbers a complete new letter, journals and counts it, and alerts if there are too many. */
static void publish(struct engine *engine, struct letter *letter)
{
    letter->number = next_number(engine);
    letter->created_wall_ms = engine->wall_ms;
    enter(engine, letter, engine->options.letter_keep_ms);
    journal_letter(engine, letter);
    COUNT(engine, letters);
    TRACE(engine, "letter %llu: %s", (unsigned long long)letter->number, letter->error->data);
    alert_if_many(engine);
}

/* Creates a letter for a flight that ended badly; the caller sets the error and publishes it. */
static struct letter *letter_new(struct engine *engine, struct flight *flight, uint32_t more_bytes)
{
    struct letter *letter = letter_alloc(engine, flight->params->len + more_bytes);
    if (letter == NULL)
        return NULL;
    letter->params = blob_ref(flight->params);
    letter->history = flight->history;
    flight->history = NULL;
    letter->key = flight->node.key;
    letter->told = flight->request_count;
    letter->client = flight->client;
    letter->type = flight->type;
    letter->reuse = flight->reuse;
    letter->priority = flight->priority;
    letter->is_one_time = flight->is_one_time;
    letter->wants_rest = flight->wants_rest;
    return letter;
}

static void letter_of_failure(struct engine *engine, struct flight *flight)
{
    struct letter *letter = letter_new(engine, flight, 0);
    if (letter == NULL)
        return;
    letter->error = blob_ref(flight->error);
    letter->class = flight->error_class;
    publish(engine, letter);
}

/* Letters that wait for this flight are settled too: they are about the same key and would buy the
 * answer again. */
void letter_of_answer(struct engine *engine, struct flight *flight,
                      const struct vendor_result *result)
{
    struct letter *letter = letter_new(engine, flight, result->text->len);
    if (letter != NULL) {
        letter->kind = LETTER_OF_ANSWER;
        letter->error = blob_new(slice_from(result->code));
        letter->class = result->class;
        letter->text = blob_ref(result->text);
        task_id_copy(letter->task_id, flight->attempt->task_id);
        publish(engine, letter);
        aside_of(engine, flight)->letter = letter->number;
    }
    letters_on_solved(engine, flight);
}

/* ---- letters about other things ---------------------------------------------------------- */

static struct blob *nothing(void)
{
    return blob_new(SLICE_OF(""));
}

void letter_of_notice(struct engine *engine, struct notice *notice)
{
    struct letter *letter = letter_alloc(engine, notice->url->len + notice->code->len);
    if (letter == NULL)
        return;
    letter->kind = LETTER_OF_NOTICE;
    letter->params = nothing();
    letter->error = blob_new(CODE_NOTICE_NOT_TAKEN);
    letter->pingback = blob_ref(notice->url);
    letter->text = blob_ref(notice->code);
    letter->history = notice->history;
    notice->history = NULL;
    letter->request = notice->request_id;
    letter->client = notice->client;
    letter->type = TYPE_OTHER;
    letter->class = CLASS_TRANSIENT;
    letter->reuse = REUSE_NONE;
    publish(engine, letter);
}

void letter_settle(struct engine *engine, struct letter *letter)
{
    COUNT(engine, letters_settled);
    letter_free(engine, letter);
}

void letter_stays(struct engine *engine, struct letter *letter, const struct history *history)
{
    history_join(&letter->history, history);
    journal_letter(engine, letter);
}

static void keep_text(struct engine *engine, const struct attempt *attempt,
                      const struct vendor_result *result, struct slice error, enum letter_kind kind)
{
    struct letter *letter = letter_alloc(engine, result->text->len);
    if (letter == NULL)
        return;
    letter->kind = kind;
    letter->params = nothing();
    letter->error = blob_new(error);
    letter->text = blob_ref(result->text);
    letter->class = CLASS_UNKNOWN;
    letter->type = TYPE_OTHER;
    letter->reuse = REUSE_NONE;
    memcpy(letter->task_id, result->task_id, TASK_ID_MAX);
    if (attempt != NULL) {
        letter->key = *attempt_key(attempt);
        letter->client = attempt->client;
        letter->type = attempt->type;
        /* A poll's reply does not repeat the task id. */
        if (result->task_id[0] == '\0')
            task_id_copy(letter->task_id, attempt->task_id);
    }
    publish(engine, letter);
}

void letter_of_solution(struct engine *engine, const struct attempt *attempt,
                        const struct vendor_result *result, struct slice error)
{
    keep_text(engine, attempt, result, error, LETTER_OF_SOLUTION);
}

void letter_of_late_answer(struct engine *engine, const struct attempt *attempt,
                           const struct vendor_result *result)
{
    keep_text(engine, attempt, result, slice_from(result->code), LETTER_OF_ANSWER);
}

void letter_of_orphan(struct engine *engine, const struct solution *solution, const struct ask *ask)
{
    struct letter *letter =
        letter_alloc(engine, solution->bytes + (ask->params == NULL ? 0 : ask->params->len));
    if (letter == NULL)
        return;
    letter->kind = LETTER_OF_ORPHAN;
    letter->params = ask->params == NULL ? nothing() : blob_ref(ask->params);
    letter->error = blob_new(CODE_CLIENT_GONE);
    letter->text = blob_ref(solution->text);
    letter->extra = blob_ref(solution->extra);
    letter->fresh_ms = solution->expires_ms;
    /* A solution that was handed out before must not serve a request that needs it alone. */
    letter->told = solution->handed;
    letter->class = CLASS_UNKNOWN;
    letter->key = solution->node.key;
    letter->client = solution->client;
    letter->type = solution->type;
    letter->reuse = ask->reuse;
    letter->priority = ask->priority;
    letter->is_one_time = ask->is_one_time;
    task_id_copy(letter->task_id, solution->task_id);
    publish(engine, letter);
}

static uint32_t row_bytes(const struct letter_row *row)
{
    return row->params->len + (row->text == NULL ? 0 : row->text->len) +
           (row->pingback == NULL ? 0 : row->pingback->len);
}

void letter_restore(struct engine *engine, const struct letter_row *row, uint64_t left_ms)
{
    const struct letter gone = {.number = row->number};
    const bool is_usable = left_ms > 0 && row->params != NULL && row->error != NULL &&
                           numbers_find(&engine->letters_by_number, row->number) == NULL;
    struct letter *letter = is_usable ? letter_alloc(engine, row_bytes(row)) : NULL;
    if (letter == NULL) {
        journal_letter_over(engine, &gone);
        return;
    }
    letter->number = row->number;
    letter->kind = row->kind;
    letter->params = blob_ref(row->params);
    letter->error = blob_ref(row->error);
    letter->pingback = blob_ref(row->pingback);
    letter->text = blob_ref(row->text);
    letter->extra = blob_ref(row->extra);
    if (row->fresh_wall_ms > engine->wall_ms)
        letter->fresh_ms = engine->now_ms + (uint64_t)(row->fresh_wall_ms - engine->wall_ms);
    letter->history = history_restore(row->notes, row->note_count);
    letter->key = row->key;
    letter->created_wall_ms = row->created_wall_ms;
    letter->told = row->told;
    letter->replays = row->replays;
    letter->retries = row->retries;
    letter->request = row->request;
    letter->client = row->client;
    letter->type = row->type;
    letter->class = row->class;
    letter->reuse = row->reuse;
    letter->priority = row->priority;
    letter->is_one_time = row->is_one_time;
    letter->wants_rest = row->wants_rest;
    memcpy(letter->task_id, row->task_id, TASK_ID_MAX);
    enter(engine, letter, left_ms);
    task_restore_letter(engine, row);
    if (engine->letter_serial < letter->number)
        engine->letter_serial = letter->number;
    /* The alert about their number was sent before the restart. */
    engine->letters_are_alerted = engine->letters.used > engine->options.letter_alert_above;
}

/* ---- ends of flights --------------------------------------------------------------------- */

/* A flight whose answer has a letter needs no second one. A caller's own mistake or proxy failure
 * is answered and done with, and a flight that was never submitted lost nothing. A flight that
 * nobody waited for becomes a letter only if it was paid for. */
static bool deserves_letter(const struct flight *flight)
{
    if (flight->is_answered)
        return false;
    switch (flight->error_class) {
    case CLASS_BUSY:
    case CLASS_UNSOLVABLE:
    case CLASS_TRANSIENT:
    case CLASS_UNKNOWN:
    case CLASS_ACCOUNT:
        return flight->request_count > 0;
    case CLASS_AMBIGUOUS:
        /* A pool starts another refill by itself. */
        return flight->pool == NULL;
    case CLASS_TIMEOUT:
        return flight->is_paid;
    case CLASS_NONE:
    case CLASS_PENDING:
    case CLASS_CALLER:
    case CLASS_PROXY:
    case CLASS_COUNT:
        return false;
    }
    UNREACHABLE();
}

void letters_on_solved(struct engine *engine, struct flight *flight)
{
    while (flight_has_letters(flight))
        letter_settle(engine,
                      CONTAINER_OF(list_first(&flight->aside->letters), struct letter, ride));
}

void letters_on_failed(struct engine *engine, struct flight *flight)
{
    if (!flight_has_letters(flight)) {
        if (deserves_letter(flight))
            letter_of_failure(engine, flight);
        return;
    }
    while (flight_has_letters(flight)) {
        struct letter *letter =
            CONTAINER_OF(list_first(&flight->aside->letters), struct letter, ride);
        letter_leave_ride(engine, letter);
        /* Requests for an answer's key still fail for the answer. */
        if (letter->kind != LETTER_OF_ANSWER) {
            blob_unref(letter->error);
            letter->error = blob_ref(flight->error);
            letter->class = flight->error_class;
        }
        letter->told += flight->request_count;
        history_join(&letter->history, flight->history);
        journal_letter(engine, letter);
    }
}

/* ---- work over several steps ------------------------------------------------------------- */

/* A single letter may exceed the limit by itself and is kept. */
static bool are_too_large(const struct engine *engine)
{
    return engine->letter_bytes > engine->options.max_letter_bytes && engine->letters.used > 1;
}

bool letters_have_work(const struct engine *engine)
{
    return engine->letter_job_count > 0 || are_too_large(engine) ||
           (engine->is_draining && letters_wait_in_vain(engine));
}

void letters_work(struct engine *engine)
{
    const bool is_alerted = engine->letters_are_alerted;
    letters_end_waits(engine);
    for (uint32_t left = engine->options.step_batch; left > 0 && are_too_large(engine); left--) {
        letter_drop(engine, oldest_of_greediest(engine));
        engine->letters_are_alerted = is_alerted;
    }
    letter_jobs_work(engine);
}
