#include "config/config_options.h"

#include <stddef.h>

#define SECOND 1000
#define MINUTE (60 * SECOND)
#define HOUR (60 * MINUTE)
#define DAY (24 * HOUR)
#define KIB 1024
#define MIB (1024 * KIB)
#define GIB (UINT64_C(1024) * MIB)

#define IN_CONFIG(member) \
    .offset = offsetof(struct config, member), .bytes = sizeof(((struct config *)0)->member)
#define IN_POOL(member)                             \
    .offset = offsetof(struct config_pool, member), \
    .bytes = sizeof(((struct config_pool *)0)->member)
#define IN_CLIENT(member)                             \
    .offset = offsetof(struct config_client, member), \
    .bytes = sizeof(((struct config_client *)0)->member)

static const struct option_word letter_class_words[] = {
    {"transient", CLASS_TRANSIENT},
    {"busy", CLASS_BUSY},
    {"timeout", CLASS_TIMEOUT},
    {"unsolvable", CLASS_UNSOLVABLE},
    {"ambiguous", CLASS_AMBIGUOUS},
    {"unknown", CLASS_UNKNOWN},
    {NULL, 0},
};
static const struct option_word ambiguous_words[] = {{"resend", true}, {"never", false}, {NULL, 0}};
static const struct option_word scope_words[] = {{"client", false}, {"global", true}, {NULL, 0}};
static const struct option_word reuse_words[] = {
    {"shared", REUSE_SHARED}, {"single", REUSE_SINGLE}, {"none", REUSE_NONE}, {NULL, 0}};
static const struct option_word level_words[] = {
    {"debug", LOG_DEBUG}, {"info", LOG_INFO}, {"warn", LOG_WARN}, {"error", LOG_ERROR}, {NULL, 0}};
static const struct option_word format_words[] = {{"auto", LOG_AUTO},
                                                  {"text", LOG_TEXT},
                                                  {"key_value", LOG_KEY_VALUE},
                                                  {"json", LOG_JSON},
                                                  {NULL, 0}};

