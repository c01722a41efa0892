#include "base/assert.h"
#include "base/err.h"
#include "sim/callbacks.h"
#include "sim/doors.h"
#include "sim/fault_json.h"
#include "sim/help.h"
#include "sim/text.h"
#include "sim/vendor.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sysexits.h>
#include <unistd.h>
#include <uv.h>

#define SCRIPT_BYTES_MAX (4 << 20)
/* Descriptors for the listener, the loop, the standard streams and callback connections. */
#define FILES_RESERVED 256

#ifndef SIM_VERSION
#define SIM_VERSION "unknown"
#endif

struct program {
    uv_loop_t loop;
    uv_signal_t term;
    uv_signal_t interrupt;
    struct clock *clock;
    struct vendor vendor;
};

static int read_file(const char *path, struct buf *text)
{
    FILE *file = fopen(path, "rb");

    if (file == NULL)
        return ERR_IO;
    size_t count = 1;
    while (count > 0) {
        char *place = buf_reserve(text, 65536);
        count = place == NULL ? 0 : fread(place, 1, 65536, file);
        buf_commit(text, count);
    }
    const int rc = ferror(file) != 0 || text->is_full ? ERR_IO : 0;
    fclose(file);
    return rc;
}

static int read_script(struct faults *faults, const char *script, struct buf *problem)
{
    struct buf text;
    int rc = 0;

    buf_init(&text, SCRIPT_BYTES_MAX);
    if (script[0] == '[' || script[0] == '{')
        buf_add(&text, slice_from(script));
    else
        rc = read_file(script, &text);
    if (rc != 0)
        buf_addf(problem, "cannot read the script %s", script);
    else
        rc = fault_json_read(faults, buf_slice(&text), problem);
    buf_close(&text);
    return rc;
}

static int read_faults(struct faults *faults, const struct options *options)
{
    struct buf problem;
    int rc = 0;

    buf_init(&problem, 4096);
    for (size_t i = 0; i < options->fault_count && rc == 0; i++)
        rc = faults_add_text(faults, options->faults[i], &problem);
    if (rc == 0 && options->script != NULL)
        rc = read_script(faults, options->script, &problem);
    if (rc != 0)
        fprintf(stderr, "solvegate-sim: %.*s\n", (int)problem.len, problem.data);
    buf_close(&problem);
    return rc;
}

/* libuv silently drops whole backlogs when descriptors run out, so their number limits the
 * connections. */
static void fit_connections(struct options *options)
{
    struct rlimit files;

    if (getrlimit(RLIMIT_NOFILE, &files) != 0)
        return;
    files.rlim_cur = files.rlim_max;
    if (setrlimit(RLIMIT_NOFILE, &files) != 0)
        (void)getrlimit(RLIMIT_NOFILE, &files);
    const uint64_t reserved = FILES_RESERVED + options->pingback_connections;
    const uint64_t most = files.rlim_cur > 2 * reserved ? files.rlim_cur - reserved : reserved;
    if (options->connections_max > most)
        options->connections_max = most;
}

static void on_signal(uv_signal_t *handle, int number)
{
    (void)number;
    uv_stop(handle->loop);
}

static void start_signals(struct program *program)
{
    /* Writing to a reset socket must be an error, not end the process. */
    signal(SIGPIPE, SIG_IGN);
    ASSERT(uv_signal_init(&program->loop, &program->term) == 0);
    ASSERT(uv_signal_init(&program->loop, &program->interrupt) == 0);
    ASSERT(uv_signal_start(&program->term, on_signal, SIGTERM) == 0);
    ASSERT(uv_signal_start(&program->interrupt, on_signal, SIGINT) == 0);
}

static void wire(struct program *program, const struct options *options, struct faults *faults)
{
    struct vendor *vendor = &program->vendor;
    uint64_t seed = options->seed;
    const struct http_limits limits = {
        .connections = (uint32_t)options->connections_max,
        .body_bytes = options->body_bytes_max,
        .keep_alive_ms = options->keep_alive_ms,
    };
    const struct pingback_style style = {
        .is_post = options->is_pingback_post,
        .connections = (uint32_t)options->pingback_connections,
        .timeout_ms = options->pingback_timeout_ms,
    };

    if (!options->has_seed)
        ASSERT(uv_random(NULL, NULL, &seed, sizeof seed, 0, NULL) == 0);
    ASSERT(uv_loop_init(&program->loop) == 0);
    start_signals(program);
    program->clock = clock_new(&program->loop);
    vendor_init(vendor, options, program->clock, faults, seed);
    vendor->pingback =
        pingback_new(&program->loop, program->clock, &style, callbacks_on_done, vendor);
    vendor->server = http_server_new(&program->loop, program->clock, &limits, doors_serve, vendor);
}

static void unwire(struct program *program)
{
    struct vendor *vendor = &program->vendor;

    http_server_close(vendor->server);
    pingback_close(vendor->pingback);
    uv_close((uv_handle_t *)&program->term, NULL);
    uv_close((uv_handle_t *)&program->interrupt, NULL);
    clock_close(program->clock);
    uv_run(&program->loop, UV_RUN_DEFAULT);
    vendor_close(vendor);
    http_server_free(vendor->server);
    pingback_free(vendor->pingback);
    clock_free(program->clock);
    ASSERT(uv_loop_close(&program->loop) == 0);
    text_forget_interned();
}

static int run(struct options *options, struct faults *faults)
{
    struct program program = {.clock = NULL};
    int port = options->port;

    fit_connections(options);
    wire(&program, options, faults);
    const int rc = http_server_listen(program.vendor.server, options->host, &port);
    if (rc != 0) {
        fprintf(stderr, "solvegate-sim: cannot listen on %s:%d: %s\n", options->host, options->port,
                uv_strerror(rc));
    } else {
        const char *format_open = strchr(options->host, ':') == NULL ? "" : "[";
        const char *format_close = strchr(options->host, ':') == NULL ? "" : "]";
        printf("solvegate-sim ready on http://%s%s%s:%d\n", format_open, options->host,
               format_close, port);
        fflush(stdout);
        uv_run(&program.loop, UV_RUN_DEFAULT);
    }
    unwire(&program);
    return rc == 0 ? 0 : EX_UNAVAILABLE;
}

int main(int argc, char **argv)
{
    struct options options;
    struct faults faults;

    options_init(&options);
    if (options_parse(&options, argc, argv) != 0)
        return EX_USAGE;
    if (options.wants_help) {
        help_print();
        return 0;
    }
    if (options.wants_version) {
        printf("solvegate-sim %s\n", SIM_VERSION);
        return 0;
    }
    faults_init(&faults, 0);
    if (read_faults(&faults, &options) != 0)
        return EX_USAGE;
    return run(&options, &faults);
}
