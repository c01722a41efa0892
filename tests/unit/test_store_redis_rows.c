#include "redis_store_world.h"
#include "store_expect.h"
#include "store_nodes.h"

#include "seed.h"
#include "store/sqlite/sqlite_driver.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define ENTRIES 1500
#define HOUR_MS INT64_C(3600000)

/* Names that are in another order than the words they begin with. */
static const char *const clients[] = {"a",        "a-b", "a:b", "a b",  "A",
                                      "\xc3\xa9", "a.b", "aa",  "alpha"};
#define CLIENTS (sizeof(clients) / sizeof(clients[0]))

static const char *url_of(const struct store_world *world, bool is_redis)
{
    static char url[2048];
    if (is_redis)
        (void)snprintf(url, sizeof(url), "redis+unix://%s", store_kit_redis_server()->socket);
    else
        (void)snprintf(url, sizeof(url), "sqlite:%s/sqlite", world->directory);
    return url;
}

static struct store_backend *open_one(const struct store_world *world, bool is_redis)
{
    struct store_backend *backend = NULL;
    struct buf mistake;
    const struct store_place place = {.url = url_of(world, is_redis), .prefix = CASE_PREFIX};
    const char *address;
    const struct store_driver *const driver = store_driver_find(place.url, &address);
    buf_init(&mistake, 1024);
    assert_int_equal(driver->lock(&place, address, &backend, &mistake), STORE_OPENED);
    backend->driver = driver;
    assert_int_equal(driver->open(backend, &mistake), STORE_OPENED);
    buf_close(&mistake);
    return backend;
}

/* ---- what a load gives, as one text ------------------------------------------------------ */

static void add_row(void *context, enum record_kind kind, const struct row_value *values)
{
    struct buf *const out = context;
    buf_addf(out, "%s", row_tables[kind].name);
    for (size_t i = 0; i < row_tables[kind].count; i++) {
        buf_addf(out, "|%d:", values[i].type == VALUE_TEXT ? VALUE_BYTES : (int)values[i].type);
        if (values[i].type == VALUE_INTEGER)
            buf_addf(out, "%lld", (long long)values[i].integer);
        else if (values[i].type != VALUE_NULL)
            buf_add(out, values[i].bytes);
    }
    buf_add_char(out, '\n');
}

static void assert_same_load(struct store_backend *const backends[2], int64_t wall_ms)
{
    struct buf texts[2];
    for (size_t i = 0; i < 2; i++) {
        buf_init(&texts[i], (size_t)64 << 20);
        assert_int_equal(backends[i]->driver->load(backends[i], wall_ms, add_row, &texts[i]),
                         STORE_DONE);
        assert_false(texts[i].is_full);
    }
    assert_true(texts[0].len > 1000);
    assert_int_equal(texts[0].len, texts[1].len);
    assert_memory_equal(texts[0].data, texts[1].data, texts[0].len);
    buf_close(&texts[0]);
    buf_close(&texts[1]);
}

/* ---- a journal of many lives ------------------------------------------------------------- */

static struct record random_record(struct store_world *world)
{
    struct rand *const rand = &world->rand;
    const enum record_kind kind = (enum record_kind)rand_below(rand, RECORD_KIND_COUNT);
    const bool is_small = rand_below(rand, 2) == 0;
    struct record record =
        world_record(world, kind, is_small ? rand_below(rand, 40) : rand_u64(rand));
    const int64_t age_ms = (int64_t)rand_below(rand, 4) * HOUR_MS - HOUR_MS;
    if (kind == RECORD_SOLUTION)
        record.solution.expires_wall_ms = WORLD_NOW + age_ms;
    else if (kind == RECORD_REQUEST)
        record.request.expires_wall_ms = WORLD_NOW + age_ms;
    else if (kind == RECORD_IDEMPOTENCY)
        record.idempotency.expires_wall_ms = WORLD_NOW + age_ms;
    else if (kind == RECORD_ATTEMPT) {
        record.attempt.started_wall_ms = WORLD_NOW - age_ms;
        record.attempt.flight = rand_below(rand, 40);
    } else if (kind == RECORD_DAY)
        record.day.day = WORLD_NOW / 86400000 - (int64_t)rand_below(rand, 12);
    else if (kind == RECORD_TALLY)
        record.tally.day = WORLD_NOW / 86400000 - (int64_t)rand_below(rand, 12);
    if (rand_below(rand, 4) != 0)
        return record;
    struct record drop = expect_drop_of(&record);
    record_close(&record);
    return drop;
}

