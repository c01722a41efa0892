#include "store/store_find.h"
#include "store_conformance.h"
#include "store_nodes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define REQUEST 800000000001
#define FLIGHT 4711
#define SOLUTION 5223

/* ---- rows ---------------------------------------------------------------------------------- */

static struct record request_of(struct store_world *world, uint64_t id)
{
    struct record record = world_record(world, RECORD_REQUEST, id);
    record.request.client = 0;
    record.request.flight = FLIGHT;
    record.request.solution = 0;
    record.request.state = REQUEST_QUEUED;
    record.request.source = SOURCE_DEDUP_WAIT;
    return record;
}

static void put_request(struct node *node, uint64_t id)
{
    struct record record = request_of(node->world, id);
    node_put(node, &record);
}

/* Its parameters say whatever a client can think of. */
static void put_flight(struct node *node, bool is_over)
{
    struct record record = world_record(node->world, RECORD_FLIGHT, FLIGHT);
    record.flight.client = 0;
    record.flight.key = key_of(7);
    record.flight.reuse = REUSE_SHARED;
    record.flight.is_over = is_over;
    record.flight.class = is_over ? CLASS_UNSOLVABLE : CLASS_NONE;
    (void)snprintf(record.flight.code, sizeof record.flight.code, "%s",
                   is_over ? "ERROR_CAPTCHA_UNSOLVABLE" : "");
    blob_unref(record.flight.params);
    record.flight.params = blob_new(slice_from("a=\"},\"max_retries\":\"over\":1,\\\""));
    node_put(node, &record);
}

static void put_solution(struct node *node, uint64_t flight, bool is_shared, uint32_t handed)
{
    struct record record = solution_of(node->world, SOLUTION, 7, is_shared);
    record.solution.flight = flight;
    record.solution.handed = handed;
    node_put(node, &record);
}

static void put_attempt(struct node *node, const char *task)
{
    struct record record = world_record(node->world, RECORD_ATTEMPT, 99);
    record.attempt.flight = FLIGHT;
    record.attempt.is_closed = false;
    (void)snprintf(record.attempt.task_id, sizeof record.attempt.task_id, "%s", task);
    node_put(node, &record);
}

/* ---- finding -------------------------------------------------------------------------------- */

/* Everything that a gateway learns about one request; the rows are given back. */
struct seen {
    struct found found;
    bool has_params;
    char text[256];
};

static void find_all(struct node *node, struct store_sought *sought, uint32_t count)
{
    const struct store_sharing *const sharing = node->backend->driver->sharing;
    struct store_backend *const reader = sharing->make_pulse(node->backend);
    assert_int_equal(sharing->find(reader, sought, count), STORE_DONE);
    node->backend->driver->close(reader);
}

static struct seen look_as(struct node *node, uint64_t id, const char *client)
{
    struct seen seen = {.has_params = false};
    struct store_sought sought = {.find = {.id = id, .ticket = 3}};
    (void)snprintf(sought.client, sizeof sought.client, "%s", client);
    find_all(node, &sought, 1);
    store_found(&sought, &seen.found);
    seen.has_params = sought.has_flight && sought.flight.flight.params != NULL;
    if (seen.found.solution != NULL)
        (void)snprintf(seen.text, sizeof seen.text, "%.*s", (int)seen.found.solution->text->len,
                       seen.found.solution->text->data);
    seen.found.solution = NULL;
    store_sought_close(&sought);
    return seen;
}

static struct seen look(struct node *node)
{
    return look_as(node, REQUEST, "alpha");
}

/* ---- cases ---------------------------------------------------------------------------------- */

static void a_request_that_waits_is_found_by_all_with_the_name_of_its_claim(void **state)
{
    struct node a, b;
    node_open(&a, *state, "a");
    node_open(&b, *state, "b");
    put_flight(&a, false);
    put_request(&a, REQUEST);
    node_send(&a);
    const struct key name = key_of(7);
    struct seen seen = look(&b);
    assert_int_equal(seen.found.result, FOUND_WAITING);
    assert_int_equal(seen.found.id, REQUEST);
    assert_int_equal(seen.found.ticket, 3);
    assert_true(seen.found.has_name && key_equals(&seen.found.name, &name));
    assert_int_equal(seen.found.source, SOURCE_DEDUP_WAIT);
    assert_false(seen.found.is_solving);
    assert_false(seen.has_params);
    put_attempt(&a, "T1");
    node_send(&a);
    seen = look(&b);
    assert_true(seen.found.is_solving);
    /* Also by the one that has it: its rows may be on their way from an adopted one. */
    assert_int_equal(look(&a).found.result, FOUND_WAITING);
    node_close(&a);
    node_close(&b);
}

static void a_request_is_found_by_its_own_client_only(void **state)
{
    struct node a, b;
    node_open(&a, *state, "a");
    node_open(&b, *state, "b");
    put_flight(&a, false);
    put_request(&a, REQUEST);
    node_send(&a);
    assert_int_equal(look_as(&b, REQUEST, "beta").found.result, FOUND_UNKNOWN);
    assert_int_equal(look_as(&b, REQUEST, "\"},{\\").found.result, FOUND_UNKNOWN);
    assert_int_equal(look_as(&b, REQUEST + 1, "alpha").found.result, FOUND_UNKNOWN);
    assert_int_equal(look_as(&b, REQUEST, "alpha").found.result, FOUND_WAITING);
    node_close(&a);
    node_close(&b);
}

