/* Adoption in Redis happens in many small steps: each of them may be the last one of whoever adopts. */
#include "redis_proxy.h"
#include "redis_store_world.h"
#include "store_nodes.h"

#include "seed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

/* More than the driver moves by one script, and claims that are not as many. */
#define FLIGHTS 1100
#define CLAIMS 300
#define BATCH 275

static struct redis_proxy proxy;

static void proxy_url(const struct store_world *world, char *url, size_t room)
{
    (void)world;
    (void)snprintf(url, room, "redis+unix://%s", proxy.path);
}

static void begin_proxy(void)
{
    proxy = (struct redis_proxy){.listener = -1};
    (void)snprintf(proxy.target, sizeof(proxy.target), "%s", store_kit_redis_server()->socket);
    assert_true((size_t)snprintf(proxy.path, sizeof(proxy.path), "%s/proxy",
                                 store_kit_redis_server()->directory) < sizeof(proxy.path));
    redis_proxy_start(&proxy);
}

static void end_proxy(void)
{
    redis_proxy_stop(&proxy);
    redis_proxy_free(&proxy);
}

static void open_by_proxy(struct node *node, struct store_world *world, const char *name)
{
    const struct store_kit *const kit = world->kit;
    struct store_kit other = *kit;
    other.url = proxy_url;
    world->kit = &other;
    node_open(node, world, name);
    world->kit = kit;
}

/* ---- what is there ----------------------------------------------------------------------- */

struct seen {
    unsigned flights, claims, adoptions;
    unsigned char of_flight[FLIGHTS + 1], of_claim[CLAIMS + 1];
};

static void see_row(void *context, enum record_kind kind, const struct row_value *values)
{
    struct seen *const seen = context;
    struct record record = {.kind = kind};
    struct slice client;
    assert_true(row_from_values(values, &record, &client));
    if (kind == RECORD_FLIGHT) {
        assert_true(record.flight.id >= 1 && record.flight.id <= FLIGHTS);
        assert_int_equal(seen->of_flight[record.flight.id]++, 0);
        seen->flights++;
        seen->adoptions += record.flight.adoptions;
    }
    record_close(&record);
}

static void see_claim(void *context, const struct key *name, uint64_t flight)
{
    struct seen *const seen = context;
    (void)name;
    assert_true(flight >= 1 && flight <= CLAIMS);
    assert_int_equal(seen->of_claim[flight]++, 0);
    seen->claims++;
}

static struct store_member see(const struct node *by, const struct node *other)
{
    static struct store_members members;
    const struct store_sharing *const sharing = by->backend->driver->sharing;
    struct store_backend *const pulse = sharing->make_pulse(by->backend);
    assert_int_equal(sharing->pulse_beat(pulse, &(struct demand){.slots = 0}, &members),
                     STORE_DONE);
    pulse->driver->close(pulse);
    for (uint32_t i = 0; i < members.count; i++)
        if (members.all[i].node == other->backend->node)
            return members.all[i];
    fail_msg("the node is not among the members");
    return members.all[0];
}

static void fill(struct node *node)
{
    for (unsigned i = 1; i <= FLIGHTS; i++) {
        struct record record = world_record(node->world, RECORD_FLIGHT, i);
        record.flight.adoptions = 0;
        node_put(node, &record);
        if (i % BATCH == 0)
            node_send(node);
    }
    for (unsigned i = 1; i <= CLAIMS; i++) {
        const struct claim claim = claim_shared(i, i);
        (void)node_claim(node, &claim);
    }
    node_send(node);
}

static enum store_result adopt(struct store_backend *backend, const struct store_member *dead,
                               bool is_again, bool *is_ours, struct seen *seen)
{
    const struct store_adopted to = {.context = seen, .on_values = see_row, .on_claim = see_claim};
    return backend->driver->sharing->adopt(backend, dead, is_again, is_ours, &to);
}

static void assert_all(const struct seen *seen, unsigned adoptions)
{
    assert_int_equal(seen->flights, FLIGHTS);
    assert_int_equal(seen->claims, CLAIMS);
    assert_int_equal(seen->adoptions, FLIGHTS * adoptions);
}

/* ---- in the middle ----------------------------------------------------------------------- */

