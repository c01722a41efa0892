/* A server with nothing behind it: shows the HTTP frontend to black-box tests and to load generators.
 *
 * /plain answers "ok"; /echo tells what reached the handler; /big/N answers N bytes; /hold/NAME waits
 * until somebody asks /release/NAME; /later/MS answers by itself after that time, /prepared just before
 * the loop sleeps; /close answers and closes; /stats counts, and says what the
 * longest turn of the loop took since it was asked last; /drain does that; /quit answers and ends;
 * /abort closes the server at once, inside its handler. */
#include "base/assert.h"
#include "config/config.h"
#include "http/http.h"

#include <arpa/inet.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <uv.h>

#define HELD_MAX 200000
#define TRUSTED_MAX 8

struct held {
    caller_id caller; /* 0 when free */
    uint64_t name;
    uint64_t due_ms; /* 0 when it waits for /release */
};

#define HEAVY_BYTES (128 * 1024)

struct echo {
    uv_loop_t loop;
    uv_signal_t term;
    uv_timer_t tick;
    uv_prepare_t prepare;
    uv_prepare_t turn;
    uint64_t turn_ns, closed; /* as of the last turn's end: processor time, connections closed */
    uint64_t longest_ns, most_closed; /* of one turn */
    uv_prepare_t sleep;               /* runs after the server's own */
    uint64_t heavy, most_heavy;       /* large requests between two polls */
    caller_id prepared;               /* answered by prepare; 0 when nobody */
    struct http_server *server;
    struct held held[HELD_MAX];
    size_t held_used;
    uint64_t seen, gone, waiting;
    struct network trusted[TRUSTED_MAX];
    struct buf body;
};

static struct echo echo;

static uint64_t hash(struct slice s)
{
    uint64_t h = UINT64_C(14695981039346656037);
    for (size_t i = 0; i < s.len; i++)
        h = (h ^ (unsigned char)s.data[i]) * UINT64_C(1099511628211);
    return h;
}

static void answer(caller_id caller, uint16_t status, struct slice body, bool closes)
{
    http_reply(echo.server, caller,
               &(struct http_reply){
                   .status = status,
                   .content_type = SLICE_OF("text/plain"),
                   .body = body,
                   .close = closes,
               });
}

static void on_tick(uv_timer_t *timer)
{
    (void)timer;
    bool has_more = false;
    for (size_t i = 0; i < echo.held_used; i++) {
        struct held *held = &echo.held[i];
        if (held->caller == 0 || held->due_ms == 0)
            continue;
        if (held->due_ms > uv_now(&echo.loop)) {
            has_more = true;
            continue;
        }
        answer(held->caller, 200, SLICE_OF("later"), false);
        held->caller = 0;
        echo.waiting--;
    }
    if (!has_more)
        (void)uv_timer_stop(&echo.tick);
}

static void hold(const struct http_request *request, uint64_t name, uint64_t due_ms)
{
    size_t place = 0;
    while (place < echo.held_used && echo.held[place].caller != 0)
        place++;
    ASSERT(place < HELD_MAX);
    if (place == echo.held_used)
        echo.held_used++;
    echo.held[place] = (struct held){.caller = request->caller, .name = name, .due_ms = due_ms};
    request->note->words[0] = place;
    request->note->words[3] = request->caller;
    echo.waiting++;
    if (due_ms != 0)
        (void)uv_timer_start(&echo.tick, on_tick, 1, 1);
}

/* Names that begin with "big" are released with that much. */
#define BIG_BYTES 100000

static void release(const struct http_request *request, struct slice text)
{
    static char big[BIG_BYTES];
    const uint64_t name = hash(text);
    const struct slice body = slice_starts_with(text, SLICE_OF("big"))
                                  ? (struct slice){.data = big, .len = sizeof(big)}
                                  : SLICE_OF("released");
    memset(big, 'x', sizeof(big));
    unsigned count = 0;
    for (size_t i = 0; i < echo.held_used; i++) {
        struct held *held = &echo.held[i];
        if (held->caller == 0 || held->name != name || held->due_ms != 0)
            continue;
        const struct http_note *note = http_note_of(echo.server, held->caller);
        ASSERT(note != NULL && note->words[3] == held->caller);
        answer(held->caller, 200, body, false);
        ASSERT(http_note_of(echo.server, held->caller) == NULL);
        held->caller = 0;
        echo.waiting--;
        count++;
    }
    buf_addf(&echo.body, "%u", count);
    answer(request->caller, 200, buf_slice(&echo.body), false);
}

