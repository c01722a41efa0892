#include "gate/cluster.h"

#include "base/assert.h"
#include "config/config_parts.h"
#include "gate/gate_state.h"
#include "store/store_adoption.h"
#include "store/store_budget.h"
#include "store/store_claims.h"
#include "store/store_find.h"
#include "store/store_inbox.h"
#include "store/store_pulse.h"
#include "sys/log.h"

#include <sodium.h>
#include <stdlib.h>
#include <unistd.h>
#include <uv.h>

#define HOST_MAX 128
/* The part of a lease that is not trusted: a submit is on its way for a while, and clocks do not run at quite the same
 * speed. */
#define MARGIN_DIVISOR 5

/* ---- joining ----------------------------------------------------------------------------- */

/* Stays the same over restarts, so that a gateway finds its own rows again. */
static void add_default_name(const struct gate *gate, struct buf *name)
{
    char host[HOST_MAX] = "";
    (void)gethostname(host, sizeof host - 1);
    buf_addf(name, "%s/%s", host, gate->config->listen[0]);
}

static void choose_run(struct cluster *cluster)
{
    uint8_t random[STORE_RUN_MAX / 2];
    if (cluster->run[0] != '\0')
        return;
    randombytes_buf(random, sizeof random);
    (void)sodium_bin2hex(cluster->run, sizeof cluster->run, random, sizeof random);
}

void cluster_place(struct gate *gate, struct store_place *place, struct buf *name)
{
    gate->cluster.is_on = gate->config->cluster_enabled;
    if (!gate->cluster.is_on) {
        place->node = NULL;
        return;
    }
    gate->cluster.margin_ms = place->lease_ms / MARGIN_DIVISOR;
    gate->cluster.lease_ms = place->lease_ms;
    choose_run(&gate->cluster);
    place->run = gate->cluster.run;
    if (place->node != NULL)
        return;
    add_default_name(gate, name);
    buf_add_char(name, '\0');
    place->node = name->data;
}

static void say_lost(struct gate *gate)
{
    gate->cluster.is_lost = true;
    gate->cluster.leases_lost++;
    LOG(LOG_LEVEL_ERROR, "lease_lost",
        log_string("meaning",
                   "the store has not confirmed for so long that this gateway lives that "
                   "others may take over: nothing is submitted until it does"));
}

static void watch_lease(struct gate *gate);

/* libuv counts from the beginning of the loop's turn, so a long turn brings this too early. */
static void on_lease_end(uv_timer_t *timer)
{
    struct gate *const gate = timer->data;
    if (cluster_may_submit(gate))
        watch_lease(gate);
    else
        say_lost(gate);
}

static void watch_lease(struct gate *gate)
{
    struct cluster *const cluster = &gate->cluster;
    const int64_t rest_ms = cluster->lease_end_ms - clocks_read().even_ms;
    (void)uv_timer_start(cluster->lease_timer, on_lease_end,
                         rest_ms > 0 ? (uint64_t)rest_ms + 1 : 1, 0);
}

void cluster_open(struct gate *gate)
{
    struct cluster *const cluster = &gate->cluster;
    if (!cluster->is_on)
        return;
    roster_init(&cluster->roster);
    cluster->lease_end_ms = 0;
    cluster->is_lost = false;
    cluster->member_count = 0;
    cluster->adopted_rows = 0;
    cluster->lease_timer = malloc(sizeof *cluster->lease_timer);
    ASSERT(cluster->lease_timer != NULL);
    ASSERT(uv_timer_init(&gate->loop, cluster->lease_timer) == 0);
    cluster->lease_timer->data = gate;
}

static void tell_parts(struct gate *gate)
{
    char text[STORE_PARTS_MAX];
    memcpy(text, gate->cluster.roster.parts, sizeof text);
    adoptions_write(&gate->cluster.adoptions, text);
    store_set_parts(gate->persist.store, text);
}

