/* Cases of drivers that can adopt: what nodes tell each other about requests and bad solutions. */
#include "store/row_table.h"
#include "store/store_fact.h"
#include "store_conformance.h"
#include "store_nodes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define REQUEST 700
#define FACTS_MAX 8

struct mail {
    unsigned count;
    struct fact facts[FACTS_MAX]; /* without their texts */
    char name[64];                /* the latest text */
};

static void on_fact(void *context, const struct fact *take_fact)
{
    struct mail *const mail = context;
    struct fact fact = *take_fact;
    assert_true(mail->count < FACTS_MAX);
    const struct slice name = blob_slice(fact.result.text);
    mail->name[0] = '\0';
    if (slice_is_given(name) && name.len < sizeof(mail->name)) {
        memcpy(mail->name, name.data, name.len);
        mail->name[name.len] = '\0';
    }
    fact_close(&fact);
    mail->facts[mail->count++] = fact;
}

static const struct mail *read_mail(const struct node *node)
{
    static struct mail mail;
    const struct store_sharing *const sharing = node->backend->driver->sharing;
    struct store_backend *const pulse = sharing->make_pulse(node->backend);
    mail.count = 0;
    assert_int_equal(sharing->pulse_inbox(pulse, FACTS_MAX, on_fact, &mail), STORE_DONE);
    node->backend->driver->close(pulse);
    return &mail;
}

static void put_request(struct node *node, uint64_t id)
{
    struct record record = world_record(node->world, RECORD_REQUEST, id);
    node_put(node, &record);
    node_send(node);
}

static void send_errand(struct node *node, uint64_t number, enum fact_kind kind, uint16_t to)
{
    const struct fact fact = {.number = number,
                              .kind = kind,
                              .result.text = blob_new(SLICE_OF("ann")),
                              .errand = {.verb = ERRAND_REPORT_BAD,
                                         .from = node->backend->node,
                                         .to = to,
                                         .id = REQUEST,
                                         .caller = 5,
                                         .ticket = number}};
    node_tell(node, &fact);
    node_send(node);
}

/* ---- errands ----------------------------------------------------------------------------- */

static void an_errand_goes_to_whoever_has_the_request(void **state)
{
    struct node a, b, c;
    node_open(&a, *state, "a");
    node_open(&b, *state, "b");
    node_open(&c, *state, "c");
    put_request(&a, REQUEST);
    send_errand(&b, 1001, FACT_ERRAND, c.backend->node);
    assert_int_equal(read_mail(&b)->count, 0);
    assert_int_equal(read_mail(&c)->count, 0);
    const struct mail *mail = read_mail(&a);
    assert_int_equal(mail->count, 1);
    assert_int_equal(mail->facts[0].kind, FACT_ERRAND);
    assert_int_equal(mail->facts[0].errand.id, REQUEST);
    assert_int_equal(mail->facts[0].errand.from, b.backend->node);
    assert_string_equal(mail->name, "ann");
    node_forget(&a, 1001);
    node_send(&a);
    assert_int_equal(read_mail(&a)->count, 0);
    node_close(&a);
    node_close(&b);
    node_close(&c);
}

static void without_a_row_it_goes_to_the_node_that_is_named(void **state)
{
    struct node a, b;
    node_open(&a, *state, "a");
    node_open(&b, *state, "b");
    send_errand(&b, 1001, FACT_ERRAND, a.backend->node);
    assert_int_equal(read_mail(&a)->count, 1);
    send_errand(&a, 1002, FACT_REPLY, b.backend->node);
    const struct mail *mail = read_mail(&b);
    assert_int_equal(mail->count, 1);
    assert_int_equal(mail->facts[0].kind, FACT_REPLY);
    assert_int_equal(mail->facts[0].errand.ticket, 1002);
    node_close(&a);
    node_close(&b);
}

static void if_that_one_is_not_there_it_comes_back(void **state)
{
    struct node a, b;
    node_open(&a, *state, "a");
    node_open(&b, *state, "b");
    const uint16_t left = a.backend->node;
    node_leave(&a);
    send_errand(&b, 1001, FACT_ERRAND, left);
    send_errand(&b, 1002, FACT_ERRAND, 444);
    send_errand(&b, 1003, FACT_ERRAND, 0);
    assert_int_equal(read_mail(&b)->count, 3);
    node_close(&b);
}

