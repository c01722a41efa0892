/* Orders about dead letters in a cluster: about one that another node has, or about many, at all nodes. */
#include "lines.h"
#include "shared_world.h"

#define UNSOLVABLE "ERROR_CAPTCHA_UNSOLVABLE"
#define SELF 1
#define OTHER 2
#define THIRD 3
/* A letter that the second node has. */
#define ELSEWHERE 5000

static struct letter_filter one(uint64_t number)
{
    struct letter_filter filter = every_letter();
    filter.number = number;
    return filter;
}

static void order(struct world *w, const char *who, struct letter_order order)
{
    struct event event = {.kind = EVENT_LETTERS};
    event.letters = order;
    event.letters.caller = world_caller(w, who);
    world_step(w, &event);
}

static void order_elsewhere(struct world *w, enum letter_verb verb)
{
    order(w, "operator",
          (struct letter_order){.verb = verb, .filter = one(ELSEWHERE), .node = OTHER});
}

static void order_all(struct world *w, enum letter_verb verb)
{
    order(w, "operator",
          (struct letter_order){.verb = verb, .filter = every_letter(), .is_for_all = true});
}

static void replied_as(struct world *w, uint64_t number, enum refusal refusal, uint32_t count)
{
    struct event event = {.kind = EVENT_TOLD};
    event.told.number = number;
    event.told.kind = FACT_REPLY;
    event.told.errand = w->last_errand;
    event.told.errand.to = SELF;
    event.told.errand.refusal = refusal;
    event.told.errand.count = count;
    world_step(w, &event);
}

/* The second node orders something about a letter of ours, or, with 0, about all. */
static struct event sent_event(uint64_t number, enum letter_verb verb, uint64_t letter)
{
    struct event event = {.kind = EVENT_TOLD};
    event.told.number = number;
    event.told.kind = FACT_ERRAND;
    event.told.errand = (struct errand){.verb = ERRAND_LETTERS,
                                        .from = OTHER,
                                        .to = SELF,
                                        .id = letter,
                                        .caller = 77,
                                        .ticket = number};
    event.told.letters = (struct letter_order){.verb = verb, .filter = one(letter)};
    return event;
}

static void sent(struct world *w, uint64_t number, enum letter_verb verb, uint64_t letter)
{
    struct event event = sent_event(number, verb, letter);
    world_step(w, &event);
}

static void let_die(struct world *w, const char *key, const char *flight, unsigned next)
{
    ask(w, "ann", .key = key);
    won(w, flight);
    for (unsigned i = next; i < next + 3; i++) {
        char name[8] = {'a', (char)('0' + i), '\0'};
        rejected(w, name, CLASS_UNSOLVABLE, UNSOLVABLE);
    }
}

/* With a letter of K. */
static struct world *world_with_letter(void)
{
    struct world *w = leased_world(NULL);
    beat(w, 0);
    let_die(w, "K", "f1", 1);
    skip_lines(w);
    assert_int_equal(gauges_of(w).letters, 1);
    return w;
}

/* The number of the only letter, or of the newest. */
static uint64_t letter_of(const struct world *w)
{
    uint64_t newest = 0;
    for (size_t i = 0; i < w->disk.count; i++)
        if (w->disk.log[i].kind == RECORD_LETTER && w->disk.log[i].letter.number > newest)
            newest = w->disk.log[i].letter.number;
    return newest;
}

static struct member me(void)
{
    return (struct member){.id = 1, .node = SELF, .is_self = true};
}

/* ---- numbers ------------------------------------------------------------------------------------- */

/* Lists of all nodes are in this order. */
static void the_newer_of_two_letters_has_the_larger_number_whoever_made_it(void **state)
{
    (void)state;
    struct engine_options options = world_options();
    options.node = 9;
    struct world *w = leased_world(&options);
    beat(w, 0);
    let_die(w, "K", "f1", 1);
    let_die(w, "L", "f2", 4);
    const uint64_t older = letter_of(w);
    assert_int_equal(older % ENGINE_NODES, 9);
    assert_int_equal(older / ENGINE_NODES, WORLD_START_WALL_MS + 1);
    options.node = 3;
    w = leased_world(&options);
    beat(w, 0);
    pass(w, 2);
    let_die(w, "K", "f1", 1);
    assert_true(letter_of(w) > older);
    skip_lines(w);
}

/* ---- one letter ---------------------------------------------------------------------------------- */

