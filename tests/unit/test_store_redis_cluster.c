/* Gateways that share a Redis which another server succeeds: their slot is taken away, it becomes a replica, a replica
 * is promoted. Until it is back the store is away, since no script of ours has begun by then. */
#include "redis_store_world.h"
#include "store_nodes.h"

#include "seed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

static struct redis_server *server(void)
{
    return store_kit_redis_server();
}

static int cluster_set_up(void **state)
{
    union {
        const struct store_kit *kit;
        void *state;
    } first = {.kit = &store_kit_redis_cluster};
    *state = first.state;
    return world_set_up(state);
}

#define CLUSTER_CASE(name) {#name, name, cluster_set_up, world_tear_down, NULL}

static const char *slot(void)
{
    static char text[16];
    (void)snprintf(
        text, sizeof(text), "%lld",
        (long long)redis_number(server(), "CLUSTER", "KEYSLOT", "{" CASE_PREFIX "}:", NULL));
    return text;
}

static void assert_why(const struct store_backend *backend, const char *words)
{
    if (strstr(backend->why, words) == NULL)
        fail_msg("\"%s\" is not in: %s", words, backend->why);
}

static void put_flight(struct node *node, uint64_t number)
{
    struct record record = world_record(node->world, RECORD_FLIGHT, number);
    node_put(node, &record);
}

/* A gateway with a row and a claim, and the connections besides. */
struct sharer {
    struct node node;
    struct store_backend *pulse, *adopter;
    struct store_members members;
};

static const struct store_sharing *sharing(const struct sharer *sharer)
{
    return sharer->node.backend->driver->sharing;
}

static enum store_result beat(struct sharer *sharer)
{
    const struct demand none = {.slots = 0};
    return sharing(sharer)->pulse_beat(sharer->pulse, &none, &sharer->members);
}

static void open_sharer(struct sharer *sharer, struct store_world *world)
{
    node_open(&sharer->node, world, "a");
    sharer->pulse = sharing(sharer)->make_pulse(sharer->node.backend);
    sharer->adopter = sharing(sharer)->make_pulse(sharer->node.backend);
    const struct claim claim = claim_shared(11, 11);
    assert_int_equal(node_ask(&sharer->node, &claim).result, CLAIM_WON);
    assert_int_equal(beat(sharer), STORE_DONE);
}

static void close_sharer(struct sharer *sharer)
{
    sharer->pulse->driver->close(sharer->pulse);
    sharer->adopter->driver->close(sharer->adopter);
    node_close(&sharer->node);
}

static void on_values(void *context, enum record_kind kind, const struct row_value *values)
{
    (void)context;
    (void)kind;
    (void)values;
}

static void on_claim(void *context, const struct key *name, uint64_t flight)
{
    (void)context;
    (void)name;
    (void)flight;
}

static enum store_result adopt(struct sharer *sharer)
{
    const struct store_adopted to = {.on_values = on_values, .on_claim = on_claim};
    const struct store_member nobody = {.node = 77, .incarnation = 1};
    bool is_ours = true;
    return sharing(sharer)->adopt(sharer->adopter, &nobody, false, &is_ours, &to);
}

static int64_t rows(void)
{
    return redis_number(server(), "EVAL", "return #redis.call('KEYS', '*:flight:*')", "0", NULL);
}

/* Whatever is asked is away, and nothing of a batch is written. */
static void assert_away(struct sharer *sharer, const char *words)
{
    put_flight(&sharer->node, 7);
    assert_int_equal(node_try(&sharer->node), STORE_RETRY);
    assert_why(sharer->node.backend, words);
    assert_int_equal(beat(sharer), STORE_RETRY);
    assert_why(sharer->pulse, words);
    assert_int_equal(adopt(sharer), STORE_RETRY);
    assert_why(sharer->adopter, words);
    const struct store_driver *const driver = sharer->node.backend->driver;
    assert_int_equal(driver->beat(sharer->node.backend), STORE_RETRY);
}

/* The batch that was refused is written, and what was claimed still is. */
static void assert_back(struct sharer *sharer)
{
    assert_int_equal(rows(), 0);
    node_send_again(&sharer->node);
    assert_int_equal(rows(), 1);
    assert_int_equal(beat(sharer), STORE_DONE);
    assert_int_equal(adopt(sharer), STORE_DONE);
    assert_int_equal(sharer->node.backend->losses, 0);
}

