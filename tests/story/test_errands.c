/* Errands: a client reports on a request, or gives it up, at a gateway that does not have it; and a solution that was
 * reported as bad is handed out nowhere any more. */
#include "lines.h"
#include "shared_world.h"

/* The story's node is the first. A request that the second one gave an id: also one of which no row tells. */
#define ELSEWHERE (UINT64_C(2) << 44 | 5)
#define SELF 1
#define OTHER 2

static void report_as(struct world *world, const char *who, client_id client, request_id id,
                      bool is_good)
{
    struct event event = {.kind = EVENT_REPORT};
    event.report = (struct report){
        .caller = world_caller(world, who), .client = client, .id = id, .is_good = is_good};
    world_step(world, &event);
}

static void detach_elsewhere(struct world *world, const char *who)
{
    struct event event = {.kind = EVENT_DETACH};
    event.detach = (struct detach){.caller = world_caller(world, who), .id = ELSEWHERE};
    world_step(world, &event);
}

/* The other node tells how the latest errand ended. */
static void replied(struct world *world, uint64_t number, enum refusal refusal)
{
    struct event event = {.kind = EVENT_TOLD};
    event.told.number = number;
    event.told.kind = FACT_REPLY;
    event.told.errand = world->last_errand;
    event.told.errand.to = SELF;
    event.told.errand.refusal = refusal;
    world_step(world, &event);
}

/* It has an errand for us. */
static void sent_as(struct world *world, uint64_t number, client_id client, enum errand_verb verb,
                    request_id id)
{
    struct event event = {.kind = EVENT_TOLD};
    event.told.number = number;
    event.told.kind = FACT_ERRAND;
    event.told.errand = (struct errand){.verb = verb,
                                        .from = OTHER,
                                        .to = SELF,
                                        .client = client,
                                        .id = id,
                                        .caller = 77,
                                        .ticket = number};
    world_step(world, &event);
}

static void sent(struct world *world, uint64_t number, enum errand_verb verb, const char *request)
{
    sent_as(world, number, 0, verb, world_request(world, request));
}

/* Somebody reported to it what an attempt brought for a key. */
static void told_bad(struct world *world, const char *key, attempt_id attempt)
{
    struct event event = {.kind = EVENT_TOLD};
    event.told.number = 9;
    event.told.kind = FACT_BAD;
    event.told.bad = (struct bad_solution){.key = key_named(key), .attempt = attempt};
    world_step(world, &event);
}

/* ann got TOKEN for K from a1. */
static struct world *world_with_token(void)
{
    struct world *w = leased_world(NULL);
    beat(w, 0);
    ask(w, "ann", .key = "K");
    won(w, "f1");
    solve(w, "a1", "T1", "TOKEN");
    beat(w, 0);
    skip_lines(w);
    return w;
}

/* ---- sending ------------------------------------------------------------------------------------- */

static void a_report_goes_to_the_node_that_gave_the_id(void **state)
{
    (void)state;
    struct world *w = shared_world(NULL);
    report_as(w, "worker", 0, ELSEWHERE, false);
    expect(w, "[     0] tell n2: report bad r1\n");
    replied(w, 5, REFUSAL_NONE);
    expect(w, "[     0] answer worker r1 queued\n"
              "[     0] forget 5\n");
    /* It is in the books of the node that has the request. */
    assert_int_equal(stats_of(w)->reports_bad, 0);
}

static void whoever_reports_nonsense_is_told_so_by_the_other_node(void **state)
{
    (void)state;
    struct world *w = shared_world(NULL);
    report_as(w, "worker", 0, ELSEWHERE, true);
    replied(w, 5, REFUSAL_NOT_SOLVED);
    expect(w, "[     0] tell n2: report good r1\n"
              "[     0] answer worker refused: this request has no solution (yet)\n"
              "[     0] forget 5\n");
}

static void a_request_is_given_up_at_another_node(void **state)
{
    (void)state;
    struct world *w = shared_world(NULL);
    detach_elsewhere(w, "worker");
    replied(w, 5, REFUSAL_NONE);
    expect(w, "[     0] tell n2: detach r1\n"
              "[     0] answer worker r1 queued\n"
              "[     0] forget 5\n");
}

