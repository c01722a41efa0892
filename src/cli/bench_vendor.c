#include "cli/bench_vendor.h"

#include "base/assert.h"
#include "cli/bench_live.h"
#include "cli/bench_purse.h"
#include "cli/bench_run.h"
#include "cli/bench_vendor_print.h"
#include "cli/progress.h"
#include "cli/show.h"
#include "cli/term.h"
#include "proto/vendor.h"

#include <math.h>
#include <stdlib.h>
#include <sysexits.h>
#include <unistd.h>

#define EXIT_NOT_SOLVED 1
/* At most so many captchas between two looks at the balance, or as many as are asked for at once. */
#define ROUND_MIN 10U
#define LAST_BALANCE_MS 2000U

struct measuring {
    const struct command *command;
    const struct bench_order *order;
    const struct bench_images *images;
    enum bench_host host;
    struct remote remote;    /* for the balance; its key is in the path */
    uint64_t told_to_end_ms; /* when a signal was seen; 0: none was */
    struct bench_purse purse;
    struct bench_vendor_report report;
    int code;
};

/* ---- the balance ------------------------------------------------------------------------- */

/* After Ctrl-C the balance is still worth a moment, and no more. */
static bool may_wait(void *context)
{
    struct measuring *const measuring = context;
    if (term_signal() == 0)
        return true;
    if (measuring->told_to_end_ms == 0)
        measuring->told_to_end_ms = progress_now_ms();
    return progress_now_ms() - measuring->told_to_end_ms < LAST_BALANCE_MS;
}

/* What the vendor said to the question for it, or why it said nothing. */
static enum remote_end ask_balance(struct measuring *measuring, struct remote_reply *reply)
{
    struct buf path;
    buf_init(&path, REMOTE_PATH_MAX);
    buf_add(&path, SLICE_OF("/res.php?action=getbalance&json=1"));
    remote_add_query(&path, "key", measuring->order->remote.key);
    buf_add_char(&path, '\0');
    const struct remote_request request = {.method = "GET", .path = path.data};
    remote_reply_init(reply);
    const enum remote_end end = remote_send(&measuring->remote, &request, reply);
    buf_close(&path);
    return end;
}

static bool hear_balance(const struct remote_reply *reply, double *balance)
{
    const struct vendor_options options = {.overrides = NULL};
    const struct vendor_reply heard = {.is_sent = true,
                                       .is_complete = true,
                                       .http_status = reply->status,
                                       .body = buf_slice(&reply->body)};
    struct probed probed = {.is_ok = false};
    vendor_read_probe(&options, &heard, PROBE_BALANCE, &probed);
    if (probed.is_ok)
        *balance = strtod(probed.balance, NULL);
    return probed.is_ok && isfinite(*balance);
}

static bool read_balance(struct measuring *measuring, double *balance)
{
    struct remote_reply reply;
    const bool is_told =
        ask_balance(measuring, &reply) == REMOTE_ANSWERED && hear_balance(&reply, balance);
    buf_close(&reply.body);
    return is_told;
}

static void pay(struct measuring *measuring, uint64_t accepted, uint64_t solved)
{
    double balance = 0;
    const bool is_told = measuring->purse.has_balance && read_balance(measuring, &balance);
    bench_purse_pay(&measuring->purse, accepted, solved, is_told ? &balance : NULL);
}

/* ---- measuring --------------------------------------------------------------------------- */

/* One round; false if it could not start. */
static bool run_round(struct measuring *measuring, struct bench_vendor_row *row, uint64_t requests)
{
    struct bench_plan plan = measuring->order->plan;
    const struct bench_talk talk = {
        .plan = &plan, .key = measuring->order->remote.key, .images = measuring->images};
    struct bench_tally *const tally = row->tally;
    const uint64_t sent = tally->sent;
    const uint64_t solved = tally->solved;
    struct bench_live live;
    struct bench_end end;
    plan.method = row->method;
    plan.requests = requests;
    /* While the price is not known it is one at a time anyway. */
    plan.concurrency = row->at_once;
    /* Rounds begin to count their targets anew. */
    plan.seed += sent;
    const struct bench_run_setup setup = {
        .plan = &plan,
        .talk = &talk,
        .tally = tally,
        .url = measuring->order->remote.url,
        .allows = measuring->remote.allows,
        .in_flight_max = BENCH_CONCURRENCY_MAX,
        .pace = bench_guard_pace(measuring->host, measuring->order->is_owned),
        .on_state = bench_live_show,
        .context = &live,
    };
    struct buf mistake;
    buf_init(&mistake, 512);
    bench_live_init(&live);
    const bool is_run = bench_run(&setup, &end, &mistake);
    bench_live_end(&live);
    if (!is_run)
        (void)fprintf(stderr, "solvegate bench: %.*s\n", (int)mistake.len, mistake.data);
    buf_close(&mistake);
    if (!is_run)
        return false;
    row->unfinished += end.unfinished;
    pay(measuring, end.costly, tally->solved - solved);
    return true;
}

