#include "store/postgres/postgres_budget.h"

#include "base/assert.h"
#include "store/postgres/postgres_array.h"
#include "store/postgres/postgres_batch.h"
#include "store/postgres/postgres_cluster_sql.h"
#include "store/postgres/postgres_link.h"
#include "store/postgres/postgres_params.h"

#include <libpq-fe.h>
#include <stdlib.h>

/* By its name the result is told from those of claims. */
#define FIRST_COLUMN "drawn_place"
/* Larger numbers mean the same, and sums of these fit. */
#define NUMBER_MOST (UINT64_C(1) << 53)
/* By the server's clock, since a node's may be anything. */
#define DAYS_KEPT 7

/* ---- what the server does ---------------------------------------------------------------- */

/* The row of node 0 is the lock of a client's day: with it, everybody sees what those before have drawn. */
static const char function[] =
    "CREATE OR REPLACE FUNCTION draw_units(me bigint, mine bigint, places bigint[],\n"
    "    clients text[], days bigint[], budgets bigint[], befores bigint[], useds bigint[],\n"
    "    needs bigint[], blocks bigint[])\n"
    "RETURNS TABLE (" FIRST_COLUMN " bigint, drawn_held bigint, drawn_left bigint)\n"
    "LANGUAGE plpgsql AS $$\n"
    "#variable_conflict use_column\n"
    "DECLARE\n"
    "    others bigint; room bigint; got bigint;\n"
    "BEGIN\n"
    "FOR i IN 1 .. cardinality(places) LOOP\n"
    "    INSERT INTO budget VALUES (clients[i], days[i], 0, 0, 0, 0) ON CONFLICT DO NOTHING;\n"
    "    IF FOUND THEN\n"
    "        DELETE FROM budget WHERE ctid = ANY(ARRAY(SELECT ctid FROM budget\n"
    "            WHERE day < now_ms() / 86400000 - %d FOR UPDATE SKIP LOCKED));\n"
    "    ELSE\n"
    "        PERFORM 1 FROM budget WHERE client = clients[i] AND day = days[i] AND node = 0\n"
    "            FOR UPDATE;\n"
    "    END IF;\n"
    "    INSERT INTO budget VALUES (clients[i], days[i], me, mine, befores[i], 0)\n"
    "        ON CONFLICT (client, day, node) DO UPDATE SET run = mine, held = 0,\n"
    "        earlier = greatest(budget.earlier + budget.held, befores[i])\n"
    "        WHERE budget.run <> mine;\n"
    "    SELECT coalesce(sum(earlier + CASE WHEN node = me THEN 0 ELSE held END), 0)\n"
    "        INTO others FROM budget WHERE client = clients[i] AND day = days[i];\n"
    "    room := greatest(budgets[i] - others, 0);\n"
    "    got := least(useds[i] + needs[i], room);\n"
    "    got := got + least((room - got) / %d, blocks[i]);\n"
    "    got := greatest(got, useds[i]);\n"
    "    UPDATE budget SET held = got WHERE client = clients[i] AND day = days[i] AND node = me\n"
    "        AND held <> got;\n"
    "    RETURN QUERY SELECT places[i], got, greatest(room - got, 0);\n"
    "END LOOP;\n"
    "END $$;\n";

void pg_budget_add_sql(struct buf *sql)
{
    buf_addf(sql, "CREATE TABLE IF NOT EXISTS budget (\n"
                  "    client text COLLATE \"C\" NOT NULL, day bigint NOT NULL,\n"
                  "    node bigint NOT NULL, run bigint NOT NULL, earlier bigint NOT NULL,\n"
                  "    held bigint NOT NULL, PRIMARY KEY (client, day, node)\n"
                  ") WITH (fillfactor = 50);\n");
    buf_addf(sql, function, DAYS_KEPT, BUDGET_BLOCK_PART);
}

/* ---- asking ------------------------------------------------------------------------------ */

bool pg_budget_prepare(struct postgres_store *store)
{
    static const char sql[] = "SELECT * FROM draw_units($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)";
    return PQsendPrepare(store->conn, "draw", sql, 0, NULL) == 1;
}

