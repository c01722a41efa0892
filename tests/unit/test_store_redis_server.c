#include "redis_store_world.h"
#include "store/store_fact.h"
#include "store_nodes.h"

#include "seed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#define CANARY "s3cr3t-canary"

static struct redis_server *server(void)
{
    return store_kit_redis_server();
}

static const char *url_of(const char *identity)
{
    static char url[512];
    (void)snprintf(url, sizeof(url), "redis+unix://%s%s", identity, server()->socket);
    return url;
}

static struct store_backend *open_as(const char *identity, bool allow_async)
{
    const struct store_place place = {
        .url = url_of(identity), .prefix = CASE_PREFIX, .allow_async = allow_async};
    struct store_backend *const backend = redis_case_open(&place);
    assert_null(strstr(redis_case_mistake, CANARY));
    return backend;
}

static void assert_refused(const char *identity, const char *words)
{
    assert_null(open_as(identity, false));
    assert_int_equal(redis_case_opening, STORE_UNUSABLE);
    if (strstr(redis_case_mistake, words) == NULL)
        fail_msg("\"%s\" is not in: %s", words, redis_case_mistake);
}

static void close_backend(struct store_backend *backend)
{
    backend->driver->close(backend);
}

static void set(const char *name, const char *value)
{
    redis_do(server(), "CONFIG", "SET", name, value, NULL);
}

/* ---- settings ---------------------------------------------------------------------------- */

static void a_server_that_may_lose_records_is_refused_unless_that_is_accepted(void **state)
{
    static const struct {
        const char *name, *value, *usual, *words, *durability;
    } settings[] = {
        {"appendfsync", "everysec", "always", "set appendfsync always", "latest seconds"},
        {"appendfsync", "no", "always", "set appendfsync always", "latest seconds"},
        {"no-appendfsync-on-rewrite", "yes", "no", "set no-appendfsync-on-rewrite no", "rewrites"},
        {"appendonly", "no", "yes", "set appendonly yes", "memory only"},
    };
    struct store_world *const world = *state;
    for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++) {
        set(settings[i].name, settings[i].value);
        assert_refused("", settings[i].words);
        assert_mistake("cluster.allow_async");
        struct store_backend *const backend = open_as("", true);
        assert_non_null(backend);
        assert_true(backend->is_async);
        assert_non_null(strstr(backend->durability, settings[i].durability));
        assert_int_equal(redis_case_put(world, backend, 1), STORE_DONE);
        close_backend(backend);
        set(settings[i].name, settings[i].usual);
    }
    struct store_backend *const backend = open_as("", true);
    assert_non_null(backend);
    assert_false(backend->is_async);
    assert_non_null(strstr(backend->durability, "before it is acknowledged"));
    assert_true(strncmp(backend->server, "Redis ", 6) == 0);
    close_backend(backend);
}

static void a_server_that_evicts_is_refused_in_any_case(void **state)
{
    (void)state;
    set("maxmemory-policy", "allkeys-lru");
    assert_refused("", "maxmemory-policy noeviction");
    assert_null(open_as("", true));
    set("maxmemory-policy", "volatile-ttl");
    assert_refused("", "maxmemory-policy noeviction");
    set("maxmemory-policy", "noeviction");
    struct store_backend *const backend = open_as("", false);
    assert_non_null(backend);
    close_backend(backend);
}

static void a_replica_is_refused(void **state)
{
    (void)state;
    redis_do(server(), "REPLICAOF", "127.0.0.1", "1", NULL);
    assert_refused("", "name the master");
}

static void a_server_that_is_full_from_the_start_is_refused(void **state)
{
    (void)state;
    set("maxmemory", "1");
    assert_refused("", "maxmemory");
    set("maxmemory", "0");
}

static void settings_that_change_while_it_runs_count_from_the_next_connection_on(void **state)
{
    struct store_world *const world = *state;
    struct store_backend *const backend = open_as("", false);
    assert_non_null(backend);
    set("appendfsync", "everysec");
    redis_do(server(), "CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes", NULL);
    assert_int_equal(redis_case_put(world, backend, 1), STORE_RETRY);
    assert_int_equal(redis_case_put(world, backend, 1), STORE_RETRY);
    assert_non_null(strstr(backend->why, "set appendfsync always"));
    set("appendfsync", "always");
    assert_int_equal(redis_case_put(world, backend, 1), STORE_DONE);
    close_backend(backend);
}

