#include "engine/budget.h"

#include "engine/aside.h"
#include "engine/claim.h"
#include "engine/journal.h"
#include "engine/slots.h"

#include <solvegate/budgets.h>
#include <solvegate/view.h>

#include <stdlib.h>

#define DAY_MS 86400000

/* How long the store's word counts that a day is spent: meanwhile another node may have given units back. */
#define SPENT_KNOWN_MS 1000
/* Units that nobody used for so long go back: others may need them. */
#define IDLE_MS 10000
/* Those who wait are counted up to here; whoever is left makes the next draw. */
#define NEED_MOST 256

/* A client's units. This run may use `held` of them, besides those that were spent already by others' units. */
struct purse {
    struct list waiting; /* flights */
    uint64_t before;     /* spent today by earlier runs of this node */
    uint64_t inherited;  /* spent by this run, but drawn by another node, which died */
    uint64_t held;
    uint64_t block;   /* unused units after the last draw */
    uint64_t number;  /* of the draw under way, or 0 */
    uint64_t told_ms; /* when the store last said how many there are */
    uint64_t left;    /* units that nobody has, the store said then; UINT64_MAX: not yet */
    uint64_t used_ms; /* when a unit was last reserved */
    bool is_wanted;   /* somebody would take a unit, and does not wait for it */
    bool is_spent;    /* nobody has a unit left, the store said */
    bool is_tight;    /* what is not used goes back */
    bool is_due;      /* a draw has to follow the one under way, or be sent at all */
};

struct budgets {
    struct purse *purses; /* owned, by client */
    uint64_t last_number;
    bool has_work; /* somebody waits and can be served, or nothing is left for him */
};

/* ---- counting ---------------------------------------------------------------------------- */

static bool is_limited(const struct client *client)
{
    return client->options.budget_per_day != UINT64_MAX;
}

static uint64_t unused(const struct client *client)
{
    const uint64_t used = client->spent + client->reserved;
    return client->allowance > used ? client->allowance - used : 0;
}

/* Units of this run's own draws, if so many are used in all. */
static uint64_t own_of(const struct purse *purse, uint64_t used)
{
    const uint64_t others = purse->before + purse->inherited;
    return used > others ? used - others : 0;
}

/* Reserved units whose submit is under way: it may be accepted, whatever the store says. */
static uint64_t count_sent(const struct engine *engine, client_id client)
{
    uint64_t count = 0;
    LIST_FOR_EACH(link, &engine->active) {
        const struct flight *flight = CONTAINER_OF(link, struct flight, link);
        count += flight->is_reserved && flight->client == client;
    }
    return count;
}

static void set_allowance(struct engine *engine, client_id id)
{
    struct client *client = &engine->clients[id];
    const struct purse *purse = &engine->budgets->purses[id];
    client->allowance =
        is_limited(client) ? purse->before + purse->inherited + purse->held : UINT64_MAX;
    client->is_overdrawn =
        client->reserved > 0 && client->spent + client->reserved > client->allowance;
    slots_update_turn(engine, client);
}

/* ---- drawing ----------------------------------------------------------------------------- */

static uint64_t count_waiting(const struct purse *purse)
{
    uint64_t count = 0;
    LIST_FOR_EACH(link, &purse->waiting)
        if (++count == NEED_MOST)
            break;
    return count;
}

static void push_draw(struct engine *engine, client_id id, uint64_t kept, uint64_t need)
{
    const struct client *client = &engine->clients[id];
    struct purse *purse = &engine->budgets->purses[id];
    struct draw *draw = &engine_push(engine, ACTION_DRAW)->draw;
    draw->client = id;
    draw->day = engine->days[0].number;
    draw->number = purse->number = ++engine->budgets->last_number;
    draw->budget = client->options.budget_per_day;
    draw->before = purse->before;
    draw->used = own_of(purse, client->spent + kept);
    draw->need = need;
    draw->block = engine->is_draining || purse->is_tight ? 0 : BUDGET_BLOCK_MOST;
    purse->is_due = purse->is_wanted = purse->is_tight = false;
}

/* What this node has besides is needed as well, lest the store gives it to somebody else while it is
 * used here. What goes back is not used from now on. */