static void what_was_seen_of_a_request_comes_as_it_was_told(void **state)
{
    struct node a, b;
    node_open(&a, *state, "a");
    node_open(&b, *state, "b");
    struct fact fact = {
        .number = 1001,
        .kind = FACT_REPLY,
        .errand = {
            .verb = ERRAND_LOOK, .to = b.backend->node, .id = REQUEST, .caller = 5, .ticket = 77}};
    fact.sighting = (struct sighting){.state = REQUEST_SOLVED,
                                      .source = SOURCE_DEDUP_CACHE,
                                      .type = TYPE_TURNSTILE,
                                      .is_single = true,
                                      .attempts = 2,
                                      .born_wall_ms = 1704110400000,
                                      .expires_wall_ms = 1704110480000,
                                      .solve_ms = 4711};
    fact.result.text = blob_new(SLICE_OF("token"));
    memcpy(fact.result.task_id, "T1", sizeof "T1");
    node_tell(&a, &fact);
    node_send(&a);
    const struct mail *mail = read_mail(&b);
    assert_int_equal(mail->count, 1);
    assert_string_equal(mail->name, "token");
    assert_string_equal(mail->facts[0].result.task_id, "T1");
    assert_int_equal(mail->facts[0].errand.ticket, 77);
    assert_memory_equal(&mail->facts[0].sighting, &fact.sighting, sizeof fact.sighting);
    node_close(&a);
    node_close(&b);
}

/* ---- bad solutions ----------------------------------------------------------------------- */

#define BAD_ATTEMPT UINT64_C(17000000000000000001)

static void put_solution(struct node *node, uint64_t id, uint64_t flight, attempt_id attempt)
{
    struct record record = solution_of(node->world, id, 1, true);
    record.solution.attempt = attempt;
    record.solution.flight = flight;
    node_put(node, &record);
}

static void tell_bad(struct node *node, uint64_t number)
{
    const struct fact fact = {
        .number = number, .kind = FACT_BAD, .bad = {.key = key_of(1), .attempt = BAD_ATTEMPT}};
    node_tell(node, &fact);
    node_send(node);
}

static enum claim_result ask_for(struct node *node, struct claim claim)
{
    const struct claimed claimed = node_ask(node, &claim);
    return claimed.result;
}

static void all_others_are_told_of_a_bad_solution(void **state)
{
    /* One more digit, if it is not reckoned in so many. */
    const uint64_t number = UINT64_C(1899999999999999000);
    struct node a, b, c;
    node_open(&a, *state, "a");
    node_open(&b, *state, "b");
    node_open(&c, *state, "c");
    tell_bad(&b, number);
    node_send_again(&b);
    assert_int_equal(read_mail(&b)->count, 0);
    for (const struct node *node = &a; node != NULL; node = node == &a ? &c : NULL) {
        const struct mail *const mail = read_mail(node);
        const struct key key = key_of(1);
        assert_int_equal(mail->count, 1);
        assert_int_equal(mail->facts[0].kind, FACT_BAD);
        assert_int_equal(mail->facts[0].number, number + 512U * node->backend->node);
        assert_int_equal(mail->facts[0].bad.attempt, BAD_ATTEMPT);
        assert_true(key_equals(&mail->facts[0].bad.key, &key));
    }
    node_forget(&a, number + 512U * a.backend->node);
    node_send(&a);
    assert_int_equal(read_mail(&a)->count, 0);
    assert_int_equal(read_mail(&c)->count, 1);
    node_close(&a);
    node_close(&b);
    node_close(&c);
}

static void no_claim_finds_it_any_more_whoever_has_it(void **state)
{
    struct node a, b;
    node_open(&a, *state, "a");
    node_open(&b, *state, "b");
    put_solution(&a, 51, 0, BAD_ATTEMPT);
    put_solution(&a, 52, 0, BAD_ATTEMPT);
    node_send(&a);
    assert_int_equal(ask_for(&b, claim_shared(1, 22)), CLAIM_SOLVED);
    tell_bad(&b, 1 << 20);
    assert_int_equal(ask_for(&b, claim_shared(1, 23)), CLAIM_WON);
    node_close(&a);
    node_close(&b);
}

static void other_solutions_of_the_key_are_left_alone(void **state)
{
    struct node a, b;
    node_open(&a, *state, "a");
    node_open(&b, *state, "b");
    put_solution(&a, 51, 0, BAD_ATTEMPT);
    put_solution(&a, 52, 0, BAD_ATTEMPT - 1);
    node_send(&a);
    tell_bad(&b, 1 << 20);
    assert_int_equal(ask_for(&b, claim_shared(1, 22)), CLAIM_SOLVED);
    node_close(&a);
    node_close(&b);
}

static void no_idempotency_key_stands_for_it_any_more(void **state)
{
    struct node a, b;
    node_open(&a, *state, "a");
    node_open(&b, *state, "b");
    put_solution(&a, 51, 7, BAD_ATTEMPT);
    struct record row = world_record(*state, RECORD_IDEMPOTENCY, 1);
    row.idempotency = (struct idempotency_row){.digest = key_of(500),
                                               .fingerprint = key_of(1),
                                               .solution = 51,
                                               .expires_wall_ms = clocks_read().wall_ms + 60000};
    node_put(&a, &row);
    node_send(&a);
    assert_int_equal(ask_for(&b, claim_with(claim_shared(1, 22), 500)), CLAIM_SOLVED);
    tell_bad(&b, 1 << 20);
    const struct claim again = claim_with(claim_shared(1, 23), 500);
    const struct claimed claimed = node_ask(&b, &again);
    assert_int_equal(claimed.result, CLAIM_WON);
    assert_true(claimed.is_renewed);
    node_close(&a);
    node_close(&b);
}

