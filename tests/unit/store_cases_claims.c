#include "store_conformance.h"
#include "store_expect.h"
#include "store_nodes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static struct release release_of(uint32_t key, uint64_t flight)
{
    return (struct release){.flight = flight, .name = key_of(key)};
}

static struct release solved_by(uint32_t key, uint64_t flight, uint64_t solution)
{
    struct release release = release_of(key, flight);
    release.solution = solution;
    return release;
}

static struct claim following(struct claim claim, uint64_t followed)
{
    claim.following = followed;
    return claim;
}

static void assert_result(struct claimed claimed, enum claim_result result)
{
    assert_int_equal(claimed.result, result);
}

static void put_solution(struct node *node, uint64_t id, uint32_t key, bool is_shared)
{
    struct record solution = solution_of(node->world, id, key, is_shared);
    node_put(node, &solution);
}

/* ---- one flight for a key ---------------------------------------------------------------- */

static void a_key_is_won_by_one_and_followed_by_all_others(void **state)
{
    struct node a, b;
    node_open(&a, *state, "a");
    node_open(&b, *state, "b");
    const struct claim first = claim_shared(1, 11);
    const struct claim second = claim_shared(1, 22);
    const struct claim own = claim_shared(1, 12);
    const struct claim other = claim_shared(2, 23);
    assert_result(node_ask(&a, &first), CLAIM_WON);
    struct claimed claimed = node_ask(&b, &second);
    assert_result(claimed, CLAIM_FOLLOW);
    assert_int_equal(claimed.followed, 11);
    assert_false(claimed.is_own);
    assert_false(claimed.is_solving);
    claimed = node_ask(&a, &own);
    assert_result(claimed, CLAIM_FOLLOW);
    assert_true(claimed.is_own);
    assert_result(node_ask(&b, &other), CLAIM_WON);
    /* The same flight that asks again is told the same. */
    assert_result(node_ask(&a, &first), CLAIM_WON);
    node_close(&a);
    node_close(&b);
}

static void of_two_claims_in_a_batch_the_first_one_wins(void **state)
{
    struct node a;
    node_open(&a, *state, "a");
    const struct claim first = claim_shared(1, 22);
    const struct claim second = claim_shared(1, 11);
    const struct store_asked *const won = node_claim(&a, &first);
    const struct store_asked *const lost = node_claim(&a, &second);
    node_send(&a);
    assert_result(won->claimed, CLAIM_WON);
    assert_result(lost->claimed, CLAIM_FOLLOW);
    assert_int_equal(lost->claimed.followed, 22);
    node_close(&a);
}

static void a_follower_is_told_when_the_task_is_at_the_vendor(void **state)
{
    struct store_world *const world = *state;
    struct node a, b;
    node_open(&a, world, "a");
    node_open(&b, world, "b");
    const struct claim first = claim_shared(1, 11);
    assert_result(node_ask(&a, &first), CLAIM_WON);
    struct record attempt = world_record(world, RECORD_ATTEMPT, 5);
    attempt.attempt.flight = 11;
    attempt.attempt.is_closed = false;
    (void)snprintf(attempt.attempt.task_id, sizeof(attempt.attempt.task_id), "77");
    node_put(&a, &attempt);
    node_send(&a);
    const struct claim second = claim_shared(1, 22);
    assert_true(node_ask(&b, &second).is_solving);
    node_close(&a);
    node_close(&b);
}

/* ---- ends -------------------------------------------------------------------------------- */

static void a_solution_is_found_by_all_who_accept_it(void **state)
{
    struct node a, b;
    node_open(&a, *state, "a");
    node_open(&b, *state, "b");
    const struct claim first = claim_shared(1, 11);
    assert_result(node_ask(&a, &first), CLAIM_WON);
    put_solution(&a, 100, 1, true);
    const struct release end = solved_by(1, 11, 100);
    node_release(&a, &end);
    node_send(&a);
    const struct claim second = claim_shared(1, 22);
    struct store_asked *const asked = node_claim(&b, &second);
    node_send(&b);
    assert_result(asked->claimed, CLAIM_SOLVED);
    assert_true(asked->has_solution);
    assert_int_equal(asked->solution.solution.id, 100);
    assert_string_equal(asked->client, "alpha");
    assert_non_null(asked->solution.solution.text);
    /* Nothing was claimed by that. Whoever wants a fresher one gets the key. */
    struct claim picky = claim_shared(1, 23);
    picky.max_age_ms = 10;
    assert_result(node_ask(&b, &picky), CLAIM_WON);
    struct claim patient = claim_shared(1, 12);
    patient.min_ttl_ms = 3600000;
    assert_result(node_ask(&a, &patient), CLAIM_FOLLOW);
    node_close(&a);
    node_close(&b);
}

