/* Adoption and the inbox through the port, with a shared store in memory. */
#include "seed.h"
#include "store/store_adoption.h"
#include "store/store_driver.h"
#include "store/store_fact.h"
#include "store/store_inbox.h"
#include "store/store_pulse.h"

#include <solvegate/engine.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <uv.h>

#define MS_NS UINT64_C(1000000)
#define PATIENCE_MS 30000
#define ME 1
#define DEAD 2
#define DEAD_RUN 77
#define FLIGHTS 600
#define CLAIMS 10
#define FACTS_MAX 8

static struct {
    uv_mutex_t mutex;
    enum store_result adopt_first; /* how the first call of adopt() ends */
    unsigned adopts, agains;
    bool is_taken;   /* the first call took the rows, whatever it said */
    bool is_refused; /* the node was adopted itself */
    unsigned beat_failures;
    uint64_t seen_beat;
    uint64_t told[FACTS_MAX], forgotten[FACTS_MAX];
    unsigned told_count, forgotten_count;
} server;

static enum store_opening fake_lock(const struct store_place *place, const char *address,
                                    struct store_backend **backend, struct buf *mistake)
{
    (void)place;
    (void)address;
    (void)mistake;
    *backend = calloc(1, sizeof(**backend));
    assert_non_null(*backend);
    (*backend)->node = ME;
    (*backend)->incarnation = 5;
    return STORE_OPENED;
}

static enum store_opening fake_open(struct store_backend *backend, struct buf *mistake)
{
    (void)backend;
    (void)mistake;
    return STORE_OPENED;
}

static void write_entry(const struct store_entry *entry)
{
    assert_true(server.told_count < FACTS_MAX && server.forgotten_count < FACTS_MAX);
    if (entry->told != NULL)
        server.told[server.told_count++] = entry->told->number;
    if (entry->forgotten != 0)
        server.forgotten[server.forgotten_count++] = entry->forgotten;
}

static enum store_result fake_write(struct store_backend *backend, const struct store_batch *batch)
{
    (void)snprintf(backend->why, sizeof(backend->why), "the test ordered it");
    uv_mutex_lock(&server.mutex);
    const bool is_refused = server.is_refused;
    const struct store_entry *entry = batch->first;
    for (uint32_t i = 0; i < batch->count && !is_refused; i++, entry = entry->next)
        write_entry(entry);
    uv_mutex_unlock(&server.mutex);
    return is_refused ? STORE_REFUSED : STORE_DONE;
}

static void fake_close(struct store_backend *backend)
{
    free(backend);
}

static enum store_result fake_leave(struct store_backend *backend)
{
    (void)backend;
    return STORE_DONE;
}

static struct store_backend *fake_make_pulse(const struct store_backend *backend)
{
    struct store_backend *const pulse = calloc(1, sizeof(*pulse));
    assert_non_null(pulse);
    *pulse = *backend;
    return pulse;
}

static enum store_result fake_beat(struct store_backend *pulse, const struct demand *demand,
                                   struct store_members *members)
{
    (void)pulse;
    (void)demand;
    uv_mutex_lock(&server.mutex);
    const bool fails = server.beat_failures > 0;
    server.beat_failures -= fails;
    uv_mutex_unlock(&server.mutex);
    members->count = 2;
    members->all[0] = (struct store_member){.node = ME, .incarnation = 5};
    members->all[1] = (struct store_member){.node = DEAD, .incarnation = DEAD_RUN, .beat = 9};
    return fails ? STORE_RETRY : STORE_DONE;
}

static enum store_result fake_wait(struct store_backend *pulse, int fd, int timeout_ms,
                                   void (*on_woken)(void *context, const struct key *name),
                                   void *context)
{
    (void)pulse;
    (void)fd;
    uv_sleep(timeout_ms < 5 ? (unsigned)timeout_ms : 5);
    on_woken(context, NULL);
    return STORE_DONE;
}

/* Facts 41 and 42 are there until they are forgotten. */
static enum store_result fake_inbox(struct store_backend *pulse, unsigned limit,
                                    void (*on_fact)(void *context, const struct fact *take_fact),
                                    void *context)
{
    (void)pulse;
    assert_true(limit >= 2);
    uv_mutex_lock(&server.mutex);
    const unsigned forgotten = server.forgotten_count;
    uv_mutex_unlock(&server.mutex);
    for (uint64_t number = 41 + forgotten; number <= 42; number++) {
        const struct fact fact = {.number = number,
                                  .result = {.attempt = number,
                                             .outcome = OUTCOME_SOLVED,
                                             .text = blob_new(SLICE_OF("token"))}};
        on_fact(context, &fact);
    }
    return STORE_DONE;
}