/* What this node remembers of it may be outdated. */
static void a_look_after_that_asks_the_store_again(void **state)
{
    (void)state;
    struct world *w = shared_world(NULL);
    struct event event = {.kind = EVENT_LOOK};
    event.look = (struct look){.caller = world_caller(w, "ann"), .id = ELSEWHERE};
    world_step(w, &event);
    struct event found = {.kind = EVENT_FOUND};
    found.found = (struct found){.id = ELSEWHERE,
                                 .ticket = w->last_find.ticket,
                                 .result = FOUND_FAILED,
                                 .class = CLASS_TIMEOUT};
    world_step(w, &found);
    detach_elsewhere(w, "worker");
    replied(w, 5, REFUSAL_NONE);
    skip_lines(w);
    event.look.caller = world_caller(w, "bob");
    world_step(w, &event);
    expect(w, "[     0] find r1\n");
}

static void without_a_shared_store_nobody_is_sent(void **state)
{
    (void)state;
    struct world *w = world_new(NULL);
    report_as(w, "worker", 0, ELSEWHERE, false);
    detach_elsewhere(w, "worker");
    expect(w, "[     0] answer worker refused: no such request\n"
              "[     0] answer worker refused: no such request\n");
}

static void an_id_that_no_node_gives_is_unknown_at_once(void **state)
{
    (void)state;
    struct world *w = shared_world(NULL);
    report_as(w, "worker", 0, REQUEST_ID_LIMIT, false);
    report_as(w, "worker", 0, 0, false);
    expect(w, "[     0] answer worker refused: no such request\n"
              "[     0] answer worker refused: no such request\n");
}

static void an_errand_that_comes_back_is_nobodys(void **state)
{
    (void)state;
    struct world *w = shared_world(NULL);
    report_as(w, "worker", 0, ELSEWHERE, false);
    struct event event = {.kind = EVENT_TOLD};
    event.told.number = 5;
    event.told.kind = FACT_ERRAND;
    event.told.errand = w->last_errand;
    world_step(w, &event);
    expect(w, "[     0] tell n2: report bad r1\n"
              "[     0] answer worker refused: no such request\n"
              "[     0] forget 5\n");
}

static void who_waits_in_vain_comes_again(void **state)
{
    (void)state;
    struct world *w = shared_world(NULL);
    report_as(w, "worker", 0, ELSEWHERE, false);
    pass(w, 5000);
    expect(w, "[     0] tell n2: report bad r1\n"
              "[  5000] answer worker refused: the store cannot be reached, retry after 1000\n");
    /* The reply that comes at last is for nobody. */
    replied(w, 5, REFUSAL_NONE);
    expect(w, "[  5000] forget 5\n");
}

static void the_reply_to_an_earlier_errand_is_not_the_next_ones(void **state)
{
    (void)state;
    struct world *w = shared_world(NULL);
    report_as(w, "worker", 0, ELSEWHERE, false);
    w->last_errand.ticket--;
    replied(w, 5, REFUSAL_NONE);
    expect(w, "[     0] tell n2: report bad r1\n"
              "[     0] forget 5\n");
}

static void who_is_gone_is_not_answered(void **state)
{
    (void)state;
    struct world *w = shared_world(NULL);
    report_as(w, "worker", 0, ELSEWHERE, false);
    gone(w, "worker");
    replied(w, 5, REFUSAL_NONE);
    expect(w, "[     0] tell n2: report bad r1\n"
              "[     0] forget 5\n");
}

static void who_waits_at_a_node_that_was_adopted_is_refused(void **state)
{
    (void)state;
    struct world *w = leased_world(NULL);
    beat(w, 0);
    report_as(w, "worker", 0, ELSEWHERE, false);
    skip_lines(w);
    fenced(w);
    expect(w, "[     0] answer worker refused: the store cannot be reached, retry after 1000\n");
    assert_true(engine_is_over(w->engine));
}

static void so_many_wait_as_there_is_room_for(void **state)
{
    (void)state;
    struct engine_options options = world_options();
    options.max_callers = 1;
    struct world *w = shared_world(&options);
    report_as(w, "ann", 0, ELSEWHERE, false);
    report_as(w, "bob", 0, ELSEWHERE, false);
    expect(w, "[     0] tell n2: report bad r1\n"
              "[     0] answer bob refused: too many requests are waiting, retry after 1000\n");
}

static void without_the_store_nobody_is_sent_in_vain(void **state)
{
    (void)state;
    struct world *w = shared_world(NULL);
    struct event away = {.kind = EVENT_STORE_STATE};
    away.store_is_away = true;
    world_step(w, &away);
    report_as(w, "worker", 0, ELSEWHERE, false);
    expect(w, "[     0] answer worker refused: the store cannot be reached, retry after 1000\n");
}

