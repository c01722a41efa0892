/* What a store alone can take: the records of solves in a closed loop, through the store port, without a gateway.
 *
 *     store-port [--at-once 512] [--seconds 3] [--rounds 3] [--solves N] [--prefix NAME] [--node NAME]
 *                [--open N] [--wait] URL...
 *
 * With --solves a round ends after so many instead, so that their instructions can be counted (valgrind
 * --tool=callgrind --separate-threads=yes), and what was written: neither depends on how busy the machine is.
 * With --node it shares the store as that gateway: each solve claims its key with its intent, and releases it with its
 * solution. With --open it leaves so many flights open, claimed and accepted by the vendor, and ends as by kill -9.
 * With --wait it says "ready" when a store is open, and begins when it is told a line: what opening costs is not
 * counted then, and several begin at once.
 * Each solve waits twice until its records are durable, as in the gateway: for its intent, and for its solution. The
 * stores take turns, so that a busy machine disturbs all of them; the ratio is to the first one. */
#include "base/assert.h"
#include "store/store.h"
#include "store/store_claims.h"

#include <solvegate/words.h>

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>
#include <uv.h>

#define URLS_MAX 8
#define ROUNDS_MAX 32
#define PARAMS_BYTES 350
#define TOKEN_BYTES 680
#define LEASE_MS 2000
#define HEARTBEAT_MS 500
/* Processes that share a store take every so many-th number, each its own. */
#define STEP 64

struct options {
    unsigned at_once, seconds, rounds;
    unsigned solves; /* 0: as many as there is time for */
    unsigned open;
    bool must_wait;
    const char *prefix;
    const char *node; /* NULL: it has the store for itself */
    const char *urls[URLS_MAX];
    unsigned count;
};

struct solve {
    uint64_t id;
    journal_seq waits_for;
    bool is_intended; /* its intent is durable: the solution is next */
};

struct run {
    struct store *store;
    uv_loop_t loop;
    uv_timer_t timer;
    struct solve *solves; /* a ring in the order of waits_for */
    unsigned count, first;
    journal_seq seq;
    uint64_t next_id;
    uint64_t done;
    uint64_t limit;
    bool is_over;
    bool is_shared;
    struct blob *params, *token;
};

static const char *name_of(void *context, client_id client)
{
    (void)context;
    (void)client;
    return "bench";
}

static bool find(void *context, struct slice name, client_id *client)
{
    (void)context;
    (void)name;
    *client = 0;
    return true;
}

/* ---- records ----------------------------------------------------------------------------- */

static struct key key_of(uint64_t id)
{
    struct key key = {.bytes = {0}};
    for (size_t i = 0; i < KEY_BYTES; i++)
        key.bytes[i] = (uint8_t)(id * UINT64_C(0x9e3779b97f4a7c15) >> (i % 8 * 8));
    return key;
}

static void append(struct run *run, struct record *record)
{
    store_append(run->store, ++run->seq, record);
}

static void claim(struct run *run, uint64_t id)
{
    const struct claim wanted = {.flight = id,
                                 .ticket = id,
                                 .reuse = REUSE_SHARED,
                                 .has_name = true,
                                 .max_age_ms = UINT32_MAX,
                                 .key = key_of(id),
                                 .name = key_of(id)};
    if (run->is_shared)
        store_claim(run->store, &wanted, 0);
}

static void release(struct run *run, uint64_t id)
{
    const struct release ended = {.flight = id, .name = key_of(id), .solution = id, .attempts = 1};
    if (run->is_shared)
        store_release(run->store, &ended);
}

static void append_flight(struct run *run, uint64_t id, bool is_drop)
{
    struct record record = {.kind = RECORD_FLIGHT, .is_drop = is_drop};
    record.flight = (struct flight_row){.id = id};
    if (!is_drop) {
        record.flight.key = key_of(id);
        record.flight.created_wall_ms = clocks_read().wall_ms;
        record.flight.params = blob_ref(run->params);
    }
    append(run, &record);
}

static void append_attempt(struct run *run, uint64_t id, bool has_task, bool is_closed)
{
    struct record record = {.kind = RECORD_ATTEMPT};
    record.attempt = (struct attempt_row){.name = id,
                                          .flight = id,
                                          .key = key_of(id),
                                          .started_wall_ms = (int64_t)(id >> 20),
                                          .is_closed = is_closed,
                                          .is_solved = is_closed};
    if (has_task)
        (void)snprintf(record.attempt.task_id, sizeof record.attempt.task_id, "%llu",
                       (unsigned long long)id);
    append(run, &record);
}

