/* Callers with captchas: keeps asking at a steady rate and says how the answers came.
 *
 *     e2e-load PORT NAME=VALUE...
 *
 * rate=        requests a second, arriving at random
 * solve_ms=    how long the vendor takes, the median; told to the simulator through its magic sitekeys
 * duplicates=  share of the requests that repeat an earlier target, at most reach= requests back
 * held=        share of the callers that wait on a connection of their own (POST /v1/solves), of which
 *              there are connections=; the others submit to in.php and poll res.php every poll_ms=, sharing
 *              64 connections as a worker's connection pool would
 * warm_s=, windows=, window_s=, seed=
 *
 * Prints one line of JSON when it is warm, one after each window, and one in the end, when it has stopped
 * asking; then it waits for the end of its standard input, so that nobody hangs up before all was counted.
 * What an answer cost in time is counted for callers who are held and were the first to ask for their
 * target: from asking to the answer, less the time that the vendor took. */
#include "plan.h"
#include "samples.h"
#include "wire.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#define SHARED 64
#define READY 512
#define RING (UINT32_C(1) << 20)
#define KEY "0123456789abcdef0123456789abcdef"
/* What was asked in the end must reach the program, but its answer is not waited for. */
#define LINGER_NS INT64_C(20000000000)

struct request {
    uint32_t target;
    bool is_first, is_held;
    int64_t asked_ns;
    uint64_t id;     /* of in.php; 0 before */
    int64_t due_ns;  /* of the next poll */
    uint32_t number; /* place in the array, and next free one while it is free */
};

struct ring {
    uint32_t *items; /* owned, RING of them */
    uint32_t head, tail;
};

struct counts {
    uint64_t asked, answered, errors, others, polls;
};

struct load {
    struct plan plan;
    struct wire wire;
    struct request *requests; /* owned */
    size_t request_room;
    uint32_t request_used, first_free;
    struct ring due;        /* requests that wait until their next poll, in order of time */
    struct ring calls;      /* requests whose call waits for a connection */
    struct ring held;       /* the same for connections of their own */
    struct samples samples; /* milliseconds that were added */
    size_t window_samples;  /* where those of this window begin */
    struct counts now, window;
    uint32_t in_flight, peak;
    uint32_t unheard; /* requests that the program may not have read yet */
    double held_share, poll_ms, warm_s, window_s;
    unsigned windows, connections;
    bool is_asking;
    char error[200]; /* the first */
};

static int64_t now_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* ---- rings and requests ------------------------------------------------------------------ */

static void ring_put(struct ring *ring, uint32_t item)
{
    if (ring->tail - ring->head == RING)
        wire_die("too much waits");
    ring->items[ring->tail++ & (RING - 1)] = item;
}

static bool ring_is_empty(const struct ring *ring)
{
    return ring->head == ring->tail;
}

static uint32_t ring_first(const struct ring *ring)
{
    return ring->items[ring->head & (RING - 1)];
}

static uint32_t ring_take(struct ring *ring)
{
    return ring->items[ring->head++ & (RING - 1)];
}

static struct request *request_new(struct load *load)
{
    if (load->first_free != UINT32_MAX) {
        struct request *const request = &load->requests[load->first_free];
        const uint32_t number = load->first_free;
        load->first_free = request->number;
        request->number = number;
        return request;
    }
    if (load->request_used == load->request_room)
        load->requests = room_double(load->requests, &load->request_room, sizeof(*load->requests));
    load->requests[load->request_used].number = load->request_used;
    return &load->requests[load->request_used++];
}

static void request_free(struct load *load, struct request *request)
{
    const uint32_t number = request->number;
    request->number = load->first_free;
    load->first_free = number;
    load->in_flight--;
}

/* ---- answers ----------------------------------------------------------------------------- */

static void note_error(struct load *load, const char *body)
{
    if (load->now.errors++ == 0)
        (void)snprintf(load->error, sizeof(load->error), "%s", body);
}

/* Everybody who asks for the same must get the same: the number behind SIM_ is the vendor's task. */
static void check_solution(struct load *load, const struct request *request, const char *token)
{
    struct target *const target = &load->plan.targets[request->target];
    const uint64_t task = strtoull(token + 4, NULL, 10);
    if (target->task == 0)
        target->task = task;
    load->now.others += target->task != task;
}

static void finish(struct load *load, struct request *request, const char *body)
{
    const char *const token = strstr(body, "SIM_");
    if (token == NULL) {
        note_error(load, body);
    } else {
        check_solution(load, request, token);
        load->now.answered++;
        const double took_ms = (double)(now_ns() - request->asked_ns) / 1e6;
        if (request->is_held && request->is_first)
            samples_add(&load->samples, took_ms - load->plan.targets[request->target].solve_ms);
    }
    request_free(load, request);
}

static void wait_for_poll(struct load *load, struct request *request)
{
    request->due_ns = now_ns() + (int64_t)(load->poll_ms * 1e6);
    ring_put(&load->due, request->number);
}