static void draw_units(struct engine *engine, client_id id)
{
    const struct client *client = &engine->clients[id];
    struct purse *purse = &engine->budgets->purses[id];
    if (purse->number != 0 || !is_limited(client)) {
        purse->is_due = is_limited(client);
        return;
    }
    if (client->is_overdrawn) {
        const uint64_t sent = count_sent(engine, id);
        push_draw(engine, id, sent, client->reserved - sent + count_waiting(purse));
        return;
    }
    if (purse->is_tight) {
        purse->held = own_of(purse, client->spent + client->reserved);
        set_allowance(engine, id);
    }
    const uint64_t wanted = count_waiting(purse) + purse->is_wanted;
    push_draw(engine, id, client->reserved, wanted > unused(client) ? wanted : unused(client));
}

bool budget_may_come(const struct engine *engine, client_id id)
{
    const struct client *client = &engine->clients[id];
    if (engine->budgets == NULL ||
        client->spent + client->reserved >= client->options.budget_per_day)
        return false;
    const struct purse *purse = &engine->budgets->purses[id];
    return !purse->is_spent || engine->now_ms >= purse->told_ms + SPENT_KNOWN_MS;
}

void budget_want(struct engine *engine, client_id id)
{
    struct purse *purse = &engine->budgets->purses[id];
    if (purse->number != 0 || !budget_may_come(engine, id))
        return;
    purse->is_wanted = true;
    draw_units(engine, id);
}

void budget_await(struct engine *engine, struct flight *flight)
{
    struct purse *purse = &engine->budgets->purses[flight->client];
    if (flight_lacks_unit(flight))
        return;
    TRACE(engine, "flight %u waits for a unit of its budget", flight->number);
    list_append(&purse->waiting, &aside_of(engine, flight)->unit);
    if (purse->number == 0)
        draw_units(engine, flight->client);
}

void budget_queue(struct engine *engine, struct flight *flight)
{
    if (!flight_lacks_unit(flight)) {
        flight_enter(engine, flight, FLIGHT_QUEUED, WHEEL_NEVER);
        return;
    }
    /* Nobody is told of a flight that may be refused. */
    const bool is_new = flight->state == FLIGHT_NEW && !flight->is_journaled;
    if (flight->state != FLIGHT_CLAIMING && flight->state != FLIGHT_BACKING_OFF)
        flight_enter(engine, flight, is_new ? FLIGHT_CLAIMING : FLIGHT_BACKING_OFF, WHEEL_NEVER);
}

/* Draws the next block before the last unit is used. */
void budget_on_reserved(struct engine *engine, client_id id)
{
    const struct client *client = &engine->clients[id];
    struct purse *purse = &engine->budgets->purses[id];
    purse->used_ms = engine->now_ms;
    if (is_limited(client) && purse->number == 0 && !purse->is_spent && !engine->is_draining &&
        unused(client) * 4 < purse->block)
        draw_units(engine, id);
}

void budget_on_freed(struct engine *engine, client_id id)
{
    set_allowance(engine, id);
    if (!list_is_empty(&engine->budgets->purses[id].waiting))
        engine->budgets->has_work = true;
}

bool budget_is_stale(const struct engine *engine, const struct flight *flight)
{
    const int64_t ago_ms = (int64_t)(engine->now_ms - flight->slot_since_ms);
    return engine->budgets != NULL && flight->is_reserved && flight->holds_slot &&
           is_limited(&engine->clients[flight->client]) &&
           (engine->wall_ms - ago_ms) / DAY_MS != engine->days[0].number;
}

/* A draw under way still says that it is used, so its answer does not count. */
void budget_on_stale(struct engine *engine, client_id id)
{
    struct purse *purse = &engine->budgets->purses[id];
    purse->held -= purse->held > 0;
    purse->is_due |= purse->number != 0;
    purse->number = 0;
    engine->budgets->has_work |= purse->is_due;
}

void budget_spend_unheard(struct engine *engine, client_id id)
{
    /* Counted even beyond a budget that was lowered, because it may be raised again. */
    engine->clients[id].spent++;
    journal_spent(engine, id);
    if (engine->budgets == NULL)
        return;
    engine->budgets->purses[id].inherited++;
    set_allowance(engine, id);
}

/* ---- serving ----------------------------------------------------------------------------- */

/* Those that were told that they are queued fail as if this gateway were alone. */
static void refuse(struct engine *engine, struct flight *flight)
{
    struct blob *error = blob_ref(flight->error);
    if (error == NULL)
        claim_refuse_budget(engine, flight);
    else
        flight_fail(engine, flight, flight->error_class, blob_slice(error));
    blob_unref(error);
}

