/* Journal records: rows of any content are understood or skipped, what was understood is written and read again as
 * the same row, and an engine that is restored from such rows agrees with itself and ends what they began.
 *
 * Input: rows, each a kind and then its columns: a byte for the type and what that type needs. */
#include "../engine_defaults.h"
#include "fuzz.h"

#include "base/rand.h"
#include "store/row_values.h"

#include <solvegate/engine.h>
#include <solvegate/view.h>

#include <stdlib.h>

#define ROWS_MAX 24
#define CLIENTS 2
#define START_MS 5000000
#define START_WALL_MS INT64_C(1700000000000)

struct rows {
    struct record items[ROWS_MAX]; /* owned */
    size_t count;
};

/* By the input's byte; a new kind goes to the end, so that the corpus keeps its meaning. */
static const enum record_kind kinds[] = {
    RECORD_DAY,     RECORD_SPENT,       RECORD_SOLUTION, RECORD_FLIGHT, RECORD_ATTEMPT,
    RECORD_REQUEST, RECORD_IDEMPOTENCY, RECORD_LETTER,   RECORD_TALLY,
};
_Static_assert(sizeof(kinds) / sizeof(kinds[0]) == RECORD_KIND_COUNT, "every kind is tried");

/* ---- rows from the input ----------------------------------------------------------------- */

/* Words that stand in some column; a stranger's text is mostly none of them. */
static const char *draw_word(uint8_t choice)
{
    static const char *const others[] = {"crawler", "ops", "T1", "ERROR_CAPTCHA_UNSOLVABLE",
                                         "{}",      "[]",  ""};
    static const struct row_words *const lists[] = {&type_words,          &error_class_words,
                                                    &source_words,        &reuse_words,
                                                    &request_state_words, &letter_kind_words};
    unsigned place = choice;
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
        if (place < lists[i]->count)
            return lists[i]->name_at(place);
        place -= lists[i]->count;
    }
    return others[place % 7];
}

static struct row_value number(int64_t integer)
{
    return (struct row_value){.type = VALUE_INTEGER, .integer = integer};
}

static struct row_value some_bytes(enum value_type type, struct slice bytes)
{
    if (!slice_is_given(bytes))
        bytes = SLICE_OF("");
    return (struct row_value){.type = type, .bytes = bytes};
}

static struct row_value draw_value(struct input *input, char key[KEY_BYTES])
{
    switch (input_below(input, 8)) {
    case 0: /* ids that meet, flags, counts */
        return number(input_byte(input) % 4);
    case 1:
        return number((int64_t)input_number(input, 8));
    case 2: /* times around now */
        return number(START_WALL_MS + ((int64_t)input_byte(input) - 128) * 2000);
    case 3:
        return some_bytes(VALUE_TEXT, slice_from(draw_word(input_byte(input))));
    case 4:
        memset(key, 0, KEY_BYTES);
        key[0] = (char)(input_byte(input) % 4);
        return some_bytes(VALUE_BYTES, (struct slice){.data = key, .len = KEY_BYTES});
    case 5:
        return some_bytes(VALUE_BYTES, input_take(input, input_byte(input)));
    case 6:
        return some_bytes(VALUE_TEXT, input_take(input, input_byte(input)));
    default:
        return (struct row_value){.type = VALUE_NULL};
    }
}

/* ---- written again ----------------------------------------------------------------------- */

static bool is_same(const struct row_value *a, const struct row_value *b)
{
    return a->type == b->type && a->integer == b->integer && slice_equals(a->bytes, b->bytes);
}

/* Values that were understood stand in the column where they were. Of JSON only the meaning is kept, text and
 * bytes may stand for each other, and a number of retries that cannot be one becomes none. */
static bool may_differ(const struct column *column, const struct row_value *given,
                       const struct row_value *written)
{
    const bool is_json = column->type == COLUMN_STATS || column->type == COLUMN_TALLY ||
                         column->type == COLUMN_NOTES;
    const bool is_none = column->type == COLUMN_U16_OR_NONE && written->integer == -1;
    return is_json || is_none ||
           (given->type != written->type && slice_equals(given->bytes, written->bytes));
}

static void check_written(const struct row_value *given, const struct record *record,
                          struct slice client)
{
    const struct row_table *const table = &row_tables[record->kind];
    struct row_value first[ROW_COLUMNS_MAX];
    struct row_value second[ROW_COLUMNS_MAX];
    struct record again = {.kind = record->kind};
    struct buf scratch, more;
    struct slice name;
    buf_init(&scratch, (size_t)1 << 20);
    buf_init(&more, (size_t)1 << 20);
    HOLDS(row_to_values(record, client, &scratch, first) == table->count);
    for (size_t i = 0; i < table->count; i++)
        HOLDS(is_same(&given[i], &first[i]) ||
              may_differ(&table->columns[i], &given[i], &first[i]));
    HOLDS(row_from_values(first, &again, &name));
    HOLDS(slice_equals(name, row_client(&again) == NULL ? SLICE_NONE : client));
    HOLDS(row_to_values(&again, name, &more, second) == table->count);
    for (size_t i = 0; i < table->count; i++)
        HOLDS(is_same(&first[i], &second[i]));
    record_close(&again);
    buf_close(&scratch);
    buf_close(&more);
}