static enum claim_result ask_for(struct node *node, uint32_t key, uint64_t flight)
{
    const struct claim claim = claim_shared(key, flight);
    return node_ask(node, &claim).result;
}

static void a_slot_that_is_taken_away_is_waited_for(void **state)
{
    static struct sharer sharer;
    open_sharer(&sharer, *state);
    redis_do(server(), "CLUSTER", "DELSLOTS", slot(), NULL);
    assert_away(&sharer, "CLUSTERDOWN");
    redis_do(server(), "CLUSTER", "ADDSLOTS", slot(), NULL);
    redis_await_info(server(), "cluster", "cluster_state:ok");
    assert_back(&sharer);
    assert_int_equal(ask_for(&sharer.node, 11, 12), CLAIM_FOLLOW);
    close_sharer(&sharer);
}

/* Another server of the same cluster. */
static void start_other(struct redis_server *other, const struct store_world *world)
{
    char port[16], bus[16];
    *other = (struct redis_server){.port = 0};
    memcpy(other->program, server()->program, sizeof(other->program));
    world_path(world, "other", other->directory, sizeof(other->directory));
    assert_int_equal(mkdir(other->directory, 0700), 0);
    redis_start_cluster(other, false);
    (void)snprintf(port, sizeof(port), "%u", other->port);
    (void)snprintf(bus, sizeof(bus), "%s", other->extra[3]);
    redis_do(server(), "CLUSTER", "MEET", "127.0.0.1", port, bus, NULL);
    redis_await_info(server(), "cluster", "cluster_known_nodes:2");
    redis_await_info(other, "cluster", "cluster_known_nodes:2");
    redis_await_info(other, "cluster", "cluster_state:ok");
}

/* It says so with a newer epoch, and the first one hears of it by and by. */
static void give_slot(const struct redis_server *to, const char *id)
{
    struct redis_reply *const first = redis_ask(server(), "CLUSTER", "MYID", NULL);
    bool has_moved = false;
    redis_do(to, "CLUSTER", "SETSLOT", slot(), "IMPORTING", first->bytes, NULL);
    redis_do(to, "CLUSTER", "SETSLOT", slot(), "NODE", id, NULL);
    redis_reply_free(first);
    for (unsigned i = 0; i < 1000 && !has_moved; i++) {
        struct redis_reply *const reply = redis_ask(server(), "GET", "{" CASE_PREFIX "}:", NULL);
        has_moved = reply->type == REPLY_ERROR && strncmp(reply->bytes, "MOVED", 5) == 0;
        redis_reply_free(reply);
        uv_sleep(20);
    }
    assert_true(has_moved);
}

static void a_slot_that_moves_to_another_server_is_waited_for(void **state)
{
    static struct sharer sharer;
    static struct redis_server other;
    open_sharer(&sharer, *state);
    start_other(&other, *state);
    struct redis_reply *const id = redis_ask(&other, "CLUSTER", "MYID", NULL);
    /* Some keys may have moved already, so that nothing can be done as a whole. */
    redis_do(server(), "CLUSTER", "SETSLOT", slot(), "MIGRATING", id->bytes, NULL);
    assert_away(&sharer, "ASK");
    redis_do(server(), "CLUSTER", "SETSLOT", slot(), "STABLE", NULL);
    assert_back(&sharer);
    give_slot(&other, id->bytes);
    put_flight(&sharer.node, 8);
    assert_int_equal(node_try(&sharer.node), STORE_RETRY);
    assert_why(sharer.node.backend, "another node of its cluster has our keys");
    assert_int_equal(beat(&sharer), STORE_RETRY);
    redis_reply_free(id);
    redis_stop(&other);
    close_sharer(&sharer);
}

