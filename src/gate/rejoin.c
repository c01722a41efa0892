#include "gate/rejoin.h"

#include "base/assert.h"
#include "gate/drain.h"
#include "gate/gate_make.h"
#include "gate/gate_state.h"
#include "gate/persist_place.h"
#include "store/store_inbox.h"
#include "sys/log.h"
#include "upstream/upstream_life.h"

#include <stdlib.h>
#include <sysexits.h>

/* While the store cannot be opened. */
#define RETRY_MS 500
#define MISTAKE_MAX 1024

/* Opens the store for the next run, on a thread of its own. */
struct rejoin_job {
    struct gate *gate;
    uv_async_t done;
    uv_timer_t pause;
    uv_thread_t thread;
    bool is_running; /* the thread has what follows */
    struct persist_place place;
    struct store *store; /* owned */
    enum store_opening opening;
    struct buf mistake;
    bool is_told;            /* why it does not open */
    unsigned closed_handles; /* of two */
};

/* ---- opening ----------------------------------------------------------------------------- */

static void run(void *context)
{
    struct rejoin_job *const job = context;
    buf_reset(&job->mistake);
    job->opening = persist_place_open(job->gate, &job->place, &job->store, &job->mistake);
    /* The loop serves others meanwhile, and must not wait for the store's answers afterwards. */
    if (job->opening == STORE_OPENED && !persist_place_read(job->store, &job->mistake)) {
        store_free(job->store);
        job->store = NULL;
        job->opening = STORE_UNUSABLE;
    }
    (void)uv_async_send(&job->done);
}

static void start_thread(struct rejoin_job *job)
{
    job->is_running = true;
    ASSERT(uv_thread_create(&job->thread, run, job) == 0);
}

static void on_pause_end(uv_timer_t *timer)
{
    struct rejoin_job *const job = timer->data;
    start_thread(job);
}

static void on_handle_closed(uv_handle_t *handle)
{
    struct rejoin_job *const job = handle->data;
    if (++job->closed_handles < 2)
        return;
    persist_place_close(&job->place);
    buf_close(&job->mistake);
    free(job);
}

static void job_close(struct rejoin_job *job)
{
    uv_close((uv_handle_t *)&job->done, on_handle_closed);
    uv_close((uv_handle_t *)&job->pause, on_handle_closed);
}

/* ---- the next run ------------------------------------------------------------------------ */

/* Facts of the run before go first. Calls that it had sent end in this one, which tells them as facts, too. */
static void start_over(struct gate *gate, struct store *take_store)
{
    store_pass_facts(gate->persist.store, take_store);
    /* A callback may have come in this very turn, behind the last look. */
    persist_send_away(gate);
    persist_replace(gate, take_store);
    cluster_open(gate);
    int code = persist_secrets(gate);
    if (code == EX_OK) {
        engine_free(gate->engine);
        gate->engine = gate_make_engine(gate);
        code = persist_restore(gate);
    }
    if (code != EX_OK) {
        drain_give_up(gate, code);
        return;
    }
    gate->cluster.is_fenced = false;
    const struct event event = gate_event(gate, gate->is_draining ? EVENT_DRAIN : EVENT_TICK);
    gate_step(gate, &event);
}

static void try_later(struct rejoin_job *job)
{
    if (!job->is_told)
        LOG(LOG_LEVEL_ERROR, "node_not_joined", log_text("why", buf_slice(&job->mistake)),
            log_string("meaning", "requests are refused until this gateway is back in the store"));
    job->is_told = true;
    (void)uv_timer_start(&job->pause, on_pause_end, RETRY_MS, 0);
}

static void on_done(uv_async_t *done)
{
    struct rejoin_job *const job = done->data;
    struct gate *const gate = job->gate;
    if (!job->is_running)
        return;
    ASSERT(uv_thread_join(&job->thread) == 0);
    job->is_running = false;
    if (gate->is_closing)
        return;
    if (job->opening == STORE_UNUSABLE) {
        try_later(job);
        return;
    }
    if (job->opening == STORE_LOCKED) {
        LOG(LOG_LEVEL_ERROR, "node_name_taken", log_text("why", buf_slice(&job->mistake)),
            log_string("meaning", "another gateway runs under this one's name; this one ends"));
        drain_give_up(gate, EX_CANTCREAT);
        return;
    }
    gate->cluster.rejoin = NULL;
    job_close(job);
    start_over(gate, job->store);
}

static void on_store_closed(void *context)
{
    struct gate *const gate = context;
    if (gate->is_closing)
        return;
    struct rejoin_job *const job = calloc(1, sizeof *job);
    ASSERT(job != NULL);
    job->gate = gate;
    buf_init(&job->mistake, MISTAKE_MAX);
    persist_place_init(gate, &job->place);
    ASSERT(uv_async_init(&gate->loop, &job->done, on_done) == 0);
    ASSERT(uv_timer_init(&gate->loop, &job->pause) == 0);
    job->done.data = job;
    job->pause.data = job;
    gate->cluster.rejoin = job;
    start_thread(job);
}

/* ---- the end of a run -------------------------------------------------------------------- */

void rejoin_begin(struct gate *gate)
{
    LOG(LOG_LEVEL_WARN, "node_fenced",
        log_string("meaning", "this gateway was silent for so long that another one has taken its "
                              "tasks; it sends away whoever waits here and starts over"));
    gate->cluster.is_fenced = true;
    gate->cluster.times_fenced++;
    gate->cluster.is_store_closing = false;
    gate->cluster.lease_end_ms = 0;
    const struct event event = gate_event(gate, EVENT_FENCED);
    gate_step(gate, &event);
    if (!gate->is_closing) {
        upstream_withdraw_submits(gate->upstream);
        return;
    }
    /* Too late to join again; the end says whether facts are lost. */
    while (!engine_is_over(gate->engine)) {
        const struct event tick = gate_event(gate, EVENT_TICK);
        gate_step(gate, &tick);
    }
}

void rejoin_look(struct gate *gate)
{
    if (!gate->cluster.is_fenced || gate->is_closing)
        return;
    persist_send_away(gate);
    if (gate->cluster.is_store_closing || !engine_is_over(gate->engine))
        return;
    gate->cluster.is_store_closing = true;
    cluster_close(gate);
    /* Nobody reads them any more. */
    gate->doors->books(gate, SLICE_NONE);
    gate->doors->found_letters(gate, NULL);
    store_close(gate->persist.store, on_store_closed, gate);
}

bool rejoin_is_closing(const struct gate *gate)
{
    return gate->cluster.is_fenced && gate->cluster.is_store_closing;
}

bool rejoin_abandon(struct gate *gate)
{
    struct rejoin_job *const job = gate->cluster.rejoin;
    if (job == NULL)
        return false;
    if (!uv_is_closing((uv_handle_t *)&job->done)) {
        uv_close((uv_handle_t *)&job->done, NULL);
        uv_close((uv_handle_t *)&job->pause, NULL);
    }
    return true;
}