void cluster_tell_config(struct gate *gate)
{
    if (!gate->cluster.is_on)
        return;
    config_parts_write(gate->config, gate->cluster.roster.parts);
    tell_parts(gate);
}

static void on_timer_closed(uv_handle_t *timer)
{
    free(timer);
}

void cluster_close(struct gate *gate)
{
    struct cluster *const cluster = &gate->cluster;
    if (cluster->lease_timer != NULL)
        uv_close((uv_handle_t *)cluster->lease_timer, on_timer_closed);
    cluster->lease_timer = NULL;
    roster_close(&cluster->roster);
}

static void on_claim(void *context, const struct key *name, uint64_t flight)
{
    struct gate *const gate = context;
    engine_restore_claim(gate->engine, name, flight);
}

int cluster_restore(struct gate *gate)
{
    return gate->cluster.is_on ? store_load_claims(gate->persist.store, on_claim, gate) : 0;
}

/* ---- claims, facts, adoptions ------------------------------------------------------------ */

bool cluster_is_for_store(const struct action *action)
{
    return action->kind == ACTION_CLAIM || action->kind == ACTION_RELEASE ||
           action->kind == ACTION_TELL || action->kind == ACTION_FORGET ||
           action->kind == ACTION_ADOPT || action->kind == ACTION_DRAW;
}

/* Once the rows are here, the store says the same of those that died and those that left. */
static void send_adopt(struct gate *gate, const struct adopt *adopt)
{
    struct store *const store = gate->persist.store;
    struct store_member member;
    gate->cluster.is_adopting_dead =
        store_pulse_find(store, adopt->id, &member) && !member.has_left;
    store_adopt(store, adopt);
}

void cluster_send(struct gate *gate, const struct action *take_action)
{
    struct store *const store = gate->persist.store;
    if (take_action->kind == ACTION_CLAIM)
        store_claim(store, &take_action->claim, gate->config->engine.idempotency_ttl_ms);
    else if (take_action->kind == ACTION_RELEASE)
        store_release(store, &take_action->release);
    else if (take_action->kind == ACTION_TELL)
        store_tell(store, take_action->after, &take_action->tell);
    else if (take_action->kind == ACTION_FORGET)
        store_forget(store, take_action->forget);
    else if (take_action->kind == ACTION_DRAW)
        store_draw(store, &take_action->draw);
    else
        send_adopt(gate, &take_action->adopt);
}

/* The first part of an adoption, and the only one of an attempt in vain. */
static void log_adopted(struct gate *gate, const struct adopted *adopted)
{
    struct cluster *const cluster = &gate->cluster;
    cluster->adopted_rows += adopted->record_count;
    if (!adopted->is_ours || !adopted->is_last)
        return;
    struct adoption_seen seen = {.id = adopted->id,
                                 .rows = cluster->adopted_rows,
                                 .wall_ms = gate_wall_ms(),
                                 .was_dead = cluster->is_adopting_dead};
    struct store_member member;
    if (store_pulse_find(gate->persist.store, adopted->id, &member)) {
        seen.node = member.node;
        memcpy(seen.name, member.name, sizeof seen.name);
    }
    memcpy(seen.by, roster_own_name(&cluster->roster), sizeof seen.by);
    adoptions_add(&cluster->adoptions, &seen);
    tell_parts(gate);
    LOG(LOG_LEVEL_WARN, "node_adopted", log_number("incarnation", (int64_t)adopted->id),
        log_number("rows", (int64_t)cluster->adopted_rows), log_string("node", seen.name),
        log_string("meaning", "another gateway died or left; this one goes on with its tasks"));
    cluster->adopted_rows = 0;
    const uint64_t skipped = store_adopter_skipped(gate->persist.store);
    if (skipped > 0)
        LOG(LOG_LEVEL_WARN, "rows_skipped", log_number("rows", (int64_t)skipped),
            log_string("node", seen.name),
            log_string("meaning",
                       "rows of that gateway cannot be read, or are of a client that is "
                       "not configured; they stay where they are, and all others go on"));
}