/* Also one that its owner has dropped by then, since it may be used only while it was waited for. */
static void a_follower_gets_the_solution_of_the_flight_that_it_followed(void **state)
{
    struct node a, b;
    node_open(&a, *state, "a");
    node_open(&b, *state, "b");
    const struct claim first = claim_shared(1, 11);
    assert_result(node_ask(&a, &first), CLAIM_WON);
    struct record solution = solution_of(*state, 100, 1, true);
    solution.solution.is_kept = false;
    struct record copy = world_share(&solution);
    node_put(&a, &solution);
    const struct release end = solved_by(1, 11, 100);
    node_release(&a, &end);
    node_send(&a);
    node_drop(&a, &copy);
    node_send(&a);
    const struct claim again = following(claim_shared(1, 22), 11);
    struct store_asked *const asked = node_claim(&b, &again);
    node_send(&b);
    assert_result(asked->claimed, CLAIM_SOLVED);
    assert_true(asked->has_solution);
    assert_null(world_difference(&asked->solution, &copy));
    record_close(&copy);
    /* Those who did not follow it solve anew. */
    const struct claim stranger = claim_shared(1, 23);
    assert_result(node_ask(&b, &stranger), CLAIM_WON);
    node_close(&a);
    node_close(&b);
}

static void a_failure_is_told_to_followers_and_a_callers_mistake_to_all(void **state)
{
    struct node a, b;
    node_open(&a, *state, "a");
    node_open(&b, *state, "b");
    const struct claim first = claim_shared(1, 11);
    assert_result(node_ask(&a, &first), CLAIM_WON);
    struct release end = release_of(1, 11);
    end.class = CLASS_UNSOLVABLE;
    end.attempts = 3;
    (void)snprintf(end.code, sizeof(end.code), "ERROR_CAPTCHA_UNSOLVABLE");
    node_release(&a, &end);
    node_send(&a);
    const struct claim follower = following(claim_shared(1, 22), 11);
    struct claimed claimed = node_ask(&b, &follower);
    assert_result(claimed, CLAIM_REFUSED);
    assert_int_equal(claimed.class, CLASS_UNSOLVABLE);
    assert_int_equal(claimed.attempts, 3);
    assert_string_equal(claimed.code, "ERROR_CAPTCHA_UNSOLVABLE");
    const struct claim other = claim_shared(1, 23);
    assert_result(node_ask(&b, &other), CLAIM_WON);
    end = release_of(1, 23);
    end.class = CLASS_CALLER;
    end.keep_ms = 60000;
    node_release(&b, &end);
    node_send(&b);
    const struct claim next = claim_shared(1, 12);
    claimed = node_ask(&a, &next);
    assert_result(claimed, CLAIM_REFUSED);
    assert_int_equal(claimed.class, CLASS_CALLER);
    node_close(&a);
    node_close(&b);
}

static void a_claim_that_is_given_up_is_free_for_the_next(void **state)
{
    struct node a, b;
    node_open(&a, *state, "a");
    node_open(&b, *state, "b");
    const struct claim first = claim_shared(1, 11);
    assert_result(node_ask(&a, &first), CLAIM_WON);
    /* Not by somebody else's word, nor by that of an earlier flight. */
    struct release end = release_of(1, 11);
    node_release(&b, &end);
    node_send(&b);
    end = release_of(1, 10);
    node_release(&a, &end);
    node_send(&a);
    const struct claim follower = following(claim_shared(1, 22), 11);
    assert_result(node_ask(&b, &follower), CLAIM_FOLLOW);
    end = release_of(1, 11);
    node_release(&a, &end);
    node_send(&a);
    assert_result(node_ask(&b, &follower), CLAIM_WON);
    node_close(&a);
    node_close(&b);
}

