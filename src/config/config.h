/* The configuration: defaults, file, environment and flags, with every mistake named (docs/design.md 6.5). */
#ifndef SOLVEGATE_CONFIG_CONFIG_H
#define SOLVEGATE_CONFIG_CONFIG_H

#include "base/buf.h"
#include "base/err.h"
#include "http/http.h"
#include "store/store.h"
#include "sys/log.h"
#include "upstream/notices.h"
#include "upstream/upstream.h"

#include <solvegate/engine.h>

/* A store's password may be a token of two kilobytes, each sign of which may be written as %XX. */
#define CONFIG_TEXT_MAX 8192
#define CONFIG_LISTEN_MAX 16
#define CONFIG_PROXIES_MAX 32
#define CONFIG_ERRORS_MAX 128
#define CONFIG_HOSTS_MAX 64
#define CONFIG_HOOKS_MAX 64
#define CONFIG_CLIENTS_MAX 1024
#define CONFIG_POOLS_MAX 256
#define CLIENT_NAME_MAX 64
#define CLIENT_KEY_HASH_BYTES 32

enum client_scope {
    SCOPE_SOLVE = 1,
    SCOPE_ADMIN = 2,
};

/* Whether solves are shared, or only watched (docs/design.md 5.11). */
enum mode {
    MODE_DEFAULT, /* not set here: the gateway's own decides */
    MODE_SERVE,
    MODE_SHADOW,
};

struct config_client {
    char name[CLIENT_NAME_MAX];
    uint8_t key_hash[CLIENT_KEY_HASH_BYTES]; /* BLAKE2b-256; keys themselves are not kept */
    unsigned scopes;                         /* of enum client_scope */
    char **allow_hosts;      /* owned; "*.example.com" or "example.com", lower case */
    size_t allow_host_count; /* 0: every host */
    enum reuse reuse;        /* REUSE_DEFAULT if not given */
    enum mode mode;          /* MODE_DEFAULT if not given */
    /* The client's settings in the engine. A reload that removes the client sets is_gone: its index
     * is never reused. In retry a field's largest number means that the client does not set it. */
    struct client_options options;
};

/* A target whose solutions are solved ahead. */
struct config_pool {
    char name[CLIENT_NAME_MAX];   /* "": made of method and host */
    char client[CLIENT_NAME_MAX]; /* the owner; "": shared by all, and the first client pays */
    char *method;                 /* owned; params holds it, too */
    struct blob *params;          /* owned: the parameters of a submit */
    struct pool_options options;  /* size, idle_after_ms and max_waste */
};

/* Options go straight into the settings of the part that uses them, as the table says. The config
 * owns all texts and lists. A text that was not given is NULL. */
struct config {
    char **listen;
    size_t listen_count;
    char *public_url;         /* no trailing slash */
    char *data_dir;           /* NULL: the journal is in the store, or nowhere */
    struct store_place store; /* its url is NULL if it was not given */
    bool cluster_enabled;     /* several gateways share the store; else store.node means nothing */
    char *alerts_url;         /* NULL: log and metric only */

    struct engine_options engine; /* without clients, pools and values known only at the start */
    struct http_options http;
    struct upstream_options upstream;
    struct notices_options notices;

    enum mode mode; /* never MODE_DEFAULT */
    uint32_t min_ttl_ms;
    bool has_price; /* some price was given */
    bool dedup_include_proxy;
    enum reuse reuse[TYPE_COUNT]; /* never REUSE_DEFAULT */
    enum log_level log_level;
    enum log_format log_format;
    uint32_t drain_timeout_ms;

    struct config_pool *pools; /* owned */
    size_t pool_count;
    struct config_client *clients; /* owned */
    size_t client_count;           /* 0: any key is accepted, loopback and unix listeners only */
    uint16_t *client_order;        /* owned; indexes of clients, sorted by key_hash */
};

/* Returns an environment variable, or NULL if it is not set. The caller passes getenv or a test's
 * own. */
typedef const char *(*config_env_fn)(const char *name);

/* A value from the command line, which overrides all others: "--listen", "listen", "127.0.0.1:0". A
 * flag for a list adds one item each time. */
struct config_flag {
    const char *flag; /* for messages */
    const char *path; /* of the option */
    const char *value;
};

/* Loads defaults, then the file's text (may be empty), then the environment, then flags. file_name
 * is for messages only. Every mistake is one line in mistakes: "FILE: PATH: what was expected, what
 * was found". Returns 0 or ERR_INVALID; call config_close in both cases. */
int config_load(struct config *config, struct slice text, const char *file_name, config_env_fn env,
                const struct config_flag *flags, size_t flag_count,
                struct buf *mistakes) MUST_CHECK;

/* Frees what the config owns and wipes its secrets. */
void config_close(struct config *config);

#endif