static struct row_value integer(uint64_t number)
{
    return (struct row_value){.type = VALUE_INTEGER,
                              .integer = (int64_t)(number < NUMBER_MOST ? number : NUMBER_MOST)};
}

#define COLUMNS 8
static const char *const types[COLUMNS] = {"bigint", "text",   "bigint", "bigint",
                                           "bigint", "bigint", "bigint", "bigint"};

static void add_draw(struct postgres_store *store, const struct store_row *row)
{
    const struct draw *const draw = &row->entry->drawn->draw;
    const struct row_value values[COLUMNS] = {
        integer(row->place),
        {.type = VALUE_TEXT, .bytes = slice_from(row->entry->client)},
        {.type = VALUE_INTEGER, .integer = draw->day},
        integer(draw->budget),
        integer(draw->before),
        integer(draw->used),
        integer(draw->need),
        integer(draw->block),
    };
    for (size_t i = 0; i < COLUMNS; i++)
        pg_array_add(&store->columns[i], &values[i]);
}

/* By client and day, so that two gateways do not wait for each other; those of the same day in their order. */
static int compare(const void *a, const void *b)
{
    const struct store_row *const row_a = a;
    const struct store_row *const row_b = b;
    const int64_t day_a = row_a->entry->drawn->draw.day;
    const int64_t day_b = row_b->entry->drawn->draw.day;
    const int order = strcmp(row_a->entry->client, row_b->entry->client);
    if (order != 0)
        return order;
    if (day_a != day_b)
        return day_a < day_b ? -1 : 1;
    return (row_a->place > row_b->place) - (row_a->place < row_b->place);
}

bool pg_budget_send(struct postgres_store *store, const struct store_batch *batch)
{
    struct pg_params params = {.count = 0};
    const struct store_entry *entry = batch->first;
    uint32_t count = 0;
    for (uint32_t i = 0; i < batch->count; i++, entry = entry->next)
        if (entry->drawn != NULL)
            store->rows[count++] = (struct store_row){.entry = entry, .place = i};
    if (count == 0)
        return true;
    qsort(store->rows, count, sizeof *store->rows, compare);
    for (size_t i = 0; i < COLUMNS; i++)
        pg_array_begin(&store->columns[i], types[i]);
    for (uint32_t i = 0; i < count; i++)
        add_draw(store, &store->rows[i]);
    pg_params_add_integer(&params, store->base.node);
    pg_params_add_integer(&params, store->base.incarnation);
    for (size_t i = 0; i < COLUMNS; i++) {
        pg_array_end(&store->columns[i], count);
        pg_params_add(&params, buf_slice(&store->columns[i]));
        store->base.bytes += store->columns[i].len;
    }
    return pg_params_send(store, "draw", &params);
}

/* ---- answers ----------------------------------------------------------------------------- */

bool pg_budget_keep(struct postgres_store *store, struct pg_result *take_result)
{
    if (PQresultStatus(take_result) != PGRES_TUPLES_OK ||
        strcmp(PQfname(take_result, 0), FIRST_COLUMN) != 0)
        return false;
    PQclear(store->drawn);
    store->drawn = take_result;
    return true;
}

void pg_budget_answer(struct postgres_store *store, const struct store_batch *batch)
{
    struct pg_result *const result = store->drawn;
    if (result == NULL)
        return;
    pg_batch_place(store, batch);
    for (int row = 0; row < PQntuples(result); row++) {
        const int64_t place = pg_link_integer(result, row, 0);
        if (place < 0 || place >= batch->count || store->rows[place].entry->drawn == NULL)
            continue;
        struct drawn *const drawn = &store->rows[place].entry->drawn->drawn;
        drawn->is_known = true;
        drawn->held = (uint64_t)pg_link_integer(result, row, 1);
        drawn->left = (uint64_t)pg_link_integer(result, row, 2);
    }
    PQclear(result);
    store->drawn = NULL;
}