/* As load_rows does it: rows that cannot be understood, or whose client is gone, are skipped. */
static void read_row(struct input *input, enum record_kind kind, struct rows *rows)
{
    struct row_value values[ROW_COLUMNS_MAX];
    char keys[ROW_COLUMNS_MAX][KEY_BYTES];
    struct record record = {.kind = kind};
    struct slice client = SLICE_NONE;
    for (size_t i = 0; i < row_tables[kind].count; i++)
        values[i] = draw_value(input, keys[i]);
    const bool is_good = row_from_values(values, &record, &client);
    if (is_good)
        check_written(values, &record, client);
    client_id *place = row_client(&record);
    const bool is_crawler = slice_equals(client, SLICE_OF("crawler"));
    const bool is_known = place == NULL || is_crawler || slice_equals(client, SLICE_OF("ops"));
    if (place != NULL)
        *place = is_crawler ? 0 : 1;
    if (is_good && is_known)
        rows->items[rows->count++] = record;
    else
        record_close(&record);
}

/* ---- as the database would give them ----------------------------------------------------- */

/* What names a row within its kind, as SQLite sorts it. */
static int64_t row_number(const struct record *record)
{
    int64_t number = 0;
    switch (record->kind) {
    case RECORD_DAY:
        return record->day.day;
    case RECORD_TALLY: /* the engine does not look at the order of days */
        return record->tally.client * INT64_C(1000) + (int64_t)record->tally.type +
               record->tally.day % 1000 * 1000000;
    case RECORD_SPENT:
        return record->spent.client;
    case RECORD_SOLUTION:
        return (int64_t)record->solution.id;
    case RECORD_FLIGHT:
        return (int64_t)record->flight.id;
    case RECORD_ATTEMPT:
        return (int64_t)record->attempt.name;
    case RECORD_REQUEST:
        return (int64_t)record->request.id;
    case RECORD_IDEMPOTENCY:
        memcpy(&number, record->idempotency.digest.bytes, sizeof(number));
        return number;
    case RECORD_LETTER:
        return (int64_t)record->letter.number;
    case RECORD_KIND_COUNT:
        break;
    }
    UNREACHABLE();
}

static int compare_rows(const void *a, const void *b)
{
    const struct record *left = a;
    const struct record *right = b;
    if (left->kind != right->kind)
        return left->kind < right->kind ? -1 : 1;
    const int64_t x = row_number(left), y = row_number(right);
    return (x > y) - (x < y);
}

/* ---- an engine made of them -------------------------------------------------------------- */

static void take_actions(struct engine *engine)
{
    struct action action;
    while (engine_next_action(engine, &action))
        action_close(&action);
    engine_check(engine);
}

static void step(struct engine *engine, struct event *event, uint64_t now_ms)
{
    static struct rand rand;
    event->now_ms = now_ms;
    event->wall_ms = START_WALL_MS + (int64_t)(now_ms - START_MS);
    event->random = rand_u64(&rand) + now_ms;
    engine_step(engine, event);
    take_actions(engine);
}

/* Nobody answers our calls any more: deadlines alone must bring everything to its end. */
static void check_ends(struct engine *engine)
{
    struct event event = {.kind = EVENT_DRAIN};
    struct gauges gauges;
    uint64_t now_ms = START_MS;
    step(engine, &event, now_ms);
    for (unsigned ticks = 0; ticks < 20000; ticks++) {
        const uint64_t deadline_ms = engine_next_deadline(engine);
        engine_gauges(engine, &gauges);
        if (deadline_ms == UINT64_MAX || (gauges.waiting == 0 && gauges.flights == 0))
            break;
        now_ms = deadline_ms > now_ms ? deadline_ms : now_ms;
        event = (struct event){.kind = EVENT_TICK};
        step(engine, &event, now_ms);
    }
    engine_gauges(engine, &gauges);
    HOLDS(gauges.waiting == 0 && gauges.flights == 0);
}

static void check_restored(struct rows *rows)
{
    static const struct client_options clients[CLIENTS] = {
        {.weight = 1, .budget_per_day = UINT64_MAX},
        {.weight = 2, .budget_per_day = 3, .slots = 1}};
    struct engine_options options;
    engine_options_init(&options);
    options.max_requests = options.max_flights = options.max_solutions = 8;
    options.max_idempotency = options.max_finished = options.max_letters = 8;
    options.max_callers = options.max_per_flight = 8;
    options.has_journal = true;
    options.client_count = CLIENTS;
    options.clients = clients;
    struct engine *engine = engine_new(&options, START_MS, START_WALL_MS);
    for (size_t i = 0; i < rows->count; i++)
        if (i == 0 || compare_rows(&rows->items[i - 1], &rows->items[i]) != 0)
            engine_restore(engine, &rows->items[i]);
    engine_restored(engine);
    take_actions(engine);
    check_ends(engine);
    engine_free(engine);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input input = {.data = data, .len = size};
    struct rows rows = {.count = 0};
    while (input.len > 0 && rows.count < ROWS_MAX)
        read_row(&input, kinds[input_below(&input, RECORD_KIND_COUNT)], &rows);
    if (rows.count > 0) {
        qsort(rows.items, rows.count, sizeof(rows.items[0]), compare_rows);
        check_restored(&rows);
    }
    for (size_t i = 0; i < rows.count; i++)
        record_close(&rows.items[i]);
    return 0;
}