static void append_solution(struct run *run, uint64_t id)
{
    struct record record = {.kind = RECORD_SOLUTION};
    const int64_t now = clocks_read().wall_ms;
    record.solution = (struct solution_row){.id = id,
                                            .flight = id,
                                            .attempt = id,
                                            .key = key_of(id),
                                            .born_wall_ms = now,
                                            .expires_wall_ms = now + 120000,
                                            .text = blob_ref(run->token)};
    append(run, &record);
}

/* ---- the loop ---------------------------------------------------------------------------- */

static void intend(struct run *run, struct solve *solve)
{
    *solve = (struct solve){.id = run->next_id += STEP};
    claim(run, solve->id);
    append_flight(run, solve->id, false);
    append_attempt(run, solve->id, false, false);
    solve->waits_for = run->seq;
}

static void answer(struct run *run, struct solve *solve)
{
    append_attempt(run, solve->id, true, false);
    append_solution(run, solve->id);
    append_attempt(run, solve->id, true, true);
    release(run, solve->id);
    append_flight(run, solve->id, true);
    solve->is_intended = true;
    solve->waits_for = run->seq;
}

static void end(struct run *run)
{
    if (run->is_over)
        return;
    run->is_over = true;
    uv_close((uv_handle_t *)&run->timer, NULL);
    store_close(run->store, NULL, NULL);
}

static void on_durable(void *context, journal_seq seq)
{
    struct run *const run = context;
    while (run->solves[run->first].waits_for <= seq) {
        struct solve *const solve = &run->solves[run->first];
        run->first = (run->first + 1) % run->count;
        if (run->is_over) {
            solve->waits_for = UINT64_MAX;
        } else if (solve->is_intended) {
            run->done++;
            intend(run, solve);
            if (run->done == run->limit)
                end(run);
        } else {
            answer(run, solve);
        }
    }
}

static void on_state(void *context, enum store_state state, const char *why)
{
    (void)context;
    if (state == STORE_WRITABLE)
        return;
    (void)fprintf(stderr, "store-port: %s\n", why);
    exit(1);
}

static void on_time(uv_timer_t *timer)
{
    end(timer->data);
}

/* ---- a round ----------------------------------------------------------------------------- */

static void count_row(void *context, const struct record *record)
{
    (void)context;
    (void)record;
}

static void open_store(struct run *run, const struct options *options, const char *url)
{
    const struct store_place place = {.url = url,
                                      .prefix = options->prefix,
                                      .allow_async = true,
                                      .node = options->node,
                                      .lease_ms = LEASE_MS,
                                      .heartbeat_ms = HEARTBEAT_MS};
    const struct store_names names = {.name_of = name_of, .find = find};
    const struct clocks now = clocks_read();
    struct buf mistake;
    buf_init(&mistake, 4096);
    enum store_opening opening = store_lock(&place, &run->store, &mistake);
    if (opening == STORE_OPENED)
        opening = store_open(run->store, &names, &mistake);
    if (opening != STORE_OPENED || store_load(run->store, &now, count_row, NULL) != 0) {
        (void)fprintf(stderr, "store-port: %.*s\n", (int)mistake.len, buf_slice(&mistake).data);
        exit(1);
    }
    buf_close(&mistake);
}

static double cpu_seconds(void)
{
    struct rusage usage;
    (void)getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

static void on_all_durable(void *context, journal_seq seq)
{
    const struct run *const run = context;
    if (seq >= run->seq)
        _exit(0);
}

/* Leaves them as a gateway does that is killed. */
static void leave_open(struct run *run, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        const uint64_t id = run->next_id += STEP;
        claim(run, id);
        append_flight(run, id, false);
        append_attempt(run, id, true, false);
    }
    (void)uv_run(&run->loop, UV_RUN_DEFAULT);
}

/* As it is told by whoever measures. */
static void wait_for_line(void)
{
    (void)puts("ready");
    (void)fflush(stdout);
    for (int c = getchar(); c != '\n' && c != EOF; c = getchar()) {}
}

struct figures {
    double done;
    double rate;    /* solves a second */
    double cpu_us;  /* of this process, for each solve */
    double commits; /* for each solve */
    double bytes;   /* of the store's log, for each solve */
};