static uint64_t round_size(const struct measuring *measuring, const struct bench_vendor_row *row,
                           uint64_t left)
{
    const uint64_t most = row->at_once > ROUND_MIN ? row->at_once : ROUND_MIN;
    return bench_purse_allows(&measuring->purse, left < most ? left : most);
}

/* False if nothing more is to be done at all. Without money for this row, the next one still has its share. */
static bool measure_row(struct measuring *measuring, struct bench_vendor_row *row, uint64_t share)
{
    uint64_t left = share;
    while (left > 0) {
        const uint64_t size = round_size(measuring, row, left);
        if (size == 0) {
            measuring->report.is_budget_used = true;
            return true;
        }
        if (!run_round(measuring, row, size)) {
            measuring->code = EX_OSERR;
            return false;
        }
        if (term_signal() != 0)
            return false;
        left -= size;
    }
    return true;
}

static size_t count_methods(const char *methods)
{
    size_t count = 1;
    for (const char *at = methods; *at != '\0'; at++)
        count += *at == ',' ? 1 : 0;
    return count;
}

static struct bench_vendor_row *add_row(struct bench_vendor_report *report, struct slice method,
                                        uint32_t at_once)
{
    struct bench_vendor_row *const row = &report->rows[report->row_count++];
    *row = (struct bench_vendor_row){.at_once = at_once, .tally = bench_tally_new()};
    (void)snprintf(row->method, sizeof row->method, "%.*s", (int)method.len, method.data);
    return row;
}

/* Requests and budget are shared evenly; the first rows get the requests that are left over, and what a row does not
 * spend is there for the next ones. */
static void measure_all(struct measuring *measuring)
{
    const struct bench_order *const order = measuring->order;
    const size_t rows = count_methods(order->methods) * order->level_count;
    struct slice rest = slice_from(order->methods);
    size_t at = 0;
    while (rest.len > 0) {
        const struct slice method = slice_take(&rest, ',');
        bench_purse_next_type(&measuring->purse);
        for (size_t i = 0; i < order->level_count; i++, at++) {
            if (measuring->report.row_count == BENCH_VENDOR_ROWS_MAX)
                return;
            const uint64_t share =
                order->plan.requests / rows + (at < order->plan.requests % rows ? 1 : 0);
            struct bench_vendor_row *const row =
                add_row(&measuring->report, method, order->levels[i]);
            measuring->purse.budget = order->budget * (double)(at + 1) / (double)rows;
            if (!measure_row(measuring, row, share))
                return;
        }
    }
}

/* ---- before and after -------------------------------------------------------------------- */

static void tell_nobody(const struct measuring *measuring, const char *trouble)
{
    struct buf url;
    buf_init(&url, 4096);
    show_add_url(&url, measuring->order->remote.url);
    (void)fprintf(stderr, "solvegate bench: nobody answers at %.*s: %s\n", (int)url.len,
                  buf_slice(&url).data, trouble);
    buf_close(&url);
}

/* The purse is opened by the balance; without one there has to be a price. */
static int open_purse(struct measuring *measuring)
{
    struct remote_reply reply;
    double balance = 0;
    int code = EX_OK;
    bench_purse_init(&measuring->purse, measuring->order->budget, measuring->order->price);
    if (ask_balance(measuring, &reply) != REMOTE_ANSWERED) {
        tell_nobody(measuring, reply.trouble);
        code = EX_UNAVAILABLE;
    } else if (hear_balance(&reply, &balance)) {
        bench_purse_open(&measuring->purse, balance);
    } else if (measuring->order->price <= 0) {
        (void)fputs("solvegate bench: the vendor does not tell its balance to this key, so say "
                    "with --price what\na captcha costs\n",
                    stderr);
        code = EX_UNAVAILABLE;
    }
    buf_close(&reply.body);
    return code;
}