static struct store_entry *random_entries(struct store_world *world, uint32_t count)
{
    struct store_entry *first = NULL;
    for (uint32_t i = 0; i < count; i++) {
        const char *const client = clients[rand_below(&world->rand, CLIENTS)];
        struct store_entry *const entry = calloc(1, sizeof(*entry) + strlen(client) + 1);
        assert_non_null(entry);
        entry->record = random_record(world);
        entry->client_len = strlen(client);
        memcpy(entry->client, client, entry->client_len);
        entry->next = first;
        first = entry;
    }
    return first;
}

static void free_entries(struct store_entry *entry)
{
    while (entry != NULL) {
        struct store_entry *const next = entry->next;
        record_close(&entry->record);
        free(entry);
        entry = next;
    }
}

static void write_both(struct store_world *world, struct store_backend *const backends[2])
{
    const uint32_t count = 1 + (uint32_t)rand_below(&world->rand, ENTRIES);
    struct store_entry *const first = random_entries(world, count);
    const struct store_batch batch = {.first = first, .count = count};
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(backends[i]->driver->write(backends[i], &batch), STORE_DONE);
    free_entries(first);
}

static void tidy_both(struct store_backend *const backends[2], int64_t wall_ms)
{
    for (size_t i = 0; i < 2; i++) {
        bool has_more = true;
        for (unsigned n = 0; has_more && n < 100; n++)
            assert_int_equal(backends[i]->driver->tidy(backends[i], wall_ms, 100, &has_more),
                             STORE_DONE);
        assert_false(has_more);
    }
}

static void shift_both(struct store_world *world, struct store_backend *const backends[2],
                       int64_t by_ms)
{
    world->clocks.even_ms += 1000;
    world->clocks.wall_ms += 1000 + by_ms;
    const struct store_shift shift = {.by_ms = by_ms, .now = world->clocks};
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(backends[i]->driver->shift(backends[i], &shift), STORE_DONE);
}

static void rows_are_the_same_and_in_the_same_order_as_in_sqlite(void **state)
{
    struct store_world *const world = *state;
    struct store_backend *const backends[2] = {open_one(world, false), open_one(world, true)};
    int64_t wall_ms = WORLD_NOW;
    for (unsigned round = 0; round < 6; round++) {
        write_both(world, backends);
        assert_same_load(backends, wall_ms);
        const int64_t leap_ms =
            (int64_t)rand_below(&world->rand, 7) * HOUR_MS / 2 - 3 * HOUR_MS / 2;
        shift_both(world, backends, leap_ms);
        wall_ms += leap_ms;
        assert_same_load(backends, wall_ms);
        tidy_both(backends, wall_ms + HOUR_MS / 2);
        assert_same_load(backends, wall_ms);
        wall_ms += HOUR_MS / 4;
    }
    for (size_t i = 0; i < 2; i++)
        backends[i]->driver->close(backends[i]);
    for (unsigned kind = 0; kind < RECORD_KIND_COUNT; kind++)
        (void)world->kit->count_rows(world, (enum record_kind)kind);
}

/* ---- sizes ------------------------------------------------------------------------------- */

static void fill(struct record *record, size_t len)
{
    blob_unref(record->solution.text);
    record->solution.text = blob_alloc(len);
    memset(record->solution.text->data, 'x', len);
}

