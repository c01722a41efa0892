#include "redis_proxy.h"
#include "redis_store_world.h"

#include "seed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#define ROWS 100
#define MUTATIONS 200
#define PATIENCE_MS 1500

static struct redis_proxy proxy;

static void begin(void)
{
    proxy = (struct redis_proxy){.listener = -1};
    (void)snprintf(proxy.target, sizeof(proxy.target), "%s", store_kit_redis_server()->socket);
    assert_true((size_t)snprintf(proxy.path, sizeof(proxy.path), "%s/proxy",
                                 store_kit_redis_server()->directory) < sizeof(proxy.path));
    redis_proxy_start(&proxy);
}

static const char *proxy_url(void)
{
    static char url[256];
    (void)snprintf(url, sizeof(url), "redis+unix://%s", proxy.path);
    return url;
}

static void end(struct store_backend *backend)
{
    if (backend != NULL)
        backend->driver->close(backend);
    redis_proxy_stop(&proxy);
    redis_proxy_free(&proxy);
}

static struct store_entry *make_rows(struct store_world *world)
{
    struct store_entry *first = NULL;
    for (unsigned i = ROWS; i > 0; i--) {
        struct store_entry *const entry = calloc(1, sizeof(*entry) + 8);
        assert_non_null(entry);
        entry->record = world_record(world, RECORD_REQUEST, i);
        entry->client_len = 5;
        memcpy(entry->client, "alpha", 5);
        entry->next = first;
        first = entry;
    }
    return first;
}

static void free_rows(struct store_entry *entry)
{
    while (entry != NULL) {
        struct store_entry *const next = entry->next;
        record_close(&entry->record);
        free(entry);
        entry = next;
    }
}

static int64_t count_rows(struct store_world *world)
{
    return world->kit->count_rows(world, RECORD_REQUEST);
}

/* ---- cut connections --------------------------------------------------------------------- */

static void try_cut(struct store_world *world, struct store_backend *backend,
                    const struct store_batch *batch, atomic_long *cut, long after)
{
    redis_do(store_kit_redis_server(), "FLUSHALL", NULL);
    /* Notices, reports, and goes on. */
    while (backend->driver->beat(backend) != STORE_DONE)
        ;
    atomic_store(cut, after);
    const enum store_result result = backend->driver->write(backend, batch);
    if (result == STORE_DONE)
        fail_msg("it was not cut after %ld bytes", after);
    assert_int_equal(result, STORE_RETRY);
    const int64_t rows = count_rows(world);
    if (rows != 0 && rows != ROWS)
        fail_msg("%lld of %d rows are there", (long long)rows, ROWS);
    assert_int_equal(backend->driver->write(backend, batch), STORE_DONE);
    assert_int_equal(count_rows(world), ROWS);
}

static void a_batch_whose_connection_is_cut_is_there_as_a_whole_or_not_at_all(void **state)
{
    struct store_world *const world = *state;
    static const long commands[] = {0, 1, 20, 1000, 20000};
    static const long replies[] = {0, 1, 5, 500, 900, 915};
    struct store_entry *const first = make_rows(world);
    const struct store_batch batch = {.first = first, .count = ROWS};
    begin();
    struct store_backend *const backend = redis_case_open_url(proxy_url());
    assert_non_null(backend);
    for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
        try_cut(world, backend, &batch, &proxy.cut_commands, commands[i]);
    for (size_t i = 0; i < sizeof(replies) / sizeof(replies[0]); i++)
        try_cut(world, backend, &batch, &proxy.cut_replies, replies[i]);
    assert_true(backend->reconnects >= 11);
    free_rows(first);
    end(backend);
}

static enum store_result put_state(struct store_world *world, struct store_backend *backend,
                                   enum request_state wanted)
{
    struct record record = world_record(world, RECORD_REQUEST, 1);
    record.request.state = wanted;
    return redis_case_write(backend, &record, "alpha");
}

static bool is_stored(const char *words)
{
    struct redis_reply *const row =
        redis_ask(store_kit_redis_server(), "GET", "{" CASE_PREFIX "}:request:1", NULL);
    const bool is_there =
        row != NULL && row->type == REPLY_STRING && strstr(row->bytes, words) != NULL;
    redis_reply_free(row);
    return is_there;
}

