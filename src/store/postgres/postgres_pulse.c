#include "store/postgres/postgres_pulse.h"

#include "base/assert.h"
#include "store/postgres/postgres_again.h"
#include "store/postgres/postgres_cluster.h"
#include "store/postgres/postgres_cluster_sql.h"
#include "store/postgres/postgres_error.h"
#include "store/postgres/postgres_inbox.h"
#include "store/postgres/postgres_link.h"
#include "store/postgres/postgres_lock.h"
#include "store/store_demand.h"

#include <libpq-fe.h>
#include <poll.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>

#define NAME_VARIANT sodium_base64_VARIANT_URLSAFE_NO_PADDING
#define NAME_CHARACTERS 43
/* A beat that takes longer has no use for a lease. */
#define PATIENCE_MS 5000

void pg_pulse_channel(const char *schema, char channel[PG_CHANNEL_MAX])
{
    (void)snprintf(channel, PG_CHANNEL_MAX, "sg_%016llx", (unsigned long long)pg_lock_key(schema));
}

void pg_pulse_add_name(struct buf *payload, const struct key *name)
{
    char digits[NAME_CHARACTERS + 1];
    (void)sodium_bin2base64(digits, sizeof digits, name->bytes, KEY_BYTES, NAME_VARIANT);
    buf_add(payload, (struct slice){.data = digits, .len = NAME_CHARACTERS});
}

/* ---- connecting -------------------------------------------------------------------------- */

static enum store_result listen_to(struct postgres_store *store)
{
    char channel[PG_CHANNEL_MAX];
    char sql[PG_CHANNEL_MAX + 16];
    pg_pulse_channel(store->address.schema, channel);
    (void)snprintf(sql, sizeof sql, "LISTEN %s", channel);
    return pg_link_run(store, sql);
}

static enum store_result ready(struct postgres_store *store)
{
    if (store->conn != NULL && PQstatus(store->conn) == CONNECTION_OK)
        return STORE_DONE;
    enum store_result result = pg_link_connect(store);
    store->patience_ms = PATIENCE_MS;
    if (result == STORE_DONE)
        result = listen_to(store);
    if (result != STORE_DONE) {
        pg_link_close(store);
        return result == STORE_FAILED ? STORE_RETRY : result;
    }
    store->base.reconnects += store->was_connected;
    store->was_connected = true;
    return STORE_DONE;
}

/* ---- beats ------------------------------------------------------------------------------- */

static void take_member(const struct pg_result *result, int row, struct store_member *member)
{
    const int64_t incarnation = strtoll(PQgetvalue(result, row, 1), NULL, 10);
    *member = (struct store_member){
        .node = (uint16_t)strtoul(PQgetvalue(result, row, 0), NULL, 10),
        /* Of a run that was adopted it is negative, so that its batches are refused. */
        .incarnation = (uint64_t)(incarnation < 0 ? -incarnation : incarnation),
        .beat = strtoull(PQgetvalue(result, row, 2), NULL, 10),
        .demand = store_demand_read(strtoll(PQgetvalue(result, row, 3), NULL, 10),
                                    strtoll(PQgetvalue(result, row, 4), NULL, 10)),
        .has_left = strcmp(PQgetvalue(result, row, 5), "left") == 0,
        .is_gone = strcmp(PQgetvalue(result, row, 5), "gone") == 0,
    };
    (void)snprintf(member->name, sizeof member->name, "%s", PQgetvalue(result, row, 6));
    (void)snprintf(member->parts, sizeof member->parts, "%s", PQgetvalue(result, row, 7));
}

/* The rows are as they were before this beat. What the node has just given up is others' from now on, all the same. */
static void note_told(struct store_member *own, const struct demand *told)
{
    if (own->demand.held > told->held)
        own->demand.held = told->held;
}