static int64_t number_in(const struct row_value *values, const char *name)
{
    const struct row_table *const table = &row_tables[RECORD_SOLUTION];
    for (size_t i = 0; i < table->count; i++)
        if (strcmp(table->columns[i].name, name) == 0)
            return values[i].integer;
    fail_msg("there is no such column");
    return 0;
}

static void see_solution(void *context, enum record_kind kind, const struct row_value *values)
{
    struct solution_row *const found = context;
    if (kind != RECORD_SOLUTION || number_in(values, "id") != (int64_t)found->id)
        return;
    found->is_bad = number_in(values, "bad") == 1;
    found->is_kept = number_in(values, "kept") == 1;
    found->expires_wall_ms = number_in(values, "expires");
}

/* Whoever has it may still fetch it, for as long as any other. */
static void its_row_stays_for_those_who_have_it(void **state)
{
    struct node a, b;
    struct record solution = solution_of(*state, 51, 1, true);
    const int64_t expires_wall_ms = solution.solution.expires_wall_ms;
    struct solution_row found = {.id = 51, .is_kept = true};
    record_close(&solution);
    node_open(&a, *state, "a");
    node_open(&b, *state, "b");
    put_solution(&a, 51, 7, BAD_ATTEMPT);
    node_send(&a);
    tell_bad(&b, 1 << 20);
    node_close(&a);
    node_open(&a, *state, "a");
    assert_int_equal(
        a.backend->driver->load(a.backend, clocks_read().wall_ms, see_solution, &found),
        STORE_DONE);
    assert_true(found.is_bad);
    assert_false(found.is_kept);
    assert_in_range(found.expires_wall_ms, expires_wall_ms - 5000, expires_wall_ms + 60000);
    node_close(&a);
    node_close(&b);
}

static void who_follows_its_flight_does_not_get_it_either(void **state)
{
    struct node a, b;
    node_open(&a, *state, "a");
    node_open(&b, *state, "b");
    assert_int_equal(ask_for(&a, claim_shared(1, 11)), CLAIM_WON);
    assert_int_equal(ask_for(&b, claim_shared(1, 22)), CLAIM_FOLLOW);
    put_solution(&a, 51, 11, BAD_ATTEMPT);
    const struct release end = {.flight = 11, .name = key_of(1), .solution = 51};
    node_release(&a, &end);
    node_send(&a);
    tell_bad(&a, 1 << 20);
    struct claim again = claim_shared(1, 22);
    again.following = 11;
    assert_int_equal(ask_for(&b, again), CLAIM_WON);
    node_close(&a);
    node_close(&b);
}

static void on_woken(void *context, const struct key *name)
{
    *(unsigned *)context += name == NULL;
}

static void a_bad_solution_wakes_all_others(void **state)
{
    struct node a, b;
    unsigned woken = 0;
    int ends[2];
    node_open(&a, *state, "a");
    node_open(&b, *state, "b");
    const struct store_sharing *const sharing = a.backend->driver->sharing;
    struct store_backend *const pulse = sharing->make_pulse(a.backend);
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(sharing->pulse_wait(pulse, ends[0], 50, on_woken, &woken), STORE_DONE);
    assert_int_equal(woken, 0);
    tell_bad(&b, 1 << 20);
    for (unsigned i = 0; i < 50 && woken == 0; i++)
        assert_int_equal(sharing->pulse_wait(pulse, ends[0], 100, on_woken, &woken), STORE_DONE);
    assert_int_equal(woken, 1);
    a.backend->driver->close(pulse);
    (void)close(ends[0]);
    (void)close(ends[1]);
    node_close(&a);
    node_close(&b);
}

const struct store_case store_errand_cases[] = {
    STORE_CASE(an_errand_goes_to_whoever_has_the_request),
    STORE_CASE(without_a_row_it_goes_to_the_node_that_is_named),
    STORE_CASE(if_that_one_is_not_there_it_comes_back),
    STORE_CASE(what_was_seen_of_a_request_comes_as_it_was_told),
    STORE_CASE(all_others_are_told_of_a_bad_solution),
    STORE_CASE(no_claim_finds_it_any_more_whoever_has_it),
    STORE_CASE(other_solutions_of_the_key_are_left_alone),
    STORE_CASE(no_idempotency_key_stands_for_it_any_more),
    STORE_CASE(its_row_stays_for_those_who_have_it),
    STORE_CASE(who_follows_its_flight_does_not_get_it_either),
    STORE_CASE(a_bad_solution_wakes_all_others),
    {NULL, NULL},
};