/* What it may cost beyond the budget. */
static void tell_exception(const struct measuring *measuring)
{
    const double price = measuring->order->price;
    if (!measuring->purse.has_balance) {
        (void)fprintf(stderr,
                      ".\nIt can be more if one costs more than the %g given: the vendor does "
                      "not tell\nits balance, so that would not show.\n",
                      price);
        return;
    }
    (void)fprintf(stderr,
                  ".\nIt can be more only if the price rises to more than %d times the highest "
                  "seen\nbetween two looks at the balance, if a single captcha costs more than "
                  "is left,\n",
                  PURSE_RISE);
    if (price > 0)
        (void)fprintf(stderr,
                      "or if one costs more than the %g given and the balance shows it late.\n",
                      price);
    else
        (void)fputs("or if the balance shows late, or never, what the captchas cost.\n", stderr);
}

static int ask_person(const struct measuring *measuring)
{
    const struct bench_order *const order = measuring->order;
    char answer[16] = "";
    struct buf url;
    if (order->is_sure)
        return EX_OK;
    if (isatty(STDIN_FILENO) != 1 || isatty(STDERR_FILENO) != 1) {
        cli_wrong(measuring->command, "money is spent: confirm it with --yes");
        return EX_USAGE;
    }
    buf_init(&url, 4096);
    show_add_url(&url, order->remote.url);
    (void)fprintf(stderr, "Up to %llu captchas (%s) will be paid for at\n%.*s,\nfor at most %g",
                  (unsigned long long)order->plan.requests, order->methods, (int)url.len,
                  buf_slice(&url).data, order->budget);
    buf_close(&url);
    if (measuring->purse.has_balance)
        (void)fprintf(stderr, " of the balance of %g", measuring->purse.balance);
    tell_exception(measuring);
    (void)fputs("Go on? [y/N] ", stderr);
    (void)fflush(stderr);
    const bool is_yes =
        fgets(answer, sizeof answer, stdin) != NULL && (answer[0] == 'y' || answer[0] == 'Y');
    return is_yes ? EX_OK : EXIT_NOT_SOLVED;
}

static int conclude(struct measuring *measuring)
{
    struct bench_vendor_report *const report = &measuring->report;
    struct buf out;
    uint64_t solved = 0;
    report->spent = bench_purse_spent(&measuring->purse);
    report->has_balance = measuring->purse.has_balance;
    report->spent_by_balance = measuring->purse.fallen;
    report->is_balance_blind = bench_purse_is_blind(&measuring->purse) &&
                               !measuring->purse.is_silent && measuring->order->price <= 0;
    report->is_spent_by_balance =
        bench_purse_is_shown(&measuring->purse) && !report->is_balance_blind;
    report->is_spent_known = !measuring->purse.is_silent && !report->is_balance_blind;
    report->budget = measuring->order->budget;
    report->poll_ms = measuring->order->plan.poll_ms;
    report->has_callbacks = measuring->order->plan.callbacks != NULL;
    for (size_t i = 0; i < report->row_count; i++)
        solved += report->rows[i].tally->solved;
    buf_init(&out, (size_t)1024 * 1024);
    if (measuring->order->remote.is_json)
        bench_vendor_write_json(report, &out);
    else
        bench_vendor_write(report, &out);
    show_print(&out);
    buf_close(&out);
    for (size_t i = 0; i < report->row_count; i++)
        bench_tally_free(report->rows[i].tally);
    if (term_signal() != 0)
        return term_exit_code(term_signal());
    if (measuring->code != EX_OK)
        return measuring->code;
    return solved == 0 ? EXIT_NOT_SOLVED : EX_OK;
}

int bench_vendor(const struct command *command, const struct bench_order *order,
                 const struct bench_images *images, enum bench_host host)
{
    struct measuring *const measuring = calloc(1, sizeof *measuring);
    ASSERT(measuring != NULL);
    *measuring = (struct measuring){.command = command,
                                    .order = order,
                                    .images = images,
                                    .host = host,
                                    .remote = {.url = order->remote.url,
                                               .allows = order->remote.allows,
                                               .on_wait = may_wait,
                                               .context = measuring},
                                    .report = {.url = order->remote.url},
                                    .code = EX_OK};
    int code = open_purse(measuring);
    if (code == EX_OK)
        code = ask_person(measuring);
    if (code == EX_OK) {
        term_catch_signals();
        measure_all(measuring);
        code = conclude(measuring);
    }
    remote_close(&measuring->remote);
    free(measuring);
    return code;
}
