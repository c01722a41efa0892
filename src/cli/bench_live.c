#include "cli/bench_live.h"

#include "cli/show.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define NS_PER_S 1e9
#define RATE_EVERY_NS ((uint64_t)1000000000)
#define BAR_CELLS 10U
#define LINE_MAX_BYTES 512

void bench_add_time(struct buf *out, uint64_t us)
{
    if (us < 10000)
        buf_addf(out, "%.*fms", us < 1000 ? 2 : 1, (double)us / 1000);
    else if (us < 999500)
        buf_addf(out, "%" PRIu64 "ms", (us + 500) / 1000);
    else if (us < 59995000)
        buf_addf(out, "%.*fs", us < 9995000 ? 2 : 1, (double)us / 1e6);
    else
        show_add_seconds(out, (double)us / 1e6);
}

void bench_live_init(struct bench_live *live)
{
    *live = (struct bench_live){.is_shown = isatty(STDERR_FILENO) == 1};
}

/* How much of the plan is done, 0 to 1; by answers or by time, whichever is further. */
static double done_share(const struct bench_state *state)
{
    const struct bench_plan *const plan = state->plan;
    double share = 0;
    if (plan->requests > 0)
        share = (double)(state->tally->solved + state->tally->failed) / (double)plan->requests;
    if (plan->duration_ms > 0) {
        const double by_time = (double)state->elapsed_ns / 1e6 / (double)plan->duration_ms;
        share = by_time > share ? by_time : share;
    }
    return share > 1 ? 1 : share;
}

static void add_bar(struct buf *out, double share)
{
    const unsigned full = (unsigned)(share * BAR_CELLS + 0.5);
    buf_add_char(out, '[');
    for (unsigned i = 0; i < BAR_CELLS; i++)
        buf_add_char(out, i < full ? '#' : '.');
    buf_add_char(out, ']');
}

static void add_left(struct buf *out, const struct bench_state *state, double share)
{
    if (!state->is_sending) {
        buf_add(out, SLICE_OF(" last answers"));
    } else if (share > 0.01 && state->elapsed_ns >= RATE_EVERY_NS) {
        const double spent_s = (double)state->elapsed_ns / NS_PER_S;
        buf_add_char(out, ' ');
        show_add_seconds(out, spent_s / share - spent_s);
        buf_add(out, SLICE_OF(" left"));
    }
}

void bench_live_write(struct buf *out, const struct bench_state *state, double rate,
                      unsigned columns)
{
    const struct bench_tally *const tally = state->tally;
    const double share = done_share(state);
    const size_t begin = out->len;
    add_bar(out, share);
    add_left(out, state, share);
    buf_addf(out, "  %.0f/s  %" PRIu64 " in flight", rate, state->in_flight);
    buf_addf(out, "  %" PRIu64 " errors", tally->failed);
    if (tally->solved > 0) {
        buf_add(out, SLICE_OF("  p50 "));
        bench_add_time(out, percentiles_at(&tally->latency_us, 0.5));
        buf_add(out, SLICE_OF("  p99 "));
        bench_add_time(out, percentiles_at(&tally->latency_us, 0.99));
    }
    if (out->len - begin > columns)
        out->len = begin + columns;
}

static unsigned columns_of_errors(void)
{
    struct winsize window;
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &window) != 0 || window.ws_col == 0)
        return 79;
    /* The last column stays free: some terminals wrap as soon as it is written. */
    return window.ws_col - 1U;
}

void bench_live_show(void *context, const struct bench_state *state)
{
    struct bench_live *const live = context;
    struct buf line;
    if (!live->is_shown)
        return;
    const uint64_t since_ns = state->elapsed_ns - live->looked_ns;
    if (since_ns >= RATE_EVERY_NS) {
        live->rate = (double)(state->tally->solved - live->solved) * NS_PER_S / (double)since_ns;
        live->solved = state->tally->solved;
        live->looked_ns = state->elapsed_ns;
    }
    buf_init(&line, LINE_MAX_BYTES);
    bench_live_write(&line, state, live->rate, columns_of_errors());
    (void)fprintf(stderr, "\r%.*s\x1b[K", (int)line.len, buf_slice(&line).data);
    (void)fflush(stderr);
    buf_close(&line);
}

void bench_live_end(struct bench_live *live)
{
    if (live->is_shown)
        (void)fputs("\r\x1b[K", stderr);
}