/* ---- carrying out -------------------------------------------------------------------------------- */

static void a_report_from_another_node_is_as_good_as_one_here(void **state)
{
    (void)state;
    struct world *w = world_with_token();
    sent(w, 5, ERRAND_REPORT_BAD, "r1");
    expect(w, "[  6000] tell all: K of a1 is bad\n"
              "[  6000] report bad task T1\n"
              "[  6000] tell n2: accepted\n"
              "[  6000] forget 5\n");
    assert_int_equal(stats_of(w)->reports_bad, 1);
    ask(w, "bob", .key = "K");
    expect(w, "[  6000] claim f2 K\n");
}

static void it_is_carried_out_once(void **state)
{
    (void)state;
    struct world *w = world_with_token();
    sent(w, 5, ERRAND_REPORT_GOOD, "r1");
    sent(w, 5, ERRAND_REPORT_GOOD, "r1");
    expect(w, "[  6000] report good task T1\n"
              "[  6000] tell n2: accepted\n"
              "[  6000] forget 5\n"
              "[  6000] forget 5\n");
    assert_int_equal(stats_of(w)->reports_good, 1);
}

static void nobody_reports_on_another_clients_request(void **state)
{
    (void)state;
    struct world *w = world_with_token();
    sent_as(w, 5, 1, ERRAND_REPORT_BAD, world_request(w, "r1"));
    sent_as(w, 6, UINT16_MAX, ERRAND_DETACH, world_request(w, "r1"));
    expect(w, "[  6000] tell n2: no such request\n"
              "[  6000] forget 5\n"
              "[  6000] tell n2: no such request\n"
              "[  6000] forget 6\n");
    assert_int_equal(stats_of(w)->reports_bad, 0);
}

static void what_is_not_solved_cannot_be_reported(void **state)
{
    (void)state;
    struct world *w = leased_world(NULL);
    beat(w, 0);
    ask(w, "ann", .key = "K", .is_told = true);
    won(w, "f1");
    skip_lines(w);
    sent(w, 5, ERRAND_REPORT_BAD, "r1");
    expect(w, "[     0] tell n2: this request has no solution (yet)\n"
              "[     0] forget 5\n");
}

static void what_is_given_up_elsewhere_is_over_here(void **state)
{
    (void)state;
    struct world *w = leased_world(NULL);
    beat(w, 0);
    ask(w, "ann", .key = "K", .is_told = true);
    won(w, "f1");
    skip_lines(w);
    look(w, "worker", "r1", 10000);
    sent(w, 5, ERRAND_DETACH, "r1");
    expect(w, "[     0] answer worker r1 solving\n"
              "[     0] tell n2: accepted\n"
              "[     0] forget 5\n");
    assert_int_equal(stats_of(w)->detached, 1);
    look(w, "worker", "r1", 0);
    expect(w, "[     0] find r1\n");
}

/* Its request may be among the rows that are still to come: the inbox repeats it. */
static void an_errand_waits_until_an_adoption_is_over(void **state)
{
    (void)state;
    struct world *w = leased_world(NULL);
    beat(w, 0);
    ask(w, "ann", .key = "K", .is_told = true);
    won(w, "f1");
    solve(w, "a1", "T1", "TOKEN");
    dies(w, NULL, NULL);
    members(w, {.id = 1, .is_self = true}, {.id = DEAD_NODE});
    pass(w, LEASE_MS);
    members(w, {.id = 1, .beat = 1, .is_self = true}, {.id = DEAD_NODE});
    skip_lines(w);
    sent(w, 5, ERRAND_REPORT_BAD, "r1");
    expect(w, "");
    adopted(w, 64);
    skip_lines(w);
    sent(w, 5, ERRAND_REPORT_BAD, "r1");
    expect(w, "[ 16001] tell all: K of a1 is bad\n"
              "[ 16001] tell n2: accepted\n"
              "[ 16001] forget 5\n");
}

/* ---- what is bad is bad everywhere --------------------------------------------------------------- */

static void all_are_told_of_a_bad_solution_once(void **state)
{
    (void)state;
    struct world *w = world_with_token();
    report_bad(w, "ann", "r1");
    report_bad(w, "ann", "r1");
    expect(w, "[  6000] tell all: K of a1 is bad\n"
              "[  6000] report bad task T1\n"
              "[  6000] answer ann r1 solved \"TOKEN\" source api attempts 1\n"
              "[  6000] answer ann r1 solved \"TOKEN\" source api attempts 1\n");
}

