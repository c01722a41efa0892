#include "store/postgres/postgres_find.h"

#include "store/postgres/postgres_body.h"
#include "store/postgres/postgres_link.h"
#include "store/postgres/postgres_rows.h"
#include "store/postgres/postgres_schema.h"
#include "store/postgres/postgres_sql.h"
#include "store/store_find.h"

#include <libpq-fe.h>

/* Callers wait for it. */
#define PATIENCE_MS 5000
/* Place and whether the task is at the vendor; the rows' columns follow. */
#define FIRST_COLUMNS 2

static const enum record_kind kinds[] = {RECORD_REQUEST, RECORD_FLIGHT, RECORD_SOLUTION};
#define KINDS (sizeof kinds / sizeof kinds[0])

/* ---- asking ------------------------------------------------------------------------------ */

static enum store_result ready(struct postgres_store *store)
{
    if (store->conn != NULL && PQstatus(store->conn) == CONNECTION_OK)
        return STORE_DONE;
    const enum store_result result = pg_link_connect(store);
    store->patience_ms = PATIENCE_MS;
    if (result != STORE_DONE)
        return result;
    store->base.reconnects += store->was_connected;
    store->was_connected = true;
    return STORE_DONE;
}

/* The parameters of a flight or a letter may be a large image that nobody wants here. */
static void add_columns(struct buf *sql, enum record_kind kind, const char *alias, bool is_full)
{
    const struct row_table *const table = &row_tables[kind];
    for (size_t i = 0; i < table->count; i++) {
        if (!pg_schema_is_own(table, i))
            continue;
        const bool is_left_out = table->columns[i].type == COLUMN_BYTES && !is_full;
        if (is_left_out)
            buf_addf(sql, ", NULL::bytea");
        else
            buf_addf(sql, ", %s.%s", alias, table->columns[i].name);
    }
    buf_addf(sql, ", %s.body", alias);
}

/* One statement sees one moment. */
static void add_sql(struct buf *sql)
{
    buf_addf(sql, "SELECT want.place, (SELECT count(*) FROM (SELECT 1 FROM attempt AS a"
                  " WHERE a.flight = r.flight AND r.flight <> 0 AND a.closed = 0"
                  " AND a.body->>'task' IS NOT NULL LIMIT 1) AS open)");
    add_columns(sql, RECORD_REQUEST, "r", false);
    add_columns(sql, RECORD_FLIGHT, "f", false);
    add_columns(sql, RECORD_SOLUTION, "s", true);
    buf_addf(sql,
             " FROM unnest($1::text::bigint[], $2::text::text[]) WITH ORDINALITY"
             " AS want (id, client, place)"
             " JOIN request AS r ON r.id = want.id AND r.client = want.client"
             " LEFT JOIN flight AS f ON f.id = r.flight"
             " LEFT JOIN LATERAL (SELECT * FROM ("
             "SELECT * FROM solution WHERE flight = r.flight AND r.flight <> 0 UNION ALL "
             "SELECT * FROM solution WHERE id = r.solution AND r.flight = 0 AND r.solution <> 0)"
             " AS own WHERE own.owner = r.owner"
             " AND (own.body->>'shared' = 'true' OR own.body->>'handed' IS NOT NULL) LIMIT 1)"
             " AS s ON true");
}

/* An item of an array as text. */
static void add_quoted(struct buf *out, const char *text)
{
    buf_add_char(out, '"');
    for (; *text != '\0'; text++) {
        if (*text == '"' || *text == '\\')
            buf_add_char(out, '\\');
        buf_add_char(out, *text);
    }
    buf_add_char(out, '"');
}