static void on_reply(struct load *load, struct conn *conn, int status, const char *body)
{
    struct request *const request = &load->requests[conn->request];
    load->unheard -= !request->is_held && request->id == 0;
    const bool is_ok = status == 200 && strncmp(body, "OK|", 3) == 0;
    const bool is_told = is_ok && !request->is_held && request->id == 0;
    if (is_told)
        request->id = strtoull(body + 3, NULL, 10);
    if (is_told || (status == 200 && strcmp(body, "CAPCHA_NOT_READY") == 0)) {
        wait_for_poll(load, request);
    } else if (is_ok || (status == 200 && request->is_held)) {
        finish(load, request, body);
    } else {
        note_error(load, body);
        request_free(load, request);
    }
    wire_give_back(&load->wire, conn);
}

/* ---- calls ------------------------------------------------------------------------------- */

static void write_post(struct load *load, struct conn *conn, const char *path, const char *type,
                       const char *body)
{
    char text[1024];
    const int len = snprintf(text, sizeof(text),
                             "POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: %s\r\n"
                             "Content-Length: %zu\r\n\r\n%s",
                             path, type, strlen(body), body);
    wire_send(&load->wire, conn, text, (size_t)len);
}

static void send_call(struct load *load, struct conn *conn, const struct request *request)
{
    char body[512];
    const uint32_t target = request->target;
    const unsigned long solve_ms = load->plan.targets[target].solve_ms;
    conn->request = request->number;
    if (request->is_held) {
        load->unheard--;
        (void)snprintf(body, sizeof(body),
                       "{\"method\":\"turnstile\",\"sitekey\":\"SIM-SLOW-%lums.%u\","
                       "\"pageurl\":\"https://example.com/login/%u\",\"wait\":50}",
                       solve_ms, target, target);
        write_post(load, conn, "/v1/solves", "application/json", body);
    } else if (request->id == 0) {
        (void)snprintf(body, sizeof(body),
                       "key=" KEY "&method=turnstile&sitekey=SIM-SLOW-%lums.%u"
                       "&pageurl=https://example.com/login/%u",
                       solve_ms, target, target);
        write_post(load, conn, "/in.php", "application/x-www-form-urlencoded", body);
    } else {
        load->now.polls++;
        const int len = snprintf(body, sizeof(body),
                                 "GET /res.php?key=" KEY "&action=get&id=%llu HTTP/1.1\r\n"
                                 "Host: localhost\r\n\r\n",
                                 (unsigned long long)request->id);
        wire_send(&load->wire, conn, body, (size_t)len);
    }
}

static void start_request(struct load *load)
{
    struct request *const request = request_new(load);
    request->target = plan_draw(&load->plan, &request->is_first);
    request->id = 0;
    request->asked_ns = now_ns();
    request->is_held = (double)rand_below(&load->plan.rand, 1000) < load->held_share * 1000;
    ring_put(request->is_held ? &load->held : &load->calls, request->number);
    load->now.asked++;
    load->unheard++;
    if (++load->in_flight > load->peak)
        load->peak = load->in_flight;
}

static void send_waiting(struct load *load, struct ring *ring, bool is_held)
{
    while (!ring_is_empty(ring)) {
        struct conn *const conn = wire_take(&load->wire, is_held);
        if (conn == NULL)
            return;
        send_call(load, conn, &load->requests[ring_take(ring)]);
    }
}

static void turn(struct load *load, int64_t *arrival_ns)
{
    struct conn *ready[READY];
    int64_t now = now_ns();
    while (load->is_asking && *arrival_ns <= now) {
        start_request(load);
        *arrival_ns += plan_gap_ns(&load->plan);
    }
    while (!ring_is_empty(&load->due) && load->requests[ring_first(&load->due)].due_ns <= now)
        ring_put(&load->calls, ring_take(&load->due));
    send_waiting(load, &load->calls, false);
    send_waiting(load, &load->held, true);
    const size_t count = wire_wait(&load->wire, 1, ready, READY);
    for (size_t i = 0; i < count; i++) {
        int status;
        char *body;
        if (wire_read(&load->wire, ready[i], &status, &body))
            on_reply(load, ready[i], status, body);
    }
}

/* ---- what is told ------------------------------------------------------------------------ */

/* Sorts the window's own samples; those of all windows are sorted again in the end. */
static void tell_window(struct load *load, double seconds)
{
    const size_t from = load->window_samples;
    samples_sort(&load->samples, from);
    printf("{\"seconds\": %.3f, \"asked\": %llu, \"answered\": %llu, \"polls\": %llu, \"errors\": "
           "%llu, "
           "\"others\": %llu, \"in_flight\": %u, \"samples\": %zu, \"p50_ms\": %.3f, \"p99_ms\": "
           "%.3f}\n",
           seconds, (unsigned long long)(load->now.asked - load->window.asked),
           (unsigned long long)(load->now.answered - load->window.answered),
           (unsigned long long)(load->now.polls - load->window.polls),
           (unsigned long long)(load->now.errors - load->window.errors),
           (unsigned long long)(load->now.others - load->window.others), load->in_flight,
           load->samples.count - from, samples_percentile(&load->samples, from, 50),
           samples_percentile(&load->samples, from, 99));
    (void)fflush(stdout);
    load->window = load->now;
    load->window_samples = load->samples.count;
}

