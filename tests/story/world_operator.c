/* What an operator orders in a story. */
#include "world.h"

struct letter_filter every_letter(void)
{
    return (struct letter_filter){.class = CLASS_COUNT, .type = TYPE_COUNT};
}

void list_letters(struct world *world, struct letter_filter filter, uint64_t cursor, uint32_t limit)
{
    struct event event = {.kind = EVENT_LETTERS};
    event.letters = (struct letter_order){.caller = world_caller(world, "operator"),
                                          .verb = LETTER_LIST,
                                          .filter = filter,
                                          .cursor = cursor,
                                          .limit = limit};
    world_step(world, &event);
}

void order_letters(struct world *world, enum letter_verb verb, struct letter_filter filter)
{
    struct event event = {.kind = EVENT_LETTERS};
    event.letters = (struct letter_order){
        .caller = world_caller(world, "operator"), .verb = verb, .filter = filter};
    world_step(world, &event);
}

void told(struct world *world, const char *request, enum notify_end end)
{
    struct event event = {.kind = EVENT_NOTIFIED};
    event.notified =
        (struct notified){.request = world_request(world, request), .end = end, .why = "http_500"};
    world_step(world, &event);
}