/* Bytes from and to the server: before anything was taken, in the first part, and in the second one. */
static const long cuts[] = {3000, 100000, 300000, 600000};
#define CUTS (sizeof(cuts) / sizeof(cuts[0]))

/* A's rows, of which b has got some when its connection is lost. */
struct broken {
    struct node a, b;
    struct store_member dead;
    struct store_backend *backend;
    struct seen seen;
    enum store_result result;
    bool is_ours;
};

static void begin_adoption(struct broken *broken, struct store_world *world, atomic_long *cut,
                           long after)
{
    *broken = (struct broken){.is_ours = false};
    redis_do(store_kit_redis_server(), "FLUSHALL", NULL);
    node_open(&broken->a, world, "a");
    open_by_proxy(&broken->b, world, "b");
    fill(&broken->a);
    broken->dead = see(&broken->b, &broken->a);
    broken->backend = broken->b.backend->driver->sharing->make_pulse(broken->b.backend);
    atomic_store(cut, after);
    broken->result = adopt(broken->backend, &broken->dead, false, &broken->is_ours, &broken->seen);
    atomic_store(cut, -1);
}

static void end_adoption(struct broken *broken)
{
    broken->backend->driver->close(broken->backend);
    node_close(&broken->a);
    node_close(&broken->b);
}

static void nothing_is_given_twice_when_the_connection_is_lost(void **state)
{
    static struct broken it;
    unsigned retries = 0;
    begin_proxy();
    for (size_t i = 0; i < 2 * CUTS; i++) {
        begin_adoption(&it, *state, i % 2 == 0 ? &proxy.cut_commands : &proxy.cut_replies,
                       cuts[i / 2]);
        retries += it.result == STORE_RETRY ? 1 : 0;
        while (it.result == STORE_RETRY)
            it.result = adopt(it.backend, &it.dead, true, &it.is_ours, &it.seen);
        assert_int_equal(it.result, STORE_DONE);
        if (it.is_ours)
            assert_all(&it.seen, 1);
        else
            assert_int_equal(it.seen.flights, 0);
        end_adoption(&it);
    }
    assert_true(retries > CUTS);
    end_proxy();
}

static void whoever_adopts_an_adopter_gets_the_rest_as_well(void **state)
{
    static struct broken it;
    static struct seen seen;
    unsigned halves = 0;
    begin_proxy();
    for (size_t i = 0; i < CUTS; i++) {
        struct node c;
        bool is_ours = false;
        begin_adoption(&it, *state, &proxy.cut_replies, cuts[i]);
        halves += it.seen.flights > 0 && it.seen.claims < CLAIMS ? 1 : 0;
        node_open(&c, *state, "c");
        struct store_backend *const backend = c.backend->driver->sharing->make_pulse(c.backend);
        struct store_member dead = see(&c, &it.b);
        seen = (struct seen){.flights = 0};
        assert_int_equal(adopt(backend, &dead, false, &is_ours, &seen), STORE_DONE);
        assert_true(is_ours);
        if (seen.flights == 0) {
            /* It had not even begun. */
            dead = see(&c, &it.a);
            assert_int_equal(adopt(backend, &dead, false, &is_ours, &seen), STORE_DONE);
            assert_all(&seen, 1);
        } else {
            assert_all(&seen, 2);
        }
        assert_int_equal(
            redis_number(store_kit_redis_server(), "EXISTS", "{" CASE_PREFIX "}:chests", NULL), 0);
        backend->driver->close(backend);
        node_close(&c);
        end_adoption(&it);
    }
    assert_true(halves > 0);
    end_proxy();
}

static void an_adopter_that_comes_back_has_all_of_it(void **state)
{
    static struct broken it;
    static struct seen seen;
    begin_proxy();
    for (size_t i = 1; i < CUTS; i++) {
        begin_adoption(&it, *state, &proxy.cut_replies, cuts[i]);
        assert_int_equal(it.result, STORE_RETRY);
        node_close(&it.b);
        node_open(&it.b, *state, "b");
        seen = (struct seen){.flights = 0};
        const struct store_driver *const driver = it.b.backend->driver;
        assert_int_equal(driver->load(it.b.backend, WORLD_NOW, see_row, &seen), STORE_DONE);
        assert_int_equal(driver->sharing->load_claims(it.b.backend, see_claim, &seen), STORE_DONE);
        assert_all(&seen, 2);
        end_adoption(&it);
    }
    end_proxy();
}