static void serve(struct engine *engine, struct flight *flight)
{
    list_unlink(&flight->aside->unit);
    slots_reserve(engine, flight);
    if (flight->state == FLIGHT_CLAIMING)
        claim_set_out(engine, flight);
    else if (!flight->phase.is_armed)
        flight_enter(engine, flight, FLIGHT_QUEUED, WHEEL_NEVER);
}

/* True if the next who waits was served, or refused. */
static bool serve_next(struct engine *engine, client_id id)
{
    const struct client *client = &engine->clients[id];
    struct list *first = list_first(&engine->budgets->purses[id].waiting);
    if (first == NULL)
        return false;
    struct flight *flight = CONTAINER_OF(first, struct aside, unit)->flight;
    if (unused(client) > 0 && !client->is_overdrawn) {
        serve(engine, flight);
        return true;
    }
    if (budget_may_come(engine, id)) {
        if (engine->budgets->purses[id].number == 0)
            draw_units(engine, id);
        return false;
    }
    refuse(engine, flight);
    return true;
}

/* The one that starts last. */
static struct flight *last_queued(struct client *client)
{
    for (int priority = 0; priority < PRIORITIES; priority++) {
        struct list *last = list_last(&client->queues[priority]);
        if (last == NULL)
            last = list_last(&client->again[priority]);
        if (last != NULL)
            return CONTAINER_OF(last, struct flight, link);
    }
    return NULL;
}

/* On a new day units that were reserved the day before may be others' by now. True if one was taken back. */
static bool shed(struct engine *engine, client_id id)
{
    struct client *client = &engine->clients[id];
    const struct purse *purse = &engine->budgets->purses[id];
    struct flight *flight = last_queued(client);
    if (!client->is_overdrawn || purse->number != 0 || flight == NULL)
        return false;
    if (!purse->is_spent) {
        draw_units(engine, id);
        return false;
    }
    refuse(engine, flight);
    return true;
}

/* Returns how much more may be done in this step. A budget that was changed is drawn anew before anybody gets more. */
static uint32_t work_for(struct engine *engine, client_id id, uint32_t left)
{
    const struct purse *purse = &engine->budgets->purses[id];
    if (left > 0 && purse->is_due && purse->number == 0) {
        draw_units(engine, id);
        left--;
    }
    while (left > 0 && (shed(engine, id) || serve_next(engine, id)))
        left--;
    engine->budgets->has_work |= left == 0;
    return left;
}

bool budgets_have_work(const struct engine *engine)
{
    return engine->budgets != NULL && engine->budgets->has_work;
}

void budgets_work(struct engine *engine)
{
    if (!budgets_have_work(engine))
        return;
    uint32_t left = engine->options.step_batch;
    engine->budgets->has_work = false;
    for (uint16_t i = 0; i < engine->client_count && left > 0; i++)
        left = work_for(engine, i, left);
}

void budgets_on_drawn(struct engine *engine, const struct drawn *drawn)
{
    struct purse *purse = &engine->budgets->purses[drawn->client];
    const struct client *client = &engine->clients[drawn->client];
    /* An older one was about yesterday's units. */
    if (purse->number != drawn->number)
        return;
    purse->number = 0;
    if (!drawn->is_known) {
        purse->is_due = true;
        return;
    }
    TRACE(engine, "budget: %llu held, %llu left", (unsigned long long)drawn->held,
          (unsigned long long)drawn->left);
    purse->held = drawn->held;
    purse->left = drawn->left;
    purse->is_spent = drawn->left == 0;
    purse->told_ms = engine->now_ms;
    set_allowance(engine, drawn->client);
    purse->block = 0;
    (void)work_for(engine, drawn->client, engine->options.step_batch);
    purse->block = unused(client);
}

/* ---- looking at it ----------------------------------------------------------------------- */

/* Others have used some of what their budgets and ours have in common. */
static uint64_t left_of_all(const struct engine *engine, client_id id, uint64_t left)
{
    const uint64_t told = engine->budgets->purses[id].left;
    const uint64_t own = unused(&engine->clients[id]);
    return told < left && own < left - told ? own + told : left;
}

bool engine_budget(const struct engine *engine, client_id id, struct budget_view *view)
{
    const struct client *client = &engine->clients[id];
    const uint64_t limit = client->options.budget_per_day;
    const uint64_t taken = client->spent + client->reserved;
    if (!is_limited(client) || client->options.is_gone)
        return false;
    *view =
        (struct budget_view){.limit = limit, .used = client->spent, .reserved = client->reserved};
    view->left = limit > taken ? limit - taken : 0;
    if (engine->budgets != NULL)
        view->left = left_of_all(engine, id, view->left);
    return true;
}