static void give_row(const struct store_adopted *to, enum record_kind kind, uint64_t number,
                     const char *client)
{
    struct record record = {.kind = kind};
    struct row_value values[ROW_COLUMNS_MAX];
    struct buf scratch;
    buf_init(&scratch, 65536);
    if (kind == RECORD_FLIGHT)
        record.flight.id = number;
    else
        record.solution.id = number;
    if (kind == RECORD_SOLUTION)
        record.solution.text = blob_new(SLICE_OF("token"));
    (void)row_to_values(&record, slice_from(client), &scratch, values);
    to->on_values(to->context, kind, values);
    record_close(&record);
    buf_close(&scratch);
}

/* In no order at all, and one of a client that nobody knows. */
static void give_all(const struct store_adopted *to)
{
    for (uint64_t i = FLIGHTS; i > 0; i--)
        give_row(to, RECORD_FLIGHT, i, "alice");
    give_row(to, RECORD_FLIGHT, FLIGHTS + 1, "stranger");
    give_row(to, RECORD_SOLUTION, 3, "alice");
    for (uint64_t i = 1; i <= CLAIMS; i++) {
        const struct key name = {{(uint8_t)i}};
        to->on_claim(to->context, &name, i);
    }
}

static enum store_result fake_adopt(struct store_backend *backend, const struct store_member *dead,
                                    bool is_again, bool *is_ours, const struct store_adopted *to)
{
    enum store_result result = STORE_DONE;
    (void)snprintf(backend->why, sizeof(backend->why), "the test ordered it");
    uv_mutex_lock(&server.mutex);
    assert_int_equal(dead->node, DEAD);
    assert_int_equal(dead->incarnation, DEAD_RUN);
    server.seen_beat = dead->beat;
    server.agains += is_again;
    const bool is_first = server.adopts++ == 0;
    const bool must_give = is_first && server.is_taken;
    if (is_first)
        result = server.adopt_first;
    *is_ours = result == STORE_DONE && server.is_taken;
    uv_mutex_unlock(&server.mutex);
    if (must_give)
        give_all(to);
    return result;
}

static const struct store_sharing sharing = {.leave = fake_leave,
                                             .make_pulse = fake_make_pulse,
                                             .pulse_beat = fake_beat,
                                             .pulse_wait = fake_wait,
                                             .pulse_inbox = fake_inbox,
                                             .adopt = fake_adopt};
static const struct store_driver fake = {.name = "fake",
                                         .lock = fake_lock,
                                         .open = fake_open,
                                         .write = fake_write,
                                         .close = fake_close,
                                         .sharing = &sharing};

struct world {
    uv_loop_t loop;
    struct store *store;
    journal_seq durable;
    enum store_state state;
    bool is_closed;
    unsigned parts, beats, unsteady;
    bool is_over, is_ours;
    uint64_t rows, claims, latest;
    enum record_kind kind;
    uint64_t told[3]; /* how often fact 41 and 42 were */
    uint64_t must_forget;
};

static const char *name_of(void *context, client_id client)
{
    (void)context;
    (void)client;
    return "alice";
}

static bool find_client(void *context, struct slice name, client_id *client)
{
    (void)context;
    *client = 0;
    return slice_equals(name, SLICE_OF("alice"));
}

static void on_durable(void *context, journal_seq seq)
{
    ((struct world *)context)->durable = seq;
}

static void on_state(void *context, enum store_state state, const char *why)
{
    (void)why;
    ((struct world *)context)->state = state;
}

static void on_closed(void *context)
{
    ((struct world *)context)->is_closed = true;
}

static void on_beat(void *context, const struct store_beat *beat)
{
    struct world *const world = context;
    world->beats++;
    world->unsteady += !beat->is_steady;
}

static void on_adopted(void *context, const struct adopted *adopted)
{
    struct world *const world = context;
    assert_int_equal(adopted->id, DEAD_RUN);
    assert_true(adopted->record_count + adopted->claim_count <= ENGINE_BATCH);
    assert_false(world->is_over);
    for (size_t i = 0; i < adopted->record_count; i++) {
        const struct record *const record = &adopted->records[i];
        const uint64_t number =
            record->kind == RECORD_FLIGHT ? record->flight.id : record->solution.id;
        assert_int_equal(world->claims, 0);
        assert_true(record->kind > world->kind ||
                    (record->kind == world->kind && number > world->latest));
        world->kind = record->kind;
        world->latest = number;
    }
    world->parts++;
    world->rows += adopted->record_count;
    world->claims += adopted->claim_count;
    world->is_over = adopted->is_last;
    world->is_ours = adopted->is_ours;
}

