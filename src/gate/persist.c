#include "gate/persist.h"

#include "base/assert.h"
#include "config/config_store.h"
#include "gate/cluster.h"
#include "gate/drain.h"
#include "gate/gate_act.h"
#include "gate/gate_state.h"
#include "gate/persist_place.h"
#include "gate/persist_tell.h"
#include "gate/rejoin.h"
#include "proto/pack.h"
#include "store/store_inbox.h"
#include "sys/files.h"
#include "sys/log.h"

#include <sodium.h>
#include <stdlib.h>
#include <sysexits.h>

/* The most held actions performed in a turn of the loop, and the most examined for it. */
#define RELEASE_BATCH 256
#define RELEASE_LOOKS 4096

/* Time for the service manager to restart us. */
#define BROKEN_RETRY_MS 10000
/* As the engine says to those who come later. */
#define UNWRITABLE_RETRY_MS 5000
/* Time for a gateway that was adopted to start over. */
#define FENCED_RETRY_MS 1000
#define MISTAKE_MAX 8192

/* ---- opening ----------------------------------------------------------------------------- */

static int report(const char *event, struct slice why, int code)
{
    LOG(LOG_LEVEL_ERROR, event, log_text("why", why));
    return code;
}

static int report_opening(enum store_opening opening, struct slice why)
{
    switch (opening) {
    case STORE_OPENED:
        return EX_OK;
    case STORE_LOCKED:
        return report("store_locked", why, EX_CANTCREAT);
    case STORE_UNUSABLE:
        return report("store_unusable", why, EX_IOERR);
    }
    UNREACHABLE();
}

void persist_replace(struct gate *gate, struct store *take_store)
{
    struct persist *persist = &gate->persist;
    ASSERT(persist->count == 0);
    store_free(persist->store);
    persist->store = take_store;
    persist->durable = 0;
    persist->state = STORE_WRITABLE;
    persist->restored_flights = 0;
}

int persist_lock(struct gate *gate)
{
    struct buf url;
    struct buf name;
    struct buf mistake;
    struct store_place place;
    int code = EX_OK;
    buf_init(&url, PLACE_URL_MAX);
    buf_init(&name, PLACE_NODE_MAX);
    buf_init(&mistake, MISTAKE_MAX);
    if (config_place(gate->config, &url, &place)) {
        cluster_place(gate, &place, &name);
        const enum store_opening opening = store_lock(&place, &gate->persist.store, &mistake);
        code = report_opening(opening, buf_slice(&mistake));
    } else {
        LOG(LOG_LEVEL_WARN, "memory_only",
            log_string("meaning", "a crash loses what is in flight and what is cached; "
                                  "data_dir or store keeps it"));
    }
    const char *const directory = gate->config->data_dir;
    if (code == EX_OK && directory != NULL && file_is_open_to_others(directory))
        LOG(LOG_LEVEL_WARN, "data_dir_not_private", log_string("path", directory),
            log_string("meaning",
                       "others can put files there or remove ours; chmod 700 ends that"));
    buf_close(&url);
    buf_close(&name);
    buf_close(&mistake);
    return code;
}

/* Says where the journal is and what it is worth there. */
static void introduce(const struct gate *gate, const char *event)
{
    const struct store_about about = store_about(gate->persist.store);
    const char *const warning = config_store_warning(gate->config);
    LOG(LOG_LEVEL_INFO, event, log_string("kind", about.kind), log_string("server", about.server),
        log_string("durability", about.durability));
    if (about.is_async)
        LOG(LOG_LEVEL_WARN, "store_async",
            log_string("meaning", "cluster.allow_async accepts a store that may lose what it "
                                  "acknowledged; a solve may then be lost or paid twice"));
    if (warning != NULL)
        LOG(LOG_LEVEL_WARN, "store_exposed", log_string("meaning", warning));
}

int persist_open(struct gate *gate)
{
    const struct store_names names = persist_names(gate);
    if (gate->persist.store == NULL)
        return EX_OK;
    struct buf mistake;
    buf_init(&mistake, MISTAKE_MAX);
    const enum store_opening opening = store_open(gate->persist.store, &names, &mistake);
    const int code = report_opening(opening, buf_slice(&mistake));
    buf_close(&mistake);
    if (code != EX_OK) {
        store_free(gate->persist.store);
        gate->persist.store = NULL;
    } else {
        introduce(gate, "store_opened");
        cluster_open(gate);
    }
    return code;
}

