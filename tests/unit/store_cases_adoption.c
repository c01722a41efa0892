/* Cases of drivers that can adopt: a dead node's rows, and the inbox of facts. */
#include "store/store_fact.h"
#include "store_conformance.h"
#include "store_nodes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- adopting ---------------------------------------------------------------------------- */

#define NUMBERS_MAX 2048

/* What an adoption brought. */
struct parcel {
    unsigned rows[RECORD_KIND_COUNT];
    unsigned adoptions; /* of its flights, together */
    unsigned claim_count;
    uint64_t claims[NUMBERS_MAX];
};

static void on_values(void *context, enum record_kind kind, const struct row_value *values)
{
    struct parcel *const parcel = context;
    struct record record = {.kind = kind};
    struct slice client;
    assert_true(row_from_values(values, &record, &client));
    parcel->rows[kind]++;
    if (kind == RECORD_FLIGHT)
        parcel->adoptions += record.flight.adoptions;
    record_close(&record);
}

static void on_claim(void *context, const struct key *name, uint64_t flight)
{
    struct parcel *const parcel = context;
    const struct key expected = key_of((uint32_t)flight);
    assert_true(parcel->claim_count < NUMBERS_MAX);
    assert_memory_equal(name->bytes, expected.bytes, KEY_BYTES);
    parcel->claims[parcel->claim_count++] = flight;
}

static enum store_result try_adopt(const struct node *by, const struct store_member *dead,
                                   bool is_again, bool *is_ours, struct parcel *parcel)
{
    const struct store_sharing *const sharing = by->backend->driver->sharing;
    const struct store_adopted to = {
        .context = parcel, .on_values = on_values, .on_claim = on_claim};
    struct store_backend *const backend = sharing->make_pulse(by->backend);
    const enum store_result result = sharing->adopt(backend, dead, is_again, is_ours, &to);
    backend->driver->close(backend);
    return result;
}

static bool adopt(const struct node *by, const struct store_member *dead, struct parcel *parcel)
{
    bool is_ours = false;
    *parcel = (struct parcel){.claim_count = 0};
    assert_int_equal(try_adopt(by, dead, false, &is_ours, parcel), STORE_DONE);
    return is_ours;
}

static enum store_result beat_of(const struct node *node, struct store_members *members)
{
    const struct store_sharing *const sharing = node->backend->driver->sharing;
    struct store_backend *const pulse = sharing->make_pulse(node->backend);
    const enum store_result result =
        sharing->pulse_beat(pulse, &(struct demand){.slots = 0, .pools = 0}, members);
    node->backend->driver->close(pulse);
    return result;
}

/* As the node finds another one at its beat. */
static struct store_member see(const struct node *by, const struct node *other)
{
    static struct store_members members;
    assert_int_equal(beat_of(by, &members), STORE_DONE);
    for (uint32_t i = 0; i < members.count; i++)
        if (members.all[i].node == other->backend->node)
            return members.all[i];
    fail_msg("the node is not among the members");
    return members.all[0];
}

static void see_row(void *context, enum record_kind kind, const struct row_value *values)
{
    struct parcel *const parcel = context;
    (void)values;
    parcel->rows[kind]++;
}

static struct parcel load(const struct node *node)
{
    struct parcel parcel = {.claim_count = 0};
    assert_int_equal(node->backend->driver->load(node->backend, WORLD_NOW, see_row, &parcel),
                     STORE_DONE);
    return parcel;
}

/* A row that was never adopted. */
static struct record fresh(struct store_world *world, enum record_kind kind, uint64_t number)
{
    struct record record = world_record(world, kind, number);
    if (kind == RECORD_FLIGHT)
        record.flight.adoptions = 0;
    return record;
}

static void put_one_of_each(struct node *node, uint64_t number)
{
    for (unsigned kind = 0; kind < RECORD_KIND_COUNT; kind++) {
        struct record record = fresh(node->world, (enum record_kind)kind, number);
        node_put(node, &record);
    }
}

static void claim_it(struct node *node, uint32_t number)
{
    const struct claim claim = claim_shared(number, number);
    assert_int_equal(node_ask(node, &claim).result, CLAIM_WON);
}

static bool is_book(unsigned kind)
{
    return kind == RECORD_DAY || kind == RECORD_TALLY || kind == RECORD_SPENT;
}

