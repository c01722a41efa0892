/* The PostgreSQL driver's own state: one session with the server that holds the schema's lock. */
#ifndef SOLVEGATE_STORE_POSTGRES_POSTGRES_PRIVATE_H
#define SOLVEGATE_STORE_POSTGRES_POSTGRES_PRIVATE_H

#include "store/store_kept.h"
#include "store/store_latest.h"

struct pg_conn;
struct pg_result;

/* PostgreSQL cuts longer names. */
#define PG_SCHEMA_MAX 64
#define PG_SQLSTATE_MAX 6
#define PG_SECRETS_MAX 2
#define PG_HISTORY_MAX 64

/* Where and how to connect. */
struct pg_address {
    char *url;     /* owned, as are all pointers here; begins with "postgresql://" */
    char *ca_file; /* or NULL */
    char *hosts;   /* lists with commas, or NULL: the URL names none */
    char *addresses;
    char *ports;
    unsigned host_count; /* at least 1 */
    unsigned connect_seconds;
    bool has_ssl_mode;             /* the URL names one */
    char *secrets[PG_SECRETS_MAX]; /* passwords, or NULL; no message may contain them */
    char schema[PG_SCHEMA_MAX];    /* needs no escape inside double quotes */
    bool allow_async;
    int patience_ms; /* as in struct postgres_store, for every new session */
};

struct postgres_store {
    struct store_backend base; /* must be first */
    struct pg_address address;
    bool is_pulse;             /* the address is another one's */
    char node[STORE_NAME_MAX]; /* the gateway's name among those that share the schema, or "" */
    uint32_t lease_ms;
    struct pg_conn *conn; /* owned; NULL: not connected */
    long pid;             /* the server's process that has the lock */
    int64_t run;          /* the key of a lock that all sessions of this run have together */
    bool was_connected;
    bool is_open;         /* the tables fit: sessions prepare their statements */
    bool is_late;         /* the latest connection was given up since no answer came */
    bool is_unreplicated; /* the latest commit gave up waiting for its standby */
    bool is_lost;         /* rows are missing, and nothing was given back yet */
    struct store_kept kept;
    uint64_t written; /* number of the latest batch with rows that a shared store acknowledged */
    char history[PG_HISTORY_MAX];   /* of a shared store: see postgres_again.h; "": not known */
    int patience_ms;                /* a connection without a result for so long counts as lost */
    char sqlstate[PG_SQLSTATE_MAX]; /* of the latest error; "" if there is none */
    struct store_row *rows;         /* owned: the batch, sorted */
    size_t row_room;
    struct pg_result *verdicts;              /* owned: of the claims in the batch, or NULL */
    struct pg_result *drawn;                 /* owned: of the draws in the batch, or NULL */
    struct buf columns[ROW_COLUMNS_MAX + 1]; /* arrays of a statement; the last one is the body's */
    struct buf scratch;
    struct buf body;
};

static inline struct postgres_store *postgres_store_of(struct store_backend *backend)
{
    return (struct postgres_store *)(void *)backend;
}

#endif