/* The driver's sentence says more than the code, where it has one. */
static int report_unusable(const struct store *store, int err)
{
    struct buf mistake;
    buf_init(&mistake, MISTAKE_MAX);
    store_explain(store, &mistake);
    if (mistake.len == 0)
        buf_add(&mistake, slice_from(err_text(err)));
    const int code = report("store_unusable", buf_slice(&mistake), EX_IOERR);
    buf_close(&mistake);
    return code;
}

int persist_secrets(struct gate *gate)
{
    uint8_t *identity = gate->identity_options.secret;
    struct store *store = gate->persist.store;
    if (store == NULL) {
        randombytes_buf(gate->nonce_secret, sizeof gate->nonce_secret);
        memcpy(gate->old_nonce_secret, gate->nonce_secret, sizeof gate->nonce_secret);
        randombytes_buf(identity, sizeof gate->identity_options.secret);
        return EX_OK;
    }
    int err =
        store_secret(store, STORE_SECRET_IDENTITY, identity, sizeof gate->identity_options.secret);
    if (err == 0)
        err = store_rotating_secret(store, STORE_SECRET_NONCE, PERSIST_NONCE_MAX_AGE_MS,
                                    gate->nonce_secret, gate->old_nonce_secret, NONCE_SECRET_BYTES);
    return err == 0 ? EX_OK : report_unusable(store, err);
}

/* ---- restoring --------------------------------------------------------------------------- */

/* Rows of an older version have a key of zeros: it is computed again from the parameters. If those
 * would no longer be accepted, the key is made of the row's number, which no other row has. */
static struct key key_anew(struct gate *gate, client_id client, const struct blob *params,
                           uint64_t number)
{
    params_reset(&gate->params);
    if (params != NULL && params_unpack(&gate->params, params) == 0 &&
        identity_compute(&gate->identity_options, &gate->params, &gate->scopes[client],
                         &gate->scratch, &gate->identity) == 0)
        return gate->identity.key;
    return key_from_u64(number);
}

void persist_mend_key(struct gate *gate, struct record *record)
{
    static const struct key zeros = {{0}};
    struct flight_row *const flight = &record->flight;
    struct letter_row *const letter = &record->letter;
    if (record->kind == RECORD_FLIGHT && key_equals(&flight->key, &zeros))
        flight->key = key_anew(gate, flight->client, flight->params, flight->id);
    else if (record->kind == RECORD_LETTER && key_equals(&letter->key, &zeros))
        letter->key = key_anew(gate, letter->client, letter->params, letter->number);
}

static void on_row(void *context, const struct record *record)
{
    struct gate *gate = context;
    struct record row = *record;
    gate->persist.restored_flights += record->kind == RECORD_FLIGHT;
    persist_mend_key(gate, &row);
    engine_restore(gate->engine, &row);
}

/* ---- holding back ------------------------------------------------------------------------ */

static void hold(struct persist *persist, const struct action *take_action)
{
    if (persist->count == persist->room) {
        const size_t room = persist->room == 0 ? 64 : persist->room * 2;
        struct action *larger = calloc(room, sizeof *larger);
        ASSERT(larger != NULL);
        for (size_t i = 0; i < persist->count; i++)
            larger[i] = persist->held[(persist->first + i) % persist->room];
        free(persist->held);
        persist->held = larger;
        persist->first = 0;
        persist->room = room;
    }
    persist->held[(persist->first + persist->count++) % persist->room] = *take_action;
}

/* While the store is full or away, paid solutions are delivered anyway, but nothing new is paid for. Callbacks are
 * not acknowledged: the vendor may call again. */