static void on_prepare(uv_prepare_t *prepare)
{
    (void)uv_prepare_stop(prepare);
    answer(echo.prepared, 200, SLICE_OF("prepared"), false);
}

/* Before the loop sleeps: processor time, since others may have the processor meanwhile. */
static void on_turn(uv_prepare_t *turn)
{
    (void)turn;
    struct timespec time;
    struct http_counters c;
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    http_counters(echo.server, &c);
    const uint64_t now_ns = (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
    const uint64_t closed = c.accepted - c.open;
    if (now_ns - echo.turn_ns > echo.longest_ns)
        echo.longest_ns = now_ns - echo.turn_ns;
    if (closed - echo.closed > echo.most_closed)
        echo.most_closed = closed - echo.closed;
    echo.turn_ns = now_ns;
    echo.closed = closed;
}

static void on_sleep(uv_prepare_t *sleep)
{
    (void)sleep;
    if (echo.heavy > echo.most_heavy)
        echo.most_heavy = echo.heavy;
    echo.heavy = 0;
}

static void add_field(const char *name, struct slice value)
{
    if (slice_is_given(value))
        buf_addf(&echo.body, "%s=%.*s\n", name, (int)value.len, value.data);
}

static void tell(const struct http_request *request)
{
    static const char *const methods[] = {"GET",    "HEAD",    "POST", "PUT",
                                          "DELETE", "OPTIONS", "OTHER"};
    add_field("method", slice_from(methods[request->method]));
    add_field("path", request->path);
    add_field("query", request->query);
    add_field("content_type", request->content_type);
    add_field("authorization", request->authorization);
    add_field("idempotency_key", request->idempotency_key);
    add_field("x_request_id", request->x_request_id);
    add_field("prefer", request->prefer);
    add_field("origin", request->origin);
    add_field("peer", request->peer);
    buf_addf(&echo.body, "body_bytes=%zu\nbody_hash=%llu\n", request->body.len,
             (unsigned long long)hash(request->body));
    answer(request->caller, 200, buf_slice(&echo.body), false);
}

static void tell_stats(const struct http_request *request)
{
    struct http_counters c;
    http_counters(echo.server, &c);
    buf_addf(&echo.body,
             "{\"seen\":%llu,\"gone\":%llu,\"waiting\":%llu,\"accepted\":%llu,\"requests\":%llu,"
             "\"bad_requests\":%llu,\"timeouts\":%llu,\"bytes_in\":%llu,\"bytes_out\":%llu,"
             "\"refused\":%llu,\"unread\":%llu,\"unsent_bytes\":%llu,\"partial_refusals\":%llu,"
             "\"partial_bytes\":%llu,\"open\":%u,\"idle\":%u,\"turn_us\":%llu,"
             "\"turn_closed\":%llu,\"turn_heavy\":%llu}",
             (unsigned long long)echo.seen, (unsigned long long)echo.gone,
             (unsigned long long)echo.waiting, (unsigned long long)c.accepted,
             (unsigned long long)c.requests, (unsigned long long)c.bad_requests,
             (unsigned long long)c.timeouts, (unsigned long long)c.bytes_in,
             (unsigned long long)c.bytes_out, (unsigned long long)c.refused,
             (unsigned long long)c.unread, (unsigned long long)c.unsent_bytes,
             (unsigned long long)c.partial_refusals, (unsigned long long)c.partial_bytes, c.open,
             c.idle, (unsigned long long)echo.longest_ns / 1000,
             (unsigned long long)echo.most_closed, (unsigned long long)echo.most_heavy);
    on_turn(&echo.turn);
    echo.longest_ns = echo.most_closed = echo.most_heavy = 0;
    (void)uv_prepare_start(&echo.turn, on_turn); /* Not before anybody asks: it is a system call. */
    answer(request->caller, 200, buf_slice(&echo.body), false);
}

static void on_closed(void *context)
{
    (void)context;
    uv_close((uv_handle_t *)&echo.term, NULL);
    uv_close((uv_handle_t *)&echo.tick, NULL);
    uv_close((uv_handle_t *)&echo.prepare, NULL);
    uv_close((uv_handle_t *)&echo.turn, NULL);
    uv_close((uv_handle_t *)&echo.sleep, NULL);
}

static void on_term(uv_signal_t *handle, int number)
{
    (void)number;
    (void)uv_signal_stop(handle);
    http_server_close(echo.server, on_closed, NULL);
}

/* The number after the prefix, or false when the path does not begin with it. */
static bool path_has(struct slice path, const char *prefix, struct slice *rest)
{
    if (!slice_starts_with(path, slice_from(prefix)))
        return false;
    *rest = (struct slice){.data = path.data + strlen(prefix), .len = path.len - strlen(prefix)};
    return true;
}

static void answer_big(const struct http_request *request, struct slice number)
{
    unsigned long long count = 0;
    char *place = slice_to_u64(number, &count) ? buf_reserve(&echo.body, count) : NULL;
    ASSERT(place != NULL);
    memset(place, 'x', count);
    buf_commit(&echo.body, count);
    answer(request->caller, 200, buf_slice(&echo.body), false);
}

static void on_request(void *context, const struct http_request *request)
{
    (void)context;
    echo.seen++;
    echo.heavy += request->body.len > HEAVY_BYTES;
    for (int i = 0; i < 4; i++)
        ASSERT(request->note->words[i] == 0);
    buf_reset(&echo.body);
    struct slice rest;
    unsigned long long number = 0;
    if (slice_equals(request->path, SLICE_OF("/plain"))) {
        answer(request->caller, 200, SLICE_OF("ok"), false);
    } else if (slice_equals(request->path, SLICE_OF("/echo"))) {
        tell(request);
    } else if (slice_equals(request->path, SLICE_OF("/close"))) {
        answer(request->caller, 200, SLICE_OF("bye"), true);
    } else if (slice_equals(request->path, SLICE_OF("/none"))) {
        answer(request->caller, 204, SLICE_OF(""), false);
    } else if (slice_equals(request->path, SLICE_OF("/odd"))) {
        answer(request->caller, 299, SLICE_OF("odd"), false);
    } else if (slice_equals(request->path, SLICE_OF("/prepared"))) {
        echo.prepared = request->caller;
        (void)uv_prepare_start(&echo.prepare, on_prepare);
    } else if (slice_equals(request->path, SLICE_OF("/stats"))) {
        tell_stats(request);
    } else if (slice_equals(request->path, SLICE_OF("/drain"))) {
        http_server_drain(echo.server);
        answer(request->caller, 200, SLICE_OF("draining"), false);
    } else if (slice_equals(request->path, SLICE_OF("/quit"))) {
        answer(request->caller, 200, SLICE_OF("quitting"), false);
        http_server_drain(echo.server);
        (void)raise(SIGTERM); /* Seen in the next turn, when the answer is on its way. */
    } else if (slice_equals(request->path, SLICE_OF("/abort"))) {
        answer(request->caller, 200, SLICE_OF("never seen"), false);
        on_term(&echo.term, 0);
    } else if (path_has(request->path, "/big/", &rest)) {
        answer_big(request, rest);
    } else if (path_has(request->path, "/hold/", &rest)) {
        hold(request, hash(rest), 0);
    } else if (path_has(request->path, "/release/", &rest)) {
        release(request, rest);
    } else if (path_has(request->path, "/later/", &rest) && slice_to_u64(rest, &number)) {
        hold(request, 0, uv_now(&echo.loop) + number);
    } else {
        answer(request->caller, 404, SLICE_OF("no such path"), false);
    }
}

static void on_gone(void *context, caller_id caller, const struct http_note *note)
{
    (void)context;
    ASSERT(note->words[3] == caller && echo.held[note->words[0]].caller == caller);
    ASSERT(http_note_of(echo.server, caller) == NULL);
    answer(caller, 200, SLICE_OF("too late"), false); /* Must be ignored. */
    echo.held[note->words[0]].caller = 0;
    echo.waiting--;
    echo.gone++;
}

/* Only IPv4 "a.b.c.d/n": enough for a test. */
static void add_trusted(struct http_options *options, char *text)
{
    ASSERT(options->trusted_proxy_count < TRUSTED_MAX);
    struct network *cidr = &echo.trusted[options->trusted_proxy_count++];
    char *slash = strchr(text, '/');
    ASSERT(slash != NULL);
    *slash = '\0';
    *cidr = (struct network){
        .address = {[10] = 0xff, [11] = 0xff},
        .prefix_bits = (uint8_t)(96 + strtoul(slash + 1, NULL, 10)),
    };
    ASSERT(inet_pton(AF_INET, text, cidr->address + 12) == 1);
}

static bool set_option(struct http_options *options, const char *name, char *value)
{
    const struct {
        const char *name;
        uint32_t *place;
    } numbers[] = {
        {"connections", &options->connections},     {"body-bytes", &options->body_bytes},
        {"header-bytes", &options->header_bytes},   {"url-bytes", &options->url_bytes},
        {"header-ms", &options->header_timeout_ms}, {"body-ms", &options->body_timeout_ms},
        {"write-ms", &options->write_timeout_ms},   {"idle-ms", &options->idle_timeout_ms},
        {"pipeline", &options->pipeline},           {"reserve", &options->reserve},
    };
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        if (strcmp(numbers[i].name, name) == 0) {
            *numbers[i].place = (uint32_t)strtoul(value, NULL, 10);
            return true;
        }
    }
    if (strcmp(name, "partial-bytes") == 0 || strcmp(name, "unsent-bytes") == 0) {
        *(name[0] == 'p' ? &options->partial_bytes : &options->unsent_bytes) =
            strtoull(value, NULL, 10);
        return true;
    }
    if (strcmp(name, "trust") == 0)
        add_trusted(options, value);
    return strcmp(name, "trust") == 0;
}