static void a_solution_is_found_by_the_flight_or_by_its_number(void **state)
{
    struct node a, b;
    node_open(&a, *state, "a");
    node_open(&b, *state, "b");
    put_flight(&a, false);
    put_request(&a, REQUEST);
    put_solution(&a, FLIGHT, true, 0);
    node_send(&a);
    struct seen seen = look(&b);
    assert_int_equal(seen.found.result, FOUND_SOLVED);
    assert_string_not_equal(seen.text, "");
    /* The flight's row goes first. */
    const struct record flight = {.kind = RECORD_FLIGHT, .flight = {.id = FLIGHT}};
    node_drop(&a, &flight);
    struct record other = request_of(*state, REQUEST + 1);
    other.request.flight = 0;
    other.request.solution = SOLUTION;
    other.request.state = REQUEST_SOLVED;
    node_put(&a, &other);
    node_send(&a);
    assert_string_equal(look(&b).text, seen.text);
    assert_string_equal(look_as(&b, REQUEST + 1, "alpha").text, seen.text);
    const struct record request = {.kind = RECORD_REQUEST, .request = {.id = REQUEST}};
    node_drop(&a, &request);
    node_send(&a);
    assert_int_equal(look(&b).found.result, FOUND_UNKNOWN);
    node_close(&a);
    node_close(&b);
}

static void a_solution_for_one_is_found_once_it_was_handed_out(void **state)
{
    struct node a, b;
    node_open(&a, *state, "a");
    node_open(&b, *state, "b");
    put_flight(&a, false);
    put_request(&a, REQUEST);
    put_solution(&a, FLIGHT, false, 0);
    node_send(&a);
    assert_int_equal(look(&b).found.result, FOUND_WAITING);
    put_solution(&a, FLIGHT, false, 1);
    node_send(&a);
    assert_int_equal(look(&b).found.result, FOUND_SOLVED);
    node_close(&a);
    node_close(&b);
}

static void a_solution_that_another_node_took_is_not_the_requests(void **state)
{
    struct node a, b;
    node_open(&a, *state, "a");
    node_open(&b, *state, "b");
    put_flight(&a, false);
    put_request(&a, REQUEST);
    node_send(&a);
    put_solution(&b, FLIGHT, false, 1);
    node_send(&b);
    assert_int_equal(look(&b).found.result, FOUND_WAITING);
    node_close(&a);
    node_close(&b);
}

static void a_failure_is_found_in_the_request_or_in_its_flight(void **state)
{
    struct node a, b;
    node_open(&a, *state, "a");
    node_open(&b, *state, "b");
    put_flight(&a, true);
    put_request(&a, REQUEST);
    struct record failed = request_of(*state, REQUEST + 1);
    failed.request.flight = 0;
    failed.request.state = REQUEST_FAILED;
    failed.request.class = CLASS_TIMEOUT;
    (void)snprintf(failed.request.code, sizeof failed.request.code, "ERROR_SOLVE_TIMEOUT");
    node_put(&a, &failed);
    node_send(&a);
    struct seen seen = look(&b);
    assert_int_equal(seen.found.result, FOUND_FAILED);
    assert_int_equal(seen.found.class, CLASS_UNSOLVABLE);
    assert_string_equal(seen.found.code, "ERROR_CAPTCHA_UNSOLVABLE");
    seen = look_as(&b, REQUEST + 1, "alpha");
    assert_int_equal(seen.found.class, CLASS_TIMEOUT);
    assert_string_equal(seen.found.code, "ERROR_SOLVE_TIMEOUT");
    node_close(&a);
    node_close(&b);
}

static void many_are_looked_for_at_once(void **state)
{
    struct node a, b;
    struct store_sought sought[4];
    node_open(&a, *state, "a");
    node_open(&b, *state, "b");
    put_flight(&a, false);
    for (unsigned i = 0; i < 4; i += 2)
        put_request(&a, REQUEST + i);
    node_send(&a);
    for (unsigned i = 0; i < 4; i++)
        sought[i] = (struct store_sought){.find = {.id = REQUEST + i}, .client = "alpha"};
    find_all(&b, sought, 4);
    for (unsigned i = 0; i < 4; i++) {
        assert_int_equal(sought[i].has_request, i % 2 == 0);
        store_sought_close(&sought[i]);
    }
    node_close(&a);
    node_close(&b);
}

const struct store_case store_find_cases[] = {
    STORE_CASE(a_request_that_waits_is_found_by_all_with_the_name_of_its_claim),
    STORE_CASE(a_request_is_found_by_its_own_client_only),
    STORE_CASE(a_solution_is_found_by_the_flight_or_by_its_number),
    STORE_CASE(a_solution_for_one_is_found_once_it_was_handed_out),
    STORE_CASE(a_solution_that_another_node_took_is_not_the_requests),
    STORE_CASE(a_failure_is_found_in_the_request_or_in_its_flight),
    STORE_CASE(many_are_looked_for_at_once),
    {NULL, NULL},
};