static bool may_go(const struct gate *gate, const struct action *action)
{
    const struct persist *const persist = &gate->persist;
    /* What another gateway may have decided otherwise by now is kept back, to be refused. */
    if (persist->state == STORE_FENCED)
        return action->after == 0;
    if (action->kind == ACTION_SUBMIT)
        return action->after <= persist->durable && cluster_may_submit(gate);
    if (action->after <= persist->durable)
        return true;
    /* Another node may have it, or may have told the vendor, by the time the record is written. */
    const bool is_others =
        gate->cluster.is_on && (action->kind == ACTION_REPORT ||
                                (action->kind == ACTION_ANSWER && action->answer.is_single));
    return persist->state != STORE_WRITABLE && !is_others;
}

/* An id that is not on disk is unknown after a restart, so callers must not get it; nor is anything recorded that only
 * this process knows. */
static bool is_in_vain(const struct persist *persist, const struct action *action)
{
    const struct answer *const answer = &action->answer;
    if (action->kind != ACTION_ANSWER || answer->refusal != REFUSAL_NONE)
        return false;
    return answer->is_promise || answer->is_receipt ||
           (persist->state == STORE_BROKEN && answer->state != REQUEST_SOLVED &&
            answer->state != REQUEST_FAILED);
}

static void refuse(struct answer *answer, enum refusal refusal, uint32_t retry_after_ms)
{
    const caller_id caller = answer->caller;
    answer_close(answer);
    *answer =
        (struct answer){.caller = caller, .refusal = refusal, .retry_after_ms = retry_after_ms};
}

/* Nothing was promised: the caller comes again, and nothing is paid for a request that nobody knows. */
static void take_back(struct gate *gate, struct answer *answer)
{
    const enum store_state state = gate->persist.state;
    struct event event = gate_event(gate, answer->is_promise ? EVENT_UNTOLD : EVENT_TICK);
    event.untold = (struct untold){.client = answer->client, .id = answer->id};
    refuse(answer, state == STORE_AWAY ? REFUSAL_STORE_AWAY : REFUSAL_STORE,
           state == STORE_BROKEN ? BROKEN_RETRY_MS : UNWRITABLE_RETRY_MS);
    gate_step(gate, &event);
}

static void perform(struct gate *gate, struct action *take_action)
{
    const bool is_safe = take_action->after <= gate->persist.durable;
    if (!is_safe && is_in_vain(&gate->persist, take_action))
        take_back(gate, &take_action->answer);
    if (take_action->kind == ACTION_ACK && !is_safe)
        gate->doors->callback(gate, take_action->ack, false);
    else if (!engine_wants(gate->engine, take_action))
        gate_withdrawn(gate, take_action);
    else
        gate_perform(gate, take_action);
    action_close(take_action);
}

void persist_take(struct gate *gate, struct action *take_action)
{
    struct persist *persist = &gate->persist;
    if (take_action->kind == ACTION_JOURNAL) {
        store_append(persist->store, take_action->after, &take_action->record);
        return;
    }
    if (cluster_is_for_store(take_action)) {
        cluster_send(gate, take_action);
        return;
    }
    if (may_go(gate, take_action))
        perform(gate, take_action);
    else
        hold(persist, take_action);
}

bool persist_has_work(const struct gate *gate)
{
    return gate->persist.unlooked > 0;
}

/* Large answers count as several, as in the engine. */
static unsigned cost_of(const struct action *action)
{
    if (action->kind != ACTION_ANSWER)
        return 1;
    const struct answer *answer = &action->answer;
    const size_t bytes = (answer->text == NULL ? 0 : answer->text->len) +
                         (answer->extra == NULL ? 0 : answer->extra->len);
    return 1 + (unsigned)(bytes / ANSWER_UNIT_BYTES);
}

/* Performing an action may step the engine, which may hold back more; new ones queue behind those
 * examined. One commit may free thousands, which are performed over several turns. */
void persist_work(struct gate *gate)
{
    struct persist *persist = &gate->persist;
    unsigned looks = RELEASE_LOOKS;
    unsigned spent = 0;
    for (; persist->unlooked > 0 && looks > 0 && spent < RELEASE_BATCH; looks--) {
        persist->unlooked--;
        struct action action = persist->held[persist->first];
        persist->first = (persist->first + 1) % persist->room;
        persist->count--;
        if (!may_go(gate, &action)) {
            hold(persist, &action);
            continue;
        }
        spent += cost_of(&action);
        perform(gate, &action);
    }
}