/* ---- a store that is not as it was --------------------------------------------------------- */

/* Empties the store as soon as something is given, so that the rest of the chest is gone, and so is whoever adopts. */
static void empty_at_first(void *context, enum record_kind kind, const struct row_value *values)
{
    unsigned *const count = context;
    (void)kind;
    (void)values;
    if ((*count)++ == 0)
        redis_do(store_kit_redis_server(), "FLUSHALL", NULL);
}

static void see_no_claim(void *context, const struct key *name, uint64_t flight)
{
    (void)context;
    (void)name;
    (void)flight;
}

static void an_adopter_whose_store_is_emptied_goes_on_as_itself(void **state)
{
    struct node a, b;
    unsigned count = 0;
    bool is_ours = false;
    const struct store_adopted to = {
        .context = &count, .on_values = empty_at_first, .on_claim = see_no_claim};
    node_open(&a, *state, "a");
    node_open(&b, *state, "b");
    fill(&a);
    const struct store_member dead = see(&b, &a);
    struct store_backend *const backend = b.backend->driver->sharing->make_pulse(b.backend);
    const struct store_sharing *const sharing = backend->driver->sharing;
    assert_int_equal(sharing->adopt(backend, &dead, false, &is_ours, &to), STORE_RETRY);
    assert_true(count > 0);
    /* As long as it has not entered again, it cannot know. */
    assert_int_equal(sharing->adopt(backend, &dead, true, &is_ours, &to), STORE_RETRY);
    struct record record = world_record(b.world, RECORD_FLIGHT, 1);
    node_put(&b, &record);
    node_send(&b);
    assert_int_equal(b.backend->losses, 1);
    assert_int_equal(sharing->adopt(backend, &dead, true, &is_ours, &to), STORE_DONE);
    assert_false(is_ours);
    backend->driver->close(backend);
    node_close(&a);
    node_close(&b);
}

static void count_rows(void *context, enum record_kind kind, const struct row_value *values)
{
    unsigned *const counts = context;
    struct record record = {.kind = kind};
    struct slice client;
    counts[row_from_values(values, &record, &client) ? 0 : 1]++;
    record_close(&record);
}

static void rows_that_are_damaged_are_given_as_such_and_all_others_come(void **state)
{
    struct redis_server *const server = store_kit_redis_server();
    struct node a, b;
    unsigned counts[2] = {0, 0};
    bool is_ours = false;
    const struct store_adopted to = {
        .context = counts, .on_values = count_rows, .on_claim = see_no_claim};
    node_open(&a, *state, "a");
    node_open(&b, *state, "b");
    fill(&a);
    redis_do(server, "SET", "{" CASE_PREFIX "}:flight:1", "nonsense", NULL);
    redis_do(server, "DEL", "{" CASE_PREFIX "}:flight:2", NULL);
    redis_do(server, "RPUSH", "{" CASE_PREFIX "}:flight:2", "x", NULL);
    redis_do(server, "DEL", "{" CASE_PREFIX "}:flight:3", NULL);
    const struct store_member dead = see(&b, &a);
    struct store_backend *const backend = b.backend->driver->sharing->make_pulse(b.backend);
    assert_int_equal(backend->driver->sharing->adopt(backend, &dead, false, &is_ours, &to),
                     STORE_DONE);
    assert_true(is_ours);
    assert_int_equal(counts[0], FLIGHTS - 3);
    assert_int_equal(counts[1], 2);
    backend->driver->close(backend);
    node_close(&a);
    node_close(&b);
}

int main(int argc, char **argv)
{
    seed_init(argc, argv);
    const struct CMUnitTest tests[] = {
        REDIS_CASE(nothing_is_given_twice_when_the_connection_is_lost),
        REDIS_CASE(whoever_adopts_an_adopter_gets_the_rest_as_well),
        REDIS_CASE(an_adopter_that_comes_back_has_all_of_it),
        REDIS_CASE(an_adopter_whose_store_is_emptied_goes_on_as_itself),
        REDIS_CASE(rows_that_are_damaged_are_given_as_such_and_all_others_come),
    };
    return redis_case_run(tests);
}
