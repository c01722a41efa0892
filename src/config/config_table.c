#include "config/config_options.h"

#include <stddef.h>

#define SECOND 1000
#define MINUTE (60 * SECOND)
#define HOUR (60 * MINUTE)
#define DAY (24 * HOUR)
#define KIB 1024
#define MIB (1024 * KIB)
#define GIB (UINT64_C(1024) * MIB)

/* The field that an option fills. */
#define FIELD(type, member) .offset = offsetof(type, member), .bytes = sizeof(((type *)0)->member)
#define FIELDS(type, member, counter, most)                                  \
    .offset = offsetof(type, member), .bytes = sizeof(*((type *)0)->member), \
    .count_offset = offsetof(type, counter), .max = (most)
#define AT(member) FIELD(struct config, member)
#define BITS(member) .shape = SHAPE_LIST, AT(member)
#define LIST(member, counter, most) \
    .shape = SHAPE_LIST, FIELDS(struct config, member, counter, most)
#define MAP(member, counter, most) .shape = SHAPE_MAP, FIELDS(struct config, member, counter, most)
#define PER_TYPE(member)                                                \
    .shape = SHAPE_PER_TYPE, .offset = offsetof(struct config, member), \
    .bytes = sizeof(((struct config *)0)->member[0])
#define POOL_AT(member) .home = HOME_POOL, FIELD(struct config_pool, member)
#define CLIENT_AT(member) .home = HOME_CLIENT, FIELD(struct config_client, member)
#define CLIENT_BITS(member) .shape = SHAPE_LIST, CLIENT_AT(member)
#define CLIENT_LIST(member, counter, most) \
    .home = HOME_CLIENT, .shape = SHAPE_LIST, FIELDS(struct config_client, member, counter, most)

#define LIVE true
#define RESTART false
#define RANGE(least, most) .min = (least), .max = (most)

/* Defaults: the stored number, and the text for people. */
#define IN_SECONDS(n) {UINT64_C(n) * SECOND, #n "s"}
#define MILLIS(n) .preset = {(n), #n "ms"}
#define SECONDS(n) .preset = IN_SECONDS(n)
#define MINUTES(n) .preset = {UINT64_C(n) * MINUTE, #n "m"}
#define DAYS(n) .preset = {UINT64_C(n) * DAY, #n "d"}
#define KIBS(n) .preset = {UINT64_C(n) * KIB, #n "KiB"}
#define MIBS(n) .preset = {UINT64_C(n) * MIB, #n "MiB"}
#define NUMBER(n) .preset = {(n), #n}
#define SHARE(permille, text) .preset = {(permille), (text)}
#define TEXT(text) .preset = {0, (text)}
#define CHOICE(value) .preset = {(value), ""} /* the text is that of its word */
#define EMPTY CHOICE(0)
#define UNSAID .preset = {UINT64_MAX, NULL} /* stored as the field's largest number */

static const struct option_word letter_class_words[] = {
    {"transient", 1u << CLASS_TRANSIENT},
    {"busy", 1u << CLASS_BUSY},
    {"timeout", 1u << CLASS_TIMEOUT},
    {"unsolvable", 1u << CLASS_UNSOLVABLE},
    {"ambiguous", 1u << CLASS_AMBIGUOUS},
    {"unknown", 1u << CLASS_UNKNOWN},
    {NULL, 0},
};
/* The error classes of the vendor's replies; the others describe states of our own. */
static const struct option_word error_class_words[] = {
    {"pending", CLASS_PENDING},     {"busy", CLASS_BUSY},       {"unsolvable", CLASS_UNSOLVABLE},
    {"transient", CLASS_TRANSIENT}, {"account", CLASS_ACCOUNT}, {"caller", CLASS_CALLER},
    {"proxy", CLASS_PROXY},         {"unknown", CLASS_UNKNOWN}, {NULL, 0},
};
static const struct option_word ambiguous_words[] = {{"resend", true}, {"never", false}, {NULL, 0}};
static const struct option_word sharing_words[] = {{"client", false}, {"global", true}, {NULL, 0}};
static const struct option_word scope_words[] = {
    {"solve", SCOPE_SOLVE}, {"admin", SCOPE_ADMIN}, {NULL, 0}};