static void on_durable(void *context, journal_seq seq)
{
    struct gate *gate = context;
    gate->persist.durable = seq;
    struct event event = gate_event(gate, EVENT_DURABLE);
    event.durable = seq;
    gate_step(gate, &event);
    /* Several commits may end in one turn; its end performs what they free. */
    gate->persist.unlooked = gate->persist.count;
}

/* Callbacks with nonces of the previous secret are accepted until the next rotation. */
static void on_secret(void *context, const uint8_t *bytes, const uint8_t *old_bytes)
{
    struct gate *gate = context;
    memcpy(gate->nonce_secret, bytes, sizeof gate->nonce_secret);
    memcpy(gate->old_nonce_secret, old_bytes, sizeof gate->old_nonce_secret);
    LOG(LOG_LEVEL_INFO, "nonce_secret_renewed",
        log_string("meaning", "callbacks told under the one before are still understood"));
}

static void on_state(void *context, enum store_state state, const char *why)
{
    struct gate *gate = context;
    gate->persist.state = state;
    if (state == STORE_FENCED) {
        rejoin_begin(gate);
        return;
    }
    switch (state) {
    case STORE_FENCED:
        break;
    case STORE_WRITABLE:
        LOG(LOG_LEVEL_INFO, "store_writable", log_string("meaning", "new solves are taken again"));
        break;
    case STORE_AWAY:
        LOG(LOG_LEVEL_ERROR, "store_away", log_string("why", why),
            log_string("meaning", gate->cluster.is_on
                                      ? "new solves wait until the store can be reached again; "
                                        "what is paid for is delivered and kept for then"
                                      : "new solves are refused until the store can be reached "
                                        "again; what is paid for is delivered and kept for then"));
        break;
    case STORE_FULL:
        LOG(LOG_LEVEL_ERROR, "store_full", log_string("why", why),
            log_string("meaning", "new solves are refused until there is room on the disk"));
        break;
    case STORE_BROKEN:
        LOG(LOG_LEVEL_ERROR, "store_broken", log_string("why", why),
            log_string("meaning", "nothing more is submitted; the gateway ends"));
        break;
    }
    struct event event = gate_event(gate, EVENT_STORE_STATE);
    event.store_is_writable = state == STORE_WRITABLE;
    event.store_is_away = state == STORE_AWAY;
    gate_step(gate, &event);
    if (gate->is_closing)
        return;
    gate->persist.unlooked = gate->persist.count;
    persist_work(gate);
    if (state == STORE_BROKEN)
        drain_give_up(gate, EX_IOERR);
}

static void on_about(void *context)
{
    introduce(context, "store_changed");
}

/* Nobody can bring back what only the store had; a crash before all rows are written again would lose them, too. */
static void on_lost(void *context, const char *why)
{
    struct gate *gate = context;
    LOG(LOG_LEVEL_ERROR, "store_lost_rows", log_string("why", why),
        log_string("meaning", "all that this gateway has in memory is written again; restore no "
                              "backup under a running gateway"));
    const struct event event = gate_event(gate, EVENT_STORE_LOST);
    gate_step(gate, &event);
}

int persist_restore(struct gate *gate)
{
    struct store_handlers handlers = {
        .context = gate,
        .on_durable = on_durable,
        .on_state = on_state,
        .on_about = on_about,
        .on_lost = on_lost,
        .on_secret = on_secret,
    };
    struct persist *persist = &gate->persist;
    cluster_add_handlers(&handlers);
    if (persist->store == NULL)
        return EX_OK;
    const uint64_t start_ns = uv_hrtime();
    persist->clocks = clocks_read();
    int err = store_load(persist->store, &persist->clocks, on_row, gate);
    if (err == 0)
        err = cluster_restore(gate);
    if (err != 0)
        return report_unusable(persist->store, err);
    engine_restored(gate->engine);
    cluster_tell_config(gate);
    store_start(persist->store, &gate->loop, &handlers);
    persist_tell_restored(gate, start_ns);
    return EX_OK;
}

