/* What src/gate does with actions: journals them, holds back what is not safe yet, and has the rest performed. */
#include "sim.h"

#include <stdlib.h>

#define SYNC_MOST_MS 20
#define SYNC_LARGE_MS 100 /* many records in one commit */
#define SYNC_SLOW_MS 3000

static void start_sync(struct sim *sim)
{
    struct disk *disk = &sim->disk;
    if (disk->syncing != 0 || disk->is_full || disk->appended == disk->synced)
        return;
    disk->syncing = disk->appended;
    const uint64_t usual_ms = sim->plan.size == SIZE_LARGE ? SYNC_LARGE_MS : SYNC_MOST_MS;
    const uint64_t most_ms = sim_chance(sim, FAULT_DISK_SLOW) ? SYNC_SLOW_MS : usual_ms;
    sim_at(sim, sim_below(sim, most_ms),
           (struct moment){.what = HAPPEN_SYNCED, .incarnation = sim->incarnation});
}

static void hold(struct sim *sim, const struct action *take_action)
{
    if (sim->held_count == sim->held_room) {
        const size_t room = sim->held_room == 0 ? 64 : sim->held_room * 2;
        struct action *larger = calloc(room, sizeof *larger);
        ASSERT(larger != NULL);
        for (size_t i = 0; i < sim->held_count; i++)
            larger[i] = sim->held[(sim->held_first + i) % sim->held_room];
        free(sim->held);
        sim->held = larger;
        sim->held_first = 0;
        sim->held_room = room;
    }
    sim->held[(sim->held_first + sim->held_count++) % sim->held_room] = *take_action;
}

static bool may_go(const struct sim *sim, const struct action *action)
{
    return action->after <= sim->disk.synced ||
           (sim->disk.is_full && action->kind != ACTION_SUBMIT);
}

static void perform_answer(struct sim *sim, const struct action *action, bool is_unsafe)
{
    struct caller *caller = &sim->callers[action->answer.caller - 1];
    check_answer(sim, caller, &action->answer, is_unsafe);
    clients_close_caller(sim, action->answer.caller);
    if (!caller->is_gone)
        clients_on_answer(sim, caller, &action->answer);
}

static void perform_ack(struct sim *sim, const struct action *action, bool is_unsafe)
{
    const struct caller *caller = &sim->callers[action->ack - 1];
    if (!is_unsafe)
        check_ack(sim, caller);
    clients_close_caller(sim, action->ack);
    vendor_on_ack(sim, caller, is_unsafe);
}

static void perform(struct sim *sim, const struct action *action)
{
    const bool is_unsafe = action->after > sim->disk.synced;
    if (action->kind == ACTION_ANSWER)
        perform_answer(sim, action, is_unsafe);
    else if (action->kind == ACTION_ACCOUNT)
        clients_close_caller(sim, action->account.caller);
    else if (action->kind == ACTION_LETTERS)
        clients_close_caller(sim, action->letters.caller);
    else if (action->kind == ACTION_ACK)
        perform_ack(sim, action, is_unsafe);
    else if (action->kind == ACTION_SUBMIT)
        vendor_submit(sim, action);
    else if (action->kind == ACTION_WITHDRAW)
        vendor_withdraw(sim, &action->withdrawal);
    else if (action->kind == ACTION_POLL)
        vendor_poll(sim, &action->call);
    else if (action->kind == ACTION_PROBE)
        vendor_probe(sim, action->probe);
    else if (action->kind == ACTION_NOTIFY && engine_wants(sim->engine, action))
        notices_send(sim, &action->notify, is_unsafe);
}

/* Between these records it hurts most. */
static bool is_delicate(const struct sim *sim, enum record_kind kind)
{
    return kind == RECORD_SOLUTION || kind == RECORD_ATTEMPT || kind == RECORD_FLIGHT ||
           (kind == RECORD_IDEMPOTENCY && sim->plan.options.pool_count > 0) ||
           (kind == RECORD_REQUEST && sim->plan.strength[FAULT_PINGBACK] > 0);
}

static void maybe_crash_here(struct sim *sim, const struct record *record)
{
    if (is_delicate(sim, record->kind) && sim->plan.size != SIZE_LARGE && sim_may_crash(sim) &&
        sim_chance(sim, FAULT_CRASH) && sim_below(sim, 24) == 0)
        sim->crash_now = true;
}

void shell_take(struct sim *sim)
{
    struct action action;
    while (!sim->crash_now && engine_next_action(sim->engine, &action)) {
        places_name(sim, &action);
        trace_action(sim, &action);
        check_emitted(sim, &action);
        if (action.kind == ACTION_JOURNAL) {
            disk_append(&sim->disk, action.after, &action.record);
            maybe_crash_here(sim, &action.record);
        } else if (may_go(sim, &action)) {
            perform(sim, &action);
            action_close(&action);
        } else {
            hold(sim, &action);
        }
        if (sim_is_cut(sim))
            return;
    }
    start_sync(sim);
}

/* In the order in which they were asked for. */
static void release(struct sim *sim)
{
    for (size_t left = sim->held_count; left > 0 && !sim->crash_now; left--) {
        struct action action = sim->held[sim->held_first];
        sim->held_first = (sim->held_first + 1) % sim->held_room;
        sim->held_count--;
        if (!may_go(sim, &action)) {
            hold(sim, &action);
            continue;
        }
        trace_note(sim, "released");
        perform(sim, &action);
        action_close(&action);
        (void)sim_is_cut(sim);
    }
}

void shell_on_synced(struct sim *sim, uint64_t upto)
{
    if (sim->disk.is_full)
        return;
    disk_sync(sim, upto);
    sim->disk.syncing = 0;
    struct event event = {.kind = EVENT_DURABLE};
    event.durable = upto;
    sim_step(sim, &event);
    if (!sim->crash_now)
        release(sim);
    if (!sim->crash_now)
        start_sync(sim);
}

void shell_set_full(struct sim *sim, bool is_full)
{
    struct disk *disk = &sim->disk;
    if (disk->is_full == is_full)
        return;
    disk->is_full = is_full;
    disk->syncing = 0;
    trace_note(sim, is_full ? "the disk is full" : "there is room on the disk");
    struct event event = {.kind = EVENT_STORE_STATE};
    event.store_is_writable = !is_full;
    sim_step(sim, &event);
    if (!sim->crash_now)
        release(sim);
    if (!sim->crash_now)
        start_sync(sim);
}

void shell_drop(struct sim *sim)
{
    for (size_t i = 0; i < sim->held_count; i++)
        action_close(&sim->held[(sim->held_first + i) % sim->held_room]);
    sim->held_count = 0;
    sim->held_first = 0;
}