static void settings_that_change_on_an_open_connection_are_noticed_by_a_look(void **state)
{
    struct store_world *const world = *state;
    struct store_backend *const strict = open_as("", false);
    assert_int_equal(strict->driver->look(strict), STORE_DONE);
    set("appendfsync", "everysec");
    assert_int_equal(strict->driver->look(strict), STORE_RETRY);
    assert_non_null(strstr(strict->why, "set appendfsync always"));
    assert_int_equal(redis_case_put(world, strict, 1), STORE_RETRY);
    set("appendfsync", "always");
    assert_int_equal(redis_case_put(world, strict, 1), STORE_DONE);
    close_backend(strict);
    struct store_backend *const lenient = open_as("", true);
    assert_false(lenient->is_async);
    set("appendfsync", "everysec");
    assert_int_equal(lenient->driver->look(lenient), STORE_DONE);
    assert_true(lenient->is_async);
    set("appendfsync", "always");
    close_backend(lenient);
}

/* Those who show it are told. */
static void a_change_of_what_an_acknowledgement_is_worth_is_told(void **state)
{
    struct store_world *const world = *state;
    set("appendfsync", "everysec");
    world->allow_async = true;
    world->beat_ms = 50;
    world_open(world);
    assert_true(store_about(world->store).is_async);
    world_start(world);
    set("appendfsync", "always");
    for (unsigned i = 0; i < 3000 && world->about_calls == 0; i++)
        world_turn(world, 10);
    assert_int_equal(world->about_calls, 1);
    assert_false(store_about(world->store).is_async);
    world_close(world);
}

/* ---- whose keys -------------------------------------------------------------------------- */

static void keys_of_somebody_else_are_left_alone(void **state)
{
    (void)state;
    redis_do(server(), "SET", "{" CASE_PREFIX "}:schema", "9", NULL);
    assert_refused("", "choose another store_prefix");
    redis_do(server(), "SET", "{" CASE_PREFIX "}:schema", "solvegate 3", NULL);
    assert_refused("", "newer version");
    redis_do(server(), "DEL", "{" CASE_PREFIX "}:schema", NULL);
    redis_do(server(), "SET", "{" CASE_PREFIX "}:flight", "1", NULL);
    assert_refused("", "choose another store_prefix");
    redis_do(server(), "DEL", "{" CASE_PREFIX "}:flight", NULL);
    redis_do(server(), "RPUSH", "{" CASE_PREFIX "}:lock", "1", NULL);
    assert_refused("", "choose another store_prefix");
    assert_int_equal(redis_number(server(), "DBSIZE", NULL), 1);
}

static void a_key_that_becomes_somebody_elses_while_it_runs_ends_all_writing(void **state)
{
    struct store_world *const world = *state;
    struct store_backend *const backend = open_as("", false);
    assert_non_null(backend);
    redis_do(server(), "SET", "{" CASE_PREFIX "}:request", "1", NULL);
    assert_int_equal(redis_case_put(world, backend, 1), STORE_FAILED);
    assert_non_null(strstr(backend->why, "WRONGTYPE"));
    close_backend(backend);
}

static void prefixes_and_databases_do_not_meet(void **state)
{
    struct store_world *const world = *state;
    char url[512];
    (void)snprintf(url, sizeof(url), "redis+unix://%s?db=3", server()->socket);
    const struct store_place places[] = {
        {.url = url_of(""), .prefix = "a"}, {.url = url_of(""), .prefix = ""}, {.url = url}};
    struct store_backend *backends[3];
    for (size_t i = 0; i < 3; i++) {
        backends[i] = redis_case_open(&places[i]);
        assert_non_null(backends[i]);
        assert_int_equal(redis_case_put(world, backends[i], i + 1), STORE_DONE);
    }
    assert_int_equal(redis_number(server(), "EXISTS", "{a}:request:1", NULL), 1);
    assert_int_equal(redis_number(server(), "EXISTS", "{solvegate}:request:2", NULL), 1);
    assert_int_equal(redis_number(server(), "EXISTS", "{solvegate}:request:3", NULL), 0);
    for (size_t i = 0; i < 3; i++)
        close_backend(backends[i]);
    const struct store_place bad = {.url = url_of(""), .prefix = "a{b}"};
    assert_null(redis_case_open(&bad));
    assert_mistake("store_prefix");
}

/* ---- who we are -------------------------------------------------------------------------- */