static void all_but_the_books_becomes_the_adopters(void **state)
{
    static struct parcel parcel;
    struct node a, b;
    node_open(&a, *state, "a");
    node_open(&b, *state, "b");
    put_one_of_each(&a, 7);
    node_send(&a);
    claim_it(&a, 11);
    claim_it(&a, 12);
    claim_it(&b, 13);
    const struct store_member dead = see(&b, &a);
    assert_true(adopt(&b, &dead, &parcel));
    const struct parcel own = load(&b);
    const struct parcel left = load(&a);
    for (unsigned kind = 0; kind < RECORD_KIND_COUNT; kind++) {
        assert_int_equal(parcel.rows[kind], is_book(kind) ? 0 : 1);
        assert_int_equal(own.rows[kind], is_book(kind) ? 0 : 1);
        assert_int_equal(left.rows[kind], is_book(kind) ? 1 : 0);
    }
    assert_int_equal(parcel.adoptions, 1);
    assert_int_equal(parcel.claim_count, 2);
    /* The claim is b's: it can end it, and another's ask follows it as b's. */
    const struct claim claim = claim_shared(11, 900);
    const struct claimed claimed = node_ask(&b, &claim);
    assert_int_equal(claimed.result, CLAIM_FOLLOW);
    assert_true(claimed.is_own);
    assert_int_equal(claimed.followed, 11);
    node_close(&a);
    node_close(&b);
}

static void a_node_whose_beat_moved_is_left_alone(void **state)
{
    static struct store_members members;
    static struct parcel parcel;
    struct node a, b;
    node_open(&a, *state, "a");
    node_open(&b, *state, "b");
    put_one_of_each(&a, 7);
    node_send(&a);
    struct store_member seen = see(&b, &a);
    assert_int_equal(beat_of(&a, &members), STORE_DONE);
    assert_false(adopt(&b, &seen, &parcel));
    assert_int_equal(parcel.rows[RECORD_FLIGHT], 0);
    seen = see(&b, &a);
    seen.incarnation--;
    assert_false(adopt(&b, &seen, &parcel));
    assert_int_equal(load(&a).rows[RECORD_FLIGHT], 1);
    struct record record = fresh(a.world, RECORD_FLIGHT, 8);
    node_put(&a, &record);
    node_send(&a);
    node_close(&a);
    node_close(&b);
}

static void an_adopted_node_decides_nothing_and_may_join_again(void **state)
{
    static struct store_members members;
    static struct parcel parcel;
    struct node a, b;
    node_open(&a, *state, "a");
    node_open(&b, *state, "b");
    const uint16_t number = a.backend->node;
    const uint64_t incarnation = a.backend->incarnation;
    const struct store_member dead = see(&b, &a);
    assert_true(adopt(&b, &dead, &parcel));
    assert_true(see(&b, &a).is_gone);
    struct record record = fresh(a.world, RECORD_FLIGHT, 8);
    node_put(&a, &record);
    assert_int_equal(node_try(&a), STORE_REFUSED);
    assert_int_equal(beat_of(&a, &members), STORE_REFUSED);
    /* Nor does it adopt anybody. */
    bool is_ours = false;
    const struct store_member other = see(&b, &b);
    assert_int_equal(try_adopt(&a, &other, false, &is_ours, &parcel), STORE_REFUSED);
    assert_int_equal(load(&b).rows[RECORD_FLIGHT], 0);
    node_close(&a);
    node_open(&a, *state, "a");
    assert_int_equal(a.backend->node, number);
    assert_true(a.backend->incarnation > incarnation);
    record = fresh(a.world, RECORD_FLIGHT, 8);
    node_put(&a, &record);
    node_send(&a);
    assert_false(see(&b, &a).is_gone);
    assert_false(adopt(&b, &dead, &parcel));
    node_close(&a);
    node_close(&b);
}

struct adopter {
    struct node node;
    uv_thread_t thread;
    struct store_member dead;
    bool is_ours;
    struct parcel parcel;
};

static void race(void *context)
{
    struct adopter *const adopter = context;
    enum store_result result =
        try_adopt(&adopter->node, &adopter->dead, false, &adopter->is_ours, &adopter->parcel);
    for (unsigned i = 0; i < 20 && result == STORE_RETRY; i++)
        result =
            try_adopt(&adopter->node, &adopter->dead, true, &adopter->is_ours, &adopter->parcel);
    assert_int_equal(result, STORE_DONE);
}

