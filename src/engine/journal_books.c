#include "engine/journal_books.h"

#include "engine/journal.h"
#include "engine/rewrite.h"
#include "engine/shadow_books.h"

/* Interval at which the books are journaled; a crash loses at most this much of the current page. */
#define BOOKS_EVERY_MS 1000

/* Journals only tallies that changed, at most `most`, so that quiet clients cost nothing. */
static void journal_tallies(struct engine *engine, size_t most)
{
    journal_seq seq;
    const size_t end = (size_t)engine->client_count * TYPE_COUNT;
    for (; engine->tally_at < end && most > 0; engine->tally_at++) {
        const size_t i = engine->tally_at;
        const struct tally *tally = &engine->tallies[i];
        if (memcmp(tally, &engine->written_tallies[i], sizeof *tally) == 0)
            continue;
        most--;
        engine->written_tallies[i] = *tally;
        struct tally_row *row = &journal_append(engine, RECORD_TALLY, &seq)->tally;
        row->day = engine->days[0].number;
        row->client = (client_id)(i / TYPE_COUNT);
        row->type = (enum type)(i % TYPE_COUNT);
        row->tally = *tally;
    }
    engine->is_tallying = engine->tally_at < end;
}

bool journal_has_work(const struct engine *engine)
{
    return engine->is_tallying || (engine->rewriting != 0 && rewrite_has_work(engine));
}

void journal_work(struct engine *engine)
{
    if (engine->is_tallying)
        journal_tallies(engine, engine->options.step_batch * 4);
    if (engine->rewriting != 0)
        rewrite_work(engine);
}

/* Journals the day's page, and at most `most` of the clients' tallies. */
static void write_books(struct engine *engine, size_t most)
{
    journal_seq seq;
    if (!engine->options.has_journal)
        return;
    engine->written_stats = engine->days[0].stats;
    struct day_row *row = &journal_append(engine, RECORD_DAY, &seq)->day;
    row->day = engine->days[0].number;
    row->stats = record_pack_stats(&engine->days[0].stats);
    row->hours = shadow_books_pack(&engine->days[0]);
    engine->tally_at = 0;
    journal_tallies(engine, most);
}

void journal_books(struct engine *engine)
{
    write_books(engine, SIZE_MAX);
}

void journal_on_books_timer(struct engine *engine)
{
    write_books(engine, engine->options.step_batch * 4);
}

void journal_init(struct engine *engine)
{
    wheel_timer_init(&engine->books_timer, TIMER_BOOKS);
}

/* The timer is armed by the first step after the books changed, so that an idle gateway sleeps. */
void journal_on_step(struct engine *engine)
{
    const struct stats *stats = &engine->days[0].stats;
    if (!engine->options.has_journal || engine->books_timer.is_armed ||
        memcmp(stats, &engine->written_stats, sizeof *stats) == 0)
        return;
    wheel_arm(&engine->wheel, &engine->books_timer, engine->now_ms + BOOKS_EVERY_MS);
}

void engine_close_books(struct engine *engine)
{
    journal_books(engine);
}