static void listen_on(const char *address)
{
    struct buf bound, mistake;
    buf_init(&bound, 1024);
    buf_init(&mistake, 1024);
    if (http_server_listen(echo.server, address, &bound, &mistake) == 0)
        printf("ready %.*s\n", (int)bound.len, bound.data);
    else
        printf("failed %.*s\n", (int)mistake.len, mistake.data);
    (void)fflush(stdout);
    buf_close(&bound);
    buf_close(&mistake);
}

/* http-echo NAME=VALUE... ADDRESS... */
int main(int argc, char **argv)
{
    struct http_options options = {
        .connections = 20000,
        .body_bytes = 2 * 1024 * 1024,
        .header_bytes = 16384,
        .url_bytes = 8192,
        .header_timeout_ms = 10000,
        .body_timeout_ms = 20000,
        .write_timeout_ms = 30000,
        .idle_timeout_ms = 60000,
        .partial_bytes = 64 * 1024 * 1024,
        .unsent_bytes = 64 * 1024 * 1024,
        .pipeline = 8,
        .reserve_paths = {SLICE_OF("/plain")},
        .trusted_proxies = echo.trusted,
    };
    int first = 1;
    for (; first < argc && strchr(argv[first], '=') != NULL; first++) {
        char *value = strchr(argv[first], '=');
        *value = '\0';
        ASSERT(set_option(&options, argv[first], value + 1));
    }
    buf_init(&echo.body, 64 * 1024 * 1024);
    ASSERT(uv_loop_init(&echo.loop) == 0);
    (void)uv_timer_init(&echo.loop, &echo.tick);
    (void)uv_prepare_init(&echo.loop, &echo.prepare);
    /* The one that is started first runs last. */
    (void)uv_prepare_init(&echo.loop, &echo.sleep);
    (void)uv_prepare_start(&echo.sleep, on_sleep);
    uv_unref((uv_handle_t *)&echo.sleep);
    (void)uv_signal_init(&echo.loop, &echo.term);
    (void)uv_signal_start(&echo.term, on_term, SIGTERM);
    echo.server =
        http_server_new(&echo.loop, &options,
                        &(struct http_handlers){.on_request = on_request, .on_gone = on_gone});
    (void)uv_prepare_init(&echo.loop, &echo.turn);
    uv_unref((uv_handle_t *)&echo.turn);
    for (int i = first; i < argc; i++)
        listen_on(argv[i]);
    (void)uv_run(&echo.loop, UV_RUN_DEFAULT);
    http_server_free(echo.server);
    buf_close(&echo.body);
    ASSERT(uv_loop_close(&echo.loop) == 0);
    return 0;
}