static void of_two_who_adopt_one_does(void **state)
{
    static struct adopter b, c;
    struct node a;
    node_open(&a, *state, "a");
    node_open(&b.node, *state, "b");
    node_open(&c.node, *state, "c");
    for (unsigned first = 0; first < 400; first += 100) {
        for (unsigned i = 1; i <= 100; i++) {
            struct record record = fresh(a.world, RECORD_FLIGHT, first + i);
            node_put(&a, &record);
        }
        node_send(&a);
    }
    b.dead = c.dead = see(&b.node, &a);
    b.is_ours = c.is_ours = false;
    b.parcel = c.parcel = (struct parcel){.claim_count = 0};
    assert_int_equal(uv_thread_create(&b.thread, race, &b), 0);
    assert_int_equal(uv_thread_create(&c.thread, race, &c), 0);
    assert_int_equal(uv_thread_join(&b.thread), 0);
    assert_int_equal(uv_thread_join(&c.thread), 0);
    assert_int_equal(b.is_ours + c.is_ours, 1);
    const struct adopter *const winner = b.is_ours ? &b : &c;
    assert_int_equal(winner->parcel.rows[RECORD_FLIGHT], 400);
    assert_int_equal(b.parcel.rows[RECORD_FLIGHT] + c.parcel.rows[RECORD_FLIGHT], 400);
    assert_int_equal(load(&winner->node).rows[RECORD_FLIGHT], 400);
    node_close(&a);
    node_close(&b.node);
    node_close(&c.node);
}

/* After an unknown outcome: was it taken? If not, it is not taken now. */
static void looking_back_takes_nothing_anew(void **state)
{
    static struct parcel parcel;
    struct node a, b;
    bool is_ours = true;
    node_open(&a, *state, "a");
    node_open(&b, *state, "b");
    put_one_of_each(&a, 7);
    node_send(&a);
    const struct store_member dead = see(&b, &a);
    assert_int_equal(try_adopt(&b, &dead, true, &is_ours, &parcel), STORE_DONE);
    assert_false(is_ours);
    assert_int_equal(load(&a).rows[RECORD_FLIGHT], 1);
    assert_true(adopt(&b, &dead, &parcel));
    is_ours = false;
    assert_int_equal(try_adopt(&b, &dead, true, &is_ours, &parcel), STORE_DONE);
    assert_true(is_ours);
    assert_int_equal(parcel.rows[RECORD_FLIGHT], 1);
    node_close(&a);
    node_close(&b);
}

static void adoptions_are_counted_but_not_of_one_that_left(void **state)
{
    static struct parcel parcel;
    struct node a, b, c;
    node_open(&a, *state, "a");
    node_open(&b, *state, "b");
    node_open(&c, *state, "c");
    struct record record = fresh(a.world, RECORD_FLIGHT, 8);
    node_put(&a, &record);
    node_send(&a);
    struct store_member dead = see(&b, &a);
    assert_true(adopt(&b, &dead, &parcel));
    assert_int_equal(parcel.adoptions, 1);
    /* Its own text says so, too, once somebody has written it again: nothing is counted twice. */
    record = fresh(b.world, RECORD_FLIGHT, 8);
    record.flight.adoptions = 1;
    node_put(&b, &record);
    node_send(&b);
    dead = see(&c, &b);
    assert_true(adopt(&c, &dead, &parcel));
    assert_int_equal(parcel.adoptions, 2);
    node_close(&a);
    node_close(&b);
    node_open(&a, *state, "a");
    dead = see(&a, &c);
    node_leave(&c);
    /* It is as it was seen, whether it has left since or not. */
    assert_true(adopt(&a, &dead, &parcel));
    assert_int_equal(parcel.adoptions, 2);
    /* Its own name counts, too, when it comes back after a crash. */
    node_close(&a);
    node_open(&a, *state, "a");
    node_open(&b, *state, "b");
    dead = see(&b, &a);
    assert_true(adopt(&b, &dead, &parcel));
    assert_int_equal(parcel.adoptions, 4);
    node_close(&a);
    node_close(&b);
}

/* Otherwise there would be no number left after so many containers with names of their own. */
static void a_name_without_rows_is_forgotten_once_it_was_adopted(void **state)
{
    static struct parcel parcel;
    struct node a, b;
    bool has_more;
    node_open(&a, *state, "a");
    node_open(&b, *state, "b");
    put_one_of_each(&a, 7);
    node_send(&a);
    const struct store_member dead = see(&b, &a);
    assert_true(adopt(&b, &dead, &parcel));
    /* The books are still there, and then they are not. */
    const struct store_driver *const driver = b.backend->driver;
    assert_int_equal(driver->tidy(b.backend, clocks_read().wall_ms, 100, &has_more), STORE_DONE);
    assert_true(see(&b, &a).is_gone);
    assert_int_equal(driver->tidy(b.backend, WORLD_NOW * 2, 100, &has_more), STORE_DONE);
    static struct store_members members;
    assert_int_equal(beat_of(&b, &members), STORE_DONE);
    assert_int_equal(members.count, 1);
    assert_int_equal(node_try(&a), STORE_REFUSED);
    node_close(&a);
    node_close(&b);
}

