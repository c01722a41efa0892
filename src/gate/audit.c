#include "gate/audit.h"

#include "gate/client_names.h"
#include "gate/gate_state.h"
#include "proto/method.h"
#include "proto/pack.h"
#include "proto/pageurl.h"
#include "sys/log.h"
#include "upstream/url.h"

#include <solvegate/words.h>

/* RFC 1035: the longest name in text form, with a NUL. */
#define HOST_MAX 254

/* Tells only the host: sitekeys, cookies and proxies are the client's secrets. */
static struct slice host_of(const struct params *params, char out[HOST_MAX])
{
    for (size_t i = 0; i < params->count; i++) {
        const struct param *param = &params->items[i];
        const long len = pageurl_is_name(param->name) ? url_host(param->value, out, HOST_MAX) : 0;
        if (len > 0)
            return (struct slice){.data = out, .len = (size_t)len};
    }
    return SLICE_NONE;
}

static void write_line(const struct gate *gate, const struct paid *paid, struct slice method,
                       struct slice host)
{
    const bool is_again = paid->cause == CAUSE_RETRY || paid->cause == CAUSE_RESEND;
    const struct log_field fields[] = {
        log_string("client", client_name(gate, paid->client)),
        log_text("host", host),
        log_text("method", method),
        log_string("type", type_name(paid->type)),
        log_string("task", paid->task_id),
        log_number("attempt", paid->number),
        log_string("cause", cause_name(paid->cause)),
        log_string("class", error_class_name(paid->class)),
        log_string("error", paid->code),
    };
    const size_t count = sizeof fields / sizeof fields[0];
    log_each(LOG_LEVEL_INFO, "paid", fields, is_again ? count : count - 2);
}

void audit_paid(const struct gate *gate, const struct paid *paid)
{
    struct params params;
    char host[HOST_MAX];
    if (!log_is_on(LOG_LEVEL_INFO))
        return;
    if (paid->params == NULL) {
        write_line(gate, paid, SLICE_NONE, SLICE_NONE);
        return;
    }
    params_init(&params, (size_t)paid->params->len + 1);
    if (params_unpack(&params, paid->params) != 0)
        params.count = 0;
    write_line(gate, paid, method_of(&params), host_of(&params, host));
    params_close(&params);
}