/* A stray may bring another solution later: until then the key is nobody else's. */
static void a_claim_that_a_stray_keeps_publishes_its_solution(void **state)
{
    struct node a, b;
    node_open(&a, *state, "a");
    node_open(&b, *state, "b");
    const struct claim first = claim_shared(1, 11);
    assert_result(node_ask(&a, &first), CLAIM_WON);
    struct record solution = solution_of(*state, 100, 1, true);
    solution.solution.is_kept = false;
    node_put(&a, &solution);
    struct release end = solved_by(1, 11, 100);
    end.is_kept = true;
    node_release(&a, &end);
    node_send(&a);
    const struct claim stranger = claim_shared(1, 22);
    assert_result(node_ask(&b, &stranger), CLAIM_FOLLOW);
    const struct claim follower = following(claim_shared(1, 22), 11);
    assert_result(node_ask(&b, &follower), CLAIM_SOLVED);
    end = release_of(1, 11);
    node_release(&a, &end);
    node_send(&a);
    assert_result(node_ask(&b, &follower), CLAIM_SOLVED);
    assert_result(node_ask(&b, &stranger), CLAIM_WON);
    node_close(&a);
    node_close(&b);
}

/* ---- idempotency ------------------------------------------------------------------------- */

static void an_idempotency_key_stands_for_one_thing_everywhere(void **state)
{
    struct node a, b;
    node_open(&a, *state, "a");
    node_open(&b, *state, "b");
    const struct claim first = claim_with(claim_single(1, 11), 500);
    assert_result(node_ask(&a, &first), CLAIM_WON);
    const struct claim same = claim_with(claim_single(1, 22), 500);
    struct claimed claimed = node_ask(&b, &same);
    assert_result(claimed, CLAIM_FOLLOW);
    assert_true(claimed.is_replayed);
    assert_int_equal(claimed.followed, 11);
    const struct claim other = claim_with(claim_single(2, 23), 500);
    assert_result(node_ask(&b, &other), CLAIM_MISMATCH);
    /* Solved: the row says so, the claim ends. */
    put_solution(&a, 100, 1, false);
    struct record row = world_record(*state, RECORD_IDEMPOTENCY, 1);
    row.idempotency = (struct idempotency_row){.digest = key_of(500),
                                               .fingerprint = key_of(1),
                                               .solution = 100,
                                               .expires_wall_ms = clocks_read().wall_ms + 60000};
    node_put(&a, &row);
    struct release end = solved_by(0, 11, 100);
    end.name = key_of(500);
    node_release(&a, &end);
    node_send(&a);
    claimed = node_ask(&b, &same);
    assert_result(claimed, CLAIM_SOLVED);
    assert_true(claimed.is_replayed);
    assert_result(node_ask(&b, &other), CLAIM_MISMATCH);
    node_close(&a);
    node_close(&b);
}

/* At the same moment, before the first one's gateway could write what its key stands for. */
static void who_repeats_a_key_gets_the_solution_that_was_found_for_it(void **state)
{
    struct node a, b;
    node_open(&a, *state, "a");
    node_open(&b, *state, "b");
    put_solution(&a, 100, 1, true);
    const struct claim first = claim_with(claim_shared(1, 11), 500);
    assert_result(node_ask(&a, &first), CLAIM_SOLVED);
    struct claim same = claim_with(claim_shared(1, 22), 500);
    same.max_age_ms = 0;
    usleep(2000);
    struct claimed claimed = node_ask(&b, &same);
    assert_result(claimed, CLAIM_SOLVED);
    assert_true(claimed.is_replayed);
    /* Also what is found as the end of another flight. */
    const struct claim begun = claim_shared(2, 12);
    assert_result(node_ask(&a, &begun), CLAIM_WON);
    struct claim follower = claim_with(claim_shared(2, 23), 501);
    assert_result(node_ask(&b, &follower), CLAIM_FOLLOW);
    put_solution(&a, 101, 2, true);
    const struct release end = solved_by(2, 12, 101);
    node_release(&a, &end);
    node_send(&a);
    follower.following = 12;
    assert_result(node_ask(&b, &follower), CLAIM_SOLVED);
    struct claim repeated = claim_with(claim_shared(2, 13), 501);
    repeated.max_age_ms = 0;
    usleep(2000);
    claimed = node_ask(&a, &repeated);
    assert_result(claimed, CLAIM_SOLVED);
    assert_true(claimed.is_replayed);
    node_close(&a);
    node_close(&b);
}

