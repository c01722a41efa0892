/* What an operator configures and orders in a story. */
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

struct world *crawler_and_shop(bool share, bool has_journal)
{
    static const struct client_options clients[CLIENTS] = {
        {.weight = 1, .budget_per_day = UINT64_MAX}, {.weight = 1, .budget_per_day = UINT64_MAX}};
    struct engine_options options = world_options();
    options.clients = clients;
    options.client_count = CLIENTS;
    options.clients_share = share;
    options.has_journal = has_journal;
    options.solve_timeout_ms = 60000;
    return world_new(&options);
}
