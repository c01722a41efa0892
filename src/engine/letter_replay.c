#include "engine/letter_replay.h"

#include "engine/aside.h"
#include "engine/ask.h"
#include "engine/cache.h"
#include "engine/journal.h"
#include "engine/letters.h"
#include "engine/notice.h"
#include "engine/orphan.h"

/* ---- the queue --------------------------------------------------------------------------- */

bool letter_is_waiting(const struct letter *letter)
{
    return !list_is_empty(&letter->ride) && letter->flight == NULL;
}

bool letter_is_replaying(const struct letter *letter)
{
    return !list_is_empty(&letter->ride) || letter->notice != NULL;
}

void letter_leave_ride(struct engine *engine, struct letter *letter)
{
    if (letter_is_waiting(letter))
        engine->replay_count--;
    list_unlink(&letter->ride);
    letter->flight = NULL;
    letter->is_retried = false;
    letter->idle_ms = engine->now_ms;
}

void letter_line_up(struct engine *engine, struct letter *letter)
{
    list_append(&engine->replays, &letter->ride);
    engine->replay_count++;
}

void letters_start_replays(struct engine *engine)
{
    if (!list_is_empty(&engine->replays) && !engine->replay_timer.is_armed && !engine->is_draining)
        wheel_arm(&engine->wheel, &engine->replay_timer, engine->now_ms);
}

/* ---- one replay -------------------------------------------------------------------------- */

static void ride_on(struct engine *engine, struct letter *letter, struct flight *flight)
{
    const bool is_retried = letter->is_retried;
    letter_leave_ride(engine, letter);
    letter->flight = flight;
    letter->replays++;
    letter->retries += is_retried;
    /* A crash must not lose the number of retries. */
    if (is_retried)
        journal_letter(engine, letter);
    list_append(&aside_of(engine, flight)->letters, &letter->ride);
    COUNT(engine, letters_replayed);
}

static struct ask ask_of(const struct letter *letter)
{
    return (struct ask){
        .client = letter->client,
        .type = letter->type,
        .reuse = letter->reuse,
        .is_one_time = letter->is_one_time,
        .wants_rest = letter->wants_rest,
        .priority = letter->priority,
        .max_age_ms = UINT32_MAX,
        .key = letter->key,
        .params = letter->params,
    };
}

enum replay_result {
    REPLAY_STARTED,
    REPLAY_NOT_THIS, /* something holds only this letter back */
    REPLAY_NOT_NOW,  /* nothing may start at the moment */
    REPLAY_NEVER,    /* it is a plain letter again */
};

static bool is_allowed(const struct engine *engine, const struct letter *letter)
{
    const struct engine_options *options = &engine->options;
    return options->letter_is_allowed == NULL ||
           options->letter_is_allowed(options->letter_context, letter->client, letter->params);
}

/* Replays a letter like any request: a fresh solution settles it, a running flight takes it along,
 * else a new flight starts. */
static enum replay_result replay_solve(struct engine *engine, struct letter *letter)
{
    const struct ask ask = ask_of(letter);
    struct placement placement;
    if (!is_allowed(engine, letter)) {
        TRACE(engine, "letter %llu is not allowed", (unsigned long long)letter->number);
        letter_leave_ride(engine, letter);
        return REPLAY_NEVER;
    }
    /* The cache had no room for the solution when the order came. */
    if (orphan_bank(engine, letter))
        return REPLAY_STARTED;
    enum refusal refusal = ask_place_at_last(engine, &ask, &placement);
    if (refusal == REFUSAL_NONE && placement.kind == PLACE_LETTER) {
        /* Only the order to replay that very letter buys the answer again. */
        if (letter->kind != LETTER_OF_ANSWER) {
            letter_leave_ride(engine, letter);
            return REPLAY_NEVER;
        }
        refusal = ask_buy(engine, &ask, &placement);
    }
    if (refusal != REFUSAL_NONE)
        return refusal == REFUSAL_BUDGET || refusal == REFUSAL_FULL_CLIENT ? REPLAY_NOT_THIS
                                                                           : REPLAY_NOT_NOW;
    /* A cached mistake settles nothing; it expires soon. */
    if (placement.kind == PLACE_SOLUTION && placement.solution->is_negative)
        return REPLAY_NOT_THIS;
    TRACE(engine, "letter %llu replayed", (unsigned long long)letter->number);
    switch (placement.kind) {
    case PLACE_SOLUTION:
        solution_unref(engine, placement.given);
        COUNT(engine, letters_replayed);
        letter_settle(engine, letter);
        return REPLAY_STARTED;
    case PLACE_JOIN:
        ride_on(engine, letter, placement.flight);
        return REPLAY_STARTED;
    case PLACE_FLIGHT:
        ride_on(engine, letter, flight_new(engine, &ask));
        return REPLAY_STARTED;
    case PLACE_LETTER:
        break;
    }
    UNREACHABLE();
}

static enum replay_result replay(struct engine *engine, struct letter *letter)
{
    if (letter->kind == LETTER_OF_FLIGHT || letter->kind == LETTER_OF_ORPHAN ||
        letter->kind == LETTER_OF_ANSWER)
        return replay_solve(engine, letter);
    if (!notice_replay(engine, letter))
        return REPLAY_NOT_THIS;
    letter_leave_ride(engine, letter);
    letter->replays++;
    COUNT(engine, letters_replayed);
    return REPLAY_STARTED;
}

void letters_on_replay_timer(struct engine *engine)
{
    struct list *first = list_first(&engine->replays);
    if (first == NULL)
        return;
    /* An obstacle for this letter alone (its client's budget, for example) lets the others go first. */
    if (replay(engine, CONTAINER_OF(first, struct letter, ride)) == REPLAY_NOT_THIS) {
        list_unlink(first);
        list_append(&engine->replays, first);
    }
    /* The timer is armed after the last letter, too, so that the next order keeps the interval. */
    wheel_arm(&engine->wheel, &engine->replay_timer,
              engine->now_ms + engine->options.replay_interval_ms);
}

/* ---- draining ---------------------------------------------------------------------------- */

/* No replay can start during a drain, and the queue is not journaled, so queued letters go back to
 * being plain letters. */
void letters_on_drain(struct engine *engine)
{
    wheel_cancel(&engine->wheel, &engine->replay_timer);
    letters_work(engine);
}

bool letters_wait_in_vain(const struct engine *engine)
{
    return engine->is_draining && !list_is_empty(&engine->replays);
}

void letters_end_waits(struct engine *engine)
{
    uint32_t left = engine->options.step_batch;
    for (; left > 0 && letters_wait_in_vain(engine); left--) {
        engine->work++;
        letter_leave_ride(engine, CONTAINER_OF(list_first(&engine->replays), struct letter, ride));
    }
}
