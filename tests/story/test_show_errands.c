/* What other nodes know of a key: all that live are asked, and the one that solves it is believed. */
#include "lines.h"
#include "shared_world.h"

#define SELF 1
#define OTHER 2
#define WHOLE ((size_t)2 * KEY_BYTES)

static struct world *world_of_three(void)
{
    struct world *w = leased_world(NULL);
    members(w, {.id = 1, .node = SELF, .is_self = true}, {.id = 2, .node = OTHER},
            {.id = 3, .node = 3});
    return w;
}

static void show(struct world *world, const char *who, size_t digits, bool sees_all)
{
    struct event event = {.kind = EVENT_SHOW};
    event.show = (struct show){.caller = world_caller(world, who),
                               .prefix = {.key = key_named("K"), .digits = digits},
                               .sees_all = sees_all};
    world_step(world, &event);
}

/* The others know so much; NULL: nothing. */
static void reply(struct world *world, uint64_t number, enum shown shown, const char *text)
{
    struct event event = {.kind = EVENT_TOLD};
    event.told.number = number;
    event.told.kind = FACT_REPLY;
    event.told.errand = world->last_errand;
    event.told.errand.to = SELF;
    event.told.errand.refusal = text == NULL ? REFUSAL_UNKNOWN_ID : REFUSAL_NONE;
    event.told.errand.count = shown;
    event.told.result.text = text == NULL ? NULL : blob_new(slice_from(text));
    world_step(world, &event);
    blob_unref(event.told.result.text);
}

static void asked(struct world *world, uint64_t number, uint16_t from, const char *text)
{
    struct event event = {.kind = EVENT_TOLD};
    event.told.number = number;
    event.told.kind = FACT_ERRAND;
    event.told.errand =
        (struct errand){.verb = ERRAND_SHOW, .from = from, .to = SELF, .count = SHOWN_FLIGHT};
    event.told.show.prefix = (struct key_prefix){.key = key_named("K"), .digits = WHOLE};
    event.told.result.extra = text == NULL ? NULL : blob_new(slice_from(text));
    world_step(world, &event);
    blob_unref(event.told.result.extra);
}

/* ---- asking ------------------------------------------------------------------------------ */

static void all_others_that_live_are_asked_for_a_key(void **state)
{
    (void)state;
    struct world *w = world_of_three();
    show(w, "ann", WHOLE, true);
    show(w, "bob", 8, false);
    expect(w, "[     0] tell n2: show K\n"
              "[     0] tell n3: show K\n"
              "[     0] tell n2: show K by 8 digits to client 0\n"
              "[     0] tell n3: show K by 8 digits to client 0\n");
}

static void the_one_that_solves_it_is_believed_at_once(void **state)
{
    (void)state;
    struct world *w = world_of_three();
    show(w, "ann", WHOLE, true);
    skip_lines(w);
    reply(w, 5, SHOWN_FLIGHT, "HERE");
    expect(w, "[     0] shown ann \"HERE\"\n"
              "[     0] forget 5\n");
    reply(w, 6, SHOWN_REST, "THERE");
    pass(w, 6000);
    expect(w, "[     0] forget 6\n");
}

static void whoever_has_only_its_rest_is_believed_when_all_have_replied(void **state)
{
    (void)state;
    struct world *w = world_of_three();
    show(w, "ann", WHOLE, true);
    skip_lines(w);
    reply(w, 5, SHOWN_REST, "REST");
    expect(w, "[     0] forget 5\n");
    reply(w, 6, SHOWN_REST, "AS MUCH");
    expect(w, "[     0] shown ann \"REST\"\n"
              "[     0] forget 6\n");
}

static void better_news_replaces_what_came_first(void **state)
{
    (void)state;
    struct world *w = world_of_three();
    show(w, "ann", WHOLE, true);
    skip_lines(w);
    reply(w, 5, SHOWN_REST, "REST");
    reply(w, 6, SHOWN_FLIGHT, "HERE");
    expect(w, "[     0] forget 5\n"
              "[     0] shown ann \"HERE\"\n"
              "[     0] forget 6\n");
}

static void a_key_is_unknown_if_all_say_so(void **state)
{
    (void)state;
    struct world *w = world_of_three();
    show(w, "ann", WHOLE, true);
    skip_lines(w);
    reply(w, 5, SHOWN_NOTHING, NULL);
    reply(w, 5, SHOWN_NOTHING, NULL);
    reply(w, 6, SHOWN_NOTHING, NULL);
    expect(w, "[     0] forget 5\n"
              "[     0] forget 5\n"
              "[     0] shown ann refused: no such request\n"
              "[     0] forget 6\n");
}