enum store_result pg_pulse_beat(struct store_backend *pulse, const struct demand *demand,
                                struct store_members *members)
{
    struct postgres_store *const store = postgres_store_of(pulse);
    struct pg_result *result;
    const struct row_value values[] = {
        {.type = VALUE_INTEGER, .integer = pulse->node},
        {.type = VALUE_INTEGER, .integer = (int64_t)pulse->incarnation},
        {.type = VALUE_INTEGER, .integer = store_demand_slots(demand)},
        {.type = VALUE_INTEGER, .integer = (int64_t)demand->pools},
        {.type = VALUE_TEXT, .bytes = slice_from(pulse->parts)},
    };
    members->count = 0;
    enum store_result asked = ready(store);
    if (asked == STORE_DONE)
        asked = pg_link_ask(store,
                            "WITH mine AS (UPDATE node SET beat = beat + 1, slots = $3, pools = $4"
                            " WHERE id = $1 AND incarnation = $2 RETURNING id),"
                            " said AS (INSERT INTO meta (name, value)"
                            " SELECT " PG_PARTS_NAME " || id, $5::text FROM mine WHERE NOT EXISTS"
                            " (SELECT 1 FROM meta WHERE name = " PG_PARTS_NAME " || $1::bigint"
                            " AND value = $5::text)"
                            " ON CONFLICT (name) DO UPDATE SET value = EXCLUDED.value)"
                            " SELECT node.id, incarnation, beat, slots, pools, state, node.name,"
                            " coalesce(value, ''), mine.id IS NOT NULL AS is_mine"
                            " FROM node LEFT JOIN mine USING (id)"
                            " LEFT JOIN meta ON meta.name = " PG_PARTS_NAME " || node.id"
                            " ORDER BY node.id",
                            values, 5, false, &result);
    if (asked != STORE_DONE)
        return asked == STORE_FAILED ? STORE_RETRY : asked;
    bool is_there = false;
    for (int i = 0; i < PQntuples(result) && members->count < STORE_MEMBERS_MAX; i++) {
        struct store_member *const member = &members->all[members->count++];
        const bool is_own = PQgetvalue(result, i, 8)[0] == 't';
        take_member(result, i, member);
        if (is_own)
            note_told(member, demand);
        is_there |= is_own;
    }
    PQclear(result);
    return is_there ? STORE_DONE : pg_again_judge(store);
}

/* ---- wake-ups ---------------------------------------------------------------------------- */

/* Names that make no sense are not ours. */
static void give_names(const struct postgres_store *store, const char *payload,
                       void (*on_woken)(void *context, const struct key *name), void *context)
{
    if (payload[0] == PG_INBOX_SIGN) {
        if (pg_inbox_is_named(payload, store->base.node))
            on_woken(context, NULL);
        return;
    }
    for (size_t left = strlen(payload); left >= NAME_CHARACTERS; left -= NAME_CHARACTERS) {
        struct key name;
        size_t len = 0;
        if (sodium_base642bin(name.bytes, KEY_BYTES, payload, NAME_CHARACTERS, NULL, &len, NULL,
                              NAME_VARIANT) == 0 &&
            len == KEY_BYTES)
            on_woken(context, &name);
        payload += NAME_CHARACTERS;
    }
}

static bool give_notifications(struct postgres_store *store,
                               void (*on_woken)(void *context, const struct key *name),
                               void *context)
{
    bool is_any = false;
    for (PGnotify *note; (note = PQnotifies(store->conn)) != NULL; is_any = true) {
        give_names(store, note->extra, on_woken, context);
        PQfreemem(note);
    }
    return is_any;
}

enum store_result pg_pulse_wait(struct store_backend *pulse, int fd, int timeout_ms,
                                void (*on_woken)(void *context, const struct key *name),
                                void *context)
{
    struct postgres_store *const store = postgres_store_of(pulse);
    const enum store_result result = ready(store);
    if (result != STORE_DONE)
        return result;
    /* Some may have come with the answer to a beat. */
    if (give_notifications(store, on_woken, context))
        return STORE_DONE;
    struct pollfd items[] = {{.fd = PQsocket(store->conn), .events = POLLIN},
                             {.fd = fd, .events = POLLIN}};
    const int count = poll(items, 2, timeout_ms);
    if (count <= 0 || items[0].revents == 0)
        return STORE_DONE;
    if (PQconsumeInput(store->conn) != 1)
        return pg_error_take(store, NULL);
    (void)give_notifications(store, on_woken, context);
    return STORE_DONE;
}

enum store_result pg_pulse_inbox(struct store_backend *pulse, unsigned limit,
                                 void (*on_fact)(void *context, const struct fact *take_fact),
                                 void *context)
{
    struct postgres_store *const store = postgres_store_of(pulse);
    const enum store_result result = ready(store);
    return result == STORE_DONE ? pg_inbox_read(store, limit, on_fact, context) : result;
}