/* ---- the inbox --------------------------------------------------------------------------- */

struct mail {
    unsigned count;
    uint64_t numbers[NUMBERS_MAX];
    uint64_t attempts[NUMBERS_MAX];
    char task[TASK_ID_MAX];
};

static void on_fact(void *context, const struct fact *take_fact)
{
    struct mail *const mail = context;
    struct fact fact = *take_fact;
    assert_true(mail->count < NUMBERS_MAX);
    assert_int_equal(fact.result.outcome, OUTCOME_SOLVED);
    assert_true(slice_equals(blob_slice(fact.result.text), SLICE_OF("to\xffken")));
    assert_null(fact.result.extra);
    memcpy(mail->task, fact.result.task_id, sizeof(mail->task));
    mail->attempts[mail->count] = fact.result.attempt;
    mail->numbers[mail->count++] = fact.number;
    fact_close(&fact);
}

static const struct mail *read_mail(const struct node *node, unsigned limit)
{
    static struct mail mail;
    const struct store_sharing *const sharing = node->backend->driver->sharing;
    struct store_backend *const pulse = sharing->make_pulse(node->backend);
    mail.count = 0;
    assert_int_equal(sharing->pulse_inbox(pulse, limit, on_fact, &mail), STORE_DONE);
    node->backend->driver->close(pulse);
    return &mail;
}

static struct fact fact_of(uint64_t number, uint64_t attempt)
{
    return (struct fact){.number = number,
                         .result = {.attempt = attempt,
                                    .outcome = OUTCOME_SOLVED,
                                    .task_id = "123",
                                    .text = blob_new(SLICE_OF("to\xffken"))}};
}

static void put_attempt(struct node *node, uint64_t name)
{
    struct record record = fresh(node->world, RECORD_ATTEMPT, name);
    node_put(node, &record);
    node_send(node);
}

static void tell(struct node *node, uint64_t number, uint64_t attempt)
{
    const struct fact fact = fact_of(number, attempt);
    node_tell(node, &fact);
}

static void a_fact_goes_to_whoever_has_the_attempt_until_it_is_forgotten(void **state)
{
    struct node a, b;
    node_open(&a, *state, "a");
    node_open(&b, *state, "b");
    put_attempt(&a, 500);
    tell(&b, 1001, 500);
    tell(&b, 1003, 500);
    tell(&b, 1002, 500);
    node_send(&b);
    node_send_again(&b);
    assert_int_equal(read_mail(&b, 10)->count, 0);
    const struct mail *mail = read_mail(&a, 10);
    /* In the order of being told. */
    assert_int_equal(mail->count, 3);
    assert_int_equal(mail->numbers[0], 1001);
    assert_int_equal(mail->numbers[1], 1003);
    assert_int_equal(mail->attempts[2], 500);
    assert_string_equal(mail->task, "123");
    assert_int_equal(read_mail(&a, 2)->count, 2);
    node_forget(&a, 1001);
    node_forget(&a, 1003);
    node_send(&a);
    mail = read_mail(&a, 10);
    assert_int_equal(mail->count, 1);
    assert_int_equal(mail->numbers[0], 1002);
    node_close(&a);
    node_close(&b);
}

static void a_fact_that_is_nobodys_comes_back_to_its_teller(void **state)
{
    struct node a, b;
    node_open(&a, *state, "a");
    node_open(&b, *state, "b");
    tell(&b, 1001, 404);
    node_send(&b);
    assert_int_equal(read_mail(&a, 10)->count, 0);
    assert_int_equal(read_mail(&b, 10)->count, 1);
    /* The attempt may have been on its way to the store. */
    put_attempt(&a, 404);
    assert_int_equal(read_mail(&a, 10)->count, 1);
    assert_int_equal(read_mail(&b, 10)->count, 0);
    node_close(&a);
    node_close(&b);
}