/* clang-format off */
const struct option options[] = {
    {"listen", OPTION_LISTEN, IN_CONFIG(listen), .preset = "[\"127.0.0.1:8430\"]",
     .help = "Addresses to serve at; without clients only this machine may reach them."},
    {"public_url", OPTION_URL, IN_CONFIG(public_url),
     .help = "Where the vendor reaches this gateway with its callbacks; without it solutions are polled for."},
    {"trusted_proxies", OPTION_NETWORKS, IN_CONFIG(trusted_proxies), .preset = "[]",
     .help = "Reverse proxies whose X-Forwarded-For is believed."},
    {"data_dir", OPTION_TEXT, IN_CONFIG(data_dir),
     .help = "Directory of the journal; without it everything is kept in memory only."},

    {"upstream.url", OPTION_URL, IN_CONFIG(upstream.url), .preset = "\"https://ocr.captchaai.com\"",
     .help = "The vendor's address, without /in.php."},
    {"upstream.key", OPTION_SECRET, IN_CONFIG(upstream.key),
     .help = "The vendor's API key; if it is given nowhere, CAPTCHAAI_API_KEY is taken from the environment."},
    {"upstream.slots", OPTION_SLOTS, IN_CONFIG(upstream.slots), .min = 1, .max = 100000, .preset = "\"auto\"",
     .help = "Threads of the vendor's plan; auto asks the vendor and adapts."},
    {"upstream.connections", OPTION_COUNT, IN_CONFIG(upstream.connections), .min = 1, .max = 4096, .preset = "64",
     .help = "Most connections to the vendor at the same time."},
    {"upstream.connect_timeout", OPTION_DURATION, IN_CONFIG(upstream.connect_timeout_ms),
     .min = 100, .max = 5 * MINUTE, .preset = "\"5s\"",
     .help = "How long connecting to the vendor may take."},
    {"upstream.submit_timeout", OPTION_DURATION, IN_CONFIG(upstream.submit_timeout_ms),
     .min = 100, .max = 10 * MINUTE, .preset = "\"15s\"",
     .help = "How long the reply to a submit may take before the submit is ambiguous."},
    {"upstream.poll_timeout", OPTION_DURATION, IN_CONFIG(upstream.poll_timeout_ms),
     .min = 100, .max = 10 * MINUTE, .preset = "\"10s\"",
     .help = "How long the reply to a poll may take."},
    {"upstream.price", OPTION_PRICES, IN_CONFIG(upstream.price_micro), .max = 1000, .preset = "{}",
     .help = "Price of one solve per type, in the account's currency, for the statistics."},
    {"upstream.ca_file", OPTION_TEXT, IN_CONFIG(upstream.ca_file),
     .help = "Certificates to trust instead of the system's."},
    {"upstream.allow_plain_http", OPTION_FLAG, IN_CONFIG(upstream.allow_plain_http), .preset = "false",
     .help = "Allows http to a vendor that is not this machine: the key travels readable."},

    {"poll.first", OPTION_DURATIONS, IN_CONFIG(poll_first_ms), .min = 100, .max = 10 * MINUTE, .preset = "\"5s\"",
     .help = "How long after a submit the first poll is sent; one duration, or one per type."},
    {"poll.interval", OPTION_DURATION, IN_CONFIG(poll_interval_ms), .min = 100, .max = 10 * MINUTE, .preset = "\"5s\"",
     .help = "Time between polls of one solve."},
    {"poll.fallback_after", OPTION_DURATION, IN_CONFIG(fallback_after_ms), .min = SECOND, .max = HOUR,
     .preset = "\"90s\"",
     .help = "How long to wait for a callback before polling."},

    {"solve_timeout", OPTION_DURATION, IN_CONFIG(solve_timeout_ms), .min = SECOND, .max = HOUR, .preset = "\"180s\"",
     .help = "Longest life of a solve, whatever its retries. What is paid for by then is asked for as long again "
             "and kept."},
    {"ambiguity_window", OPTION_DURATION, IN_CONFIG(ambiguity_window_ms), .min = 0, .max = HOUR, .preset = "\"45s\"",
     .help = "How long a submit whose reply was lost may still prove itself before it is sent again."},
    {"on_ambiguous", OPTION_WORD, IN_CONFIG(resend_ambiguous), .words = ambiguous_words, .preset = "\"resend\"",
     .help = "What happens after the ambiguity window: the submit is sent again, or the solve fails."},

    {"retry.base", OPTION_DURATION, IN_CONFIG(retry.base_ms), .min = 1, .max = HOUR, .preset = "\"1s\"",
     .help = "First pause between attempts; it doubles each time."},
    {"retry.cap", OPTION_DURATION, IN_CONFIG(retry.cap_ms), .min = 1, .max = HOUR, .preset = "\"60s\"",
     .help = "Longest pause between attempts."},
    {"retry.jitter", OPTION_DURATION, IN_CONFIG(retry.jitter_ms), .min = 0, .max = HOUR, .preset = "\"1s\"",
     .help = "Largest random time added to each pause."},
    {"retry.busy", OPTION_COUNT, IN_CONFIG(retry.busy), .max = 1000, .preset = "5",
     .help = "Most retries when the vendor says that it is busy."},
    {"retry.unsolvable", OPTION_COUNT, IN_CONFIG(retry.unsolvable), .max = 1000, .preset = "2",
     .help = "Most retries when the vendor could not solve it."},
    {"retry.transient", OPTION_COUNT, IN_CONFIG(retry.transient), .max = 1000, .preset = "3",
     .help = "Most retries after faults of the vendor or the network."},
    {"retry.unknown", OPTION_COUNT, IN_CONFIG(retry.unknown), .max = 1000, .preset = "1",
     .help = "Most retries after errors that nobody knows."},
    {"retry.budget", OPTION_SHARE, IN_CONFIG(retry.budget_permille), .preset = "0.2",
     .help = "Retries as a share of the last minute's submits, with a floor of 20 a minute; 0 sets no such limit."},
    {"breaker.probe", OPTION_DURATION, IN_CONFIG(breaker.probe_ms), .min = 100, .max = HOUR, .preset = "\"15s\"",
     .help = "How long after the vendor's account failed a free call asks whether it works again."},
    {"breaker.probe_max", OPTION_DURATION, IN_CONFIG(breaker.probe_max_ms), .min = 100, .max = DAY,
     .preset = "\"5m\"",
     .help = "Longest pause between such calls; it doubles each time."},

    {"errors", OPTION_ERRORS, IN_CONFIG(errors), .preset = "{}",
     .help = "Error codes of the vendor that are to be handled as another class than the built-in one."},

    {"cache.ttl", OPTION_DURATIONS, IN_CONFIG(ttl_ms), .min = SECOND, .max = 7 * DAY,
     .preset = "{\"recaptcha_v2\": \"80s\", \"recaptcha_v3\": \"80s\", \"hcaptcha\": \"80s\", "
               "\"turnstile\": \"250s\", \"image\": \"1h\", \"default\": \"60s\"}",
     .help = "How long a solution is good, per type."},
    {"cache.min_ttl", OPTION_DURATION, IN_CONFIG(min_ttl_ms), .max = DAY, .preset = "\"10s\"",
     .help = "What must remain of a solution's life when it is handed out."},
    {"cache.caller_error_ttl", OPTION_DURATION, IN_CONFIG(caller_error_ttl_ms), .max = HOUR, .preset = "\"30s\"",
     .help = "How long a request's own mistake is remembered, so that it is not sent again."},
    {"cache.solutions", OPTION_COUNT, IN_CONFIG(limits.solutions), .min = 1, .max = 10000000, .preset = "100000",
     .help = "Most solutions kept."},
    {"cache.bytes", OPTION_SIZE, IN_CONFIG(limits.solution_bytes), .min = 64 * KIB, .max = 1024 * GIB,
     .preset = "\"64MiB\"",
     .help = "Most memory for the text of solutions."},

    {"dedup.scope", OPTION_WORD, IN_CONFIG(dedup_is_global), .words = scope_words, .preset = "\"client\"",
     .help = "Who shares a solve: the holders of one gateway key, or everybody."},
    {"dedup.include_proxy", OPTION_FLAG, IN_CONFIG(dedup_include_proxy), .preset = "false",
     .help = "Makes proxy and proxytype part of what identifies a request."},

    {"reuse", OPTION_REUSES, IN_CONFIG(reuse), .words = reuse_words,
     .preset = "{\"image\": \"shared\", \"default\": \"shared\"}",
     .help = "Who may get the same solution, per type: everybody, one request, or (none) not even a join."},

    {"letters.alert_above", OPTION_COUNT, IN_CONFIG(letters.alert_above), .max = 1000000, .preset = "10",
     .help = "The operator is alerted when there are more dead letters than this."},
    {"letters.keep", OPTION_DURATION, IN_CONFIG(letters.keep_ms), .min = MINUTE, .max = 30 * (uint64_t)DAY,
     .preset = "\"7d\"",
     .help = "How long a dead letter is kept."},
    {"letters.max", OPTION_COUNT, IN_CONFIG(letters.max), .min = 1, .max = 1000000, .preset = "100000",
     .help = "Most dead letters kept; the oldest are dropped beyond."},
    {"letters.bytes", OPTION_SIZE, IN_CONFIG(letters.max_bytes), .min = 64 * KIB, .max = 1024 * GIB,
     .preset = "\"256MiB\"",
     .help = "Most memory for the parameters of dead letters; the oldest are dropped beyond."},
    {"letters.replay_interval", OPTION_DURATION, IN_CONFIG(letters.replay_interval_ms),
     .min = 1, .max = HOUR, .preset = "\"100ms\"",
     .help = "Time between two dead letters of a replay."},
    {"letters.retry_every", OPTION_DURATION, IN_CONFIG(letters.retry_every_ms), .max = 7 * DAY, .preset = "\"0s\"",
     .help = "How long after its failure a dead letter is replayed by itself; 0s: only when somebody orders it."},
    {"letters.retry_classes", OPTION_CLASSES, IN_CONFIG(letters.retry_classes), .words = letter_class_words,
     .preset = "[\"transient\", \"busy\", \"timeout\"]",
     .help = "Which dead letters are, by the class of their last error; what replaying cannot mend has no place here."},
    {"letters.retry_max", OPTION_COUNT, IN_CONFIG(letters.retry_max), .min = 1, .max = 1000, .preset = "3",
     .help = "How often a dead letter is replayed by itself at most; a restart does not count anew."},
    {"alerts.url", OPTION_URL, IN_CONFIG(alerts_url),
     .help = "Where alerts are posted as JSON, besides log and metrics."},

    {"callbacks.allow", OPTION_HOOKS, IN_CONFIG(callbacks.allow), .preset = "[]",
     .help = "Hosts that callers may have pingbacks sent to, at port 80, 443 or the one named; empty allows none."},
    {"callbacks.allow_private", OPTION_FLAG, IN_CONFIG(callbacks.allow_private), .preset = "false",
     .help = "Allows pingbacks to loopback, private and other addresses that are not of the public internet."},
    {"callbacks.timeout", OPTION_DURATION, IN_CONFIG(callbacks.timeout_ms), .min = 100, .max = 5 * MINUTE,
     .preset = "\"10s\"",
     .help = "How long one pingback may take, from looking up the name to the end of the reply."},
    {"callbacks.connections", OPTION_COUNT, IN_CONFIG(callbacks.connections), .min = 1, .max = 256, .preset = "16",
     .help = "Most pingbacks on their way at the same time."},
    {"callbacks.ca_file", OPTION_TEXT, IN_CONFIG(callbacks.ca_file),
     .help = "Certificates to trust instead of the system's when pingbacks are sent."},
    {"callbacks.retries", OPTION_COUNT, IN_CONFIG(callbacks.retries), .max = 1000, .preset = "5",
     .help = "Most retries of a pingback before it becomes a dead letter."},
    {"callbacks.retry_base", OPTION_DURATION, IN_CONFIG(callbacks.retry_base_ms), .min = 1, .max = HOUR,
     .preset = "\"1s\"",
     .help = "First pause between tries of a pingback; it doubles each time."},
    {"callbacks.retry_cap", OPTION_DURATION, IN_CONFIG(callbacks.retry_cap_ms), .min = 1, .max = DAY,
     .preset = "\"60s\"",
     .help = "Longest pause between tries of a pingback."},

    {"idempotency.ttl", OPTION_DURATION, IN_CONFIG(idempotency_ttl_ms), .min = SECOND, .max = 7 * DAY,
     .preset = "\"300s\"",
     .help = "How long an idempotency key is remembered."},
    {"idempotency.max", OPTION_COUNT, IN_CONFIG(limits.idempotency), .min = 1, .max = 10000000, .preset = "100000",
     .help = "Most idempotency keys remembered; the oldest of finished solves give way to new ones."},

    {"pools[].name", OPTION_NAME, IN_POOL(name), .preset = NULL,
     .help = "The pool's name in statistics; made of method and host when it is not given."},
    {"pools[].method", OPTION_TEXT, IN_POOL(text),
     .help = "The target's method; every other key is a parameter of the target, as in a request."},
    {"pools[].size", OPTION_COUNT, IN_POOL(size), .min = 1, .max = 10000, .preset = "5",
     .help = "Solutions kept ready."},
    {"pools[].idle_after", OPTION_DURATION, IN_POOL(idle_after_ms), .min = SECOND, .max = 7 * DAY, .preset = "\"120s\"",
     .help = "Without a request for this long it is no longer refilled; the next request wakes it."},
    {"pools[].max_waste", OPTION_COUNT, IN_POOL(max_waste), .max = 1000000, .preset = "10",
     .help = "Unused solutions in a row after which it is no longer refilled; 0: no limit."},
    {"pools[].client", OPTION_NAME, IN_POOL(client),
     .help = "The only client that gets these solutions, and whose budget and slots they use; "
             "without it everybody gets them and the first client pays."},

    {"clients[].name", OPTION_NAME, IN_CLIENT(name),
     .help = "The client's name in logs and statistics; required."},
    {"clients[].key", OPTION_KEY, IN_CLIENT(key_hash),
     .help = "The gateway key the client presents; this or key_hash is required."},
    {"clients[].key_hash", OPTION_KEY_HASH, IN_CLIENT(key_hash),
     .help = "What `solvegate hash-key` prints for the key, so that the file holds no secret."},
    {"clients[].scopes", OPTION_SCOPES, IN_CLIENT(scopes), .preset = "[\"solve\"]",
     .help = "What the client may do: solve, and admin to see everybody's flights and statistics."},
    {"clients[].allow_hosts", OPTION_HOSTS, IN_CLIENT(allow_hosts),
     .help = "Hosts whose captchas the client may have solved; without it every host."},
    {"clients[].slots", OPTION_COUNT, IN_CLIENT(slots), .max = 100000, .preset = "0",
     .help = "Most of the plan's slots it may hold; 0 sets no such limit."},
    {"clients[].weight", OPTION_COUNT, IN_CLIENT(weight), .min = 1, .max = 1000, .preset = "1",
     .help = "Its share of the queue against other clients."},
    {"clients[].requests", OPTION_COUNT, IN_CLIENT(requests), .max = 10000000, .preset = "0",
     .help = "Most of its requests waiting at the same time; 0 sets no limit but limits.requests."},
    {"clients[].budget_per_day", OPTION_COUNT, IN_CLIENT(budget_per_day), .max = UINT64_C(1000000000000),
     .help = "Most submits paid for it per day (UTC); without it no limit."},
    {"clients[].reuse", OPTION_WORD, IN_CLIENT(reuse), .words = reuse_words,
     .help = "Overrides reuse for this client."},
    {"clients[].retry.base", OPTION_DURATION, IN_CLIENT(retry.base_ms), .min = 1, .max = HOUR,
     .help = "Overrides retry.base for this client."},
    {"clients[].retry.cap", OPTION_DURATION, IN_CLIENT(retry.cap_ms), .min = 1, .max = HOUR,
     .help = "Overrides retry.cap for this client."},
    {"clients[].retry.busy", OPTION_COUNT, IN_CLIENT(retry.busy), .max = 1000,
     .help = "Overrides retry.busy for this client."},
    {"clients[].retry.unsolvable", OPTION_COUNT, IN_CLIENT(retry.unsolvable), .max = 1000,
     .help = "Overrides retry.unsolvable for this client."},
    {"clients[].retry.transient", OPTION_COUNT, IN_CLIENT(retry.transient), .max = 1000,
     .help = "Overrides retry.transient for this client."},

    {"limits.connections", OPTION_COUNT, IN_CONFIG(limits.connections), .min = 1, .max = 1000000, .preset = "10000",
     .help = "Most connections of callers."},
    {"limits.requests", OPTION_COUNT, IN_CONFIG(limits.requests), .min = 1, .max = 10000000, .preset = "200000",
     .help = "Most requests kept, waiting or answered; those answered give way to newcomers."},
    {"limits.finished", OPTION_COUNT, IN_CONFIG(limits.finished), .min = 1, .max = 10000000, .preset = "200000",
     .help = "Most of those that stay readable once their answer was read; the greediest client's oldest go first."},
    {"limits.flights", OPTION_COUNT, IN_CONFIG(limits.flights), .min = 1, .max = 10000000, .preset = "100000",
     .help = "Most solves under way or queued."},
    {"limits.flight_bytes", OPTION_SIZE, IN_CONFIG(limits.flight_bytes), .min = 64 * KIB, .max = 1024 * GIB,
     .preset = "\"512MiB\"",
     .help = "Most memory for the parameters of solves under way or queued, images included."},
    {"limits.pingback_bytes", OPTION_SIZE, IN_CONFIG(limits.pingback_bytes), .min = 64 * KIB, .max = 1024 * GIB,
     .preset = "\"32MiB\"",
     .help = "Most memory for the addresses of callers that are still to be told."},
    {"limits.per_flight", OPTION_COUNT, IN_CONFIG(limits.per_flight), .min = 1, .max = 10000000, .preset = "50000",
     .help = "Most requests that join one solve."},
    {"limits.records", OPTION_COUNT, IN_CONFIG(limits.records), .min = 1000, .max = 100000000, .preset = "1000000",
     .help = "Most records of the journal that wait for the disk; beyond them whoever asks is refused."},
    {"limits.record_bytes", OPTION_SIZE, IN_CONFIG(limits.record_bytes), .min = 1 * MIB, .max = 1024 * GIB,
     .preset = "\"256MiB\"",
     .help = "Most memory for the texts and parameters in them; the same."},
    {"limits.callers", OPTION_COUNT, IN_CONFIG(limits.callers), .min = 1, .max = 10000000, .preset = "20000",
     .help = "Most calls held open until their solve ends; a connection may pipeline several."},
    {"limits.body", OPTION_SIZE, IN_CONFIG(limits.body_bytes), .min = 1 * KIB, .max = 256 * MIB, .preset = "\"2MiB\"",
     .help = "Largest body of a request."},
    {"limits.header", OPTION_SIZE, IN_CONFIG(limits.header_bytes), .min = 1 * KIB, .max = 1 * MIB,
     .preset = "\"16KiB\"",
     .help = "Largest head of a request, with its URL."},
    {"limits.partial_bytes", OPTION_SIZE, IN_CONFIG(limits.partial_bytes), .min = 1 * MIB, .max = 1024 * GIB,
     .preset = "\"64MiB\"",
     .help = "Most memory for requests that callers are still sending, all connections together; "
             "what does not fit gets 503. An eighth is for those of up to 16 KiB alone. "
             "Room for one of the largest is the least."},
    {"limits.unsent_bytes", OPTION_SIZE, IN_CONFIG(limits.unsent_bytes), .min = 8 * MIB, .max = 1024 * GIB,
     .preset = "\"64MiB\"",
     .help = "Most memory for replies that callers do not read, all connections together; who holds most is closed."},
    {"limits.header_timeout", OPTION_DURATION, IN_CONFIG(limits.header_timeout_ms), .min = 100, .max = HOUR,
     .preset = "\"10s\"",
     .help = "How long the head of a request may take to arrive."},
    {"limits.body_timeout", OPTION_DURATION, IN_CONFIG(limits.body_timeout_ms), .min = 100, .max = HOUR,
     .preset = "\"20s\"",
     .help = "How long the body of a request may take to arrive."},
    {"limits.write_timeout", OPTION_DURATION, IN_CONFIG(limits.write_timeout_ms), .min = 100, .max = HOUR,
     .preset = "\"30s\"",
     .help = "How long a reply may take to be read."},
    {"limits.idle_timeout", OPTION_DURATION, IN_CONFIG(limits.idle_timeout_ms), .min = 100, .max = DAY,
     .preset = "\"75s\"",
     .help = "How long a connection may stay open between requests."},

    {"log.level", OPTION_WORD, IN_CONFIG(log.level), .words = level_words, .preset = "\"info\"",
     .help = "The least important events that are logged."},
    {"log.format", OPTION_WORD, IN_CONFIG(log.format), .words = format_words, .preset = "\"auto\"",
     .help = "How events are written; auto is text on a terminal and key=value elsewhere."},

    {"drain_timeout", OPTION_DURATION, IN_CONFIG(drain_timeout_ms), .max = HOUR, .preset = "\"5s\"",
     .help = "How long open calls may finish after SIGTERM."},
};
/* clang-format on */

const size_t option_count = sizeof(options) / sizeof(options[0]);
_Static_assert(sizeof(options) / sizeof(options[0]) <= OPTIONS_MAX, "OPTIONS_MAX is too small");