static void tell_end(struct load *load, size_t warm_samples)
{
    static const double percents[] = {50, 75, 90, 95, 99, 99.9};
    samples_sort(&load->samples, warm_samples);
    for (char *place = load->error; *place != '\0'; place++)
        if (*place == '"' || *place == '\\' || (unsigned char)*place < ' ')
            *place = '\'';
    printf("{\"asked\": %llu, \"distinct\": %zu, \"answered\": %llu, \"errors\": %llu, \"others\": "
           "%llu, "
           "\"peak\": %u, \"unheard\": %u, \"reopened\": %u, \"samples\": %zu, \"error\": \"%s\", "
           "\"percentiles_ms\": [",
           (unsigned long long)load->now.asked, load->plan.target_count,
           (unsigned long long)load->now.answered, (unsigned long long)load->now.errors,
           (unsigned long long)load->now.others, load->peak, load->unheard, load->wire.reopened,
           load->samples.count - warm_samples, load->error);
    for (size_t i = 0; i < sizeof(percents) / sizeof(*percents); i++)
        printf("%s[%g, %.3f]", i == 0 ? "" : ", ", percents[i],
               samples_percentile(&load->samples, warm_samples, percents[i]));
    puts("]}");
    (void)fflush(stdout);
}

/* ---- all of it --------------------------------------------------------------------------- */

static void run_until(struct load *load, int64_t until_ns, int64_t *arrival_ns)
{
    while (now_ns() < until_ns)
        turn(load, arrival_ns);
}

static void run(struct load *load)
{
    int64_t start_ns = now_ns();
    int64_t arrival_ns = start_ns;
    load->is_asking = true;
    run_until(load, start_ns + (int64_t)(load->warm_s * 1e9), &arrival_ns);
    const size_t warm_samples = load->samples.count;
    tell_window(load, (double)(now_ns() - start_ns) / 1e9);
    for (unsigned i = 0; i < load->windows; i++) {
        start_ns = now_ns();
        run_until(load, start_ns + (int64_t)(load->window_s * 1e9), &arrival_ns);
        tell_window(load, (double)(now_ns() - start_ns) / 1e9);
    }
    load->is_asking = false;
    const int64_t until_ns = now_ns() + LINGER_NS;
    while (load->unheard > 0 && now_ns() < until_ns)
        turn(load, &arrival_ns);
    tell_end(load, warm_samples);
    while (getchar() != EOF)
        continue;
}

static void raise_file_limit(void)
{
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) != 0)
        wire_die("getrlimit");
    files.rlim_cur = files.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &files);
}

static bool set_option(struct load *load, struct plan_options *plan, const char *word)
{
    const char *const equals = strchr(word, '=');
    if (equals == NULL)
        return false;
    const size_t len = (size_t)(equals - word);
    const double value = strtod(equals + 1, NULL);
    const struct {
        const char *name;
        double *place;
    } numbers[] = {
        {"rate", &plan->rate},
        {"solve_ms", &plan->solve_ms},
        {"duplicates", &plan->duplicates},
        {"held", &load->held_share},
        {"poll_ms", &load->poll_ms},
        {"warm_s", &load->warm_s},
        {"window_s", &load->window_s},
    };
    for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
        if (strlen(numbers[i].name) == len && memcmp(numbers[i].name, word, len) == 0) {
            *numbers[i].place = value;
            return true;
        }
    if (strncmp(word, "reach=", 6) == 0)
        plan->reach = (uint32_t)value;
    else if (strncmp(word, "seed=", 5) == 0)
        plan->seed = (uint64_t)value;
    else if (strncmp(word, "windows=", 8) == 0)
        load->windows = (unsigned)value;
    else if (strncmp(word, "connections=", 12) == 0)
        load->connections = (unsigned)value;
    else
        return false;
    return true;
}

int main(int argc, char **argv)
{
    static struct load load = {
        .poll_ms = 1000, .window_s = 1, .windows = 5, .first_free = UINT32_MAX};
    struct plan_options plan = {
        .rate = 100, .solve_ms = 1000, .duplicates = 0.3, .reach = 1000, .seed = 1};
    for (int i = 2; i < argc; i++)
        if (!set_option(&load, &plan, argv[i])) {
            fprintf(stderr, "e2e-load: what is %s?\n", argv[i]);
            return 64;
        }
    if (argc < 2)
        return 64;
    raise_file_limit();
    struct ring *const rings[] = {&load.due, &load.calls, &load.held};
    for (size_t i = 0; i < sizeof(rings) / sizeof(*rings); i++) {
        rings[i]->items = calloc(RING, sizeof(uint32_t));
        if (rings[i]->items == NULL)
            wire_die("calloc");
    }
    plan_init(&load.plan, &plan);
    wire_open(&load.wire, (uint16_t)strtoul(argv[1], NULL, 10), SHARED, load.connections);
    run(&load);
    wire_close(&load.wire);
    plan_close(&load.plan);
    return 0;
}
