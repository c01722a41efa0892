#include "cli/bench_notices.h"

#include "base/assert.h"
#include "http/http.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <uv.h>

struct bench_notices {
    struct bench_notices_setup setup;
    struct http_server *server;
    struct buf bound; /* "http://127.0.0.1:8500" */
};

/* ---- hearing ----------------------------------------------------------------------------- */

static struct slice value_of(struct slice form, struct slice name)
{
    while (form.len > 0) {
        struct slice value = slice_take(&form, '&');
        if (slice_equals(slice_take(&value, '='), name))
            return value;
    }
    return SLICE_NONE;
}

/* A solution may be any text; a failure is the vendor's word for it. */
static void take_code(const struct http_request *request, char code[BENCH_CODE_MAX])
{
    struct slice value = value_of(request->query, SLICE_OF("code"));
    if (!slice_is_given(value))
        value = value_of(request->body, SLICE_OF("code"));
    const bool is_failure = slice_starts_with(value, SLICE_OF("ERROR_"));
    (void)snprintf(code, BENCH_CODE_MAX, "%.*s", is_failure ? (int)value.len : 0, value.data);
}

/* "/RUN/NUMBER" */
static bool take_number(const struct bench_notices *notices, struct slice path, uint64_t *number)
{
    unsigned long long run = 0;
    unsigned long long read = 0;
    struct slice rest = slice_skip(path, 1);
    const struct slice first = slice_take(&rest, '/');
    if (!slice_to_u64(first, &run) || !slice_to_u64(rest, &read) || run != notices->setup.run)
        return false;
    *number = read;
    return true;
}

static void on_request(void *context, const struct http_request *request)
{
    struct bench_notices *const notices = context;
    char code[BENCH_CODE_MAX];
    uint64_t number = 0;
    const bool is_ours = take_number(notices, request->path, &number);
    take_code(request, code);
    const struct http_reply reply = {.status = is_ours ? 200 : 404,
                                     .content_type = SLICE_OF("text/plain"),
                                     .body = is_ours ? SLICE_OF("ok\n") : SLICE_OF("unknown\n")};
    http_reply(notices->server, request->caller, &reply);
    if (is_ours)
        notices->setup.on_notice(notices->setup.context, number, code);
}

static void on_gone(void *context, caller_id caller, const struct http_note *note)
{
    (void)context;
    (void)caller;
    (void)note;
}

/* ---- life -------------------------------------------------------------------------------- */

static const struct http_options options = {
    .connections = 1024,
    .body_bytes = 1024 * 1024,
    .header_bytes = 16384,
    .url_bytes = 64 * 1024,
    .header_timeout_ms = 10000,
    .body_timeout_ms = 20000,
    .write_timeout_ms = 30000,
    .idle_timeout_ms = 60000,
    .partial_bytes = 64 * 1024 * 1024,
    .unsent_bytes = 64 * 1024 * 1024,
    .pipeline = 8,
};

static void on_closed(void *context)
{
    (void)context;
}

struct bench_notices *bench_notices_new(struct uv_loop_s *loop,
                                        const struct bench_notices_setup *setup,
                                        struct buf *mistake)
{
    struct bench_notices *const notices = calloc(1, sizeof *notices);
    ASSERT(notices != NULL);
    notices->setup = *setup;
    buf_init(&notices->bound, BENCH_NOTICE_MAX / 2);
    const struct http_handlers handlers = {
        .context = notices, .on_request = on_request, .on_gone = on_gone};
    notices->server = http_server_new(loop, &options, &handlers);
    if (http_server_listen(notices->server, setup->address, &notices->bound, mistake) == 0)
        return notices;
    bench_notices_close(notices);
    (void)uv_run(loop, UV_RUN_DEFAULT);
    bench_notices_free(notices);
    return NULL;
}

void bench_notices_close(struct bench_notices *notices)
{
    if (notices != NULL)
        http_server_close(notices->server, on_closed, notices);
}

void bench_notices_free(struct bench_notices *notices)
{
    if (notices == NULL)
        return;
    http_server_free(notices->server);
    buf_close(&notices->bound);
    free(notices);
}

void bench_notices_write(const struct bench_notices *notices, uint64_t number,
                         char text[BENCH_NOTICE_MAX])
{
    (void)snprintf(text, BENCH_NOTICE_MAX, "%.*s/%" PRIu64 "/%" PRIu64, (int)notices->bound.len,
                   notices->bound.data, notices->setup.run, number);
}