static void a_letter_is_replayed_and_dropped_by_the_node_that_has_it(void **state)
{
    (void)state;
    struct world *w = shared_world(NULL);
    order_elsewhere(w, LETTER_REPLAY);
    replied_as(w, 5, REFUSAL_NONE, 1);
    order_elsewhere(w, LETTER_DROP);
    replied_as(w, 6, REFUSAL_UNKNOWN_ID, 0);
    expect(w, "[     0] tell n2: replay letter 5000\n"
              "[     0] letters operator 1\n"
              "[     0] forget 5\n"
              "[     0] tell n2: drop letter 5000\n"
              "[     0] letters operator 0 refused: no such request\n"
              "[     0] forget 6\n");
}

static void a_letter_of_our_own_needs_nobody(void **state)
{
    (void)state;
    struct world *w = world_with_letter();
    order(w, "operator",
          (struct letter_order){.verb = LETTER_DROP, .filter = one(letter_of(w)), .node = SELF});
    expect(w, "[     0] letters operator 1\n");
    assert_int_equal(gauges_of(w).letters, 0);
}

static void an_order_of_another_node_is_carried_out_and_replied_to(void **state)
{
    (void)state;
    struct world *w = world_with_letter();
    sent(w, 5, LETTER_REPLAY, letter_of(w));
    expect(w, "[     0] tell n2: accepted, 1 letters\n"
              "[     0] forget 5\n");
    pass(w, 1);
    expect(w, "[     0] claim f2 K\n");
}

/* Two nodes give the order at once: the second one finds it under way. */
static void two_orders_replay_a_letter_once(void **state)
{
    (void)state;
    struct world *w = world_with_letter();
    sent(w, 5, LETTER_REPLAY, letter_of(w));
    sent(w, 6, LETTER_REPLAY, letter_of(w));
    expect(w, "[     0] tell n2: accepted, 1 letters\n"
              "[     0] forget 5\n"
              "[     0] tell n2: accepted, 0 letters\n"
              "[     0] forget 6\n");
    pass(w, 1000);
    expect(w, "[     0] claim f2 K\n");
}

/* The inbox repeats what the store does not know to be heard yet; meanwhile the replay may have failed. */
static void an_order_that_is_told_again_replays_nothing(void **state)
{
    (void)state;
    struct world *w = world_with_letter();
    const uint64_t letter = letter_of(w);
    sent(w, 5, LETTER_REPLAY, letter);
    pass(w, 1);
    won(w, "f2");
    rejected(w, "a4", CLASS_UNSOLVABLE, UNSOLVABLE);
    rejected(w, "a5", CLASS_UNSOLVABLE, UNSOLVABLE);
    rejected(w, "a6", CLASS_UNSOLVABLE, UNSOLVABLE);
    skip_lines(w);
    sent(w, 5, LETTER_REPLAY, letter);
    pass(w, 1000);
    expect(w, "[     1] forget 5\n");
}

/* Whoever adopts this node after the intent of a replay's submit finds no order any more: the entry of the inbox is
 * dropped before the flight is even claimed. */
static void the_order_is_forgotten_before_anything_is_paid(void **state)
{
    (void)state;
    struct world *w = world_with_letter();
    sent(w, 5, LETTER_REPLAY, letter_of(w));
    expect(w, "[     0] tell n2: accepted, 1 letters\n"
              "[     0] forget 5\n");
    pass(w, 1);
    won(w, "f2");
    expect(w, "[     0] claim f2 K\n"
              "[     1] submit a4 K\n");
}

static void a_letter_that_is_not_there_is_unknown(void **state)
{
    (void)state;
    struct world *w = world_with_letter();
    sent(w, 5, LETTER_DROP, ELSEWHERE);
    expect(w, "[     0] tell n2: no such request, 0 letters\n"
              "[     0] forget 5\n");
    assert_int_equal(gauges_of(w).letters, 1);
}

static void an_order_waits_until_an_adoption_is_over(void **state)
{
    (void)state;
    struct world *w = leased_world(NULL);
    beat(w, 0);
    let_die(w, "K", "f1", 1);
    const uint64_t letter = letter_of(w);
    dies(w, NULL, NULL);
    members(w, me(), {.id = DEAD_NODE, .node = OTHER, .is_leaving = true});
    skip_lines(w);
    sent(w, 5, LETTER_DROP, letter);
    expect(w, "");
    (void)adopted(w, 64);
    skip_lines(w);
    sent(w, 5, LETTER_DROP, letter);
    expect(w, "[     1] tell n2: accepted, 1 letters\n"
              "[     1] forget 5\n");
}