static void on_told(void *context, const struct fact *fact)
{
    struct world *const world = context;
    assert_in_range(fact->number, 41, 42);
    assert_true(slice_equals(blob_slice(fact->result.text), SLICE_OF("token")));
    world->told[fact->number - 41]++;
    if (world->must_forget == fact->number) {
        store_forget(world->store, fact->number);
        world->must_forget = 0;
    }
}

static void open_store(struct world *world, struct store **store)
{
    const struct store_place place = {.url = "fake:", .node = "me", .heartbeat_ms = 20};
    const struct store_names names = {.context = world, .name_of = name_of, .find = find_client};
    struct buf mistake;
    buf_init(&mistake, 256);
    assert_int_equal(store_lock_with(&fake, &place, store, &mistake), STORE_OPENED);
    assert_int_equal(store_open(*store, &names, &mistake), STORE_OPENED);
    buf_close(&mistake);
}

static void begin(struct world *world, struct store *store)
{
    const struct store_handlers handlers = {.context = world,
                                            .on_durable = on_durable,
                                            .on_state = on_state,
                                            .on_beat = on_beat,
                                            .on_adopted = on_adopted,
                                            .on_told = on_told};
    world->store = store;
    store_start(store, &world->loop, &handlers);
}

static void start(struct world *world)
{
    struct store *store;
    memset(&server, 0, sizeof(server));
    assert_int_equal(uv_mutex_init(&server.mutex), 0);
    *world = (struct world){.durable = 0};
    assert_int_equal(uv_loop_init(&world->loop), 0);
    open_store(world, &store);
    begin(world, store);
}

static void on_tick(uv_timer_t *timer)
{
    (void)timer;
}

static void turn_until(struct world *world, bool (*is_so)(const struct world *world))
{
    uv_timer_t tick;
    const uint64_t start_ns = uv_hrtime();
    assert_int_equal(uv_timer_init(&world->loop, &tick), 0);
    assert_int_equal(uv_timer_start(&tick, on_tick, 1, 5), 0);
    while (!is_so(world)) {
        assert_true(uv_hrtime() - start_ns < PATIENCE_MS * MS_NS);
        (void)uv_run(&world->loop, UV_RUN_ONCE);
    }
    uv_close((uv_handle_t *)&tick, NULL);
    (void)uv_run(&world->loop, UV_RUN_NOWAIT);
}

static bool has_beat(const struct world *world)
{
    return world->beats > 0;
}

static bool has_ten_beats(const struct world *world)
{
    return world->beats >= 10;
}

static bool is_over(const struct world *world)
{
    return world->is_over;
}

static bool is_fenced(const struct world *world)
{
    return world->state == STORE_FENCED;
}

static bool is_closed(const struct world *world)
{
    return world->is_closed;
}

static bool is_told_thrice(const struct world *world)
{
    return world->told[0] >= 3 && world->told[1] >= 3;
}

static bool is_durable(const struct world *world)
{
    return world->durable >= 2;
}

static bool has_forgotten(const struct world *world)
{
    (void)world;
    uv_mutex_lock(&server.mutex);
    const bool is_so = server.forgotten_count > 0;
    uv_mutex_unlock(&server.mutex);
    return is_so;
}

static bool has_told(const struct world *world)
{
    (void)world;
    uv_mutex_lock(&server.mutex);
    const bool is_so = server.told_count > 0;
    uv_mutex_unlock(&server.mutex);
    return is_so;
}

static void close_store(struct world *world)
{
    world->is_closed = false;
    store_close(world->store, on_closed, world);
    turn_until(world, is_closed);
}

static void end(struct world *world)
{
    close_store(world);
    store_free(world->store);
    (void)uv_run(&world->loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&world->loop), 0);
    uv_mutex_destroy(&server.mutex);
}

static void adopt(struct world *world, node_id id)
{
    const struct adopt order = {.id = id, .beat = 8};
    turn_until(world, has_beat);
    store_adopt(world->store, &order);
    turn_until(world, is_over);
}

/* ---- adoption ---------------------------------------------------------------------------- */