static void a_wrong_password_is_explained_and_never_told(void **state)
{
    (void)state;
    redis_do(server(), "ACL", "SETUSER", "me", "on", ">" CANARY, "~*", "&*", "+@all", NULL);
    struct store_backend *const backend = open_as("me:" CANARY "@", false);
    assert_non_null(backend);
    assert_null(strstr(backend->server, CANARY));
    close_backend(backend);
    assert_refused("me:not-" CANARY "@", "correct the user and password");
    assert_refused("nobody:" CANARY "@", "correct the user and password");
}

static void a_password_that_was_forgotten_is_asked_for(void **state)
{
    (void)state;
    /* Without the test's own connections being asked for it, too. */
    redis_do(server(), "ACL", "SETUSER", "default", "-@all", "+acl", "+ping", NULL);
    assert_refused("", "store init --print-sql");
    redis_do(server(), "ACL", "SETUSER", "default", "+@all", NULL);
}

/* The words of the command that print_schema gives, in place of the password ours. */
static void make_user(const struct store_place *place)
{
    struct buf out;
    buf_init(&out, 4096);
    store_kit_redis.driver->print_schema(place, &out);
    buf_add_char(&out, '\0');
    char *line = strstr(out.data, "ACL SETUSER");
    assert_non_null(line);
    const char *words[60] = {0};
    size_t count = 0;
    char *rest = NULL;
    for (char *word = strtok_r(line, " \n", &rest); word != NULL;
         word = strtok_r(NULL, " \n", &rest))
        words[count++] = strcmp(word, ">PASSWORD") == 0 ? ">" CANARY : word;
    assert_true(count < 59);
    struct redis_reply *const reply = redis_ask_words(server(), words);
    assert_true(redis_reply_is(reply, "OK"));
    redis_reply_free(reply);
    buf_close(&out);
}

static void open_node(struct node *node, struct store_world *world, struct store_place place,
                      const char *name)
{
    place.node = name;
    place.lease_ms = NODE_LEASE_MS;
    *node = (struct node){.world = world, .backend = redis_case_open(&place)};
    assert_non_null(node->backend);
}

static void on_woken(void *context, const struct key *name)
{
    (void)name;
    ++*(unsigned *)context;
}

static void on_claim(void *context, const struct key *name, uint64_t flight)
{
    (void)name;
    (void)flight;
    ++*(unsigned *)context;
}

static void on_fact(void *context, const struct fact *take_fact)
{
    struct fact fact = *take_fact;
    fact_close(&fact);
    ++*(unsigned *)context;
}

static void on_values(void *context, enum record_kind kind, const struct row_value *values)
{
    (void)kind;
    (void)values;
    ++*(unsigned *)context;
}

static void tell(struct node *node, uint64_t number, uint64_t attempt)
{
    const struct fact fact = {.number = number,
                              .result = {.attempt = attempt, .text = blob_new(SLICE_OF("token"))}};
    node_tell(node, &fact);
}

static enum store_result adopt(struct store_backend *by, const struct store_member *dead,
                               bool *is_ours, unsigned *rows)
{
    const struct store_adopted to = {.context = rows, .on_values = on_values, .on_claim = on_claim};
    return by->driver->sharing->adopt(by, dead, false, is_ours, &to);
}

/* Facts are always welcome, and what a dead gateway has takes its room already. */
static void a_full_server_takes_facts_and_gives_the_dead_ones_rows(void **state)
{
    struct store_world *const world = *state;
    static struct store_members members;
    unsigned count = 0;
    bool is_ours = true;
    struct node a, b;
    node_open(&a, world, "a");
    node_open(&b, world, "b");
    struct record attempt = world_record(world, RECORD_ATTEMPT, 500);
    node_put(&a, &attempt);
    node_send(&a);
    const struct store_sharing *const sharing = b.backend->driver->sharing;
    struct store_backend *const pulse = sharing->make_pulse(b.backend);
    struct store_backend *const adopter = sharing->make_pulse(b.backend);
    assert_int_equal(sharing->pulse_beat(pulse, &(struct demand){.slots = 0}, &members),
                     STORE_DONE);
    struct store_member dead = members.all[0];
    assert_int_equal(dead.node, a.backend->node);
    dead.beat++;
    assert_int_equal(adopt(adopter, &dead, &is_ours, &count), STORE_DONE);
    assert_false(is_ours);
    set("maxmemory", "1");
    struct record flight = world_record(world, RECORD_FLIGHT, 8);
    node_put(&b, &flight);
    assert_int_equal(node_try(&b), STORE_NO_ROOM);
    tell(&b, 1001, 500);
    assert_int_equal(node_try(&b), STORE_DONE);
    dead.beat--;
    assert_int_equal(adopt(adopter, &dead, &is_ours, &count), STORE_DONE);
    assert_true(is_ours);
    assert_int_equal(count, 1);
    assert_int_equal(sharing->pulse_inbox(pulse, 10, on_fact, &count), STORE_DONE);
    assert_int_equal(count, 2);
    set("maxmemory", "0");
    b.backend->driver->close(pulse);
    b.backend->driver->close(adopter);
    node_close(&a);
    node_close(&b);
}

