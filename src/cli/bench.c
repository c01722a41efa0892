#include "cli/bench_books.h"
#include "cli/bench_flags.h"
#include "cli/bench_guard.h"
#include "cli/bench_images.h"
#include "cli/bench_live.h"
#include "cli/bench_out.h"
#include "cli/bench_record.h"
#include "cli/bench_report.h"
#include "cli/bench_run.h"
#include "cli/bench_vendor.h"
#include "cli/cli.h"
#include "cli/remote_key.h"
#include "cli/show.h"
#include "cli/term.h"

#include <stdlib.h>
#include <sys/resource.h>
#include <sysexits.h>
#include <time.h>
#include <unistd.h>

#define EXIT_NOT_SOLVED 1
/* Fewer new targets than this are not worth a question. */
#define ASKED_FROM 100
/* The dialects demand a key of this form also where the gateway has no clients. */
#define NO_KEY "00000000000000000000000000000000"

struct bench {
    const struct command *command;
    struct bench_order order;
    enum bench_host host;
    struct bench_images images;
    struct bench_trace trace;
    struct bench_books before;
    struct bench_report *old; /* to compare with, or NULL */
    bool has_books;
};

/* ---- before ------------------------------------------------------------------------------ */

static void tell_refusal(const char *url, const char *refusal)
{
    struct buf shown;
    buf_init(&shown, 4096);
    show_add_url(&shown, url);
    (void)fprintf(stderr, "solvegate bench: %.*s %s\n", (int)shown.len, buf_slice(&shown).data,
                  refusal);
    buf_close(&shown);
}

/* The gateway, or the vendor, that this machine is set up to use may be asked; any other one has to be the caller's. */
static bool is_allowed(struct bench *bench)
{
    const char *const url = bench->order.remote.url;
    bench->host = bench_guard_host(url);
    const char *refusal =
        bench_guard_refusal(bench->host, bench_guard_same(url, bench->order.configured_url),
                            bench->order.is_owned, bench_top_rate(&bench->order.plan));
    if (refusal == NULL && bench->order.is_vendor && bench->host == BENCH_HOST_PUBLIC &&
        strncmp(url, "https:", 6) != 0)
        refusal = "would get the key in the open: use https";
    if (refusal != NULL)
        tell_refusal(url, refusal);
    bench->order.remote.allows = bench_guard_rule_for(bench->host, bench->order.is_owned);
    return refusal == NULL;
}

/* What it will cost is asked on a terminal only: a script's author knows. */
static bool is_wanted(const struct bench *bench)
{
    const struct bench_plan *const plan = &bench->order.plan;
    const double requests = (double)bench_expected_requests(plan);
    const double paid = requests * (1 - plan->repeat);
    char answer[16] = "";
    if (bench->order.is_sure || isatty(STDIN_FILENO) != 1 || isatty(STDERR_FILENO) != 1 ||
        (requests > 0 && paid <= ASKED_FROM))
        return true;
    if (requests > 0)
        (void)fprintf(stderr, "The gateway will have about %.0f captchas solved", paid);
    else
        (void)fprintf(stderr, "The gateway will have captchas solved, as many as it can");
    (void)fprintf(stderr, ", and its vendor is paid\nfor each of them, unless it is the "
                          "simulator (--yes does not ask).\nGo on? [y/N] ");
    (void)fflush(stderr);
    return fgets(answer, sizeof answer, stdin) != NULL && (answer[0] == 'y' || answer[0] == 'Y');
}

/* Each request under way has a connection of its own. */
static void raise_descriptor_limit(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return;
    limit.rlim_cur = limit.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &limit);
}

static int load_images(struct bench *bench)
{
    const char *const folder = bench->order.images;
    const int failed = folder == NULL ? 0 : bench_images_load(&bench->images, folder);
    if (failed == 0)
        return EX_OK;
    (void)fprintf(stderr, "solvegate bench: %s: no image of 100 bytes to 1 MiB: %s\n", folder,
                  strerror(failed));
    return EX_NOINPUT;
}

static int prepare(struct bench *bench)
{
    struct bench_order *const order = &bench->order;
    int code = bench_out_check(order, &bench->old);
    if (code == EX_OK)
        code = bench_out_load_trace(order, &bench->trace);
    if (code == EX_OK)
        code = is_allowed(bench) ? load_images(bench) : EX_USAGE;
    if (code != EX_OK || order->is_vendor)
        return code;
    switch (bench_books_fetch(bench->command, &order->remote, &bench->before, &code)) {
    case BOOKS_READ:
        bench->has_books = true;
        break;
    case BOOKS_SECRET:
        break;
    case BOOKS_UNREACHABLE:
        return code;
    }
    return is_wanted(bench) ? EX_OK : EXIT_NOT_SOLVED;
}

/* ---- after ------------------------------------------------------------------------------- */

static bool read_books_again(struct bench *bench, struct bench_books *after, int *code)
{
    static const struct timespec late = {.tv_sec = BENCH_BOOKS_LATE_MS / 1000,
                                         .tv_nsec = BENCH_BOOKS_LATE_MS % 1000 * 1000000L};
    if (bench->before.is_cluster)
        (void)nanosleep(&late, NULL);
    return bench_books_fetch(bench->command, &bench->order.remote, after, code) == BOOKS_READ &&
           bench->before.is_cluster == after->is_cluster &&
           after->requests >= bench->before.requests; /* else it restarted, or a day fell out */
}