static void an_idempotency_key_of_a_flight_that_was_given_up_is_free(void **state)
{
    struct node a, b;
    node_open(&a, *state, "a");
    node_open(&b, *state, "b");
    const struct claim first = claim_with(claim_shared(1, 11), 500);
    assert_result(node_ask(&a, &first), CLAIM_WON);
    const struct release end = release_of(1, 11);
    node_release(&a, &end);
    node_send(&a);
    const struct claim other = claim_with(claim_shared(2, 22), 500);
    assert_result(node_ask(&b, &other), CLAIM_WON);
    assert_result(node_ask(&a, &first), CLAIM_MISMATCH);
    node_close(&a);
    node_close(&b);
}

static void an_idempotency_key_whose_solution_has_expired_is_renewed(void **state)
{
    struct node a, b;
    node_open(&a, *state, "a");
    node_open(&b, *state, "b");
    struct record solution = solution_of(*state, 100, 1, true);
    solution.solution.expires_wall_ms = clocks_read().wall_ms - 1;
    node_put(&a, &solution);
    struct record row = world_record(*state, RECORD_IDEMPOTENCY, 1);
    row.idempotency = (struct idempotency_row){.digest = key_of(500),
                                               .fingerprint = key_of(1),
                                               .solution = 100,
                                               .expires_wall_ms = clocks_read().wall_ms + 60000};
    node_put(&a, &row);
    node_send(&a);
    const struct claim claim = claim_with(claim_shared(1, 22), 500);
    const struct claimed claimed = node_ask(&b, &claim);
    assert_result(claimed, CLAIM_WON);
    assert_true(claimed.is_renewed);
    assert_false(claimed.is_replayed);
    node_close(&a);
    node_close(&b);
}

/* ---- batches ----------------------------------------------------------------------------- */

static void a_batch_that_is_sent_again_is_not_applied_again(void **state)
{
    struct store_world *const world = *state;
    struct node a, b;
    node_open(&a, world, "a");
    node_open(&b, world, "b");
    struct record flight = world_record(world, RECORD_FLIGHT, 11);
    struct record kept = world_share(&flight);
    const struct claim claim = claim_shared(1, 11);
    node_put(&a, &flight);
    struct store_asked *const asked = node_claim(&a, &claim);
    node_send(&a);
    assert_result(asked->claimed, CLAIM_WON);
    /* Whatever becomes of the row meanwhile stays as it is. */
    const uint64_t number = a.number;
    node_send_again(&a);
    assert_result(asked->claimed, CLAIM_WON);
    node_drop(&a, &kept);
    node_send(&a);
    assert_int_equal(world->kit->count_rows(world, RECORD_FLIGHT), 0);
    node_put(&a, &kept);
    const struct store_asked *const late = node_claim(&a, &claim);
    a.number = number - 1;
    node_send(&a);
    assert_int_equal(world->kit->count_rows(world, RECORD_FLIGHT), 0);
    assert_result(late->claimed, CLAIM_WON);
    node_close(&a);
    node_close(&b);
}

static void a_node_that_was_taken_over_writes_nothing_any_more(void **state)
{
    struct store_world *const world = *state;
    struct node a, b;
    node_open(&a, world, "a");
    node_open(&b, world, "b");
    world->kit->take_over(world, "a");
    struct record flight = world_record(world, RECORD_FLIGHT, 11);
    const struct claim claim = claim_shared(1, 11);
    node_put(&a, &flight);
    const struct store_asked *const asked = node_claim(&a, &claim);
    assert_int_equal(node_try(&a), node_refusal(&a));
    assert_non_null(strstr(a.backend->why, "another gateway"));
    assert_result(asked->claimed, CLAIM_UNAVAILABLE);
    assert_int_equal(world->kit->count_rows(world, RECORD_FLIGHT), 0);
    const struct claim second = claim_shared(1, 22);
    assert_result(node_ask(&b, &second), CLAIM_WON);
    node_close(&a);
    node_close(&b);
}