static void on_adopted(void *context, const struct adopted *adopted)
{
    struct gate *const gate = context;
    struct record records[ENGINE_BATCH];
    if (gate->is_closing || gate->cluster.is_fenced)
        return;
    ASSERT(adopted->record_count <= ENGINE_BATCH);
    for (size_t i = 0; i < adopted->record_count; i++) {
        records[i] = adopted->records[i];
        persist_mend_key(gate, &records[i]);
    }
    struct event event = gate_event(gate, EVENT_ADOPTED);
    event.adopted = *adopted;
    event.adopted.records = records;
    gate_step(gate, &event);
    log_adopted(gate, adopted);
}

static void on_told(void *context, const struct fact *fact)
{
    struct gate *const gate = context;
    if (gate->is_closing || gate->cluster.is_fenced)
        return;
    struct event event = gate_event(gate, EVENT_TOLD);
    event.told = *fact;
    if (fact->kind != FACT_ERRAND || fact->errand.verb != ERRAND_SHOW) {
        gate_step(gate, &event);
        return;
    }
    enum shown shown = SHOWN_NOTHING;
    struct blob *const text = gate->doors->show(gate, fact, &shown);
    event.told.result.extra = text;
    event.told.errand.count = shown;
    gate_step(gate, &event);
    blob_unref(text);
}

static void on_claimed(void *context, const struct claimed *claimed)
{
    struct gate *const gate = context;
    if (gate->is_closing || gate->cluster.is_fenced)
        return;
    struct event event = gate_event(gate, EVENT_CLAIMED);
    event.claimed = *claimed;
    gate_step(gate, &event);
}

static void on_drawn(void *context, const struct drawn *drawn)
{
    struct gate *const gate = context;
    if (gate->is_closing || gate->cluster.is_fenced)
        return;
    struct event event = gate_event(gate, EVENT_DRAWN);
    event.drawn = *drawn;
    gate_step(gate, &event);
}

static void on_woken(void *context, const struct key *name)
{
    struct gate *const gate = context;
    if (gate->is_closing || gate->cluster.is_fenced)
        return;
    struct event event = gate_event(gate, EVENT_WOKEN);
    event.woken = *name;
    gate_step(gate, &event);
}

/* ---- finds ------------------------------------------------------------------------------- */

void cluster_find(struct gate *gate, const struct find *find)
{
    store_find(gate->persist.store, find);
}

static void on_found(void *context, const struct found *found)
{
    struct gate *const gate = context;
    if (gate->is_closing || gate->cluster.is_fenced)
        return;
    struct event event = gate_event(gate, EVENT_FOUND);
    event.found = *found;
    gate_step(gate, &event);
}

static void on_books(void *context, struct slice text)
{
    struct gate *const gate = context;
    if (!gate->is_closing && !gate->cluster.is_fenced)
        gate->doors->books(gate, text);
}

static void on_letters(void *context, const struct store_letters *letters)
{
    struct gate *const gate = context;
    if (!gate->is_closing && !gate->cluster.is_fenced)
        gate->doors->found_letters(gate, letters);
}

/* ---- the lease --------------------------------------------------------------------------- */

bool cluster_has_joined(const struct gate *gate)
{
    return gate->cluster.lease_end_ms != 0;
}

uint32_t cluster_lease_left(const struct gate *gate)
{
    const int64_t left_ms = gate->cluster.lease_end_ms - clocks_read().even_ms;
    return left_ms > 0 ? (uint32_t)left_ms : 0;
}

bool cluster_may_submit(const struct gate *gate)
{
    return !gate->cluster.is_on || cluster_lease_left(gate) > 0;
}

static int by_id(const void *a, const void *b)
{
    const node_id left = ((const struct member *)a)->id;
    const node_id right = ((const struct member *)b)->id;
    return (left > right) - (left < right);
}