static void the_inbox_is_adopted_too(void **state)
{
    static struct parcel parcel;
    struct node a, b, c;
    node_open(&a, *state, "a");
    node_open(&b, *state, "b");
    node_open(&c, *state, "c");
    put_attempt(&a, 500);
    tell(&b, 1001, 500);
    node_send(&b);
    tell(&a, 1002, 404);
    node_send(&a);
    const struct store_member dead = see(&c, &a);
    assert_true(adopt(&c, &dead, &parcel));
    assert_int_equal(read_mail(&c, 10)->count, 2);
    /* Facts are also told of what was adopted meanwhile. */
    tell(&b, 1003, 500);
    node_send(&b);
    assert_int_equal(read_mail(&c, 10)->count, 3);
    assert_int_equal(read_mail(&b, 10)->count, 0);
    node_close(&a);
    node_close(&b);
    node_close(&c);
}

static void on_woken(void *context, const struct key *name)
{
    *(unsigned *)context += name == NULL;
}

static unsigned listen_for(const struct store_sharing *sharing, struct store_backend *pulse, int fd,
                           unsigned turns)
{
    unsigned woken = 0;
    for (unsigned i = 0; i < turns && woken == 0; i++)
        assert_int_equal(sharing->pulse_wait(pulse, fd, 100, on_woken, &woken), STORE_DONE);
    return woken;
}

static void a_fact_wakes_whoever_it_is_for(void **state)
{
    struct node a, b, c;
    int ends[2];
    node_open(&a, *state, "a");
    node_open(&b, *state, "b");
    node_open(&c, *state, "c");
    const struct store_sharing *const sharing = a.backend->driver->sharing;
    struct store_backend *const pulse = sharing->make_pulse(a.backend);
    struct store_backend *const other = sharing->make_pulse(c.backend);
    assert_int_equal(pipe(ends), 0);
    put_attempt(&a, 500);
    assert_int_equal(listen_for(sharing, pulse, ends[0], 1), 0);
    assert_int_equal(listen_for(sharing, other, ends[0], 1), 0);
    tell(&b, 1001, 500);
    node_send(&b);
    assert_int_equal(listen_for(sharing, pulse, ends[0], 50), 1);
    assert_int_equal(listen_for(sharing, other, ends[0], 1), 0);
    a.backend->driver->close(pulse);
    a.backend->driver->close(other);
    (void)close(ends[0]);
    (void)close(ends[1]);
    node_close(&a);
    node_close(&b);
    node_close(&c);
}

/* ---- followers --------------------------------------------------------------------------- */

/* b's flight 21 followed a's flight 11 for an idempotency key; then b died. Whoever repeats the key gets a's solution,
 * although b never asked again. */
static void whoever_repeats_a_dead_followers_key_gets_what_it_waited_for(void **state)
{
    struct node a, b, c;
    node_open(&a, *state, "a");
    node_open(&b, *state, "b");
    node_open(&c, *state, "c");
    claim_it(&a, 11);
    struct claim claim = claim_with(claim_shared(11, 21), 77);
    assert_int_equal(node_ask(&b, &claim).result, CLAIM_FOLLOW);
    struct record solution = solution_of(a.world, 5, 11, false);
    solution.solution.flight = 11;
    node_put(&a, &solution);
    const struct release end = {.flight = 11, .name = key_of(11), .solution = 5};
    node_release(&a, &end);
    node_send(&a);
    claim = claim_with(claim_shared(11, 31), 77);
    const struct claimed claimed = node_ask(&c, &claim);
    assert_int_equal(claimed.result, CLAIM_SOLVED);
    assert_true(claimed.is_replayed);
    node_close(&a);
    node_close(&b);
    node_close(&c);
}

const struct store_case store_adoption_cases[] = {
    STORE_CASE(all_but_the_books_becomes_the_adopters),
    STORE_CASE(a_node_whose_beat_moved_is_left_alone),
    STORE_CASE(an_adopted_node_decides_nothing_and_may_join_again),
    STORE_CASE(of_two_who_adopt_one_does),
    STORE_CASE(looking_back_takes_nothing_anew),
    STORE_CASE(adoptions_are_counted_but_not_of_one_that_left),
    STORE_CASE(a_name_without_rows_is_forgotten_once_it_was_adopted),
    STORE_CASE(a_fact_goes_to_whoever_has_the_attempt_until_it_is_forgotten),
    STORE_CASE(a_fact_that_is_nobodys_comes_back_to_its_teller),
    STORE_CASE(the_inbox_is_adopted_too),
    STORE_CASE(a_fact_wakes_whoever_it_is_for),
    STORE_CASE(whoever_repeats_a_dead_followers_key_gets_what_it_waited_for),
    {NULL, NULL},
};