/* Ten rows of eight megabytes are too much for one transaction, and come in order nevertheless. */
static void a_batch_of_many_megabytes_is_written_in_parts(void **state)
{
    struct store_world *const world = *state;
    struct store_backend *const backend = open_one(world, true);
    struct store_entry *first = NULL;
    for (uint64_t id = 10; id > 0; id--) {
        struct store_entry *const entry = calloc(1, sizeof(*entry) + 8);
        assert_non_null(entry);
        entry->record = world_record(world, RECORD_SOLUTION, id);
        fill(&entry->record, (size_t)8 << 20);
        entry->next = first;
        first = entry;
    }
    const struct store_batch batch = {.first = first, .count = 10};
    assert_int_equal(backend->driver->write(backend, &batch), STORE_DONE);
    free_entries(first);
    assert_int_equal(world->kit->count_rows(world, RECORD_SOLUTION), 10);
    backend->driver->close(backend);
}

static void a_row_that_could_not_be_read_back_is_not_written(void **state)
{
    struct store_world *const world = *state;
    struct store_backend *const backend = open_one(world, true);
    struct record record = world_record(world, RECORD_SOLUTION, 1);
    fill(&record, (size_t)70 << 20);
    assert_int_equal(redis_case_write(backend, &record, "alpha"), STORE_FAILED);
    assert_non_null(strstr(backend->why, "too large"));
    assert_int_equal(world->kit->count_rows(world, RECORD_SOLUTION), 0);
    backend->driver->close(backend);
}

/* ---- rows that people read, and touch ---------------------------------------------------- */

static void count_given(void *context, enum record_kind kind, const struct row_value *values)
{
    struct record record = {.kind = kind};
    struct slice client;
    unsigned *const counts = context;
    counts[row_from_values(values, &record, &client) ? 0 : 1]++;
    record_close(&record);
}

static void rows_are_json_and_damaged_ones_are_passed_over(void **state)
{
    struct store_world *const world = *state;
    struct redis_server *const server = store_kit_redis_server();
    struct store_backend *const backend = open_one(world, true);
    for (uint64_t id = 1; id <= 5; id++)
        assert_int_equal(redis_case_put(world, backend, id), STORE_DONE);
    struct redis_reply *const row = redis_ask(server, "GET", "{" CASE_PREFIX "}:request:1", NULL);
    assert_non_null(row);
    assert_non_null(strstr(row->bytes, "{\"id\":1,\"client\":\"alpha\","));
    redis_reply_free(row);
    redis_do(server, "SET", "{" CASE_PREFIX "}:request:2", "{\"id\":2}", NULL);
    redis_do(server, "SET", "{" CASE_PREFIX "}:request:3", "nonsense", NULL);
    redis_do(server, "DEL", "{" CASE_PREFIX "}:request:4", NULL);
    redis_do(server, "RPUSH", "{" CASE_PREFIX "}:request:4", "x", NULL);
    redis_do(server, "DEL", "{" CASE_PREFIX "}:request:5", NULL);
    unsigned counts[2] = {0, 0};
    assert_int_equal(backend->driver->load(backend, WORLD_NOW, count_given, counts), STORE_DONE);
    assert_int_equal(counts[0], 1);
    assert_int_equal(counts[1], 3);
    backend->driver->close(backend);
}

static void names_that_are_none_are_passed_over(void **state)
{
    struct store_world *const world = *state;
    struct redis_server *const server = store_kit_redis_server();
    struct store_backend *const backend = open_one(world, true);
    bool has_more = false;
    for (uint64_t id = 1; id <= 3; id++)
        assert_int_equal(redis_case_put(world, backend, id), STORE_DONE);
    redis_do(server, "ZADD", "{" CASE_PREFIX "}:request", "1", "", NULL);
    redis_do(server, "ZADD", "{" CASE_PREFIX "}:attempt", "-1", "", NULL);
    unsigned counts[2] = {0, 0};
    assert_int_equal(backend->driver->load(backend, WORLD_NOW, count_given, counts), STORE_DONE);
    assert_int_equal(counts[0], 3);
    assert_int_equal(backend->driver->tidy(backend, WORLD_NOW, 512, &has_more), STORE_DONE);
    backend->driver->close(backend);
}

/* Whoever wrote that. */
/* ---- claims ------------------------------------------------------------------------------ */

/* More than a reply of the server may have items. */
#define CLAIMS 70000

struct claims_seen {
    unsigned count;
    bool has[CLAIMS + 1];
};