static const struct option_word slot_words[] = {{"auto", 0}, {NULL, 0}};
static const struct option_word reuse_words[] = {
    {"shared", REUSE_SHARED}, {"single", REUSE_SINGLE}, {"none", REUSE_NONE}, {NULL, 0}};
static const struct option_word mode_words[] = {
    {"serve", MODE_SERVE}, {"shadow", MODE_SHADOW}, {NULL, 0}};
static const struct option_word level_words[] = {{"debug", LOG_LEVEL_DEBUG},
                                                 {"info", LOG_LEVEL_INFO},
                                                 {"warn", LOG_LEVEL_WARN},
                                                 {"error", LOG_LEVEL_ERROR},
                                                 {NULL, 0}};
static const struct option_word format_words[] = {{"auto", LOG_FORMAT_AUTO},
                                                  {"text", LOG_FORMAT_TEXT},
                                                  {"key_value", LOG_FORMAT_KEY_VALUE},
                                                  {"json", LOG_FORMAT_JSON},
                                                  {NULL, 0}};

static const struct option_type ttl_presets[] = {
    {TYPE_RECAPTCHA_V2, IN_SECONDS(80)}, {TYPE_RECAPTCHA_V3, IN_SECONDS(80)},
    {TYPE_HCAPTCHA, IN_SECONDS(80)},     {TYPE_TURNSTILE, IN_SECONDS(250)},
    {TYPE_IMAGE, {HOUR, "1h"}},          {TYPE_COUNT, {0, NULL}},
};
static const struct option_type reuse_presets[] = {{TYPE_IMAGE, {REUSE_SHARED, ""}},
                                                   {TYPE_COUNT, {0, NULL}}};

