#include "io/reload.h"

#include "base/assert.h"
#include "io/gate.h"
#include "io/gate_inside.h"
#include "io/gate_make.h"
#include "io/gone.h"
#include "io/log.h"
#include "io/service.h"
#include "proto/config_reload.h"

#include <stdlib.h>

/* One event per line of the mistakes, as the command line shows them. */
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
    log_init((enum log_level)gate->config->log.level, (enum log_format)gate->config->log.format);
    gate_make_identity(gate);
    /* What was remembered of callers and their requests was under the old rules. */
    client_keys_close(&gate->client_keys);
    client_keys_init(&gate->client_keys, gate->config);
    ask_memo_close(&gate->ask_memo);
    ask_memo_init(&gate->ask_memo);
    gate_configure_engine(gate);
    const struct notices_options notices = notices_options_of(gate->config);
    notices_configure(gate->notices, &notices);
    gone_warn(gate);
    if (kept.len > 0)
        LOG(LOG_LEVEL_WARN, "restart_needed", log_text("options", buf_slice(&kept)));
    LOG(LOG_LEVEL_INFO, "reloaded", log_number("clients", (int64_t)gate->config->client_count));
    buf_close(&kept);
}

void reload(struct gate *gate)
{
    struct config *fresh = calloc(1, sizeof(*fresh));
    struct buf mistakes;
    ASSERT(fresh != NULL);
    service_reloading();
    const int code = gate->loader->load(gate->loader->context, fresh, &mistakes);
    if (code == 0)
        adopt(gate, fresh);
    else
        log_mistakes(buf_slice(&mistakes));
    buf_close(&mistakes);
    config_close(fresh);
    free(fresh);
    service_reloaded();
}