/* A network may deliver a batch long after its sender gave it up, sent it again, and wrote something newer. */
static void a_batch_that_arrives_too_late_is_refused(void **state)
{
    struct store_world *const world = *state;
    begin();
    const struct store_place place = {
        .url = proxy_url(), .prefix = CASE_PREFIX, .patience_ms = PATIENCE_MS};
    struct store_backend *const backend = redis_case_open(&place);
    assert_non_null(backend);
    assert_int_equal(put_state(world, backend, REQUEST_SOLVING), STORE_DONE);
    atomic_store(&proxy.must_hold, true);
    uv_sleep(100);
    assert_int_equal(put_state(world, backend, REQUEST_SOLVING), STORE_RETRY);
    assert_int_equal(put_state(world, backend, REQUEST_SOLVING), STORE_DONE);
    assert_int_equal(put_state(world, backend, REQUEST_SOLVED), STORE_DONE);
    assert_true(is_stored("\"state\":\"solved\""));
    atomic_store(&proxy.must_hold, false);
    uv_sleep(500);
    assert_true(is_stored("\"state\":\"solved\""));
    assert_int_equal(put_state(world, backend, REQUEST_SOLVED), STORE_DONE);
    end(backend);
}

/* ---- a server that lies ------------------------------------------------------------------ */

#define INFO_GOOD                                                                         \
    "+OK\r\n$107\r\nredis_version:7.0.0\r\nrole:master\r\nloading:0\r\nmaxmemory_policy:" \
    "noeviction\r\n"                                                                      \
    "aof_enabled:1\r\nredis_mode:alone\r\n\r\n"
#define CONFIG_GOOD                                                                  \
    "*8\r\n$10\r\nappendonly\r\n$3\r\nyes\r\n$11\r\nappendfsync\r\n$6\r\nalways\r\n" \
    "$25\r\nno-appendfsync-on-rewrite\r\n$2\r\nno\r\n$16\r\nmaxmemory-policy\r\n$"   \
    "10\r\nnoeviction\r\n"

static void assert_unusable(const char *script, size_t len, size_t times)
{
    proxy.script = script;
    proxy.script_len = len;
    proxy.script_times = times;
    redis_proxy_start(&proxy);
    struct store_backend *const backend = redis_case_open_url(proxy_url());
    if (backend != NULL)
        fail_msg("opened after %.60s", script);
    assert_int_equal(redis_case_opening, STORE_UNUSABLE);
    redis_proxy_stop(&proxy);
}

static void replies_that_make_no_sense_are_refused(void **state)
{
    (void)state;
    static const char *const scripts[] = {
        "",
        "HTTP/1.1 400 Bad Request\r\n\r\n",
        "\x15\x03\x03\x02\x01",
        ":1\r\n:2\r\n:3\r\n",
        "+OK\r\n:5\r\n",
        "+OK\r\n*0\r\n",
        "+OK\r\n$-1\r\n",
        "+OK\r\n$-5\r\n",
        "+OK\r\n*-7\r\n",
        "+OK\r\n$99999999999999999999\r\n",
        "+OK\r\n*1000000000\r\n:1\r\n",
        "+OK\r\n*2147483647\r\n:1\r\n",
        "+OK\r\n*60000\r\n*60000\r\n*60000\r\n",
        "+OK\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n:1\r\n",
        "+OK\r\n$5\r\nhello\r\n:1\r\n",
        "-ERR max number of clients reached\r\n",
        "-DENIED Redis is running in protected mode\r\n",
        "%1\r\n+a\r\n:1\r\n",
        INFO_GOOD ":5\r\n",
        INFO_GOOD "*3\r\n:1\r\n*-1\r\n$-1\r\n",
        INFO_GOOD CONFIG_GOOD,
        INFO_GOOD CONFIG_GOOD "+OK\r\n+OK\r\n*1\r\n:1\r\n",
        INFO_GOOD CONFIG_GOOD "+OK\r\n+OK\r\n:7\r\n+OK\r\n+QUEUED\r\n*-1\r\n+OK\r\n$-1\r\n",
        INFO_GOOD CONFIG_GOOD "+OK\r\n+OK\r\n$-1\r\n+OK\r\n+QUEUED\r\n:1\r\n+OK\r\n:1\r\n",
    };
    begin();
    redis_proxy_stop(&proxy);
    for (size_t i = 0; i < sizeof(scripts) / sizeof(scripts[0]); i++)
        assert_unusable(scripts[i], strlen(scripts[i]), 1);
    /* What stands before the lie is good. */
    assert_unusable(INFO_GOOD CONFIG_GOOD, strlen(INFO_GOOD CONFIG_GOOD), 1);
    assert_null(strstr(redis_case_mistake, "does not speak"));
    redis_proxy_free(&proxy);
}