/* clang-format off */
const struct option option_table[] = {
    {"listen", OPTION_ADDRESS, RESTART, LIST(listen, listen_count, CONFIG_LISTEN_MAX), TEXT("127.0.0.1:8430"),
     .help = "Addresses to serve at; without clients only this machine may reach them."},
    {"listen_shared", OPTION_FLAG, RESTART, AT(http.shares_ports), CHOICE(false),
     .help = "Several gateways of this machine serve at the same ports, and the kernel divides the connections among "
             "them; they need one store and cluster.enabled."},
    {"public_url", OPTION_URL, RESTART, AT(public_url),
     .help = "Where the vendor reaches this gateway with its callbacks; without it solutions are polled for."},
    {"trusted_proxies", OPTION_NETWORK, RESTART,
     LIST(http.trusted_proxies, http.trusted_proxy_count, CONFIG_PROXIES_MAX), EMPTY,
     .help = "Reverse proxies whose X-Forwarded-For is believed."},
    {"data_dir", OPTION_TEXT, RESTART, AT(data_dir),
     .help = "Directory of the journal; without it and without store everything is kept in memory only."},
    {"store", OPTION_STORE, RESTART, AT(store.url),
     .help = "Database of the journal instead of data_dir; ${NAME} keeps its password out of the file."},
    {"store_prefix", OPTION_PREFIX, RESTART, AT(store.prefix), TEXT("solvegate"),
     .help = "The store's schema in PostgreSQL, or what its keys in Redis begin with."},
    {"store_ca_file", OPTION_TEXT, RESTART, AT(store.ca_file),
     .help = "Certificates to trust instead of the system's when the store is reached over TLS."},
    {"cluster.enabled", OPTION_FLAG, RESTART, AT(cluster_enabled),
     .help = "Gateways with the same store share it, and a key is paid for once by all of them; without this option "
             "true if the store is PostgreSQL or Redis, and false keeps it for one gateway alone."},
    {"cluster.node", OPTION_TEXT, RESTART, AT(store.node),
     .help = "This gateway's name among those that share the store, the same at each start; without it host name and "
             "first listening address."},
    {"cluster.lease", OPTION_DURATION, RESTART, AT(store.lease_ms), RANGE(1000, 5 * MINUTE), SECONDS(10),
     .help = "How long the others believe in a gateway that is silent; the same for all that share the store."},
    {"cluster.heartbeat", OPTION_DURATION, RESTART, AT(store.heartbeat_ms), RANGE(100, MINUTE), SECONDS(2),
     .help = "How often a gateway tells the others that it lives; at most a third of cluster.lease."},
    {"cluster.allow_async", OPTION_FLAG, RESTART, AT(store.allow_async), CHOICE(false),
     .help = "Accepts a store whose settings may lose what it acknowledged: after a crash of the server a solve may "
             "be paid twice."},

    {"upstream.url", OPTION_URL, RESTART, AT(upstream.url), TEXT("https://ocr.captchaai.com"),
     .help = "The vendor's address, without /in.php."},
    {"upstream.key", OPTION_SECRET, RESTART, AT(upstream.key),
     .help = "The vendor's API key; if it is given nowhere, CAPTCHAAI_API_KEY is taken from the environment."},
    {"upstream.slots", OPTION_COUNT, LIVE, AT(engine.slots), RANGE(1, 100000), .words = slot_words, CHOICE(0),
     .help = "Threads of the vendor's plan; auto asks the vendor and adapts."},
    {"upstream.connections", OPTION_COUNT, RESTART, AT(upstream.connections), RANGE(1, 4096), NUMBER(64),
     .help = "Most connections to the vendor at the same time."},
    {"upstream.http2", OPTION_FLAG, RESTART, AT(upstream.http2), CHOICE(true),
     .help = "Speaks HTTP/2 to a vendor that does; without it HTTP/1.1, which costs less processor time but more "
             "connections, and proves less about a submit whose reply was lost."},
    {"upstream.connect_timeout", OPTION_DURATION, RESTART, AT(upstream.connect_timeout_ms), RANGE(100, 5 * MINUTE),
     SECONDS(5),
     .help = "How long connecting to the vendor may take."},
    {"upstream.submit_timeout", OPTION_DURATION, RESTART, AT(upstream.submit_timeout_ms), RANGE(100, 10 * MINUTE),
     SECONDS(15),
     .help = "How long the reply to a submit may take before the submit is ambiguous."},
    {"upstream.poll_timeout", OPTION_DURATION, RESTART, AT(upstream.poll_timeout_ms), RANGE(100, 10 * MINUTE),
     SECONDS(10),
     .help = "How long the reply to a poll may take."},
    {"upstream.price", OPTION_PRICE, LIVE, PER_TYPE(engine.price_micro), RANGE(0, 1000), EMPTY,
     .help = "Price of one solve per type, in the account's currency, for the statistics."},
    {"upstream.ca_file", OPTION_TEXT, RESTART, AT(upstream.ca_file),
     .help = "Certificates to trust instead of the system's."},
    {"upstream.allow_plain_http", OPTION_FLAG, RESTART, AT(upstream.allow_plain_http), CHOICE(false),
     .help = "Allows http to a vendor that is not this machine: the key travels readable."},

    {"poll.first", OPTION_DURATION, LIVE, PER_TYPE(engine.poll_first_ms), RANGE(100, 10 * MINUTE), SECONDS(5),
     .help = "How long after a submit the first poll is sent; one duration, or one per type."},
    {"poll.interval", OPTION_DURATION, LIVE, AT(engine.poll_interval_ms), RANGE(100, 10 * MINUTE), SECONDS(5),
     .help = "Time between polls of one solve."},
    {"poll.fallback_after", OPTION_DURATION, LIVE, AT(engine.fallback_after_ms), RANGE(SECOND, HOUR), SECONDS(90),
     .help = "How long to wait for a callback before polling."},

    {"solve_timeout", OPTION_DURATION, LIVE, AT(engine.solve_timeout_ms), RANGE(SECOND, HOUR), SECONDS(180),
     .help = "Longest life of a solve, whatever its retries. What is paid for by then is asked for as long again and "
             "kept."},
    {"ambiguity_window", OPTION_DURATION, LIVE, AT(engine.ambiguity_window_ms), RANGE(0, HOUR),
     .below = "solve_timeout", SECONDS(45),
     .help = "How long a submit whose reply was lost may still prove itself before it is sent again."},
    {"on_ambiguous", OPTION_WORD, LIVE, AT(engine.resend_ambiguous), .words = ambiguous_words, CHOICE(true),
     .help = "What happens after the ambiguity window: the submit is sent again, or the solve fails."},

    {"retry.base", OPTION_DURATION, LIVE, AT(engine.retry_base_ms), RANGE(1, HOUR), .at_most = "retry.cap", SECONDS(1),
     .help = "First pause between attempts; it doubles each time."},
    {"retry.cap", OPTION_DURATION, LIVE, AT(engine.retry_cap_ms), RANGE(1, HOUR), SECONDS(60),
     .help = "Longest pause between attempts."},
    {"retry.jitter", OPTION_DURATION, LIVE, AT(engine.retry_jitter_ms), RANGE(0, HOUR), SECONDS(1),
     .help = "Largest random time added to each pause."},
    {"retry.busy", OPTION_COUNT, LIVE, AT(engine.retry_busy), RANGE(0, 1000), NUMBER(5),
     .help = "Most retries when the vendor says that it is busy."},
    {"retry.unsolvable", OPTION_COUNT, LIVE, AT(engine.retry_unsolvable), RANGE(0, 1000), NUMBER(2),
     .help = "Most retries when the vendor could not solve it."},
    {"retry.transient", OPTION_COUNT, LIVE, AT(engine.retry_transient), RANGE(0, 1000), NUMBER(3),
     .help = "Most retries after faults of the vendor or the network."},
    {"retry.unknown", OPTION_COUNT, LIVE, AT(engine.retry_unknown), RANGE(0, 1000), NUMBER(1),
     .help = "Most retries after errors that nobody knows."},
    {"retry.budget", OPTION_SHARE, LIVE, AT(engine.retry_budget_permille), RANGE(0, 1), SHARE(200, "0.2"),
     .help = "Retries as a share of the last minute's submits, with a floor of 20 a minute; 0 sets no such limit."},
    {"breaker.probe", OPTION_DURATION, LIVE, AT(engine.breaker_probe_ms), RANGE(100, HOUR),
     .at_most = "breaker.probe_max", SECONDS(15),
     .help = "How long after the vendor's account failed a free call asks whether it works again."},
    /* The vendor lifts an IP ban after five minutes, so probing less often gains nothing. */
    {"breaker.probe_max", OPTION_DURATION, LIVE, AT(engine.breaker_probe_most_ms), RANGE(100, DAY), MINUTES(5),
     .help = "Longest pause between such calls; it doubles each time."},

    {"errors", OPTION_ERROR, RESTART, MAP(upstream.vendor.overrides, upstream.vendor.override_count, CONFIG_ERRORS_MAX),
     .words = error_class_words, EMPTY,
     .help = "Error codes of the vendor that are to be handled as another class than the built-in one."},

    {"cache.ttl", OPTION_DURATION, LIVE, PER_TYPE(engine.ttl_ms), RANGE(SECOND, 7 * DAY), SECONDS(60),
     .types = ttl_presets,
     .help = "How long a solution is good, per type."},
    {"cache.min_ttl", OPTION_DURATION, LIVE, AT(min_ttl_ms), RANGE(0, DAY), SECONDS(10),
     .help = "What must remain of a solution's life when it is handed out."},
    {"cache.caller_error_ttl", OPTION_DURATION, LIVE, AT(engine.caller_error_ttl_ms), RANGE(0, HOUR), SECONDS(30),
     .help = "How long a request's own mistake is remembered, so that it is not sent again."},
    {"cache.solutions", OPTION_COUNT, RESTART, AT(engine.max_solutions), RANGE(1, 10000000), NUMBER(100000),
     .help = "Most solutions kept."},
    {"cache.bytes", OPTION_SIZE, RESTART, AT(engine.max_solution_bytes), RANGE(64 * KIB, 1024 * GIB), MIBS(64),
     .help = "Most memory for the text of solutions."},

    {"dedup.scope", OPTION_WORD, LIVE, AT(engine.clients_share), .words = sharing_words, CHOICE(false),
     .help = "Who shares a solve: the holders of one gateway key, or everybody."},
    {"dedup.include_proxy", OPTION_FLAG, LIVE, AT(dedup_include_proxy), CHOICE(false),
     .help = "Makes proxy and proxytype part of what identifies a request."},

    {"reuse", OPTION_WORD, LIVE, PER_TYPE(reuse), .words = reuse_words, CHOICE(REUSE_SHARED), .types = reuse_presets,
     .help = "Who may get the same solution, per type: everybody, one request, or (none) not even a join."},

    {"mode", OPTION_WORD, LIVE, AT(mode), .words = mode_words, CHOICE(MODE_SERVE),
     .help = "serve shares solves; shadow pays for every request as if there were no gateway, and counts what serving "
             "would have saved."},
    {"shadow.keys", OPTION_COUNT, RESTART, AT(engine.max_shadow_keys), RANGE(1, 10000000), NUMBER(100000),
     .help = "Most keys, and as many idempotency keys, whose savings are predicted in shadow mode; the oldest give "
             "way."},
    {"shadow.top", OPTION_COUNT, RESTART, AT(engine.max_shadow_top), RANGE(1, 1000), NUMBER(100),
     .help = "How many of the keys that repeat most, and of the targets with reports, are kept."},

    {"letters.alert_above", OPTION_COUNT, LIVE, AT(engine.letter_alert_above), RANGE(0, 1000000), NUMBER(10),
     .help = "The operator is alerted when there are more dead letters than this."},
    {"letters.keep", OPTION_DURATION, LIVE, AT(engine.letter_keep_ms), RANGE(MINUTE, 30 * (uint64_t)DAY), DAYS(7),
     .help = "How long a dead letter is kept."},
    {"letters.max", OPTION_COUNT, RESTART, AT(engine.max_letters), RANGE(1, 1000000), NUMBER(100000),
     .help = "Most dead letters kept; the oldest are dropped beyond."},
    {"letters.bytes", OPTION_SIZE, RESTART, AT(engine.max_letter_bytes), RANGE(64 * KIB, 1024 * GIB), MIBS(256),
     .help = "Most memory for the parameters of dead letters; the oldest are dropped beyond."},
    {"letters.replay_interval", OPTION_DURATION, LIVE, AT(engine.replay_interval_ms), RANGE(1, HOUR), MILLIS(100),
     .help = "Time between two dead letters of a replay."},
    {"letters.retry_every", OPTION_DURATION, LIVE, AT(engine.letter_retry_every_ms), RANGE(0, 7 * DAY), SECONDS(0),
     .help = "How long after its failure a dead letter is replayed by itself; 0s: only when somebody orders it."},
    {"letters.retry_classes", OPTION_BIT, LIVE, BITS(engine.letter_retry_classes), .words = letter_class_words,
     CHOICE(1u << CLASS_TRANSIENT | 1u << CLASS_BUSY | 1u << CLASS_TIMEOUT),
     .help = "Which dead letters are, by the class of their last error; what replaying cannot mend has no place here."},
    {"letters.retry_max", OPTION_COUNT, LIVE, AT(engine.letter_retry_max), RANGE(1, 1000), NUMBER(3),
     .help = "How often a dead letter is replayed by itself at most; a restart does not count anew."},
    {"alerts.url", OPTION_URL, RESTART, AT(alerts_url),
     .help = "Where alerts are posted as JSON, besides log and metrics."},

    {"callbacks.allow", OPTION_NOTICE_HOST, LIVE, LIST(notices.allow, notices.allow_count, CONFIG_HOOKS_MAX), EMPTY,
     .help = "Hosts that callers may have pingbacks sent to, at port 80, 443 or the one named; empty allows none."},
    {"callbacks.allow_private", OPTION_FLAG, LIVE, AT(notices.allow_private), CHOICE(false),
     .help = "Allows pingbacks to loopback, private and other addresses that are not of the public internet."},
    {"callbacks.timeout", OPTION_DURATION, RESTART, AT(notices.timeout_ms), RANGE(100, 5 * MINUTE), SECONDS(10),
     .help = "How long one pingback may take, from looking up the name to the end of the reply."},
    {"callbacks.connections", OPTION_COUNT, RESTART, AT(notices.connections), RANGE(1, 256), NUMBER(16),
     .help = "Most pingbacks on their way at the same time."},
    {"callbacks.ca_file", OPTION_TEXT, RESTART, AT(notices.ca_file),
     .help = "Certificates to trust instead of the system's when pingbacks are sent."},
    {"callbacks.retries", OPTION_COUNT, LIVE, AT(engine.notice_retries), RANGE(0, 1000), NUMBER(5),
     .help = "Most retries of a pingback before it becomes a dead letter."},
    {"callbacks.retry_base", OPTION_DURATION, LIVE, AT(engine.notice_base_ms), RANGE(1, HOUR),
     .at_most = "callbacks.retry_cap", SECONDS(1),
     .help = "First pause between tries of a pingback; it doubles each time."},
    {"callbacks.retry_cap", OPTION_DURATION, LIVE, AT(engine.notice_cap_ms), RANGE(1, DAY), SECONDS(60),
     .help = "Longest pause between tries of a pingback."},

    {"idempotency.ttl", OPTION_DURATION, LIVE, AT(engine.idempotency_ttl_ms), RANGE(SECOND, 7 * DAY), SECONDS(300),
     .help = "How long an idempotency key is remembered."},
    {"idempotency.max", OPTION_COUNT, RESTART, AT(engine.max_idempotency), RANGE(1, 10000000), NUMBER(100000),
     .help = "Most idempotency keys remembered; the oldest of finished solves give way to new ones."},

    {"pools[].name", OPTION_NAME, RESTART, POOL_AT(name),
     .help = "The pool's name in statistics; made of method and host when it is not given."},
    {"pools[].method", OPTION_TEXT, RESTART, POOL_AT(method),
     .help = "The target's method; every other key is a parameter of the target, as in a request."},
    {"pools[].size", OPTION_COUNT, RESTART, POOL_AT(options.size), RANGE(1, 10000), NUMBER(5),
     .help = "Solutions kept ready."},
    {"pools[].idle_after", OPTION_DURATION, RESTART, POOL_AT(options.idle_after_ms), RANGE(SECOND, 7 * DAY),
     SECONDS(120),
     .help = "Without a request for this long it is no longer refilled; the next request wakes it."},
    {"pools[].max_waste", OPTION_COUNT, RESTART, POOL_AT(options.max_waste), RANGE(0, 1000000), NUMBER(10),
     .help = "Unused solutions in a row after which it is no longer refilled; 0: no limit."},
    {"pools[].client", OPTION_NAME, RESTART, POOL_AT(client),
     .help = "The only client that gets these solutions, and whose budget and slots they use; without it everybody "
             "gets them and the first client pays."},

    {"clients[].name", OPTION_NAME, LIVE, CLIENT_AT(name),
     .help = "The client's name in logs and statistics; required."},
    {"clients[].key", OPTION_KEY, LIVE, CLIENT_AT(key_hash),
     .help = "The gateway key the client presents; this or key_hash is required."},
    {"clients[].key_hash", OPTION_KEY_HASH, LIVE, CLIENT_AT(key_hash),
     .help = "What `solvegate hash-key` prints for the key, so that the file holds no secret."},
    {"clients[].scopes", OPTION_BIT, LIVE, CLIENT_BITS(scopes), .words = scope_words, CHOICE(SCOPE_SOLVE),
     .help = "What the client may do: solve, and admin to see everybody's flights and statistics."},
    {"clients[].allow_hosts", OPTION_HOST, LIVE, CLIENT_LIST(allow_hosts, allow_host_count, CONFIG_HOSTS_MAX),
     .help = "Hosts whose captchas the client may have solved; without it every host."},
    {"clients[].slots", OPTION_COUNT, LIVE, CLIENT_AT(options.slots), RANGE(0, 100000), NUMBER(0),
     .help = "Most of the plan's slots it may hold; 0 sets no such limit."},
    {"clients[].weight", OPTION_COUNT, LIVE, CLIENT_AT(options.weight), RANGE(1, 1000), NUMBER(1),
     .help = "Its share of the queue against other clients."},
    {"clients[].requests", OPTION_COUNT, LIVE, CLIENT_AT(options.requests), RANGE(0, 10000000), NUMBER(0),
     .help = "Most of its requests waiting at the same time; 0 sets no limit but limits.requests."},
    {"clients[].budget_per_day", OPTION_COUNT, LIVE, CLIENT_AT(options.budget_per_day),
     RANGE(0, UINT64_C(1000000000000)), UNSAID,
     .help = "Most submits paid for it per day (UTC); without it no limit."},
    {"clients[].reuse", OPTION_WORD, LIVE, CLIENT_AT(reuse), .words = reuse_words,
     .help = "Overrides reuse for this client."},
    {"clients[].mode", OPTION_WORD, LIVE, CLIENT_AT(mode), .words = mode_words,
     .help = "Overrides mode for this client."},
    {"clients[].retry.base", OPTION_DURATION, LIVE, CLIENT_AT(options.retry.base_ms), RANGE(1, HOUR), UNSAID,
     .help = "Overrides retry.base for this client."},
    {"clients[].retry.cap", OPTION_DURATION, LIVE, CLIENT_AT(options.retry.cap_ms), RANGE(1, HOUR), UNSAID,
     .help = "Overrides retry.cap for this client."},
    {"clients[].retry.busy", OPTION_COUNT, LIVE, CLIENT_AT(options.retry.busy), RANGE(0, 1000), UNSAID,
     .help = "Overrides retry.busy for this client."},
    {"clients[].retry.unsolvable", OPTION_COUNT, LIVE, CLIENT_AT(options.retry.unsolvable), RANGE(0, 1000), UNSAID,
     .help = "Overrides retry.unsolvable for this client."},
    {"clients[].retry.transient", OPTION_COUNT, LIVE, CLIENT_AT(options.retry.transient), RANGE(0, 1000), UNSAID,
     .help = "Overrides retry.transient for this client."},

    {"limits.connections", OPTION_COUNT, RESTART, AT(http.connections), RANGE(1, 1000000), NUMBER(10000),
     .help = "Most connections of callers; with a public_url a few more are for callbacks, /livez and /readyz alone."},
    {"limits.requests", OPTION_COUNT, RESTART, AT(engine.max_requests), RANGE(1, 10000000), NUMBER(200000),
     .help = "Most requests kept, waiting or answered; those answered give way to newcomers."},
    {"limits.finished", OPTION_COUNT, RESTART, AT(engine.max_finished), RANGE(1, 10000000), NUMBER(200000),
     .help = "Most of those that stay readable once their answer was read; the greediest client's oldest go first."},
    {"limits.finished_bytes", OPTION_SIZE, RESTART, AT(engine.max_finished_bytes), RANGE(1 * MIB, 1024 * GIB),
     MIBS(256),
     .help = "Most memory for solutions that left the cache and that answered requests or idempotency keys still hold; "
             "the greediest client's oldest are forgotten, those that were read first."},
    {"limits.flights", OPTION_COUNT, RESTART, AT(engine.max_flights), RANGE(1, 10000000), NUMBER(100000),
     .help = "Most solves under way or queued."},
    {"limits.flight_bytes", OPTION_SIZE, RESTART, AT(engine.max_flight_bytes), RANGE(64 * KIB, 1024 * GIB), MIBS(512),
     .help = "Most memory for the parameters of solves under way or queued, images included."},
    {"limits.pingback_bytes", OPTION_SIZE, RESTART, AT(engine.max_pingback_bytes), RANGE(64 * KIB, 1024 * GIB),
     MIBS(32),
     .help = "Most memory for the addresses of callers that are still to be told."},
    {"limits.per_flight", OPTION_COUNT, RESTART, AT(engine.max_per_flight), RANGE(1, 10000000), NUMBER(50000),
     .help = "Most requests that join one solve."},
    {"limits.records", OPTION_COUNT, RESTART, AT(engine.max_records), RANGE(1000, 100000000), NUMBER(1000000),
     .help = "Most records of the journal that wait for the disk; beyond them whoever asks is refused."},
    {"limits.record_bytes", OPTION_SIZE, RESTART, AT(engine.max_record_bytes), RANGE(1 * MIB, 1024 * GIB), MIBS(256),
     .help = "Most memory for the texts and parameters in them; the same."},
    {"limits.callers", OPTION_COUNT, RESTART, AT(engine.max_callers), RANGE(1, 10000000), NUMBER(20000),
     .help = "Most calls held open until their solve ends; a connection may pipeline several."},
    {"limits.body", OPTION_SIZE, RESTART, AT(http.body_bytes), RANGE(1 * KIB, 256 * MIB), MIBS(2),
     .help = "Largest body of a request."},
    {"limits.header", OPTION_SIZE, RESTART, AT(http.header_bytes), RANGE(1 * KIB, 1 * MIB), KIBS(16),
     .help = "Largest head of a request, with its URL."},
    {"limits.partial_bytes", OPTION_SIZE, RESTART, AT(http.partial_bytes), RANGE(1 * MIB, 1024 * GIB), MIBS(64),
     .help = "Most memory for requests that callers are still sending, all connections together; those that stall give "
             "way to others, and what still does not fit gets 503. An eighth is for those of up to 16 KiB alone. Room "
             "for one of the largest is the least."},
    {"limits.unsent_bytes", OPTION_SIZE, RESTART, AT(http.unsent_bytes), RANGE(8 * MIB, 1024 * GIB), MIBS(64),
     .help = "Most memory for replies that callers do not read, all connections together; who holds most is closed."},
    {"limits.header_timeout", OPTION_DURATION, RESTART, AT(http.header_timeout_ms), RANGE(100, HOUR), SECONDS(10),
     .help = "How long the head of a request may take to arrive."},
    {"limits.body_timeout", OPTION_DURATION, RESTART, AT(http.body_timeout_ms), RANGE(100, HOUR), SECONDS(20),
     .help = "How long the body of a request may take to arrive."},
    {"limits.write_timeout", OPTION_DURATION, RESTART, AT(http.write_timeout_ms), RANGE(100, HOUR), SECONDS(30),
     .help = "How long a reply may take to be read."},
    {"limits.idle_timeout", OPTION_DURATION, RESTART, AT(http.idle_timeout_ms), RANGE(100, DAY), SECONDS(75),
     .help = "How long a connection may stay open between requests."},

    {"log.level", OPTION_WORD, LIVE, AT(log_level), .words = level_words, CHOICE(LOG_LEVEL_INFO),
     .help = "The least important events that are logged."},
    {"log.format", OPTION_WORD, LIVE, AT(log_format), .words = format_words, CHOICE(LOG_FORMAT_AUTO),
     .help = "How events are written; auto is text on a terminal and key=value elsewhere."},

    {"drain_timeout", OPTION_DURATION, LIVE, AT(drain_timeout_ms), RANGE(0, HOUR), SECONDS(5),
     .help = "How long open calls may finish after SIGTERM."},
};
/* clang-format on */

const size_t option_count = sizeof option_table / sizeof option_table[0];
_Static_assert(sizeof option_table / sizeof option_table[0] <= OPTIONS_MAX,
               "OPTIONS_MAX is too small");
