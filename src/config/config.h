/* The configuration: defaults, file, environment and flags, with every mistake named (docs/design.md 6.5). */
#ifndef SOLVEGATE_CONFIG_CONFIG_H
#define SOLVEGATE_CONFIG_CONFIG_H

#include "base/buf.h"
#include "base/err.h"
#include "proto/vendor.h"

#include <solvegate/types.h>

#define CONFIG_TEXT_MAX 512
#define CONFIG_LISTEN_MAX 16
#define CONFIG_PROXIES_MAX 32
#define CONFIG_ERRORS_MAX 128
#define CONFIG_HOSTS_MAX 64
#define CONFIG_HOOKS_MAX 64
#define CONFIG_CLIENTS_MAX 1024
#define CONFIG_POOLS_MAX 256
#define CLIENT_NAME_MAX 64
/* A host of RFC 1035 with "*." before it. */
#define CONFIG_HOST_MAX 256
#define CLIENT_KEY_HASH_BYTES 32

/* Network of a trusted proxy, IPv4 mapped into IPv6. */
struct config_cidr {
    uint8_t address[16];
    uint8_t prefix_bits;
};

/* Where callers' pingbacks may go. */
struct config_hook {
    char host[CONFIG_HOST_MAX]; /* a pattern as in allow_hosts */
    uint16_t port;              /* 0: 80 and 443 */
};

enum client_scope {
    SCOPE_SOLVE = 1,
    SCOPE_ADMIN = 2,
};

/* A client's own limits of retries; what it does not say is as for everybody. */
struct config_retry {
    uint32_t base_ms, cap_ms;             /* UINT32_MAX: not said */
    uint16_t busy, unsolvable, transient; /* UINT16_MAX: not said */
};

struct config_client {
    char name[CLIENT_NAME_MAX];
    uint8_t key_hash[CLIENT_KEY_HASH_BYTES]; /* BLAKE2b-256; keys themselves are not kept */
    unsigned scopes;                         /* of enum client_scope */
    char **allow_hosts;      /* owned; "*.example.com" or "example.com", lower case */
    size_t allow_host_count; /* 0: every host */
    uint32_t slots;          /* 0: no own limit */
    uint32_t weight;
    uint32_t requests;       /* most requests waiting; 0: the global limit */
    uint64_t budget_per_day; /* UINT64_MAX: no limit */
    enum reuse reuse;        /* REUSE_DEFAULT when not said */
    bool is_gone;            /* a reload took it away; its place stays its own */
    struct config_retry retry;
};

/* One that says nothing of its own. */
void config_retry_init(struct config_retry *retry);

/* A target whose solutions are solved ahead. */
struct config_pool {
    char name[CLIENT_NAME_MAX];   /* "": made of method and host */
    char client[CLIENT_NAME_MAX]; /* whose it is; "": everybody's, and the first client pays */
    uint32_t size;
    uint32_t idle_after_ms;
    uint32_t max_waste;
    struct blob *params;        /* owned: what a submit sends */
    char text[CONFIG_TEXT_MAX]; /* of the parameter being read */
};

struct config {
    char listen[CONFIG_LISTEN_MAX][CONFIG_TEXT_MAX];
    size_t listen_count;
    char public_url[CONFIG_TEXT_MAX]; /* "" when absent; no trailing slash */
    struct config_cidr trusted_proxies[CONFIG_PROXIES_MAX];
    size_t trusted_proxy_count;
    char data_dir[CONFIG_TEXT_MAX]; /* "" : memory only */

    struct {
        char url[CONFIG_TEXT_MAX]; /* no trailing slash */
        char key[CONFIG_TEXT_MAX]; /* secret */
        char ca_file[CONFIG_TEXT_MAX];
        bool allow_plain_http; /* http to a host that is not loopback */
        uint32_t slots;
        bool slots_are_auto;
        uint32_t connections;
        uint32_t connect_timeout_ms;
        uint32_t submit_timeout_ms;
        uint32_t poll_timeout_ms;
        uint64_t price_micro[CAPTCHA_COUNT]; /* millionths of the account's currency per solve */
        bool has_price;
    } upstream;

    uint32_t poll_first_ms[CAPTCHA_COUNT]; /* poll.first: a duration, or an object per type */
    uint32_t poll_interval_ms;
    uint32_t fallback_after_ms;

    uint32_t solve_timeout_ms;
    uint32_t ambiguity_window_ms;
    bool resend_ambiguous;