static void what_nobody_else_can_have_is_no_news(void **state)
{
    (void)state;
    struct world *w = leased_world(NULL);
    beat(w, 0);
    ask(w, "ann", .key = "K", .reuse = REUSE_NONE);
    solve(w, "a1", "T1", "TOKEN");
    skip_lines(w);
    report_bad(w, "ann", "r1");
    expect(w, "[  6000] report bad task T1\n"
              "[  6000] answer ann r1 solved \"TOKEN\" source api attempts 1\n");
}

/* Whoever said it, and the vendor, hear of it once no crash forgets it; so does who says it again meanwhile. */
static void a_bad_report_is_answered_once_it_is_durable(void **state)
{
    (void)state;
    struct world *w = world_with_token();
    report_bad(w, "ann", "r1");
    assert_true(w->last_answer_is_receipt);
    const journal_seq first = w->last_answer_after;
    assert_true(first == w->seq);
    assert_true(w->last_report_after == w->seq);
    ask(w, "bob", .key = "L");
    won(w, "f2");
    report_bad(w, "ann", "r1");
    assert_true(w->last_answer_is_receipt);
    assert_true(w->seq > first && w->last_answer_after == w->seq);
    skip_lines(w);
}

/* It has no row that could be waited for, but all that was written before is durable by then. */
static void a_bad_copy_is_waited_for_too(void **state)
{
    (void)state;
    struct world *w = leased_world(NULL);
    beat(w, 0);
    ask(w, "ann", .key = "K");
    found(w, "f1", "TOKEN", 1000);
    report_bad(w, "ann", "r1");
    assert_true(w->last_answer_is_receipt);
    assert_true(w->last_answer_after == w->seq && w->seq > 0);
    skip_lines(w);
}

static void what_is_for_one_only_is_no_secret_to_who_reports_it(void **state)
{
    (void)state;
    struct world *w = leased_world(NULL);
    beat(w, 0);
    ask(w, "ann", .key = "K", .reuse = REUSE_NONE);
    solve(w, "a1", "T1", "TOKEN");
    report_bad(w, "ann", "r1");
    assert_true(w->last_answer_is_receipt);
    assert_false(w->last_answer_is_single);
    skip_lines(w);
}

static void a_good_report_waits_for_nothing(void **state)
{
    (void)state;
    struct world *w = world_with_token();
    report_good(w, "ann", "r1");
    assert_false(w->last_answer_is_receipt);
    assert_true(w->last_report_after == 0);
    skip_lines(w);
}

/* The caller was refused, or its answer was lost. */
static void a_report_is_repeated_after_an_adoption_and_the_vendor_told_once(void **state)
{
    (void)state;
    struct world *w = leased_world(NULL);
    beat(w, 0);
    ask(w, "ann", .key = "K", .is_told = true, .reuse = REUSE_SINGLE);
    won(w, "f1");
    solve(w, "a1", "T1", "TOKEN");
    report_bad(w, "ann", "r1");
    assert_int_equal(w->tally.reports, 1);
    dies(w, NULL, NULL);
    members(w, {.id = 1, .is_self = true}, {.id = DEAD_NODE});
    pass(w, LEASE_MS);
    members(w, {.id = 1, .beat = 1, .is_self = true}, {.id = DEAD_NODE});
    adopted(w, 64);
    skip_lines(w);
    report_bad(w, "ann", "r1");
    expect(w, "[ 16001] answer ann r1 solved \"TOKEN\" source api attempts 1\n");
}

static void a_copy_of_a_bad_solution_is_not_handed_out(void **state)
{
    (void)state;
    struct world *w = leased_world(NULL);
    beat(w, 0);
    ask(w, "ann", .key = "K");
    found(w, "f1", "TOKEN", 1000);
    ask(w, "bob", .key = "K");
    expect(w, "[     0] claim f1 K\n"
              "[     0] answer ann r1 solved \"TOKEN\" source dedup_cache attempts 1\n"
              "[     0] answer bob r2 solved \"TOKEN\" source dedup_cache attempts 1\n");
    told_bad(w, "K", FOUND_ATTEMPT);
    ask(w, "cat", .key = "K");
    expect(w, "[     0] forget 9\n"
              "[     0] claim f2 K\n");
}

static void what_others_reported_is_not_reported_to_the_vendor(void **state)
{
    (void)state;
    struct world *w = world_with_token();
    told_bad(w, "K", w->attempts[0].id);
    ask(w, "bob", .key = "K");
    expect(w, "[  6000] forget 9\n"
              "[  6000] claim f2 K\n");
    assert_int_equal(stats_of(w)->reports_bad, 0);
}