static void a_server_that_becomes_a_replica_is_away_for_those_who_share_it(void **state)
{
    static struct sharer sharer;
    open_sharer(&sharer, *state);
    redis_do(server(), "REPLICAOF", "127.0.0.1", "1", NULL);
    assert_away(&sharer, "replica");
    redis_do(server(), "REPLICAOF", "NO", "ONE", NULL);
    assert_back(&sharer);
    assert_int_equal(ask_for(&sharer.node, 13, 13), CLAIM_UNAVAILABLE);
    sharer.node.backend->grace_until_ns = 1;
    assert_int_equal(ask_for(&sharer.node, 11, 12), CLAIM_FOLLOW);
    close_sharer(&sharer);
}

/* ---- a successor ------------------------------------------------------------------------- */

/* A replica that has all that is written by now, and gets no more. */
static void make_replica(struct redis_server *replica, const struct store_world *world)
{
    char port[16];
    (void)snprintf(port, sizeof(port), "%u", redis_free_port());
    redis_do(server(), "CONFIG", "SET", "port", port, NULL);
    *replica = (struct redis_server){.port = 0};
    memcpy(replica->program, server()->program, sizeof(replica->program));
    world_path(world, "replica", replica->directory, sizeof(replica->directory));
    assert_int_equal(mkdir(replica->directory, 0700), 0);
    redis_start(replica);
    redis_do(replica, "REPLICAOF", "127.0.0.1", port, NULL);
    redis_await_info(replica, "replication", "master_link_status:up");
    redis_do(server(), "SET", "last", "1", NULL);
    for (unsigned i = 0; redis_number(replica, "EXISTS", "last", NULL) == 0; i++) {
        assert_true(i < 1000);
        uv_sleep(10);
    }
    redis_do(replica, "REPLICAOF", "NO", "ONE", NULL);
}

/* It answers where the one that was killed did. */
static void succeed(const struct redis_server *replica)
{
    redis_kill(server());
    assert_int_equal(rename(replica->socket, server()->socket), 0);
}

static void who_has_lost_nothing_waits_for_those_who_have(void **state)
{
    static struct redis_server replica;
    struct node a, b;
    node_open(&a, *state, "a");
    node_open(&b, *state, "b");
    assert_int_equal(ask_for(&a, 11, 11), CLAIM_WON);
    assert_int_equal(ask_for(&b, 12, 12), CLAIM_WON);
    make_replica(&replica, *state);
    assert_int_equal(ask_for(&b, 13, 13), CLAIM_WON);
    succeed(&replica);
    assert_int_equal(ask_for(&a, 13, 14), CLAIM_UNAVAILABLE);
    assert_int_equal(a.backend->losses, 0);
    struct claim own = claim_shared(13, 13);
    own.reuse = REUSE_NONE;
    own.is_held = true;
    assert_int_equal(node_ask(&b, &own).result, CLAIM_WON);
    assert_int_equal(b.backend->losses, 1);
    /* After the lease. */
    assert_true(a.backend->grace_until_ns > uv_hrtime() + NODE_LEASE_MS * UINT64_C(500000));
    a.backend->grace_until_ns = 1;
    assert_int_equal(ask_for(&a, 13, 15), CLAIM_FOLLOW);
    assert_int_equal(ask_for(&a, 16, 16), CLAIM_WON);
    node_close(&a);
    node_close(&b);
    redis_stop(&replica);
}

/* Its file has everything, and nobody else can have taken its place. */
static void a_server_that_is_only_restarted_makes_nobody_wait(void **state)
{
    struct node a;
    node_open(&a, *state, "a");
    assert_int_equal(ask_for(&a, 11, 11), CLAIM_WON);
    redis_kill(server());
    redis_start(server());
    assert_int_equal(ask_for(&a, 12, 12), CLAIM_WON);
    node_close(&a);
}

int main(int argc, char **argv)
{
    seed_init(argc, argv);
    const struct CMUnitTest tests[] = {
        CLUSTER_CASE(a_slot_that_is_taken_away_is_waited_for),
        CLUSTER_CASE(a_slot_that_moves_to_another_server_is_waited_for),
        REDIS_CASE(a_server_that_becomes_a_replica_is_away_for_those_who_share_it),
        REDIS_CASE(who_has_lost_nothing_waits_for_those_who_have),
        REDIS_CASE(a_server_that_is_only_restarted_makes_nobody_wait),
    };
    return redis_case_run(tests);
}