/* ---- rows -------------------------------------------------------------------------------- */

struct seen {
    unsigned rows;
    uint64_t claims[4];
    unsigned claim_count;
};

static void see_row(void *context, enum record_kind kind, const struct row_value *values)
{
    (void)kind;
    (void)values;
    ((struct seen *)context)->rows++;
}

static void see_claim(void *context, const struct key *name, uint64_t flight)
{
    struct seen *const seen = context;
    assert_true(seen->claim_count < 4);
    assert_int_equal(name->bytes[0], key_of((uint32_t)flight / 11).bytes[0]);
    seen->claims[seen->claim_count++] = flight;
}

static void a_node_has_rows_and_claims_of_its_own(void **state)
{
    struct store_world *const world = *state;
    struct node a, b;
    struct seen seen = {.rows = 0};
    node_open(&a, world, "a");
    node_open(&b, world, "b");
    for (unsigned kind = 0; kind < RECORD_KIND_COUNT; kind++) {
        struct record record = world_record(world, (enum record_kind)kind, 7);
        struct record same = world_share(&record);
        struct record again = world_share(&record);
        node_put(&a, &record);
        node_send(&a);
        /* Books and letters are each node's own, all else is the first one's. */
        node_put(&b, &same);
        node_send(&b);
        const bool is_own = kind == RECORD_DAY || kind == RECORD_TALLY || kind == RECORD_SPENT ||
                            kind == RECORD_LETTER;
        assert_int_equal(world->kit->count_rows(world, (enum record_kind)kind), is_own ? 2 : 1);
        node_drop(&b, &again);
        node_send(&b);
        assert_int_equal(world->kit->count_rows(world, (enum record_kind)kind), 1);
        record_close(&again);
    }
    const struct claim first = claim_shared(1, 11);
    const struct claim second = claim_shared(2, 22);
    assert_result(node_ask(&a, &first), CLAIM_WON);
    assert_result(node_ask(&b, &second), CLAIM_WON);
    node_close(&a);
    node_open(&a, world, "a");
    const struct store_driver *const driver = a.backend->driver;
    assert_int_equal(driver->load(a.backend, WORLD_NOW, see_row, &seen), STORE_DONE);
    assert_int_equal(seen.rows, RECORD_KIND_COUNT);
    assert_int_equal(driver->sharing->load_claims(a.backend, see_claim, &seen), STORE_DONE);
    assert_int_equal(seen.claim_count, 1);
    assert_int_equal(seen.claims[0], 11);
    seen.rows = 0;
    assert_int_equal(driver->load(b.backend, WORLD_NOW, see_row, &seen), STORE_DONE);
    assert_int_equal(seen.rows, 0);
    node_close(&a);
    node_close(&b);
}

const struct store_case store_claim_cases[] = {
    STORE_CASE(a_key_is_won_by_one_and_followed_by_all_others),
    STORE_CASE(of_two_claims_in_a_batch_the_first_one_wins),
    STORE_CASE(a_follower_is_told_when_the_task_is_at_the_vendor),
    STORE_CASE(a_solution_is_found_by_all_who_accept_it),
    STORE_CASE(a_follower_gets_the_solution_of_the_flight_that_it_followed),
    STORE_CASE(a_failure_is_told_to_followers_and_a_callers_mistake_to_all),
    STORE_CASE(a_claim_that_is_given_up_is_free_for_the_next),
    STORE_CASE(a_claim_that_a_stray_keeps_publishes_its_solution),
    STORE_CASE(an_idempotency_key_stands_for_one_thing_everywhere),
    STORE_CASE(who_repeats_a_key_gets_the_solution_that_was_found_for_it),
    STORE_CASE(an_idempotency_key_of_a_flight_that_was_given_up_is_free),
    STORE_CASE(an_idempotency_key_whose_solution_has_expired_is_renewed),
    STORE_CASE(a_batch_that_is_sent_again_is_not_applied_again),
    STORE_CASE(a_node_that_was_taken_over_writes_nothing_any_more),
    STORE_CASE(a_node_has_rows_and_claims_of_its_own),
    {NULL, NULL},
};
