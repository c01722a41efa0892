#include "engine/letters_retry.h"

#include "engine/breaker.h"
#include "engine/letter_replay.h"

/* Each letter has its own due time; a sweep finds it at most a quarter of the interval late. */
#define SWEEPS_PER_TIME 4
#define SWEEP_LEAST_MS 50

static uint64_t sweep_pause_ms(const struct engine *engine)
{
    const uint64_t pause = engine->options.letter_retry_every_ms / SWEEPS_PER_TIME;
    return pause < SWEEP_LEAST_MS ? SWEEP_LEAST_MS : pause;
}

void letters_watch(struct engine *engine)
{
    wheel_cancel(&engine->wheel, &engine->sweep_timer);
    engine->sweep = NULL;
    if (engine->options.letter_retry_every_ms > 0)
        wheel_arm(&engine->wheel, &engine->sweep_timer, engine->now_ms + sweep_pause_ms(engine));
}

void letters_sweep_past(struct engine *engine, const struct letter *letter)
{
    if (engine->sweep == &letter->link)
        engine->sweep = letter->link.next == &engine->letter_list ? NULL : letter->link.next;
}

/* Only failed solves are retried: notices have retries of their own, and unplaced solutions are for
 * the operator. */
static bool is_due(const struct engine *engine, const struct letter *letter)
{
    const struct engine_options *options = &engine->options;
    return letter->kind == LETTER_OF_FLIGHT && !letter_is_replaying(letter) &&
           !client_is_shadow(engine, letter->client) &&
           (options->letter_retry_classes >> letter->class & 1) != 0 &&
           letter->retries < options->letter_retry_max &&
           engine->now_ms - letter->idle_ms >= options->letter_retry_every_ms;
}

/* While the breaker is open or the store cannot write, letters stay where they are. */
static bool may_start(const struct engine *engine)
{
    return !breaker_is_open(engine) && engine->store_is_writable && !engine->is_draining;
}

void letters_on_sweep_timer(struct engine *engine)
{
    struct list *link = engine->sweep == NULL ? engine->letter_list.next : engine->sweep;
    const struct list *const end = &engine->letter_list;
    if (engine->is_draining)
        return;
    uint32_t left = engine->options.step_batch;
    for (; left > 0 && link != end && may_start(engine); left--) {
        struct letter *letter = CONTAINER_OF(link, struct letter, link);
        link = link->next;
        engine->work++;
        if (!is_due(engine, letter))
            continue;
        letter->is_retried = true;
        letter_line_up(engine, letter);
    }
    const bool has_more = link != end && may_start(engine);
    engine->sweep = has_more ? link : NULL;
    letters_start_replays(engine);
    wheel_arm(&engine->wheel, &engine->sweep_timer,
              engine->now_ms + (has_more ? 1 : sweep_pause_ms(engine)));
}
