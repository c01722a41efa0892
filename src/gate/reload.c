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

#include <stdlib.h>

/* Logs one event per line of the mistakes, which read as on the command line. */
static void log_mistakes(struct slice text)
{
    while (text.len > 0) {
        const char *end = memchr(text.data, '\n', text.len);
        const size_t len = end == NULL ? text.len : (size_t)(end - text.data);
        LOG(LOG_LEVEL_ERROR, "reload_refused",
            log_text("why", (struct slice){.data = text.data, .len = len}));
        const size_t step = end == NULL ? len : len + 1;
        text = (struct slice){.data = text.data + step, .len = text.len - step};
    }
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
    gone_warn(gate);
    if (kept.len > 0)
        LOG(LOG_LEVEL_WARN, "restart_needed", log_text("options", buf_slice(&kept)));
    LOG(LOG_LEVEL_INFO, "reloaded", log_number("clients", (int64_t)gate->config->client_count));
    buf_close(&kept);
}

/* ---- in another thread ------------------------------------------------------------------- */

/* Reading and checking a thousand clients with all their hosts takes a tenth of a second. */
struct job {
    uv_work_t work;
    struct gate *gate;
    struct config *config; /* owned: the new one, then the replaced one */
    struct buf mistakes;
    struct trust_news *certificates; /* owned */
    int code;
};

static void load(uv_work_t *work)
{
    struct job *job = work->data;
    const struct gate_loader *loader = job->gate->loader;
    trust_news_read(job->certificates);
    job->code = loader->load(loader->context, job->config, &job->mistakes);
}

static void tidy(uv_work_t *work)
{
    struct job *job = work->data;
    config_close(job->config);
    free(job->config);
    buf_close(&job->mistakes);
}

static void on_tidied(uv_work_t *work, int status)
{
    (void)status;
    free(work->data);
}

/* A SIGHUP during the read may be about a later change of the file, so the file is read again. */
static void finish(struct gate *gate)
{
    const bool is_due = gate->is_reload_due;
    gate->is_reloading = gate->is_reload_due = false;
    if (is_due)
        reload(gate);
    else
        service_reloaded();
}

static void on_loaded(uv_work_t *work, int status)
{
    struct job *job = work->data;
    struct gate *gate = job->gate;
    ASSERT(status == 0);
    trust_news_adopt(job->certificates);
    if (job->code != 0)
        log_mistakes(buf_slice(&job->mistakes));
    else if (!gate->is_closing)
        adopt(gate, job->config);
    const int err = uv_queue_work(&gate->loop, &job->work, tidy, on_tidied);
    ASSERT(err == 0);
    finish(gate);
}

void reload(struct gate *gate)
{
    if (gate->is_closing)
        return;
    gate->is_reload_due = gate->is_reloading;
    if (gate->is_reloading)
        return;
    struct job *job = calloc(1, sizeof *job);
    ASSERT(job != NULL);
    job->gate = gate;
    job->work.data = job;
    job->config = calloc(1, sizeof *job->config);
    ASSERT(job->config != NULL);
    job->certificates = trust_news_new();
    gate->is_reloading = true;
    service_reloading();
    const int err = uv_queue_work(&gate->loop, &job->work, load, on_loaded);
    ASSERT(err == 0);
}
