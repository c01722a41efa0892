#include "store_nodes.h"

#include "store_expect.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- life -------------------------------------------------------------------------------- */

static void open_place(struct node *node, struct store_world *world, const char *name,
                       uint32_t lease_ms, const char *run)
{
    const struct store_driver *const driver = world->kit->driver;
    char url[2 * PATH_MAX];
    struct buf mistake;
    *node = (struct node){.world = world};
    buf_init(&mistake, sizeof(node->mistake) - 1);
    world->kit->url(world, url, sizeof(url));
    const struct store_place place = {.url = url,
                                      .prefix = "solvegate_test",
                                      .node = name,
                                      .run = run,
                                      .lease_ms = lease_ms,
                                      .heartbeat_ms = 2000};
    node->opening = driver->lock(&place, strchr(url, ':') + 1, &node->backend, &mistake);
    if (node->opening == STORE_OPENED) {
        node->backend->driver = driver;
        node->opening = driver->open(node->backend, &mistake);
    }
    (void)snprintf(node->mistake, sizeof(node->mistake), "%.*s", (int)mistake.len,
                   buf_slice(&mistake).data);
    buf_close(&mistake);
    if (node->opening != STORE_OPENED && node->backend != NULL) {
        driver->close(node->backend);
        node->backend = NULL;
    }
}

void node_open_with(struct node *node, struct store_world *world, const char *name,
                    uint32_t lease_ms)
{
    open_place(node, world, name, lease_ms, NULL);
}

void node_open_run(struct node *node, struct store_world *world, const char *name, const char *run)
{
    open_place(node, world, name, NODE_LEASE_MS, run);
}

void node_open(struct node *node, struct store_world *world, const char *name)
{
    node_open_with(node, world, name, NODE_LEASE_MS);
    if (node->opening != STORE_OPENED)
        (void)fprintf(stderr, "%s\n", node->mistake);
    assert_int_equal(node->opening, STORE_OPENED);
}

static void forget(struct node *node)
{
    for (uint32_t i = 0; i < node->count; i++)
        store_entry_free(node->entries[i]);
    node->count = 0;
    node->is_sent = false;
}

void node_close(struct node *node)
{
    forget(node);
    if (node->backend != NULL)
        node->backend->driver->close(node->backend);
    node->backend = NULL;
}

void node_leave(struct node *node)
{
    assert_int_equal(node->backend->driver->sharing->leave(node->backend), STORE_DONE);
    node_close(node);
}

/* ---- batches ----------------------------------------------------------------------------- */

static struct store_entry *add(struct node *node, const char *client)
{
    if (node->is_sent)
        forget(node);
    assert_true(node->count < NODE_ENTRIES_MAX);
    struct store_entry *const entry = store_entry_named(0, client);
    if (node->count > 0)
        node->entries[node->count - 1]->next = entry;
    node->entries[node->count++] = entry;
    return entry;
}

void node_put(struct node *node, struct record *take_record)
{
    const client_id *const client = row_client(take_record);
    const char *const name = client == NULL ? "" : *client == 0 ? "alpha" : "beta";
    add(node, name)->record = *take_record;
}

void node_drop(struct node *node, const struct record *record)
{
    struct record drop = expect_drop_of(record);
    node_put(node, &drop);
}

struct store_asked *node_claim(struct node *node, const struct claim *claim)
{
    struct store_asked *const asked = calloc(1, sizeof(*asked));
    assert_non_null(asked);
    asked->claim = *claim;
    asked->idempotency_ttl_ms = 3600000;
    asked->claimed.result = CLAIM_UNAVAILABLE;
    add(node, "alpha")->asked = asked;
    return asked;
}

struct store_drawn *node_draw(struct node *node, const char *client, const struct draw *draw)
{
    struct store_drawn *const drawn = malloc(sizeof(*drawn));
    assert_non_null(drawn);
    *drawn = (struct store_drawn){.draw = *draw, .drawn = {.number = draw->number}};
    add(node, client)->drawn = drawn;
    return drawn;
}