static void whoever_does_not_reply_keeps_nobody_waiting_for_long(void **state)
{
    (void)state;
    struct world *w = world_of_three();
    show(w, "ann", WHOLE, true);
    show(w, "bob", WHOLE, true);
    reply(w, 5, SHOWN_REST, "REST");
    skip_lines(w);
    pass(w, 5000);
    expect(w, "[  5000] shown ann refused: the store cannot be reached\n"
              "[  5000] shown bob \"REST\"\n");
}

static void rows_of_a_dead_node_may_tell_of_it(void **state)
{
    (void)state;
    struct world *w = world_of_three();
    pass(w, LEASE_MS);
    members(w, {.id = 1, .node = SELF, .beat = 1, .is_self = true}, {.id = 2, .node = OTHER},
            {.id = 3, .node = 3, .is_leaving = true});
    skip_lines(w);
    show(w, "ann", WHOLE, true);
    expect(w, "[ 10000] shown ann refused: the store cannot be reached\n");
}

static void whoever_has_left_knows_nothing(void **state)
{
    (void)state;
    struct world *w = world_of_three();
    members(w, {.id = 1, .node = SELF, .is_self = true},
            {.id = 2, .node = OTHER, .is_leaving = true});
    skip_lines(w);
    show(w, "ann", WHOLE, true);
    expect(w, "[     0] shown ann refused: no such request\n");
}

static void nobody_is_asked_in_vain_while_the_store_is_away(void **state)
{
    (void)state;
    struct world *w = world_of_three();
    store_goes_away(w);
    skip_lines(w);
    show(w, "ann", WHOLE, true);
    expect(w, "[     0] shown ann refused: the store cannot be reached\n");
}

static void so_many_keys_are_asked_for_in_a_second(void **state)
{
    (void)state;
    struct world *w = world_of_three();
    for (int i = 0; i < 16; i++) {
        show(w, "ann", WHOLE, true);
        reply(w, 5 + (uint64_t)i, SHOWN_FLIGHT, "HERE");
    }
    skip_lines(w);
    show(w, "bob", WHOLE, true);
    expect(w, "[     0] shown bob refused: too many requests are waiting\n");
    pass(w, 1001);
    show(w, "bob", WHOLE, true);
    expect(w, "[  1001] tell n2: show K\n"
              "[  1001] tell n3: show K\n");
}

static void who_hung_up_is_told_nothing(void **state)
{
    (void)state;
    struct world *w = world_of_three();
    show(w, "ann", WHOLE, true);
    skip_lines(w);
    gone(w, "ann");
    reply(w, 5, SHOWN_FLIGHT, "HERE");
    expect(w, "[     0] forget 5\n");
}

/* ---- replying ---------------------------------------------------------------------------- */

static void another_node_is_told_what_is_known_here(void **state)
{
    (void)state;
    struct world *w = world_of_three();
    asked(w, 5, OTHER, "HERE");
    asked(w, 6, OTHER, NULL);
    asked(w, 6, OTHER, NULL);
    expect(w, "[     0] tell n2: accepted, \"HERE\"\n"
              "[     0] forget 5\n"
              "[     0] tell n2: no such request\n"
              "[     0] forget 6\n"
              "[     0] forget 6\n");
}

static void one_that_comes_back_knows_nothing(void **state)
{
    (void)state;
    struct world *w = world_of_three();
    asked(w, 5, SELF, "HERE");
    expect(w, "[     0] forget 5\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORY(all_others_that_live_are_asked_for_a_key),
        STORY(the_one_that_solves_it_is_believed_at_once),
        STORY(whoever_has_only_its_rest_is_believed_when_all_have_replied),
        STORY(better_news_replaces_what_came_first),
        STORY(a_key_is_unknown_if_all_say_so),
        STORY(whoever_does_not_reply_keeps_nobody_waiting_for_long),
        STORY(rows_of_a_dead_node_may_tell_of_it),
        STORY(whoever_has_left_knows_nothing),
        STORY(nobody_is_asked_in_vain_while_the_store_is_away),
        STORY(so_many_keys_are_asked_for_in_a_second),
        STORY(who_hung_up_is_told_nothing),
        STORY(another_node_is_told_what_is_known_here),
        STORY(one_that_comes_back_knows_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