static void the_printed_rights_are_enough_for_gateways_that_share(void **state)
{
    struct store_world *const world = *state;
    static struct store_members members;
    unsigned count = 0;
    struct node single, a, b;
    const struct store_place place = {.url = url_of("solvegate:" CANARY "@"),
                                      .prefix = CASE_PREFIX};
    make_user(&place);
    single = (struct node){.world = world, .backend = redis_case_open(&place)};
    assert_non_null(single.backend);
    for (unsigned kind = 0; kind < RECORD_KIND_COUNT; kind++) {
        struct record record = world_record(world, (enum record_kind)kind, 7);
        node_put(&single, &record);
    }
    node_send(&single);
    node_close(&single);
    open_node(&a, world, place, "a");
    open_node(&b, world, place, "b");
    const struct store_sharing *const sharing = a.backend->driver->sharing;
    struct store_backend *const pulse = sharing->make_pulse(b.backend);
    assert_int_equal(sharing->pulse_beat(pulse, &(struct demand){.slots = 1, .pools = 2}, &members),
                     STORE_DONE);
    struct record shared = solution_of(world, 100, 1, true);
    struct record alone = solution_of(world, 101, 2, false);
    node_put(&a, &shared);
    node_put(&a, &alone);
    node_send(&a);
    const struct claim found = claim_with(claim_shared(1, 22), 500);
    assert_int_equal(node_ask(&b, &found).result, CLAIM_SOLVED);
    const struct claim won = claim_with(claim_shared(3, 11), 501);
    assert_int_equal(node_ask(&a, &won).result, CLAIM_WON);
    assert_int_equal(sharing->load_claims(a.backend, on_claim, &count), STORE_DONE);
    const struct release end = {.flight = 11, .name = key_of(3)};
    node_release(&a, &end);
    node_send(&a);
    assert_int_equal(sharing->pulse_wait(pulse, -1, 5000, on_woken, &count), STORE_DONE);
    assert_int_equal(count, 2);
    struct record attempt = world_record(world, RECORD_ATTEMPT, 500);
    node_put(&a, &attempt);
    node_send(&a);
    tell(&b, 1001, 500);
    node_send(&b);
    assert_int_equal(sharing->pulse_inbox(pulse, 10, on_fact, &count), STORE_DONE);
    assert_int_equal(count, 2);
    node_leave(&a);
    const struct claim taken = claim_single(2, 23);
    assert_int_equal(node_ask(&b, &taken).result, CLAIM_TAKEN);
    struct store_backend *const adopter = sharing->make_pulse(b.backend);
    bool is_ours = false, has_more;
    assert_int_equal(sharing->pulse_beat(pulse, &(struct demand){.slots = 1}, &members),
                     STORE_DONE);
    assert_int_equal(adopt(adopter, &members.all[0], &is_ours, &count), STORE_DONE);
    assert_true(is_ours);
    assert_int_equal(sharing->pulse_inbox(pulse, 10, on_fact, &count), STORE_DONE);
    node_forget(&b, 1001);
    node_send(&b);
    assert_int_equal(b.backend->driver->tidy(b.backend, WORLD_NOW * 2, 100, &has_more), STORE_DONE);
    assert_int_equal(sharing->pulse_beat(pulse, &(struct demand){.slots = 1}, &members),
                     STORE_DONE);
    assert_int_equal(members.count, 1);
    b.backend->driver->close(adopter);
    b.backend->driver->close(pulse);
    node_close(&b);
}