static void add_wanted(struct postgres_store *store, const struct store_sought *sought,
                       uint32_t count)
{
    struct buf *const ids = &store->columns[0];
    struct buf *const clients = &store->columns[1];
    buf_reset(ids);
    buf_reset(clients);
    for (uint32_t i = 0; i < count; i++) {
        buf_addf(ids, "%c%llu", i == 0 ? '{' : ',', (unsigned long long)sought[i].find.id);
        buf_add_char(clients, i == 0 ? '{' : ',');
        add_quoted(clients, sought[i].client);
    }
    buf_add_char(ids, '}');
    buf_add_char(clients, '}');
}

/* ---- answers ----------------------------------------------------------------------------- */

static int column_count(enum record_kind kind)
{
    const struct row_table *const table = &row_tables[kind];
    int count = 1;
    for (size_t i = 0; i < table->count; i++)
        count += pg_schema_is_own(table, i);
    return count;
}

/* A row that makes no sense is as good as none. */
static bool take_row(const struct pg_result *result, int row, int place, enum record_kind kind,
                     struct record *record)
{
    struct row_value values[ROW_COLUMNS_MAX];
    struct pg_body body;
    struct slice client;
    if (PQgetisnull(result, row, place) == 1)
        return false;
    pg_rows_read(result, row, place, kind, values, &body);
    *record = (struct record){.kind = kind};
    const bool is_sound = row_from_values(values, record, &client);
    if (!is_sound)
        record_close(record);
    pg_body_close(&body);
    return is_sound;
}

static void take_rows(const struct pg_result *result, int row, struct store_sought *sought)
{
    struct record *const records[KINDS] = {&sought->request, &sought->flight, &sought->solution};
    bool has[KINDS];
    int place = FIRST_COLUMNS;
    for (size_t i = 0; i < KINDS; place += column_count(kinds[i++]))
        has[i] = take_row(result, row, place, kinds[i], records[i]);
    sought->is_solving = pg_link_integer(result, row, 1) != 0;
    sought->has_request = has[0];
    sought->has_flight = has[1];
    sought->has_solution = has[2];
}

enum store_result pg_find(struct store_backend *reader, struct store_sought *sought, uint32_t count)
{
    struct postgres_store *const store = postgres_store_of(reader);
    struct pg_result *result = NULL;
    enum store_result asked = ready(store);
    if (asked != STORE_DONE)
        return asked;
    add_wanted(store, sought, count);
    buf_reset(&store->scratch);
    add_sql(&store->scratch);
    buf_add_char(&store->scratch, '\0');
    const struct row_value values[] = {
        {.type = VALUE_TEXT, .bytes = buf_slice(&store->columns[0])},
        {.type = VALUE_TEXT, .bytes = buf_slice(&store->columns[1])},
    };
    asked = pg_link_ask(store, store->scratch.data, values, 2, true, &result);
    if (asked != STORE_DONE)
        return asked;
    for (int i = 0; i < PQntuples(result); i++) {
        const int64_t place = pg_link_integer(result, i, 0);
        if (place >= 1 && place <= count)
            take_rows(result, i, &sought[place - 1]);
    }
    PQclear(result);
    return STORE_DONE;
}

/* ---- letters ----------------------------------------------------------------------------- */

enum store_result pg_letter_numbers(struct store_backend *reader,
                                    void (*on_number)(void *context, uint64_t number),
                                    void *context)
{
    struct postgres_store *const store = postgres_store_of(reader);
    struct pg_result *result = NULL;
    enum store_result asked = ready(store);
    if (asked == STORE_DONE)
        asked = pg_link_ask(store, "SELECT number FROM letter", NULL, 0, true, &result);
    if (asked != STORE_DONE)
        return asked;
    for (int i = 0; i < PQntuples(result); i++)
        on_number(context, (uint64_t)pg_link_integer(result, i, 0));
    PQclear(result);
    return STORE_DONE;
}

static void give_letter(const struct pg_result *result, int row, store_on_letter *on_letter,
                        void *context)
{
    struct row_value values[ROW_COLUMNS_MAX];
    struct pg_body body;
    pg_rows_read(result, row, 1, RECORD_LETTER, values, &body);
    on_letter(context, (uint16_t)pg_link_integer(result, row, 0), values);
    pg_body_close(&body);
}