static void rows_come_in_parts_and_in_order_and_claims_last(void **state)
{
    struct world world;
    struct store_counters counters;
    (void)state;
    start(&world);
    server.is_taken = true;
    adopt(&world, DEAD_RUN);
    assert_true(world.is_ours);
    assert_int_equal(world.rows, FLIGHTS + 1);
    assert_int_equal(world.claims, CLAIMS);
    assert_int_equal(world.parts, 3);
    /* The beat that the engine saw, not that of the latest list. */
    assert_int_equal(server.seen_beat, 8);
    store_counters(world.store, &counters);
    assert_int_equal(counters.skipped, 1);
    end(&world);
}

static void a_node_that_lives_is_not_ours(void **state)
{
    struct world world;
    (void)state;
    start(&world);
    adopt(&world, DEAD_RUN);
    assert_false(world.is_ours);
    end(&world);
}

static void after_an_unknown_outcome_it_is_only_asked_what_became_of_it(void **state)
{
    struct world world;
    (void)state;
    start(&world);
    server.is_taken = true;
    server.adopt_first = STORE_RETRY;
    adopt(&world, DEAD_RUN);
    assert_int_equal(server.adopts, 2);
    assert_int_equal(server.agains, 1);
    assert_true(world.is_ours);
    assert_int_equal(world.rows, FLIGHTS + 1);
    end(&world);
}

static void a_beat_in_vain_makes_the_next_one_unsteady(void **state)
{
    struct world world;
    (void)state;
    start(&world);
    turn_until(&world, has_ten_beats);
    uv_mutex_lock(&server.mutex);
    server.beat_failures = 1;
    uv_mutex_unlock(&server.mutex);
    world.beats = world.unsteady = 0;
    turn_until(&world, has_ten_beats);
    assert_true(world.unsteady >= 1);
    end(&world);
}

/* ---- the inbox --------------------------------------------------------------------------- */

static void facts_come_again_until_they_are_forgotten(void **state)
{
    struct world world;
    (void)state;
    start(&world);
    turn_until(&world, is_told_thrice);
    world.must_forget = 41;
    turn_until(&world, has_forgotten);
    assert_int_equal(server.forgotten[0], 41);
    end(&world);
}

static void tell(struct world *world, journal_seq seq, uint64_t number)
{
    const struct fact fact = {.number = number, .result.text = blob_new(SLICE_OF("token"))};
    store_tell(world->store, seq, &fact);
}

static void facts_are_durable_in_the_order_of_the_records(void **state)
{
    struct world world;
    (void)state;
    start(&world);
    tell(&world, 1, 91);
    tell(&world, 2, 92);
    turn_until(&world, is_durable);
    assert_int_equal(server.told_count, 2);
    assert_int_equal(server.told[1], 92);
    end(&world);
}

static void an_adopted_nodes_facts_go_out_with_its_next_run(void **state)
{
    struct world world;
    struct store *next;
    (void)state;
    start(&world);
    uv_mutex_lock(&server.mutex);
    server.is_refused = true;
    uv_mutex_unlock(&server.mutex);
    struct record record = {.kind = RECORD_REQUEST, .is_drop = true};
    store_append(world.store, 1, &record);
    turn_until(&world, is_fenced);
    tell(&world, 2, 91);
    assert_int_equal(world.durable, 0);
    close_store(&world);
    uv_mutex_lock(&server.mutex);
    server.is_refused = false;
    uv_mutex_unlock(&server.mutex);
    assert_int_equal(store_count_facts(world.store), 1);
    open_store(&world, &next);
    store_pass_facts(world.store, next);
    store_free(world.store);
    begin(&world, next);
    turn_until(&world, has_told);
    assert_int_equal(server.told_count, 1);
    assert_int_equal(server.told[0], 91);
    end(&world);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_come_in_parts_and_in_order_and_claims_last),
        cmocka_unit_test(a_node_that_lives_is_not_ours),
        cmocka_unit_test(after_an_unknown_outcome_it_is_only_asked_what_became_of_it),
        cmocka_unit_test(a_beat_in_vain_makes_the_next_one_unsteady),
        cmocka_unit_test(facts_come_again_until_they_are_forgotten),
        cmocka_unit_test(facts_are_durable_in_the_order_of_the_records),
        cmocka_unit_test(an_adopted_nodes_facts_go_out_with_its_next_run),
    };
    seed_init(argc, argv);
    return cmocka_run_group_tests(tests, seed_announce, NULL);
}