static struct figures measure(const struct options *options, const char *url)
{
    struct run run = {.count = options->at_once,
                      .limit = options->solves == 0 ? UINT64_MAX : options->solves,
                      .is_shared = options->node != NULL};
    const struct store_handlers handlers = {.context = &run,
                                            .on_durable =
                                                options->open > 0 ? on_all_durable : on_durable,
                                            .on_state = on_state};
    struct store_counters counters;
    run.solves = calloc(run.count, sizeof *run.solves);
    run.params = blob_alloc(PARAMS_BYTES);
    run.token = blob_alloc(TOKEN_BYTES);
    ASSERT(run.solves != NULL);
    memset(run.params->data, 'p', PARAMS_BYTES);
    memset(run.token->data, 't', TOKEN_BYTES);
    run.next_id = ((uint64_t)clocks_read().wall_ms << 20) + (uint64_t)getpid() % STEP;
    ASSERT(uv_loop_init(&run.loop) == 0 && uv_timer_init(&run.loop, &run.timer) == 0);
    run.timer.data = &run;
    open_store(&run, options, url);
    store_start(run.store, &run.loop, &handlers);
    if (options->open > 0)
        leave_open(&run, options->open);
    if (options->must_wait)
        wait_for_line();
    const double cpu = cpu_seconds();
    const uint64_t start = uv_hrtime();
    uv_update_time(&run.loop); /* loading may have taken long */
    ASSERT(options->solves > 0 ||
           uv_timer_start(&run.timer, on_time, options->seconds * UINT64_C(1000), 0) == 0);
    for (unsigned i = 0; i < run.count; i++)
        intend(&run, &run.solves[i]);
    (void)uv_run(&run.loop, UV_RUN_DEFAULT);
    store_counters(run.store, &counters);
    const double done = (double)run.done;
    const double seconds = (double)(uv_hrtime() - start) / 1e9;
    const struct figures figures = {.done = done,
                                    .rate = done / seconds,
                                    .cpu_us = (cpu_seconds() - cpu) * 1e6 / done,
                                    .commits = (double)counters.commits / done,
                                    .bytes = (double)counters.bytes / done};
    store_free(run.store);
    ASSERT(uv_loop_close(&run.loop) == 0);
    blob_unref(run.params);
    blob_unref(run.token);
    free(run.solves);
    return figures;
}

/* ---- rounds ------------------------------------------------------------------------------ */

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a;
    const double y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, unsigned count)
{
    qsort(values, count, sizeof *values, compare);
    return values[count / 2];
}

static void report(const struct options *options)
{
    static double rates[URLS_MAX][ROUNDS_MAX];
    static double cpus[URLS_MAX][ROUNDS_MAX];
    static double commits[URLS_MAX][ROUNDS_MAX];
    static double bytes[URLS_MAX][ROUNDS_MAX];
    double solves[URLS_MAX] = {0};
    double first = 1;
    for (unsigned round = 0; round < options->rounds; round++) {
        for (unsigned i = 0; i < options->count; i++) {
            const struct figures figures = measure(options, options->urls[i]);
            solves[i] += figures.done;
            rates[i][round] = figures.rate;
            cpus[i][round] = figures.cpu_us;
            commits[i][round] = figures.commits;
            bytes[i][round] = figures.bytes;
        }
    }
    for (unsigned i = 0; i < options->count; i++) {
        const double rate = median(rates[i], options->rounds);
        if (i == 0)
            first = rate;
        (void)printf(
            "%-12.*s %4u at once: %8.0f solves/s (%.2f), %.4f commits, %.0f bytes of the log and "
            "%.1f us CPU of this process a solve; %.0f solves\n",
            (int)strcspn(options->urls[i], ":"), options->urls[i], options->at_once, rate,
            rate / first, median(commits[i], options->rounds), median(bytes[i], options->rounds),
            median(cpus[i], options->rounds), solves[i]);
    }
}

static bool take_number(const char *option, const char *name, const char *value, unsigned *number)
{
    if (strcmp(option, name) != 0 || value == NULL)
        return false;
    *number = (unsigned)strtoul(value, NULL, 10);
    return true;
}

int main(int argc, char **argv)
{
    struct options options = {.at_once = 512, .seconds = 3, .rounds = 3};
    for (int i = 1; i < argc; i++) {
        if (take_number(argv[i], "--at-once", argv[i + 1], &options.at_once) ||
            take_number(argv[i], "--seconds", argv[i + 1], &options.seconds) ||
            take_number(argv[i], "--rounds", argv[i + 1], &options.rounds) ||
            take_number(argv[i], "--solves", argv[i + 1], &options.solves) ||
            take_number(argv[i], "--open", argv[i + 1], &options.open))
            i++;
        else if (strcmp(argv[i], "--wait") == 0)
            options.must_wait = true;
        else if (strcmp(argv[i], "--node") == 0)
            options.node = argv[++i];
        else if (strcmp(argv[i], "--prefix") == 0)
            options.prefix = argv[++i];
        else if (options.count < URLS_MAX)
            options.urls[options.count++] = argv[i];
    }
    if (options.count == 0 || options.at_once == 0 || options.seconds == 0 || options.rounds == 0 ||
        options.rounds > ROUNDS_MAX) {
        (void)fprintf(stderr,
                      "usage: store-port [--at-once N] [--seconds N] [--rounds N] [--solves N] "
                      "[--prefix NAME] [--node NAME] [--open N] [--wait] URL...\n");
        return 64;
    }
    report(&options);
    return 0;
}