static void who_waits_in_vain_comes_again(void **state)
{
    (void)state;
    struct world *w = shared_world(NULL);
    order_elsewhere(w, LETTER_DROP);
    pass(w, 5000);
    expect(w, "[     0] tell n2: drop letter 5000\n"
              "[  5000] answer operator refused: the store cannot be reached, retry after 1000\n");
    replied_as(w, 5, REFUSAL_NONE, 1);
    expect(w, "[  5000] forget 5\n");
}

static void without_the_store_nobody_is_told(void **state)
{
    (void)state;
    struct world *w = shared_world(NULL);
    struct event away = {.kind = EVENT_STORE_STATE};
    away.store_is_away = true;
    world_step(w, &away);
    order_elsewhere(w, LETTER_DROP);
    order_all(w, LETTER_DROP);
    expect(w, "[     0] letters operator 0 refused: the store cannot be reached\n"
              "[     0] letters operator 0 refused: the store cannot be reached\n");
}

static void so_many_wait_as_there_is_room_for(void **state)
{
    (void)state;
    struct engine_options options = world_options();
    options.max_callers = 1;
    struct world *w = shared_world(&options);
    order_elsewhere(w, LETTER_DROP);
    order_elsewhere(w, LETTER_DROP);
    expect(w, "[     0] tell n2: drop letter 5000\n"
              "[     0] letters operator 0 refused: too many requests are waiting\n");
}

static void who_waits_at_a_node_that_was_adopted_is_refused_once(void **state)
{
    (void)state;
    struct world *w = world_with_letter();
    members(w, me(), {.id = 2, .node = OTHER});
    order_all(w, LETTER_DROP);
    skip_lines(w);
    fenced(w);
    expect(w, "[     0] answer operator refused: the store cannot be reached, retry after 1000\n");
}

/* ---- into another client ------------------------------------------------------------------------- */

static struct world *world_of_two(void)
{
    static const struct client_options clients[2] = {{.weight = 1, .budget_per_day = UINT64_MAX},
                                                     {.weight = 1, .budget_per_day = UINT64_MAX}};
    struct engine_options options = world_options();
    options.clients = clients;
    options.client_count = 2;
    struct world *w = leased_world(&options);
    beat(w, 0);
    let_die(w, "K", "f1", 1);
    skip_lines(w);
    return w;
}

static void the_client_that_it_is_for_is_told_by_name(void **state)
{
    (void)state;
    struct world *w = world_of_two();
    order(w, "operator",
          (struct letter_order){.verb = LETTER_REPLAY,
                                .filter = one(ELSEWHERE),
                                .node = OTHER,
                                .has_into = true,
                                .into = 1});
    expect(w, "[     0] tell n2: replay letter 5000 into client 1\n");
    struct event event = sent_event(5, LETTER_REPLAY, letter_of(w));
    event.told.errand.client = 1;
    event.told.letters.has_into = true;
    event.told.letters.into = 7; /* as the other node counts them */
    event.told.letters.into_key = key_named("L");
    world_step(w, &event);
    pass(w, 1);
    expect(w, "[     0] tell n2: accepted, 1 letters\n"
              "[     0] forget 5\n"
              "[     0] claim f2 L\n");
    struct letter_view view;
    assert_true(engine_find_letter(w->engine, letter_of(w), &view));
    assert_int_equal(view.client, 1);
}

static void a_client_that_is_unknown_here_gets_nothing(void **state)
{
    (void)state;
    struct world *w = world_of_two();
    struct event event = sent_event(5, LETTER_REPLAY, letter_of(w));
    event.told.errand.client = UINT16_MAX;
    event.told.letters.has_into = true;
    world_step(w, &event);
    event = sent_event(6, LETTER_DROP, 0);
    event.told.errand.client = UINT16_MAX;
    event.told.letters.filter.has_client = true;
    world_step(w, &event);
    expect(w, "[     0] tell n2: accepted, 0 letters\n"
              "[     0] forget 5\n"
              "[     0] tell n2: accepted, 0 letters\n"
              "[     0] forget 6\n");
    assert_int_equal(gauges_of(w).letters, 1);
}

/* ---- many letters -------------------------------------------------------------------------------- */