/* ---- what else happens ------------------------------------------------------------------- */

void budget_configure(struct engine *engine, client_id id, uint64_t budget_before)
{
    struct client *client = &engine->clients[id];
    if (engine->budgets == NULL) {
        client->allowance = client->options.budget_per_day;
        return;
    }
    struct purse *purse = &engine->budgets->purses[id];
    set_allowance(engine, id);
    if (budget_before == client->options.budget_per_day)
        return;
    purse->is_spent = false;
    purse->left = UINT64_MAX;
    /* Nothing is drawn before a client asks, unless it has used something that nobody knows of. */
    purse->is_due = purse->held > 0 || client->spent + client->reserved > 0;
    purse->is_tight = purse->is_due;
    if (!client->is_overdrawn && is_limited(client)) {
        purse->held = own_of(purse, client->spent + client->reserved);
        set_allowance(engine, id);
    }
    engine->budgets->has_work |= purse->is_due;
}

void budgets_on_restored(struct engine *engine)
{
    for (uint16_t i = 0; engine->budgets != NULL && i < engine->client_count; i++) {
        struct purse *purse = &engine->budgets->purses[i];
        const struct client *client = &engine->clients[i];
        purse->before = client->spent;
        purse->inherited = 0;
        set_allowance(engine, i);
        /* A gateway that was alone has drawn nothing: the others have to learn of what it spent. */
        if (client->spent > 0 && is_limited(client))
            draw_units(engine, i);
    }
}

/* A page that is turned back has to be counted anew as well: too much is better than too little. */
void budgets_on_day(struct engine *engine)
{
    for (uint16_t i = 0; engine->budgets != NULL && i < engine->client_count; i++) {
        struct purse *purse = &engine->budgets->purses[i];
        purse->before = purse->inherited = purse->held = purse->block = purse->number = 0;
        purse->left = UINT64_MAX;
        purse->is_spent = purse->is_tight = false;
        set_allowance(engine, i);
        purse->is_due = is_limited(&engine->clients[i]) &&
                        (!list_is_empty(&purse->waiting) || engine->clients[i].is_overdrawn ||
                         engine->clients[i].spent > 0);
        engine->budgets->has_work |= purse->is_due;
    }
}

void budgets_on_drain(struct engine *engine)
{
    for (uint16_t i = 0; engine->budgets != NULL && i < engine->client_count; i++) {
        if (unused(&engine->clients[i]) == 0 || !is_limited(&engine->clients[i]))
            continue;
        engine->budgets->purses[i].is_tight = true;
        draw_units(engine, i);
    }
}

void engine_give_back_units(struct engine *engine)
{
    ASSERT(engine->is_stopped);
    const bool may_draw = engine->budgets != NULL && !engine->is_fenced;
    for (uint16_t i = 0; may_draw && i < engine->client_count; i++)
        if (is_limited(&engine->clients[i]) && engine->budgets->purses[i].held > 0)
            push_draw(engine, i, count_sent(engine, i), 0);
}

/* Also asks again where the store did not answer. */
void budgets_on_beat(struct engine *engine)
{
    for (uint16_t i = 0; engine->budgets != NULL && i < engine->client_count; i++) {
        struct purse *purse = &engine->budgets->purses[i];
        const bool is_idle = is_limited(&engine->clients[i]) && purse->number == 0 &&
                             list_is_empty(&purse->waiting) && unused(&engine->clients[i]) > 0 &&
                             engine->now_ms >= purse->used_ms + IDLE_MS;
        purse->is_tight |= is_idle;
        purse->is_due |= is_idle;
        engine->budgets->has_work |=
            purse->is_due || !list_is_empty(&purse->waiting) || engine->clients[i].is_overdrawn;
    }
    budgets_work(engine);
}

void budgets_init(struct engine *engine)
{
    if (!engine->options.store_is_shared)
        return;
    engine->budgets = calloc(1, sizeof *engine->budgets);
    ASSERT(engine->budgets != NULL);
    engine->budgets->purses = calloc(engine->client_room, sizeof *engine->budgets->purses);
    ASSERT(engine->budgets->purses != NULL);
    for (uint16_t i = 0; i < engine->client_room; i++) {
        list_init(&engine->budgets->purses[i].waiting);
        engine->budgets->purses[i].left = UINT64_MAX;
    }
}

void budgets_close(struct engine *engine)
{
    if (engine->budgets == NULL)
        return;
    free(engine->budgets->purses);
    free(engine->budgets);
}