/* Those that have rows, as the engine sees them. */
static uint16_t take_members(const struct gate *gate, const struct store_members *found,
                             struct member *members)
{
    const uint16_t self = store_node(gate->persist.store);
    const bool can_adopt = store_can_adopt(gate->persist.store);
    uint16_t count = 0;
    for (uint32_t i = 0; i < found->count && count < ENGINE_NODES; i++) {
        const struct store_member *const it = &found->all[i];
        if (it->is_gone || (it->has_left && !can_adopt))
            continue;
        members[count++] = (struct member){.id = it->incarnation,
                                           .node = it->node,
                                           .beat = it->beat,
                                           .demand = it->demand,
                                           .is_self = it->node == self,
                                           .is_leaving = it->has_left};
    }
    qsort(members, count, sizeof *members, by_id);
    return count;
}

static void tell_engine(struct gate *gate, const struct store_beat *beat)
{
    struct member members[ENGINE_NODES];
    const uint16_t count = take_members(gate, beat->members, members);
    const int64_t ago_ms = clocks_read().even_ms - beat->sent_ms;
    if (count != gate->cluster.member_count)
        LOG(LOG_LEVEL_INFO, "cluster_members", log_number("gateways", count),
            log_number("before", gate->cluster.member_count));
    gate->cluster.member_count = count;
    struct event event = gate_event(gate, EVENT_BEAT);
    event.beat.sent_ms = event.now_ms - (uint64_t)(ago_ms < 0 ? 0 : ago_ms);
    event.beat.is_unbroken = beat->is_steady;
    event.beat.members = members;
    event.beat.member_count = count;
    gate_step(gate, &event);
}

static void tell_demand(struct gate *gate)
{
    struct demand demand;
    engine_demand(gate->engine, &demand);
    store_set_demand(gate->persist.store, &demand, engine_must_hurry(gate->engine));
}

void cluster_before_sleep(struct gate *gate)
{
    if (cluster_has_joined(gate) && !gate->cluster.is_fenced && !gate->is_closing)
        tell_demand(gate);
}

/* After a loss each waits for all others: what it seems to have to pay for may be in the rows that they write. */
static void tell_rewriting(struct gate *gate)
{
    struct store *const store = gate->persist.store;
    if (!engine_is_rewriting(gate->engine))
        store_set_mended(store);
    store_hold_claims(store, roster_has_rewriting(&gate->cluster.roster));
}

/* The lease is counted from when the beat was sent: it may have been on its way for long. */
static void on_beat(void *context, const struct store_beat *beat)
{
    struct gate *const gate = context;
    struct cluster *const cluster = &gate->cluster;
    if (gate->is_closing || cluster->is_fenced)
        return;
    cluster->lease_end_ms = beat->sent_ms + cluster->lease_ms - cluster->margin_ms;
    adoptions_on_beat(&cluster->adoptions, beat->members);
    roster_on_beat(&cluster->roster, beat, store_node(gate->persist.store), cluster->lease_ms);
    tell_rewriting(gate);
    tell_engine(gate, beat);
    tell_demand(gate);
    if (!cluster_may_submit(gate))
        return;
    if (cluster->is_lost)
        LOG(LOG_LEVEL_INFO, "lease_renewed",
            log_string("meaning", "the store confirms again that this gateway lives"));
    cluster->is_lost = false;
    watch_lease(gate);
    /* Submits may have waited for it. */
    gate->persist.unlooked = gate->persist.count;
}

void cluster_add_handlers(struct store_handlers *handlers)
{
    handlers->on_claimed = on_claimed;
    handlers->on_woken = on_woken;
    handlers->on_found = on_found;
    handlers->on_drawn = on_drawn;
    handlers->on_beat = on_beat;
    handlers->on_books = on_books;
    handlers->on_letters = on_letters;
    handlers->on_adopted = on_adopted;
    handlers->on_told = on_told;
}
