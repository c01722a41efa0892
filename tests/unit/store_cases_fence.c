/* A gateway that is adopted in the middle of its batches: each of them counts as a whole, or not at all. */
#include "store_conformance.h"
#include "store_nodes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define BATCHES 2000
#define BATCH 4
#define BEFORE 20 /* batches before somebody takes it for dead */

/* Writes flights from a thread of its own, until it is refused. */
struct writer {
    struct node node;
    uv_thread_t thread;
    uv_sem_t has_begun;
    unsigned acknowledged; /* batches */
    enum store_result last;
};

static void put_flights(struct writer *writer, unsigned batch)
{
    for (unsigned i = 0; i < BATCH; i++) {
        struct record record =
            world_record(writer->node.world, RECORD_FLIGHT, batch * BATCH + i + 1);
        record.flight.adoptions = 0;
        node_put(&writer->node, &record);
    }
}

static enum store_result send_until_known(struct node *node)
{
    enum store_result result = node_try(node);
    for (unsigned i = 0; i < 100 && result == STORE_RETRY; i++) {
        uv_sleep(20);
        node->number--;
        result = node_try(node);
    }
    return result;
}

static void write_on(void *context)
{
    struct writer *const writer = context;
    for (unsigned batch = 0; batch < BATCHES && writer->last == STORE_DONE; batch++) {
        put_flights(writer, batch);
        writer->last = send_until_known(&writer->node);
        writer->acknowledged += writer->last == STORE_DONE;
        if (batch == BEFORE)
            uv_sem_post(&writer->has_begun);
    }
}

static struct store_member see(struct store_backend *pulse, const struct node *other)
{
    static struct store_members members;
    const struct demand none = {.slots = 0};
    assert_int_equal(pulse->driver->sharing->pulse_beat(pulse, &none, &members), STORE_DONE);
    for (uint32_t i = 0; i < members.count; i++)
        if (members.all[i].node == other->backend->node)
            return members.all[i];
    fail_msg("the node is not among the members");
    return members.all[0];
}

struct parcel {
    unsigned flights;
    bool has[BATCHES * BATCH + 1];
};

static void on_values(void *context, enum record_kind kind, const struct row_value *values)
{
    struct parcel *const parcel = context;
    struct record record = {.kind = kind};
    struct slice client;
    assert_int_equal(kind, RECORD_FLIGHT);
    assert_true(row_from_values(values, &record, &client));
    assert_false(parcel->has[record.flight.id]);
    parcel->has[record.flight.id] = true;
    parcel->flights++;
    record_close(&record);
}

static void on_claim(void *context, const struct key *name, uint64_t flight)
{
    (void)context;
    (void)name;
    (void)flight;
}

static void adopt(struct store_backend *adopter, const struct store_member *dead,
                  struct parcel *parcel)
{
    const struct store_adopted to = {
        .context = parcel, .on_values = on_values, .on_claim = on_claim};
    bool is_ours = false;
    enum store_result result = adopter->driver->sharing->adopt(adopter, dead, false, &is_ours, &to);
    for (unsigned i = 0; i < 20 && result == STORE_RETRY; i++)
        result = adopter->driver->sharing->adopt(adopter, dead, true, &is_ours, &to);
    assert_int_equal(result, STORE_DONE);
    assert_true(is_ours);
}

/* Not one that was acknowledged is missing, and nothing comes afterwards. */
static void a_batch_under_way_is_adopted_or_refused(void **state)
{
    static struct writer writer;
    static struct parcel parcel;
    struct node b;
    writer = (struct writer){.last = STORE_DONE};
    parcel = (struct parcel){.flights = 0};
    node_open(&writer.node, *state, "a");
    node_open(&b, *state, "b");
    const struct store_sharing *const sharing = b.backend->driver->sharing;
    struct store_backend *const pulse = sharing->make_pulse(b.backend);
    struct store_backend *const adopter = sharing->make_pulse(b.backend);
    const struct store_member dead = see(pulse, &writer.node);
    assert_int_equal(uv_sem_init(&writer.has_begun, 0), 0);
    assert_int_equal(uv_thread_create(&writer.thread, write_on, &writer), 0);
    uv_sem_wait(&writer.has_begun);
    adopt(adopter, &dead, &parcel);
    assert_int_equal(uv_thread_join(&writer.thread), 0);
    assert_int_equal(writer.last, STORE_REFUSED);
    (void)printf("# %u batches\n", writer.acknowledged);
    assert_int_equal(parcel.flights, writer.acknowledged * BATCH);
    for (unsigned i = 1; i <= parcel.flights; i++)
        assert_true(parcel.has[i]);
    assert_int_equal(b.world->kit->count_rows(b.world, RECORD_FLIGHT), parcel.flights);
    uv_sem_destroy(&writer.has_begun);
    pulse->driver->close(pulse);
    adopter->driver->close(adopter);
    node_close(&writer.node);
    node_close(&b);
}

const struct store_case store_fence_cases[] = {
    STORE_CASE(a_batch_under_way_is_adopted_or_refused),
    {NULL, NULL},
};