void node_release(struct node *node, const struct release *release)
{
    struct release *const copy = malloc(sizeof(*copy));
    assert_non_null(copy);
    *copy = *release;
    add(node, "")->release = copy;
}

void node_tell(struct node *node, const struct fact *take_fact)
{
    struct fact *const copy = malloc(sizeof(*copy));
    assert_non_null(copy);
    *copy = *take_fact;
    add(node, "")->told = copy;
}

void node_forget(struct node *node, uint64_t number)
{
    add(node, "")->forgotten = number;
}

enum store_result node_refusal(const struct node *node)
{
    return node->backend->driver->sharing->adopt == NULL ? STORE_FAILED : STORE_REFUSED;
}

static enum store_result write_batch(struct node *node)
{
    const struct store_batch batch = {
        .first = node->entries[0], .count = node->count, .number = node->number};
    node->is_sent = true;
    return node->backend->driver->write(node->backend, &batch);
}

enum store_result node_try(struct node *node)
{
    node->number++;
    return write_batch(node);
}

/* On a busy machine a lock may be waited for in vain; the port sends the batch again, too. */
void node_send(struct node *node)
{
    enum store_result result = node_try(node);
    for (unsigned i = 0; i < 20 && result == STORE_RETRY; i++) {
        (void)printf("# sent again: %s\n", node->backend->why);
        uv_sleep(100);
        result = write_batch(node);
    }
    if (result != STORE_DONE)
        (void)fprintf(stderr, "%s\n", node->backend->why);
    assert_int_equal(result, STORE_DONE);
}

void node_send_again(struct node *node)
{
    for (uint32_t i = 0; i < node->count; i++) {
        struct store_asked *const asked = node->entries[i]->asked;
        if (node->entries[i]->drawn != NULL)
            node->entries[i]->drawn->drawn = (struct drawn){.is_known = false};
        if (asked == NULL)
            continue;
        if (asked->has_solution)
            record_close(&asked->solution);
        asked->has_solution = false;
        asked->claimed = (struct claimed){.result = CLAIM_UNAVAILABLE};
    }
    assert_int_equal(write_batch(node), STORE_DONE);
}

struct claimed node_ask(struct node *node, const struct claim *claim)
{
    const struct store_asked *const asked = node_claim(node, claim);
    node_send(node);
    return asked->claimed;
}

/* ---- things ------------------------------------------------------------------------------ */

/* Neighbours of one another have different first bytes, so that sorted is not the order of asking. */
struct key key_of(uint32_t number)
{
    struct key key = {{0}};
    key.bytes[0] = (uint8_t)(number * 37);
    memcpy(key.bytes + 4, &number, sizeof(number));
    return key;
}

struct claim claim_shared(uint32_t key, uint64_t flight)
{
    return (struct claim){.flight = flight,
                          .ticket = flight,
                          .reuse = REUSE_SHARED,
                          .has_name = true,
                          .max_age_ms = UINT32_MAX,
                          .key = key_of(key),
                          .name = key_of(key)};
}

struct claim claim_single(uint32_t key, uint64_t flight)
{
    struct claim claim = claim_shared(key, flight);
    claim.reuse = REUSE_SINGLE;
    claim.has_name = false;
    claim.may_take = true;
    claim.offered = claim.key;
    return claim;
}

struct claim claim_with(struct claim claim, uint32_t idempotency)
{
    claim.has_idempotency = true;
    claim.idempotency = key_of(idempotency);
    if (claim.reuse != REUSE_SHARED) {
        claim.has_name = true;
        claim.name = claim.idempotency;
    }
    return claim;
}

struct record solution_of(struct store_world *world, uint64_t id, uint32_t key, bool is_shared)
{
    struct record record = world_record(world, RECORD_SOLUTION, id);
    const int64_t now_ms = clocks_read().wall_ms;
    record.solution.client = 0;
    record.solution.key = key_of(key);
    record.solution.flight = 0;
    record.solution.born_wall_ms = now_ms - 1000;
    record.solution.expires_wall_ms = now_ms + 60000;
    record.solution.handed = 0;
    record.solution.is_kept = true;
    record.solution.is_shared = is_shared;
    record.solution.is_bad = false;
    return record;
}