static void the_printed_rights_are_enough_and_each_is_needed(void **state)
{
    struct store_world *const world = *state;
    static const char *const needed[] = {"-multi", "-watch", "-zadd", "-set", "-info", "-pexpire"};
    const struct store_place place = {.url = url_of("solvegate:" CANARY "@"),
                                      .prefix = CASE_PREFIX};
    make_user(&place);
    struct store_backend *const backend = redis_case_open(&place);
    assert_non_null(backend);
    const struct store_driver *const driver = backend->driver;
    struct store_secret secret = {.bytes = "abc", .count = 3, .made_wall_ms = 1};
    const struct store_shift shift = {.by_ms = 1, .now = world->clocks};
    struct store_mark mark;
    bool has_more;
    struct record drop = {.kind = RECORD_REQUEST, .is_drop = true, .request = {.id = 1}};
    struct record attempt = world_record(world, RECORD_ATTEMPT, 1);
    attempt.attempt.is_closed = false;
    attempt.attempt.started_wall_ms = 1;
    assert_int_equal(redis_case_put(world, backend, 1), STORE_DONE);
    assert_int_equal(redis_case_write(backend, &drop, "alpha"), STORE_DONE);
    assert_int_equal(redis_case_write(backend, &attempt, "alpha"), STORE_DONE);
    assert_int_equal(driver->replace_secret(backend, "n", &secret, "o", NULL), STORE_DONE);
    assert_int_equal(driver->find_secret(backend, "n", &secret), STORE_DONE);
    assert_int_equal(driver->shift(backend, &shift), STORE_DONE);
    assert_int_equal(driver->read_mark(backend, &mark), STORE_DONE);
    assert_int_equal(driver->tidy(backend, WORLD_NOW, 100, &has_more), STORE_DONE);
    assert_int_equal(driver->beat(backend), STORE_DONE);
    close_backend(backend);
    for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++) {
        redis_do(server(), "ACL", "SETUSER", "solvegate", needed[i], NULL);
        struct store_backend *const lame = redis_case_open(&place);
        if (lame != NULL) {
            assert_int_equal(redis_case_put(world, lame, 2), STORE_RETRY);
            assert_non_null(strstr(lame->why, "NOPERM"));
            close_backend(lame);
        } else if (strstr(redis_case_mistake, "NOPERM") == NULL)
            fail_msg("%s: %s", needed[i], redis_case_mistake);
        /* Who lost the connection could not release it. */
        redis_do(server(), "DEL", "{" CASE_PREFIX "}:lock", NULL);
        make_user(&place);
    }
}

/* Then nobody can tell whether it syncs. */
static void a_server_that_does_not_tell_its_settings_is_refused_unless_accepted(void **state)
{
    (void)state;
    redis_do(server(), "ACL", "SETUSER", "me", "on", ">" CANARY, "~*", "&*", "+@all", "-config",
             NULL);
    assert_refused("me:" CANARY "@", "let our user run CONFIG GET");
    struct store_backend *const backend = open_as("me:" CANARY "@", true);
    assert_non_null(backend);
    assert_true(backend->is_async);
    close_backend(backend);
}

/* ---- what is there ----------------------------------------------------------------------- */

static void an_inspection_tells_what_is_there_and_changes_nothing(void **state)
{
    struct store_world *const world = *state;
    struct buf report, mistake;
    buf_init(&report, 4096);
    buf_init(&mistake, 4096);
    const struct store_place place = {.url = url_of(""), .prefix = CASE_PREFIX};
    const struct store_driver *const driver = store_kit_redis.driver;
    assert_int_equal(driver->inspect(&place, "", &report, &mistake), STORE_OPENED);
    assert_int_equal(redis_number(server(), "DBSIZE", NULL), 0);
    struct store_backend *const backend = open_as("", false);
    assert_int_equal(redis_case_put(world, backend, 1), STORE_DONE);
    buf_reset(&report);
    assert_int_equal(driver->inspect(&place, "", &report, &mistake), STORE_OPENED);
    assert_int_equal(mistake.len, 0);
    buf_add_char(&report, '\0');
    assert_non_null(strstr(report.data, "appendfsync always"));
    assert_non_null(strstr(report.data, "request: 1 rows\n"));
    assert_non_null(strstr(report.data, "schema: solvegate 2\n"));
    close_backend(backend);
    set("maxmemory-policy", "allkeys-lru");
    assert_int_equal(driver->inspect(&place, "", &report, &mistake), STORE_UNUSABLE);
    assert_true(mistake.len > 0);
    buf_close(&report);
    buf_close(&mistake);
}

static int64_t life_of(struct store_world *world, struct store_backend *backend,
                       struct record *record, const char *key)
{
    (void)world;
    assert_int_equal(redis_case_write(backend, record, "alpha"), STORE_DONE);
    return redis_number(server(), "PTTL", key, NULL);
}