void persist_see_clocks(struct gate *gate, const struct clocks *now)
{
    struct persist *persist = &gate->persist;
    if (persist->store == NULL || persist->clocks.wall_ms == 0)
        return;
    const int64_t leap_ms = clocks_leap_ms(&persist->clocks, now);
    persist->clocks = *now;
    if (leap_ms == 0)
        return;
    LOG(LOG_LEVEL_WARN, "clock_set", log_number("by_ms", leap_ms),
        log_string("meaning", "times on disk follow it: nothing expires early or is sent again"));
    store_leap(persist->store, leap_ms, now);
}

/* ---- ending ------------------------------------------------------------------------------ */

void persist_each_waiting_submit(const struct gate *gate,
                                 void (*see)(void *context, attempt_id attempt), void *context)
{
    const struct persist *persist = &gate->persist;
    for (size_t i = 0; i < persist->count; i++) {
        const struct action *action = &persist->held[(persist->first + i) % persist->room];
        if (action->kind == ACTION_SUBMIT)
            see(context, action->call.attempt);
    }
}

bool persist_is_idle(const struct gate *gate)
{
    return gate->persist.count == 0;
}

/* The caller does not get an answer that a restart might not know; the same request will find what became of it. */
void persist_dismiss(struct gate *gate)
{
    struct persist *persist = &gate->persist;
    for (size_t i = persist->count; i > 0; i--) {
        struct action action = persist->held[persist->first];
        persist->first = (persist->first + 1) % persist->room;
        persist->count--;
        if (action.kind == ACTION_ANSWER) {
            refuse(&action.answer, REFUSAL_DRAINING, BROKEN_RETRY_MS);
            gate_perform(gate, &action);
        } else if (action.kind == ACTION_ACK) {
            gate->doors->callback(gate, action.ack, false);
        } else {
            hold(persist, &action);
            continue;
        }
        action_close(&action);
    }
    persist->unlooked = 0;
}

void persist_send_away(struct gate *gate)
{
    struct persist *persist = &gate->persist;
    while (persist->count > 0) {
        struct action action = persist->held[persist->first];
        persist->first = (persist->first + 1) % persist->room;
        persist->count--;
        if (action.kind == ACTION_ANSWER) {
            refuse(&action.answer, REFUSAL_STORE_AWAY, FENCED_RETRY_MS);
            gate_perform(gate, &action);
        } else if (action.kind == ACTION_ACK) {
            gate->doors->callback(gate, action.ack, false);
        }
        action_close(&action);
    }
    persist->unlooked = 0;
}

static void on_late(uv_timer_t *timer)
{
    struct gate *gate = timer->data;
    gate->persist.is_stuck = true;
    uv_stop(&gate->loop);
}

static void on_closed(void *context)
{
    struct gate *gate = context;
    uv_close((uv_handle_t *)&gate->last_writes, NULL);
}

void persist_close(struct gate *gate, uint64_t wait_ms)
{
    struct persist *persist = &gate->persist;
    if (persist->store == NULL || rejoin_is_closing(gate))
        return;
    if (gate->engine != NULL) {
        engine_close_books(gate->engine);
        gate_take_actions(gate);
    }
    uv_timer_init(&gate->loop, &gate->last_writes);
    gate->last_writes.data = gate;
    uv_timer_start(&gate->last_writes, on_late, wait_ms, 0);
    store_close(persist->store, on_closed, gate);
}

bool persist_is_stuck(const struct gate *gate)
{
    return gate->persist.is_stuck;
}

bool persist_is_complete(const struct gate *gate)
{
    struct store_counters counters;
    if (gate->persist.store == NULL)
        return true;
    store_counters(gate->persist.store, &counters);
    /* Whoever adopted this gateway has everything but what only this one knows. */
    if (gate->persist.state == STORE_FENCED)
        counters.waiting = store_count_facts(gate->persist.store);
    if (counters.waiting > 0)
        LOG(LOG_LEVEL_ERROR, "store_unwritten", log_number("records", counters.waiting),
            log_string("meaning", "the store did not take them before the end: what happened since "
                                  "it went away is unknown after the next start"));
    return counters.waiting == 0;
}

void persist_free(struct gate *gate)
{
    struct persist *persist = &gate->persist;
    for (size_t i = 0; i < persist->count; i++)
        action_close(&persist->held[(persist->first + i) % persist->room]);
    free(persist->held);
    store_free(persist->store);
    *persist = (struct persist){0};
}