static void see_claim(void *context, const struct key *name, uint64_t flight)
{
    struct claims_seen *const seen = context;
    (void)name;
    assert_true(flight >= 1 && flight <= CLAIMS);
    assert_false(seen->has[flight]);
    seen->has[flight] = true;
    seen->count++;
}

static void a_gateway_with_more_claims_than_a_reply_has_items_starts(void **state)
{
    static struct claims_seen seen;
    struct node node;
    char script[512], number[16];
    node_open(&node, *state, "a");
    (void)snprintf(script, sizeof(script),
                   "for i = 1, %d do local name = string.format('%%064x', i)\n"
                   "redis.call('HSET', '{" CASE_PREFIX "}:claim:' .. name, 'flight', i)\n"
                   "redis.call('SADD', '{" CASE_PREFIX "}:claims@' .. ARGV[1], name) end",
                   CLAIMS);
    (void)snprintf(number, sizeof(number), "%u", (unsigned)node.backend->node);
    redis_do(store_kit_redis_server(), "EVAL", script, "0", number, NULL);
    node_close(&node);
    node_open(&node, *state, "a");
    const struct store_sharing *const sharing = node.backend->driver->sharing;
    seen = (struct claims_seen){.count = 0};
    assert_int_equal(sharing->load_claims(node.backend, see_claim, &seen), STORE_DONE);
    assert_int_equal(seen.count, CLAIMS);
    node_close(&node);
}

static void a_clock_that_was_moved_beyond_all_reason_does_no_harm(void **state)
{
    static const char *const moves[] = {"-9223372036854775808", "9223372036854775807", "x"};
    struct store_world *const world = *state;
    for (size_t i = 0; i < sizeof(moves) / sizeof(moves[0]); i++) {
        bool has_more = false;
        unsigned counts[2] = {0, 0};
        redis_do(store_kit_redis_server(), "HSET", "{" CASE_PREFIX "}:clock", "moved", moves[i],
                 NULL);
        redis_do(store_kit_redis_server(), "SET", "{" CASE_PREFIX "}:schema", "solvegate 1", NULL);
        struct store_backend *const backend = open_one(world, true);
        assert_int_equal(redis_case_put(world, backend, 1), STORE_DONE);
        assert_int_equal(backend->driver->load(backend, WORLD_NOW, count_given, counts),
                         STORE_DONE);
        assert_int_equal(backend->driver->tidy(backend, WORLD_NOW, 512, &has_more), STORE_DONE);
        const struct store_shift shift = {
            .by_ms = INT64_MIN, .now = {.wall_ms = WORLD_NOW, .even_ms = 1, .boot = moves[i]}};
        assert_int_equal(backend->driver->shift(backend, &shift), STORE_DONE);
        backend->driver->close(backend);
    }
}

/* The server does nothing else while a script runs, and beats and claims of others wait for it. */
static void a_script_has_no_more_rows_than_others_can_wait_for(void **state)
{
    struct store_world *const world = *state;
    struct store_counters counters;
    world->node = "a";
    world_open(world);
    world_start(world);
    world_append_requests(world, 5120);
    world_until_durable(world, 5120);
    store_counters(world->store, &counters);
    assert_int_equal(histogram_sum_ms(&counters.batch_sizes), 5120);
    assert_true(counters.commits >= 10);
    world_close(world);
}

/* ---- versions ---------------------------------------------------------------------------- */

#define SCHEMA "{" CASE_PREFIX "}:schema"

static void set_back(void)
{
    redis_do(store_kit_redis_server(), "SET", SCHEMA, "solvegate 1", NULL);
}

static bool is_up_to_date(void)
{
    struct redis_reply *const schema = redis_ask(store_kit_redis_server(), "GET", SCHEMA, NULL);
    const bool is_so = redis_reply_is(schema, "solvegate 2");
    redis_reply_free(schema);
    return is_so;
}

