/* A shared store that is set back to an older state of itself, as by a dump that is loaded again, under a gateway that
 * stays connected: it knows the gateway, but not what it acknowledged last. */
#include "store_conformance.h"
#include "store_nodes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void put_one(struct node *node, uint64_t id)
{
    struct record record = world_record(node->world, RECORD_FLIGHT, id);
    node_put(node, &record);
}

static void send_one(struct node *node, uint64_t id)
{
    put_one(node, id);
    node_send(node);
}

/* A gateway that has written a few batches. */
static bool begin(struct node *node, struct store_world *world)
{
    if (world->kit->set_back == NULL)
        return false;
    node_open(node, world, "a");
    for (uint64_t id = 1; id <= 3; id++)
        send_one(node, id);
    return true;
}

/* Once: from now on the store has what this run writes. */
static void assert_lost_once(struct node *node)
{
    assert_int_equal(node->backend->losses, 1);
    send_one(node, 9);
    assert_int_equal(node->backend->driver->beat(node->backend), STORE_DONE);
    assert_int_equal(node->backend->losses, 1);
}

/* As after a lease, the others may ask for what they had before. */
static void a_batch_notices_that_older_rows_are_back(void **state)
{
    struct node a;
    if (!begin(&a, *state))
        skip();
    const uint64_t incarnation = a.backend->incarnation;
    a.world->kit->set_back();
    put_one(&a, 4);
    const struct claim claim = claim_shared(11, 11);
    const struct store_asked *const asked = node_claim(&a, &claim);
    node_send(&a);
    assert_int_equal(asked->claimed.result, CLAIM_UNAVAILABLE);
    assert_int_equal(a.backend->incarnation, incarnation);
    assert_int_equal(a.world->kit->count_rows(a.world, RECORD_FLIGHT), 4);
    assert_lost_once(&a);
    node_close(&a);
}

static void a_batch_of_claims_alone_notices_it(void **state)
{
    struct node a;
    if (!begin(&a, *state))
        skip();
    a.world->kit->set_back();
    const struct claim claim = claim_shared(11, 11);
    assert_int_equal(node_ask(&a, &claim).result, CLAIM_UNAVAILABLE);
    assert_lost_once(&a);
    node_close(&a);
}

static void a_batch_of_facts_alone_notices_it(void **state)
{
    struct node a;
    if (!begin(&a, *state))
        skip();
    a.world->kit->set_back();
    const struct fact fact = {.number = 1001,
                              .kind = FACT_ERRAND,
                              .result.text = blob_new(SLICE_OF("ann")),
                              .errand = {.verb = ERRAND_REPORT_BAD,
                                         .from = a.backend->node,
                                         .to = a.backend->node,
                                         .id = 5,
                                         .caller = 5,
                                         .ticket = 1001}};
    node_tell(&a, &fact);
    node_send(&a);
    assert_lost_once(&a);
    node_close(&a);
}

static void a_beat_notices_it_while_nothing_is_written(void **state)
{
    struct node a;
    if (!begin(&a, *state))
        skip();
    a.world->kit->set_back();
    assert_int_equal(a.backend->driver->beat(a.backend), STORE_DONE);
    assert_lost_once(&a);
    node_close(&a);
}

/* The one whose reply was lost came with the number before. */
static void a_batch_that_is_sent_again_notices_it_as_well(void **state)
{
    struct node a;
    if (!begin(&a, *state))
        skip();
    put_one(&a, 4);
    node_send(&a);
    a.world->kit->set_back();
    node_send_again(&a);
    assert_int_equal(a.world->kit->count_rows(a.world, RECORD_FLIGHT), 4);
    assert_lost_once(&a);
    node_close(&a);
}

/* Nor does a batch that was applied before it was acknowledged. */
static void numbers_that_were_skipped_are_no_loss(void **state)
{
    struct node a;
    node_open(&a, *state, "a");
    a.number = 4;
    send_one(&a, 1);
    a.number += 7;
    send_one(&a, 2);
    node_send_again(&a);
    assert_int_equal(a.backend->driver->beat(a.backend), STORE_DONE);
    send_one(&a, 3);
    assert_int_equal(a.backend->losses, 0);
    node_close(&a);
}

const struct store_case store_setback_cases[] = {
    STORE_CASE(a_batch_notices_that_older_rows_are_back),
    STORE_CASE(a_batch_of_claims_alone_notices_it),
    STORE_CASE(a_batch_of_facts_alone_notices_it),
    STORE_CASE(a_beat_notices_it_while_nothing_is_written),
    STORE_CASE(a_batch_that_is_sent_again_notices_it_as_well),
    STORE_CASE(numbers_that_were_skipped_are_no_loss),
    {NULL, NULL},
};