/* The server may delete what nobody tidied away a day after everybody has forgotten it, and nothing else. */
static void only_what_is_over_has_a_life_of_its_own(void **state)
{
    struct store_world *const world = *state;
    struct store_backend *const backend = open_as("", false);
    const int64_t now = clocks_read().wall_ms;
    struct record request = world_record(world, RECORD_REQUEST, 1);
    request.request.state = REQUEST_SOLVED;
    request.request.expires_wall_ms = now + 3600000;
    const int64_t life = life_of(world, backend, &request, "{" CASE_PREFIX "}:request:1");
    assert_in_range(life, 23 * 3600000, 25 * 3600000);
    request = world_record(world, RECORD_REQUEST, 1);
    request.request.state = REQUEST_SOLVING;
    assert_int_equal(life_of(world, backend, &request, "{" CASE_PREFIX "}:request:1"), -1);
    struct record attempt = world_record(world, RECORD_ATTEMPT, 2);
    attempt.attempt.is_closed = false;
    assert_int_equal(life_of(world, backend, &attempt, "{" CASE_PREFIX "}:attempt:2"), -1);
    attempt = world_record(world, RECORD_ATTEMPT, 2);
    attempt.attempt.is_closed = true;
    assert_true(life_of(world, backend, &attempt, "{" CASE_PREFIX "}:attempt:2") > 0);
    struct record flight = world_record(world, RECORD_FLIGHT, 3);
    assert_int_equal(life_of(world, backend, &flight, "{" CASE_PREFIX "}:flight:3"), -1);
    struct record spent = world_record(world, RECORD_SPENT, 0);
    assert_int_equal(life_of(world, backend, &spent, "{" CASE_PREFIX "}:spent:alpha"), -1);
    close_backend(backend);
}

static void the_index_forgets_rows_that_the_server_deleted(void **state)
{
    struct store_world *const world = *state;
    struct store_backend *const backend = open_as("", false);
    bool has_more;
    struct record request = world_record(world, RECORD_REQUEST, 1);
    request.request.state = REQUEST_SOLVED;
    request.request.expires_wall_ms = WORLD_NOW;
    assert_int_equal(redis_case_write(backend, &request, "alpha"), STORE_DONE);
    redis_do(server(), "DEL", "{" CASE_PREFIX "}:request:1", NULL);
    assert_int_equal(redis_number(server(), "ZCARD", "{" CASE_PREFIX "}:request", NULL), 1);
    assert_int_equal(backend->driver->tidy(backend, WORLD_NOW, 100, &has_more), STORE_DONE);
    assert_int_equal(redis_number(server(), "ZCARD", "{" CASE_PREFIX "}:request", NULL), 0);
    close_backend(backend);
}

int main(int argc, char **argv)
{
    seed_init(argc, argv);
    const struct CMUnitTest tests[] = {
        REDIS_CASE(a_server_that_may_lose_records_is_refused_unless_that_is_accepted),
        REDIS_CASE(a_server_that_evicts_is_refused_in_any_case),
        REDIS_CASE(a_replica_is_refused),
        REDIS_CASE(a_server_that_is_full_from_the_start_is_refused),
        REDIS_CASE(settings_that_change_while_it_runs_count_from_the_next_connection_on),
        REDIS_CASE(settings_that_change_on_an_open_connection_are_noticed_by_a_look),
        REDIS_CASE(a_change_of_what_an_acknowledgement_is_worth_is_told),
        REDIS_CASE(keys_of_somebody_else_are_left_alone),
        REDIS_CASE(a_key_that_becomes_somebody_elses_while_it_runs_ends_all_writing),
        REDIS_CASE(prefixes_and_databases_do_not_meet),
        REDIS_CASE(a_wrong_password_is_explained_and_never_told),
        REDIS_CASE(a_password_that_was_forgotten_is_asked_for),
        REDIS_CASE(the_printed_rights_are_enough_and_each_is_needed),
        REDIS_CASE(a_full_server_takes_facts_and_gives_the_dead_ones_rows),
        REDIS_CASE(the_printed_rights_are_enough_for_gateways_that_share),
        REDIS_CASE(a_server_that_does_not_tell_its_settings_is_refused_unless_accepted),
        REDIS_CASE(an_inspection_tells_what_is_there_and_changes_nothing),
        REDIS_CASE(only_what_is_over_has_a_life_of_its_own),
        REDIS_CASE(the_index_forgets_rows_that_the_server_deleted),
    };
    return redis_case_run(tests);
}