static void an_order_about_many_is_for_all_nodes(void **state)
{
    (void)state;
    struct world *w = world_with_letter();
    members(w, me(), {.id = 2, .node = OTHER}, {.id = 3, .node = THIRD});
    skip_lines(w);
    order_all(w, LETTER_DROP);
    replied_as(w, 5, REFUSAL_NONE, 3);
    /* It is repeated until the store knows that it was heard. */
    replied_as(w, 5, REFUSAL_NONE, 3);
    expect(w, "[     0] tell n2: drop letters until 1704110400000\n"
              "[     0] tell n3: drop letters until 1704110400000\n"
              "[     0] forget 5\n"
              "[     0] forget 5\n");
    replied_as(w, 6, REFUSAL_NONE, 0);
    expect(w, "[     0] letters operator 4\n"
              "[     0] forget 6\n");
    assert_int_equal(gauges_of(w).letters, 0);
}

/* Its letters are somebody else's as soon as they are adopted. */
static void one_that_has_left_is_not_told(void **state)
{
    (void)state;
    struct world *w = world_with_letter();
    members(w, me(), {.id = 4, .node = 4, .is_leaving = true});
    skip_lines(w);
    order_all(w, LETTER_DROP);
    expect(w, "[     0] letters operator 1\n");
}

static void it_is_not_done_before_all_have_done_it(void **state)
{
    (void)state;
    struct world *w = world_with_letter();
    members(w, me(), {.id = 2, .node = OTHER});
    skip_lines(w);
    order_all(w, LETTER_REPLAY);
    replied_as(w, 5, REFUSAL_FULL_REQUESTS, 0);
    expect(w, "[     0] tell n2: replay letters until 1704110400000\n"
              "[     0] letters operator 1 refused: too many requests are waiting\n"
              "[     0] forget 5\n");
}

static void a_node_that_is_alone_does_it_at_once(void **state)
{
    (void)state;
    struct world *w = world_with_letter();
    order_all(w, LETTER_REPLAY);
    order_all(w, LETTER_CANCEL);
    order_all(w, LETTER_DROP);
    expect(w, "[     0] letters operator 1\n"
              "[     0] letters operator 1\n"
              "[     0] letters operator 1\n");
}

/* The adopter has had an order of its own: once more would replay what has failed again since. */
static void what_was_for_a_dead_node_is_not_carried_out_by_its_adopter(void **state)
{
    (void)state;
    struct world *w = world_with_letter();
    struct event event = sent_event(5, LETTER_REPLAY, 0);
    event.told.errand.to = THIRD;
    world_step(w, &event);
    pass(w, 1000);
    expect(w, "[     0] tell n2: the store cannot be reached, 0 letters\n"
              "[     0] forget 5\n");
}

static void an_order_that_comes_late_spares_what_is_newer(void **state)
{
    (void)state;
    struct world *w = world_with_letter();
    struct event event = sent_event(5, LETTER_DROP, 0);
    event.told.letters.filter.until_wall_ms = WORLD_START_WALL_MS - 1;
    world_step(w, &event);
    assert_int_equal(gauges_of(w).letters, 1);
    event.told.number = 6;
    event.told.letters.filter.until_wall_ms = WORLD_START_WALL_MS;
    world_step(w, &event);
    expect(w, "[     0] tell n2: accepted, 0 letters\n"
              "[     0] forget 5\n"
              "[     0] tell n2: accepted, 1 letters\n"
              "[     0] forget 6\n");
    assert_int_equal(gauges_of(w).letters, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORY(the_newer_of_two_letters_has_the_larger_number_whoever_made_it),
        STORY(a_letter_is_replayed_and_dropped_by_the_node_that_has_it),
        STORY(a_letter_of_our_own_needs_nobody),
        STORY(an_order_of_another_node_is_carried_out_and_replied_to),
        STORY(two_orders_replay_a_letter_once),
        STORY(an_order_that_is_told_again_replays_nothing),
        STORY(the_order_is_forgotten_before_anything_is_paid),
        STORY(a_letter_that_is_not_there_is_unknown),
        STORY(an_order_waits_until_an_adoption_is_over),
        STORY(who_waits_in_vain_comes_again),
        STORY(without_the_store_nobody_is_told),
        STORY(so_many_wait_as_there_is_room_for),
        STORY(who_waits_at_a_node_that_was_adopted_is_refused_once),
        STORY(the_client_that_it_is_for_is_told_by_name),
        STORY(a_client_that_is_unknown_here_gets_nothing),
        STORY(an_order_about_many_is_for_all_nodes),
        STORY(one_that_has_left_is_not_told),
        STORY(it_is_not_done_before_all_have_done_it),
        STORY(a_node_that_is_alone_does_it_at_once),
        STORY(what_was_for_a_dead_node_is_not_carried_out_by_its_adopter),
        STORY(an_order_that_comes_late_spares_what_is_newer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