static int conclude(struct bench *bench, struct bench_tally *tally, const struct bench_end *end)
{
    struct bench_books after;
    int code = EX_OK;
    bench->order.remote.on_wait = NULL;
    bench->has_books = bench->has_books && read_books_again(bench, &after, &code);
    const struct bench_books added =
        bench->has_books ? bench_books_between(&bench->before, &after) : (struct bench_books){0};
    struct bench_report *const report = bench_report_new(
        &bench->order.plan, bench->order.remote.url, tally, end, bench->has_books ? &added : NULL);
    code = bench_out_write(&bench->order, report, bench->old);
    if (code == EX_OK && report->solved == 0)
        code = EXIT_NOT_SOLVED;
    bench_report_free(report);
    return term_signal() == 0 ? code : term_exit_code(term_signal());
}

/* ---- the run ----------------------------------------------------------------------------- */

static int measure(struct bench *bench)
{
    const struct bench_order *const order = &bench->order;
    const bool has_key = order->remote.key[0] != '\0' || order->plan.dialect == BENCH_V1;
    const struct bench_talk talk = {.plan = &order->plan,
                                    .key = has_key ? order->remote.key : NO_KEY,
                                    .images = &bench->images};
    struct bench_live live;
    struct bench_end end;
    bench_live_init(&live);
    struct bench_tally *const tally = bench_tally_new();
    const struct bench_run_setup setup = {
        .plan = &order->plan,
        .talk = &talk,
        .tally = tally,
        .url = order->remote.url,
        .allows = order->remote.allows,
        .in_flight_max = BENCH_CONCURRENCY_MAX,
        .pace = bench_guard_pace(bench->host, order->is_owned),
        .on_state = bench_live_show,
        .context = &live,
    };
    term_catch_signals();
    raise_descriptor_limit();
    struct buf mistake;
    buf_init(&mistake, 512);
    int code = EX_OSERR;
    if (bench_run(&setup, &end, &mistake)) {
        bench_live_end(&live);
        code = conclude(bench, tally, &end);
    } else {
        (void)fprintf(stderr, "solvegate bench: %.*s\n", (int)mistake.len, mistake.data);
    }
    buf_close(&mistake);
    bench_tally_free(tally);
    return code;
}

static int carry_out(struct bench *bench)
{
    if (bench->order.from_log != NULL)
        return bench_record_log(&bench->order);
    if (bench->order.record != NULL)
        return is_allowed(bench) ? bench_record(bench->command, &bench->order) : EX_USAGE;
    const int code = prepare(bench);
    if (code != EX_OK)
        return code;
    if (!bench->order.is_vendor)
        return measure(bench);
    return bench_vendor(bench->command, &bench->order, &bench->images, bench->host);
}

static int run(struct cli_args *args)
{
    struct bench bench = {.command = args->command};
    int code;
    bench_order_init(&bench.order);
    if (remote_open(args->command, &bench.order.remote, bench_order_read(args, &bench.order),
                    &code))
        code = carry_out(&bench);
    bench_report_free(bench.old);
    bench_trace_close(&bench.trace);
    bench_images_close(&bench.images);
    remote_close(&bench.order.remote);
    return code;
}

static const struct cli_example examples[] = {
    {"ten at once for ten seconds", "solvegate bench"},
    {"200 a second for 30 seconds, a third of them repeats, in the vendor's dialect",
     "solvegate bench --rate 200/s --duration 30s --repeat 0.3 --dialect vendor"},
    {"how far it goes", "solvegate bench --rate 100/s,200/s,400/s,800/s --duration 2m"},
    {"the vendor itself, for at most ten cents",
     "solvegate bench vendor --requests 50 --budget 0.10 -m turnstile,userrecaptcha"},
    {NULL, NULL},
};

const struct command command_bench = {
    .name = "bench",
    .group = GROUP_ASK,
    .summary = "Measure a gateway: solves a second, latency, cost per solve",
    .words = "vendor",
    .usage =
        "[vendor] [-m NAME] [--rate RATE | --concurrency N] [--duration DURATION | --requests N] "
        "[--repeat SHARE] [--dialect NAME] [FLAGS]",
    .details =
        "Asks a running gateway for made-up captchas and reports solves a second, latency "
        "percentiles, where the answers came from, errors by code, and what was paid for by the "
        "gateway's own statistics (which need a key with scope admin). A real vendor is paid for "
        "them; put solvegate-sim behind the gateway to measure for nothing.\n"
        "With --rate a request is sent when it is due, whatever became of those before it, and its "
        "latency counts from when it was due: a gateway that stalls cannot hide that by slowing "
        "the "
        "benchmark down. With --concurrency each answer triggers the next request, which finds the "
        "highest throughput.\n"
        "Ctrl-C ends the run and prints the report. Addresses that are neither this machine's nor "
        "private, other than that of SOLVEGATE_URL, are refused without --i-own-this-host, as are "
        "more than 100 requests a "
        "second to another machine; a closed loop is slowed down to that rate, and looks for "
        "results count as well.\n"
        "With the word vendor the vendor itself is measured, by in.php and res.php (--url, else "
        "SOLVEGATE_UPSTREAM_URL, else CaptchaAI; its key is in CAPTCHAAI_API_KEY): solve time by "
        "method, failures by code, and busy answers by requests at once. --budget is the most that "
        "is spent, by the vendor's balance or by the price of the captchas that it may have "
        "accepted, whichever is more.\n" REMOTE_KEY_HELP,
    .flags = bench_flags,
    .examples = examples,
    .run = run,
};