/* Of the same key, but another task's. */
static void a_fresh_solution_is_kept(void **state)
{
    (void)state;
    struct world *w = world_with_token();
    told_bad(w, "K", FOUND_ATTEMPT);
    ask(w, "bob", .key = "K");
    expect(w, "[  6000] forget 9\n"
              "[  6000] answer bob r2 solved \"TOKEN\" source dedup_cache attempts 1\n");
}

/* The store answered before it knew; the answer comes after the news. */
static void what_the_store_found_before_is_not_handed_out(void **state)
{
    (void)state;
    struct world *w = leased_world(NULL);
    beat(w, 0);
    ask(w, "ann", .key = "K");
    told_bad(w, "K", FOUND_ATTEMPT);
    found(w, "f1", "TOKEN", 1000);
    expect(w, "[     0] claim f1 K\n"
              "[     0] forget 9\n");
    pass(w, 1000);
    expect(w, "[  1000] claim f1 K\n");
    won(w, "f1");
    expect(w, "[  1000] submit a1 K\n");
}

/* The end that it waits for is remembered by the store for a while. */
static void a_follower_of_what_turned_out_bad_claims_anew(void **state)
{
    (void)state;
    struct world *w = leased_world(NULL);
    beat(w, 0);
    ask(w, "ann", .key = "K");
    follow(w, "f1");
    woken(w, "K");
    told_bad(w, "K", FOUND_ATTEMPT);
    found(w, "f1", "TOKEN", 1000);
    skip_lines(w);
    pass(w, 1000);
    expect(w, "[  1000] claim f1 K\n");
}

static void an_idempotency_key_does_not_bring_it_back(void **state)
{
    (void)state;
    struct engine_options options = world_options();
    options.max_solutions = 1;
    struct world *w = leased_world(&options);
    beat(w, 0);
    ask(w, "ann", .key = "K", .idempotency = "I");
    found(w, "f1", "TOKEN", 1000);
    /* Pushes it out of the cache. */
    ask(w, "bob", .key = "L");
    won(w, "f2");
    solve(w, "a1", "T2", "OTHER");
    told_bad(w, "K", FOUND_ATTEMPT);
    skip_lines(w);
    ask(w, "ann", .key = "K", .idempotency = "I");
    expect(w, "[  6000] claim f3 K idempotency I\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORY(a_report_goes_to_the_node_that_gave_the_id),
        STORY(whoever_reports_nonsense_is_told_so_by_the_other_node),
        STORY(a_request_is_given_up_at_another_node),
        STORY(a_look_after_that_asks_the_store_again),
        STORY(without_a_shared_store_nobody_is_sent),
        STORY(an_id_that_no_node_gives_is_unknown_at_once),
        STORY(an_errand_that_comes_back_is_nobodys),
        STORY(who_waits_in_vain_comes_again),
        STORY(the_reply_to_an_earlier_errand_is_not_the_next_ones),
        STORY(who_is_gone_is_not_answered),
        STORY(who_waits_at_a_node_that_was_adopted_is_refused),
        STORY(so_many_wait_as_there_is_room_for),
        STORY(without_the_store_nobody_is_sent_in_vain),
        STORY(a_report_from_another_node_is_as_good_as_one_here),
        STORY(it_is_carried_out_once),
        STORY(nobody_reports_on_another_clients_request),
        STORY(what_is_not_solved_cannot_be_reported),
        STORY(what_is_given_up_elsewhere_is_over_here),
        STORY(an_errand_waits_until_an_adoption_is_over),
        STORY(all_are_told_of_a_bad_solution_once),
        STORY(what_nobody_else_can_have_is_no_news),
        STORY(a_bad_report_is_answered_once_it_is_durable),
        STORY(a_bad_copy_is_waited_for_too),
        STORY(what_is_for_one_only_is_no_secret_to_who_reports_it),
        STORY(a_good_report_waits_for_nothing),
        STORY(a_report_is_repeated_after_an_adoption_and_the_vendor_told_once),
        STORY(a_copy_of_a_bad_solution_is_not_handed_out),
        STORY(what_others_reported_is_not_reported_to_the_vendor),
        STORY(a_fresh_solution_is_kept),
        STORY(what_the_store_found_before_is_not_handed_out),
        STORY(a_follower_of_what_turned_out_bad_claims_anew),
        STORY(an_idempotency_key_does_not_bring_it_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