enum store_result pg_letters(struct store_backend *reader, const uint64_t *numbers, uint32_t count,
                             bool is_full, store_on_letter *on_letter, void *context)
{
    struct postgres_store *const store = postgres_store_of(reader);
    struct buf *const wanted = &store->columns[0];
    struct pg_result *result = NULL;
    enum store_result asked = ready(store);
    if (asked != STORE_DONE)
        return asked;
    buf_reset(wanted);
    for (uint32_t i = 0; i < count; i++)
        buf_addf(wanted, "%c%lld", i == 0 ? '{' : ',', (long long)numbers[i]);
    buf_add_char(wanted, '}');
    buf_reset(&store->scratch);
    buf_addf(&store->scratch, "SELECT l.owner");
    add_columns(&store->scratch, RECORD_LETTER, "l", is_full);
    buf_addf(&store->scratch, " FROM letter AS l WHERE l.number = ANY($1::text::bigint[])");
    buf_add_char(&store->scratch, '\0');
    const struct row_value value = {.type = VALUE_TEXT, .bytes = buf_slice(wanted)};
    asked = pg_link_ask(store, store->scratch.data, &value, 1, true, &result);
    if (asked != STORE_DONE)
        return asked;
    for (int i = 0; i < PQntuples(result); i++)
        give_letter(result, i, on_letter, context);
    PQclear(result);
    return STORE_DONE;
}

/* ---- books ------------------------------------------------------------------------------- */

enum store_result pg_books(struct store_backend *reader, uint16_t node, int64_t wall_ms,
                           store_on_values *on_values, void *context)
{
    static const enum record_kind books[] = {RECORD_DAY, RECORD_TALLY, RECORD_SPENT};
    struct postgres_store *const store = postgres_store_of(reader);
    enum store_result result = ready(store);
    for (size_t i = 0; i < sizeof books / sizeof books[0] && result == STORE_DONE; i++) {
        buf_reset(&store->scratch);
        pg_sql_add_load(&store->scratch, &row_tables[books[i]], node);
        result = pg_rows_give(store, books[i], store->scratch.data, wall_ms, on_values, context);
    }
    return result;
}

/* ---- budgets ----------------------------------------------------------------------------- */

enum store_result pg_sum_drawn(struct store_backend *reader, int64_t day,
                               struct store_budget *budgets, uint32_t count)
{
    static const char sql[] =
        "SELECT want.place, sum(b.earlier + b.held)::bigint FROM unnest($1::text::text[])"
        " WITH ORDINALITY AS want (client, place) JOIN budget AS b ON b.client = want.client"
        " AND b.day = $2 GROUP BY want.place";
    struct postgres_store *const store = postgres_store_of(reader);
    struct buf *const clients = &store->columns[0];
    struct pg_result *result = NULL;
    enum store_result asked = ready(store);
    if (asked != STORE_DONE)
        return asked;
    buf_reset(clients);
    for (uint32_t i = 0; i < count; i++) {
        buf_add_char(clients, i == 0 ? '{' : ',');
        add_quoted(clients, budgets[i].client);
    }
    buf_add_char(clients, '}');
    const struct row_value values[] = {{.type = VALUE_TEXT, .bytes = buf_slice(clients)},
                                       {.type = VALUE_INTEGER, .integer = day}};
    asked = pg_link_ask(store, sql, values, 2, true, &result);
    if (asked != STORE_DONE)
        return asked;
    for (int i = 0; i < PQntuples(result); i++) {
        const int64_t place = pg_link_integer(result, i, 0);
        if (place >= 1 && place <= count)
            budgets[place - 1].drawn = (uint64_t)pg_link_integer(result, i, 1);
    }
    PQclear(result);
    return STORE_DONE;
}