static void a_store_on_which_an_older_gateway_lives_is_left_to_it(void **state)
{
    struct node older, newer;
    node_open(&older, *state, "a");
    set_back();
    node_open_with(&newer, *state, "b", NODE_LEASE_MS);
    assert_int_equal(newer.opening, STORE_UNUSABLE);
    assert_non_null(strstr(newer.mistake, "end the older gateways first"));
    assert_non_null(strstr(newer.mistake, "\"a\""));
    assert_false(is_up_to_date());
    const struct claim claim = claim_shared(1, 1);
    assert_int_equal(node_ask(&older, &claim).result, CLAIM_WON);
    node_close(&older);
    node_open(&newer, *state, "b");
    assert_true(is_up_to_date());
    /* What was there still is. */
    const struct claim other = claim_shared(1, 2);
    assert_int_equal(node_ask(&newer, &other).result, CLAIM_FOLLOW);
    node_open(&older, *state, "a");
    node_close(&older);
    node_close(&newer);
}

static void a_gateway_that_has_the_store_for_itself_brings_it_up_to_date(void **state)
{
    struct store_world *const world = *state;
    struct store_backend *backend = open_one(world, true);
    assert_int_equal(redis_case_put(world, backend, 1), STORE_DONE);
    backend->driver->close(backend);
    set_back();
    backend = open_one(world, true);
    assert_true(is_up_to_date());
    unsigned counts[2] = {0, 0};
    assert_int_equal(backend->driver->load(backend, WORLD_NOW, count_given, counts), STORE_DONE);
    assert_int_equal(counts[0] + counts[1], 1);
    backend->driver->close(backend);
}

/* Whoever lives already is of this version. */
static void a_backup_of_an_older_version_is_brought_up_to_date_by_who_finds_it(void **state)
{
    struct node a, b;
    node_open(&a, *state, "a");
    node_open(&b, *state, "b");
    set_back();
    redis_do(store_kit_redis_server(), "CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes", NULL);
    const struct claim claim = claim_shared(1, 1);
    assert_int_equal(node_ask(&a, &claim).result, CLAIM_WON);
    assert_true(is_up_to_date());
    node_close(&a);
    node_close(&b);
}

/* Its lease ran out while it stood still, and somebody else was started under its name. */
static void who_lost_its_name_to_another_one_is_fenced(void **state)
{
    for (unsigned is_cut = 0; is_cut < 2; is_cut++) {
        struct node a, twin;
        node_open(&a, *state, "a");
        redis_do(store_kit_redis_server(), "DEL", "{solvegate_test}:lock:a", NULL);
        node_open(&twin, *state, "a");
        if (is_cut == 1)
            redis_do(store_kit_redis_server(), "CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes",
                     NULL);
        const struct claim claim = claim_shared(1, 1);
        (void)node_claim(&a, &claim);
        assert_int_equal(node_try(&a), STORE_REFUSED);
        assert_int_equal(a.backend->driver->beat(a.backend), STORE_REFUSED);
        assert_non_null(strstr(a.backend->why, "under the name"));
        struct record record = world_record(*state, RECORD_FLIGHT, 1);
        node_put(&twin, &record);
        node_send(&twin);
        node_close(&a);
        node_leave(&twin);
    }
}

int main(int argc, char **argv)
{
    seed_init(argc, argv);
    const struct CMUnitTest tests[] = {
        REDIS_CASE(rows_are_the_same_and_in_the_same_order_as_in_sqlite),
        REDIS_CASE(a_batch_of_many_megabytes_is_written_in_parts),
        REDIS_CASE(a_row_that_could_not_be_read_back_is_not_written),
        REDIS_CASE(names_that_are_none_are_passed_over),
        REDIS_CASE(a_gateway_with_more_claims_than_a_reply_has_items_starts),
        REDIS_CASE(a_clock_that_was_moved_beyond_all_reason_does_no_harm),
        REDIS_CASE(a_script_has_no_more_rows_than_others_can_wait_for),
        REDIS_CASE(a_store_on_which_an_older_gateway_lives_is_left_to_it),
        REDIS_CASE(a_gateway_that_has_the_store_for_itself_brings_it_up_to_date),
        REDIS_CASE(a_backup_of_an_older_version_is_brought_up_to_date_by_who_finds_it),
        REDIS_CASE(who_lost_its_name_to_another_one_is_fenced),
        REDIS_CASE(rows_are_json_and_damaged_ones_are_passed_over),
    };
    return redis_case_run(tests);
}
