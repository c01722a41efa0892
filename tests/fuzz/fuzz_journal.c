/* Journal records: rows of any content are understood or skipped, what was understood is written and read again as
 * the same row, and an engine that is restored from such rows agrees with itself and ends what they began.
 *
 * Input: rows, each a kind and then its columns: a byte for the type and what that type needs. */
#include "fuzz.h"

#include "base/rand.h"
#include "store/store_rows.h"
#include "store/store_schema.h"
#include "store/store_words.h"

#include <solvegate/engine.h>

#include <sqlite3.h>
#include <stdlib.h>

#define ROWS_MAX 24
#define COLUMNS_MAX 32
#define CLIENTS 2
#define START_MS 5000000
#define START_WALL_MS INT64_C(1700000000000)

struct rows {
    struct record items[ROWS_MAX]; /* owned */
    size_t count;
};

static struct sqlite3 *db;

/* By the input's byte; a new kind goes to the end, so that the corpus keeps its meaning. */
static const enum record_kind kinds[] = {
    RECORD_DAY,     RECORD_SPENT,       RECORD_SOLUTION, RECORD_FLIGHT, RECORD_ATTEMPT,
    RECORD_REQUEST, RECORD_IDEMPOTENCY, RECORD_LETTER,   RECORD_TALLY,
};
_Static_assert(sizeof(kinds) / sizeof(kinds[0]) == RECORD_KIND_COUNT, "every kind is tried");

static int column_count(enum record_kind kind)
{
    int count = 1;
    for (const char *c = schema_tables[kind].columns; *c != '\0'; c++)
        count += *c == ',';
    return count;
}

/* SELECT ?1, ?2, …: a row that is exactly what was bound. */
static struct sqlite3_stmt *open_row(enum record_kind kind)
{
    struct buf text;
    struct sqlite3_stmt *statement = NULL;
    buf_init(&text, 1024);
    buf_add(&text, SLICE_OF("SELECT ?1"));
    for (int i = 2; i <= column_count(kind); i++)
        buf_addf(&text, ", ?%d", i);
    buf_add_char(&text, '\0');
    HOLDS(sqlite3_prepare_v2(db, text.data, -1, &statement, NULL) == SQLITE_OK);
    buf_close(&text);
    return statement;
}

/* ---- rows from the input ----------------------------------------------------------------- */

/* Words that stand in some column; a stranger's text is mostly none of them. */
static const char *draw_word(uint8_t choice)
{
    static const char *const others[] = {"crawler", "ops", "T1", "ERROR_CAPTCHA_UNSOLVABLE",
                                         "{}",      "[]",  ""};
    unsigned place = choice;
    if (place < CAPTCHA_COUNT)
        return word_of_captcha(place);
    if ((place -= CAPTCHA_COUNT) < CLASS_COUNT)
        return word_of_class(place);
    if ((place -= CLASS_COUNT) < SOURCE_COUNT)
        return word_of_source(place);
    if ((place -= SOURCE_COUNT) < REUSE_COUNT)
        return word_of_reuse(place);
    if ((place -= REUSE_COUNT) < REQUEST_STATE_COUNT)
        return word_of_state(place);
    if ((place -= REQUEST_STATE_COUNT) < LETTER_KIND_COUNT)
        return word_of_letter_kind(place);
    return others[(place - LETTER_KIND_COUNT) % 7];
}

static void bind_column(struct sqlite3_stmt *statement, int at, struct input *input)
{
    struct slice bytes;
    char key[KEY_BYTES] = {0};
    switch (input_below(input, 8)) {
    case 0: /* ids that meet, flags, counts */
        (void)sqlite3_bind_int64(statement, at, input_byte(input) % 4);
        return;
    case 1:
        (void)sqlite3_bind_int64(statement, at, (int64_t)input_number(input, 8));
        return;
    case 2: /* times around now */
        (void)sqlite3_bind_int64(statement, at,
                                 START_WALL_MS + ((int64_t)input_byte(input) - 128) * 2000);
        return;
    case 3:
        (void)sqlite3_bind_text(statement, at, draw_word(input_byte(input)), -1, SQLITE_STATIC);
        return;
    case 4:
        key[0] = (char)(input_byte(input) % 4);
        (void)sqlite3_bind_blob(statement, at, key, KEY_BYTES, SQLITE_TRANSIENT);
        return;
    case 5:
        bytes = input_take(input, input_byte(input));
        (void)sqlite3_bind_blob64(statement, at, bytes.data, bytes.len, SQLITE_STATIC);
        return;
    case 6:
        bytes = input_take(input, input_byte(input));
        (void)sqlite3_bind_text64(statement, at, bytes.data, bytes.len, SQLITE_STATIC, SQLITE_UTF8);
        return;
    default:
        (void)sqlite3_bind_null(statement, at);
        return;
    }
}