static void a_reply_without_end_is_cut_off(void **state)
{
    (void)state;
    static char endless[65536];
    memset(endless, 'x', sizeof(endless));
    static const char start[] = "+OK\r\n$1000000000\r\n";
    begin();
    redis_proxy_stop(&proxy);
    memcpy(endless, start, sizeof(start) - 1);
    assert_unusable(endless, sizeof(endless), 100000);
    if (strstr(redis_case_mistake, "without end") == NULL)
        fail_msg("%s", redis_case_mistake);
    /* A status that has no end of its line. */
    memset(endless, 'x', sizeof(endless));
    endless[0] = '+';
    assert_unusable(endless, sizeof(endless), 100000);
    redis_proxy_free(&proxy);
}

/* ---- noise ------------------------------------------------------------------------------- */

static void ignore_row(void *context, enum record_kind kind, const struct row_value *values)
{
    (void)context;
    (void)kind;
    (void)values;
}

static void use_everything(struct store_world *world, struct store_backend *backend)
{
    const struct store_driver *const driver = backend->driver;
    struct store_secret secret = {.bytes = "abc", .count = 3, .made_wall_ms = 1};
    const struct store_shift shift = {.by_ms = 1, .now = world->clocks};
    struct store_mark mark;
    bool has_more;
    for (uint64_t id = 1; id < 4; id++)
        (void)redis_case_put(world, backend, id);
    struct record attempt = world_record(world, RECORD_ATTEMPT, 1);
    attempt.attempt.is_closed = false;
    attempt.attempt.started_wall_ms = 1;
    (void)redis_case_write(backend, &attempt, "alpha");
    (void)driver->replace_secret(backend, "n", &secret, "o", NULL);
    (void)driver->find_secret(backend, "n", &secret);
    (void)driver->shift(backend, &shift);
    (void)driver->read_mark(backend, &mark);
    (void)driver->load(backend, WORLD_NOW, ignore_row, NULL);
    (void)driver->tidy(backend, WORLD_NOW, 100, &has_more);
    (void)driver->beat(backend);
}

static size_t mutate(struct rand *rand, const char *bytes, size_t len, char *out)
{
    memcpy(out, bytes, len);
    for (uint64_t n = 1 + rand_below(rand, 4); n > 0; n--) {
        const size_t at = (size_t)rand_below(rand, len);
        const size_t run = (size_t)rand_below(rand, 16) + 1;
        if (rand_below(rand, 3) == 0)
            out[at] = "\r\n*$-+:%_09"[rand_below(rand, 11)];
        else if (rand_below(rand, 2) == 0)
            out[at] = (char)rand_below(rand, 256);
        else if (at + run < len) {
            memmove(out + at, out + at + run, len - at - run);
            len -= run;
        }
    }
    return len;
}

/* The lock's value is the client's name, which the proxy replaces by that of each new one. */
static void take_token(void)
{
    const char *const name = memmem(proxy.commands, proxy.commands_len, "SETNAME\r\n", 9);
    assert_non_null(name);
    const char *const token = strchr(name + 9, '\n') + 1;
    (void)snprintf(proxy.token, sizeof(proxy.token), "%.*s", (int)strcspn(token, "\r"), token);
}

/* Every reply of a whole life, changed here and there: anything may come of it but a crash or a wait without end. */
static void replies_with_noise_in_them_do_no_harm(void **state)
{
    struct store_world *const world = *state;
    begin();
    struct store_backend *backend = redis_case_open_url(proxy_url());
    assert_non_null(backend);
    use_everything(world, backend);
    backend->driver->close(backend);
    redis_proxy_stop(&proxy);
    char *const script = malloc(proxy.replies_len);
    assert_non_null(script);
    take_token();
    unsigned opened = 0;
    proxy.script = script;
    proxy.script_times = 1;
    for (unsigned i = 0; i < MUTATIONS; i++) {
        proxy.script_len = mutate(&world->rand, proxy.replies, proxy.replies_len, script);
        redis_proxy_start(&proxy);
        backend = redis_case_open_url(proxy_url());
        opened += backend != NULL;
        if (backend != NULL) {
            use_everything(world, backend);
            backend->driver->close(backend);
        }
        redis_proxy_stop(&proxy);
    }
    assert_true(opened > MUTATIONS / 10);
    (void)printf("# %u of %d changed scripts were believed at first\n", opened, MUTATIONS);
    free(script);
    redis_proxy_free(&proxy);
}

int main(int argc, char **argv)
{
    seed_init(argc, argv);
    const struct CMUnitTest tests[] = {
        REDIS_CASE(a_batch_whose_connection_is_cut_is_there_as_a_whole_or_not_at_all),
        REDIS_CASE(a_batch_that_arrives_too_late_is_refused),
        REDIS_CASE(replies_that_make_no_sense_are_refused),
        REDIS_CASE(a_reply_without_end_is_cut_off),
        REDIS_CASE(replies_with_noise_in_them_do_no_harm),
    };
    return redis_case_run(tests);
}
