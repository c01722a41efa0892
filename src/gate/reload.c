#include "gate/reload.h"

#include "base/assert.h"
#include "config/config_reload.h"
#include "gate/gate.h"
#include "gate/gate_make.h"
#include "gate/gate_state.h"
#include "gate/gone.h"
#include "gate/service.h"
#include "sys/log.h"
#include "upstream/trust.h"

#include <signal.h>
#include <stdlib.h>

static void mask_hangup(int how)
{
    sigset_t hangup;
    (void)sigemptyset(&hangup);
    (void)sigaddset(&hangup, SIGHUP);
    (void)pthread_sigmask(how, &hangup, NULL);
}

void reload_defer(void)
{
    mask_hangup(SIG_BLOCK);
}

void reload_allow(void)
{
    mask_hangup(SIG_UNBLOCK);
}

/* Logs one event per line of the mistakes, which read as on the command line. */
static void log_mistakes(struct slice text)
{
    while (text.len > 0)
        LOG(LOG_LEVEL_ERROR, "reload_refused", log_text("why", slice_take(&text, '\n')));
}

static void adopt(struct gate *gate, struct config *fresh)
{
    struct buf kept;
    buf_init(&kept, 4096);
    config_adopt(gate->config, fresh, gate->client_room, &kept);
    log_init(gate->config->log_level, gate->config->log_format);
    gate_make_identity(gate);
    /* The memo of keys belongs to the old configuration. */
    client_keys_close(&gate->client_keys);
    client_keys_init(&gate->client_keys, gate->config);
    gate->doors->reload(gate);
    gate_configure_engine(gate);
    notices_configure(gate->notices, &gate->config->notices);
    cluster_tell_config(gate);
    gone_warn(gate);
    if (kept.len > 0)
        LOG(LOG_LEVEL_WARN, "restart_needed", log_text("options", buf_slice(&kept)));
    series_mark(gate->series, SERIES_RELOADED);
    LOG(LOG_LEVEL_INFO, "reloaded", log_number("clients", (int64_t)gate->config->client_count));
    buf_close(&kept);
}

/* ---- in another thread ------------------------------------------------------------------- */

/* Reading and checking a thousand clients with all their hosts takes a tenth of a second, and a
 * file system may stall for any time. A thread of its own, since libuv's have to be idle before the
 * process can end. */
struct reload_job {
    uv_thread_t thread;
    uv_async_t done; /* the thread has finished */
    uv_work_t work;
    struct gate *gate;
    struct config *config; /* owned: the new one, then the replaced one */
    struct buf mistakes;
    struct trust_news *certificates; /* owned */
    int code;
};

static void load(void *context)
{
    struct reload_job *job = context;
    const struct gate_loader *loader = job->gate->loader;
    trust_news_read(job->certificates);
    job->code = loader->load(loader->context, job->config, &job->mistakes);
    (void)uv_async_send(&job->done);
}

static void tidy(uv_work_t *work)
{
    struct reload_job *job = work->data;
    config_close(job->config);
    free(job->config);
    buf_close(&job->mistakes);
}

static void on_tidied(uv_work_t *work, int status)
{
    (void)status;
    free(work->data);
}

static void on_done_closed(uv_handle_t *done)
{
    struct reload_job *job = done->data;
    const int err = uv_queue_work(done->loop, &job->work, tidy, on_tidied);
    ASSERT(err == 0);
}

/* A SIGHUP during the read may be about a later change of the file, so the file is read again. */
static void finish(struct gate *gate)
{
    const bool is_due = gate->is_reload_due;
    gate->reload_job = NULL;
    gate->is_reload_due = false;
    if (is_due)
        reload(gate);
    else
        service_reloaded();
}

static void on_loaded(uv_async_t *done)
{
    struct reload_job *job = done->data;
    struct gate *gate = job->gate;
    const int err = uv_thread_join(&job->thread);
    ASSERT(err == 0);
    trust_news_adopt(job->certificates);
    if (job->code != 0)
        log_mistakes(buf_slice(&job->mistakes));
    else
        adopt(gate, job->config);
    uv_close((uv_handle_t *)done, on_done_closed);
    finish(gate);
}

static struct reload_job *job_new(struct gate *gate)
{
    struct reload_job *job = calloc(1, sizeof *job);
    ASSERT(job != NULL);
    job->gate = gate;
    job->work.data = job;
    job->config = calloc(1, sizeof *job->config);
    ASSERT(job->config != NULL);
    job->certificates = trust_news_new();
    int err = uv_async_init(&gate->loop, &job->done, on_loaded);
    ASSERT(err == 0);
    job->done.data = job;
    err = uv_thread_create(&job->thread, load, job);
    ASSERT(err == 0);
    return job;
}

void reload(struct gate *gate)
{
    if (gate->is_closing)
        return;
    if (gate->reload_job != NULL) {
        gate->is_reload_due = true;
        LOG(LOG_LEVEL_INFO, "reload_waits",
            log_string("meaning", "an earlier one is still reading its files"));
        return;
    }
    service_reloading();
    gate->reload_job = job_new(gate);
}

bool reload_abandon(struct gate *gate)
{
    if (gate->reload_job == NULL)
        return false;
    uv_handle_t *const done = (uv_handle_t *)&gate->reload_job->done;
    if (!uv_is_closing(done))
        uv_close(done, NULL);
    return true;
}
