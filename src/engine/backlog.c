/* The backlog of records that are not durable yet, in number and in bytes (of texts and parameters). */
#include "engine/backlog.h"

/* A mark is closed when it holds this fraction of the limit; all marks together hold twice the limit. */
#define GRAINS 32

static uint64_t bytes_of(const struct blob *blob)
{
    return blob == NULL ? 0 : blob->len;
}

static uint64_t letter_row_bytes(const struct letter_row *row)
{
    uint64_t bytes = bytes_of(row->params) + bytes_of(row->text) + bytes_of(row->extra) +
                     bytes_of(row->pingback) + bytes_of(row->error);
    for (size_t i = 0; i < row->note_count; i++)
        bytes += sizeof row->notes[i] + bytes_of(row->notes[i].code);
    return bytes;
}

static uint64_t record_bytes(const struct record *record)
{
    if (record->is_drop)
        return 0;
    switch (record->kind) {
    case RECORD_SOLUTION:
        return bytes_of(record->solution.text) + bytes_of(record->solution.extra);
    case RECORD_FLIGHT:
        return bytes_of(record->flight.params);
    case RECORD_REQUEST:
        return bytes_of(record->request.pingback);
    case RECORD_LETTER:
        return letter_row_bytes(&record->letter);
    case RECORD_ATTEMPT:
        return bytes_of(record->attempt.partial);
    case RECORD_DAY:
    case RECORD_TALLY:
    case RECORD_SPENT:
    case RECORD_IDEMPOTENCY:
    case RECORD_KIND_COUNT:
        return 0;
    }
    UNREACHABLE();
}

static struct backlog_mark *newest_of(struct backlog *backlog)
{
    return &backlog->marks[(backlog->first + backlog->count - 1) % BACKLOG_MARKS];
}

/* The byte count at which the newest mark begins. */
static uint64_t start_of_newest(const struct backlog *backlog)
{
    const uint32_t before = (backlog->first + backlog->count - 2) % BACKLOG_MARKS;
    return backlog->count < 2 ? backlog->durable : backlog->marks[before].bytes;
}

static bool wants_mark(const struct engine *engine)
{
    const struct backlog *backlog = &engine->backlog;
    return backlog->count == 0 ||
           (backlog->count < BACKLOG_MARKS &&
            backlog->taken - start_of_newest(backlog) >= engine->options.max_record_bytes / GRAINS);
}

void journal_on_taken(struct engine *engine, journal_seq seq, const struct record *record)
{
    struct backlog *backlog = &engine->backlog;
    if (wants_mark(engine))
        backlog->count++;
    backlog->taken += record_bytes(record);
    *newest_of(backlog) = (struct backlog_mark){.last = seq, .bytes = backlog->taken};
}

void journal_on_durable(struct engine *engine, journal_seq seq)
{
    struct backlog *backlog = &engine->backlog;
    engine->durable = seq;
    while (backlog->count > 0 && backlog->marks[backlog->first].last <= seq) {
        backlog->durable = backlog->marks[backlog->first].bytes;
        backlog->first = (backlog->first + 1) % BACKLOG_MARKS;
        backlog->count--;
    }
}

bool journal_is_full(const struct engine *engine)
{
    const struct engine_options *options = &engine->options;
    return options->has_journal &&
           (engine->seq - engine->durable >= options->max_records ||
            engine->backlog.taken - engine->backlog.durable >= options->max_record_bytes);
}

void journal_check(const struct engine *engine)
{
    const struct backlog *backlog = &engine->backlog;
    ASSERT(backlog->first < BACKLOG_MARKS && backlog->count <= BACKLOG_MARKS);
    ASSERT(backlog->durable <= backlog->taken);
    /* Without open marks, all bytes are durable. */
    ASSERT(backlog->count > 0 || backlog->durable == backlog->taken);
    for (uint32_t i = 0; i < backlog->count; i++)
        ASSERT(backlog->marks[(backlog->first + i) % BACKLOG_MARKS].last > engine->durable);
}