    struct {
        uint32_t base_ms, cap_ms, jitter_ms;
        uint16_t busy, unsolvable, transient, unknown;
        uint32_t budget_permille;
    } retry;

    struct {
        uint32_t probe_ms, probe_max_ms;
    } breaker;

    struct error_override errors[CONFIG_ERRORS_MAX];
    size_t error_count;

    uint32_t ttl_ms[CAPTCHA_COUNT];
    uint32_t min_ttl_ms;
    uint32_t caller_error_ttl_ms;

    bool dedup_is_global;
    bool dedup_include_proxy;

    enum reuse reuse[CAPTCHA_COUNT]; /* resolved: never REUSE_DEFAULT */
    uint32_t idempotency_ttl_ms;

    struct {
        uint32_t alert_above;
        uint32_t keep_ms;
        uint32_t max;
        uint64_t max_bytes;
        uint32_t replay_interval_ms;
        uint32_t retry_every_ms; /* 0: letters are replayed by order only */
        uint32_t retry_classes;  /* a bit for each enum class */
        uint16_t retry_max;
    } letters;
    char alerts_url[CONFIG_TEXT_MAX]; /* "": log and metric only */

    struct {
        struct config_hook allow[CONFIG_HOOKS_MAX];
        size_t allow_count; /* 0: callers get no pingbacks */
        bool allow_private; /* also addresses that only we can reach */
        uint32_t timeout_ms;
        uint32_t connections;
        char ca_file[CONFIG_TEXT_MAX]; /* "": the system's */
        uint16_t retries;
        uint32_t retry_base_ms, retry_cap_ms;
    } callbacks;

    struct config_pool *pools; /* owned */
    size_t pool_count;

    struct config_client *clients; /* owned */
    size_t client_count;           /* 0: any key is accepted, loopback and unix listeners only */
    uint16_t *client_order;        /* owned; places of clients by key_hash, to find one fast */

    struct {
        uint32_t connections, requests, finished, flights, per_flight, callers;
        uint32_t body_bytes, header_bytes;
        uint64_t partial_bytes, unsent_bytes;
        uint64_t flight_bytes, pingback_bytes;
        uint32_t solutions;
        uint64_t solution_bytes;
        uint32_t idempotency;
        uint32_t records;
        uint64_t record_bytes;
        uint32_t header_timeout_ms, body_timeout_ms, write_timeout_ms, idle_timeout_ms;
    } limits;

    struct {
        enum { LOG_DEBUG, LOG_INFO, LOG_WARN, LOG_ERROR } level;
        enum { LOG_AUTO, LOG_TEXT, LOG_KEY_VALUE, LOG_JSON } format;
    } log;

    uint32_t drain_timeout_ms;
};

/* One environment variable; NULL when it is not set. The caller passes getenv or a test's own. */
typedef const char *(*config_env_fn)(const char *name);

/* Defaults, then the file's text (may be empty), then the environment. file_name is for messages only.
 * Every mistake is one line in mistakes: "FILE: PATH: what was expected, what was found".
 * Returns 0 or ERR_INVALID; config_close either way. */
int config_load(struct config *config, struct slice text, const char *file_name, config_env_fn env,
                struct buf *mistakes) MUST_CHECK;

/* A value from the command line, which beats all others: "--listen", "listen", "127.0.0.1:0".
 * A flag for a list adds one item each time. */
struct config_flag {
    const char *flag; /* for messages */
    const char *path; /* of the option */
    const char *value;
};

/* The same, then the flags. */
int config_load_with_flags(struct config *config, struct slice text, const char *file_name,
                           config_env_fn env, const struct config_flag *flags, size_t flag_count,
                           struct buf *mistakes) MUST_CHECK;

/* Frees what the config owns and wipes its secrets. */
void config_close(struct config *config);

/* Every option with its default and a sentence: what `solvegate help config` prints. */
void config_write_reference(struct buf *out);

/* BLAKE2b-256 of a client key, as key_hash and `solvegate hash-key` have it. */
void config_hash_key(struct slice key, uint8_t out[CLIENT_KEY_HASH_BYTES]);

/* The client that holds this key, or -1. Found by the start of the key's digest, which tells a stranger nothing
 * about the key, then compared in constant time. */
long config_find_client(const struct config *config, struct slice key);

/* Is this host (lower case, no port, no trailing dot) within the client's allow_hosts? */
bool config_client_allows(const struct config_client *client, struct slice host);

/* May pingbacks go to this host (as above) and port? */
bool config_hooks_allow(const struct config_hook *hooks, size_t count, struct slice host,
                        uint16_t port);

#endif