static bool take_row(struct sqlite3_stmt *statement, struct record *record, struct slice *client)
{
    struct sql_in in = {.statement = statement};
    HOLDS(sqlite3_step(statement) == SQLITE_ROW);
    row_take(&in, record, client);
    HOLDS(in.is_bad || in.at == column_count(record->kind));
    return !in.is_bad;
}

/* ---- written again ----------------------------------------------------------------------- */

static void put_row(struct sqlite3_stmt *statement, const struct record *record,
                    struct slice client, struct buf *scratch)
{
    struct sql_out out = {.statement = statement};
    row_put(&out, record, client, scratch);
    HOLDS(out.rc == SQLITE_OK && out.at == column_count(record->kind));
    HOLDS(sqlite3_step(statement) == SQLITE_ROW);
}

static void check_same_row(struct sqlite3_stmt *a, struct sqlite3_stmt *b, int count)
{
    for (int i = 0; i < count; i++) {
        HOLDS(sqlite3_column_type(a, i) == sqlite3_column_type(b, i));
        const char *left = sqlite3_column_blob(a, i);
        const char *right = sqlite3_column_blob(b, i);
        HOLDS(slice_equals((struct slice){left, (size_t)sqlite3_column_bytes(a, i)},
                           (struct slice){right, (size_t)sqlite3_column_bytes(b, i)}));
    }
}

/* Counters and notes are JSON, of which only the meaning is kept. */
static bool is_json(enum record_kind kind, int column)
{
    return (kind == RECORD_DAY && column == 1) || (kind == RECORD_TALLY && column == 3) ||
           (kind == RECORD_LETTER && column == 12);
}

/* What was understood stands in the column where it was. */
static void check_columns(struct sqlite3_stmt *given, struct sqlite3_stmt *written,
                          enum record_kind kind)
{
    for (int i = 0; i < column_count(kind); i++) {
        const int type = sqlite3_column_type(given, i);
        if (is_json(kind, i) || type != sqlite3_column_type(written, i))
            continue;
        HOLDS(sqlite3_column_int64(given, i) == sqlite3_column_int64(written, i));
        const size_t len = (size_t)sqlite3_column_bytes(given, i);
        HOLDS(len == (size_t)sqlite3_column_bytes(written, i));
        HOLDS(len == 0 ||
              memcmp(sqlite3_column_blob(given, i), sqlite3_column_blob(written, i), len) == 0);
    }
}

static void check_written(struct sqlite3_stmt *given, const struct record *record,
                          struct slice client)
{
    struct sqlite3_stmt *first = open_row(record->kind);
    struct sqlite3_stmt *second = open_row(record->kind);
    struct buf scratch, more;
    struct record again = {.kind = record->kind};
    struct slice name;
    buf_init(&scratch, (size_t)1 << 20);
    buf_init(&more, (size_t)1 << 20);
    put_row(first, record, client, &scratch);
    check_columns(given, first, record->kind);
    (void)sqlite3_reset(first);
    HOLDS(take_row(first, &again, &name));
    HOLDS(slice_equals(name, row_client(&again) == NULL ? SLICE_NONE : client));
    put_row(second, &again, name, &more);
    check_same_row(first, second, column_count(record->kind));
    record_close(&again);
    (void)sqlite3_finalize(first);
    (void)sqlite3_finalize(second);
    buf_close(&scratch);
    buf_close(&more);
}

/* As load_rows does it: rows that cannot be understood, or whose client is gone, are skipped. */
static void read_row(struct input *input, enum record_kind kind, struct rows *rows)
{
    struct sqlite3_stmt *statement = open_row(kind);
    struct record record = {.kind = kind};
    struct slice client = SLICE_NONE;
    for (int i = 1; i <= column_count(kind); i++)
        bind_column(statement, i, input);
    const bool is_good = take_row(statement, &record, &client);
    if (is_good)
        check_written(statement, &record, client);
    client_id *place = row_client(&record);
    const bool is_crawler = slice_equals(client, SLICE_OF("crawler"));
    const bool is_known = place == NULL || is_crawler || slice_equals(client, SLICE_OF("ops"));
    if (place != NULL)
        *place = is_crawler ? 0 : 1;
    if (is_good && is_known)
        rows->items[rows->count++] = record;
    else
        record_close(&record);
    (void)sqlite3_finalize(statement);
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
        return record->tally.client * INT64_C(1000) + (int64_t)record->tally.captcha +
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
    if (db == NULL)
        HOLDS(sqlite3_open(":memory:", &db) == SQLITE_OK);
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
