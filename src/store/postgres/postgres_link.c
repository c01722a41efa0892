#include "store/postgres/postgres_link.h"

#include "base/assert.h"
#include "store/postgres/postgres_error.h"

#include <libpq-fe.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* Sending a large batch may take so many times as long as waiting for a reply, if the server goes on reading it. */
#define FLUSH_PATIENCE 4
#define PARAMETERS_MAX 8
#define OPTIONS_MAX 24
#define INT8_OID 20
#define TEXT_OID 25
#define BYTEA_OID 17

/* The server ends the session of a gateway whose machine vanished, and with it the lock, within about twenty seconds.
 * The statements of a batch find rows by their keys only, so every plan but that one is a trap for tables that grow
 * faster than their statistics. */
#define SESSION_SETTINGS                                                                           \
    "SET lock_timeout = '2s';"                                                                     \
    "SET statement_timeout = '10s';"                                                               \
    "SET idle_in_transaction_session_timeout = '5s';"                                              \
    "SET idle_session_timeout = 0;"                                                                \
    "SET tcp_keepalives_idle = 10; SET tcp_keepalives_interval = 3; SET tcp_keepalives_count = 3;" \
    "SET tcp_user_timeout = '15s';"                                                                \
    "SET default_transaction_isolation = 'read committed';"                                        \
    "SET jit = off; SET plan_cache_mode = force_generic_plan;"                                     \
    "SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off;"             \
    "SET client_min_messages = warning;"

/* ---- waiting ----------------------------------------------------------------------------- */

static int64_t now_ms(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static bool wait_for(const struct pg_conn *conn, short events, int timeout_ms)
{
    struct pollfd item = {.fd = PQsocket(conn), .events = events};
    int ready;
    do
        ready = poll(&item, 1, timeout_ms);
    while (ready < 0);
    return ready > 0;
}

/* False at the end, however much the server talks. */
static bool wait_until(struct postgres_store *store, short events, int64_t end)
{
    const int64_t left = end - now_ms();
    store->is_late = left <= 0 || !wait_for(store->conn, events, (int)left);
    return !store->is_late;
}

/* Sends and receives until the next result is complete. Both at once, since neither side may wait for the other with
 * full buffers. */
static bool pump(struct postgres_store *store)
{
    struct pg_conn *const conn = store->conn;
    const int64_t end = now_ms() + store->patience_ms;
    int unsent = PQflush(conn);
    while (unsent >= 0 && PQisBusy(conn) != 0) {
        const short events = (short)(unsent > 0 ? POLLIN | POLLOUT : POLLIN);
        if (!wait_until(store, events, end) || PQconsumeInput(conn) != 1)
            return false;
        unsent = PQflush(conn);
    }
    return unsent >= 0;
}

bool pg_link_flush(struct postgres_store *store)
{
    const int64_t end = now_ms() + FLUSH_PATIENCE * store->patience_ms;
    int unsent;
    while ((unsent = PQflush(store->conn)) > 0) {
        const int64_t silent = now_ms() + store->patience_ms;
        if (!wait_until(store, POLLIN | POLLOUT, silent < end ? silent : end) ||
            PQconsumeInput(store->conn) != 1)
            return false;
    }
    return unsent == 0;
}

bool pg_link_next(struct postgres_store *store, struct pg_result **result)
{
    *result = NULL;
    if (store->conn == NULL || !pump(store))
        return false;
    *result = PQgetResult(store->conn);
    return *result != NULL || PQstatus(store->conn) == CONNECTION_OK;
}

static bool is_error(const struct pg_result *result)
{
    const ExecStatusType status = PQresultStatus(result);
    return status == PGRES_FATAL_ERROR || status == PGRES_BAD_RESPONSE;
}

enum store_result pg_link_drain(struct postgres_store *store)
{
    enum store_result first = STORE_DONE;
    struct pg_result *result = NULL;
    bool is_there = true;
    while (store->conn != NULL && (is_there = pg_link_next(store, &result)) && result != NULL) {
        if (first == STORE_DONE && is_error(result))
            first = pg_error_take(store, result);
        PQclear(result);
    }
    if (!is_there && first == STORE_DONE)
        return pg_error_take(store, NULL);
    if (!is_there)
        pg_link_close(store);
    return first;
}

/* ---- statements -------------------------------------------------------------------------- */

void pg_link_roll_back(struct postgres_store *store)
{
    char why[sizeof store->base.why];
    char sqlstate[sizeof store->sqlstate];
    if (store->conn == NULL || PQtransactionStatus(store->conn) == PQTRANS_IDLE)
        return;
    memcpy(why, store->base.why, sizeof why);
    memcpy(sqlstate, store->sqlstate, sizeof sqlstate);
    if (PQsendQuery(store->conn, "ROLLBACK") != 1 || pg_link_drain(store) != STORE_DONE)
        pg_link_close(store);
    memcpy(store->base.why, why, sizeof why);
    memcpy(store->sqlstate, sqlstate, sizeof sqlstate);
}

static enum store_result lost(struct postgres_store *store)
{
    return pg_error_take(store, NULL);
}

enum store_result pg_link_run(struct postgres_store *store, const char *sql)
{
    if (store->conn == NULL || PQsendQuery(store->conn, sql) != 1)
        return lost(store);
    const enum store_result result = pg_link_drain(store);
    if (result != STORE_DONE)
        pg_link_roll_back(store);
    return result;
}

struct parameters {
    Oid types[PARAMETERS_MAX];
    const char *values[PARAMETERS_MAX];
    int lengths[PARAMETERS_MAX];
    int formats[PARAMETERS_MAX];
    uint8_t numbers[PARAMETERS_MAX][sizeof(int64_t)];
};

static void put_integer(uint8_t bytes[sizeof(int64_t)], int64_t number)
{
    for (size_t i = 0; i < sizeof number; i++)
        bytes[i] = (uint8_t)((uint64_t)number >> (56 - 8 * i));
}

static void fill(struct parameters *parameters, const struct row_value *values, size_t count)
{
    ASSERT(count <= PARAMETERS_MAX);
    for (size_t i = 0; i < count; i++) {
        const bool is_integer = values[i].type == VALUE_INTEGER;
        if (is_integer)
            put_integer(parameters->numbers[i], values[i].integer);
        parameters->types[i] = is_integer                      ? INT8_OID
                               : values[i].type == VALUE_BYTES ? BYTEA_OID
                                                               : TEXT_OID;
        parameters->values[i] =
            is_integer ? (const char *)parameters->numbers[i] : values[i].bytes.data;
        parameters->lengths[i] = is_integer ? (int)sizeof(int64_t) : (int)values[i].bytes.len;
        parameters->formats[i] = 1;
    }
}

/* The last result of a statement, or its error. */
static enum store_result take_result(struct postgres_store *store, struct pg_result **result)
{
    struct pg_result *next = NULL;
    bool is_there;
    while ((is_there = pg_link_next(store, &next)) && next != NULL) {
        PQclear(*result);
        *result = next;
    }
    enum store_result taken = STORE_DONE;
    if (!is_there || *result == NULL || is_error(*result))
        taken = pg_error_take(store, *result != NULL && is_error(*result) ? *result : NULL);
    if (taken == STORE_DONE)
        return STORE_DONE;
    PQclear(*result);
    *result = NULL;
    return taken;
}

enum store_result pg_link_ask(struct postgres_store *store, const char *sql,
                              const struct row_value *values, size_t count, bool is_binary,
                              struct pg_result **result)
{
    struct parameters parameters;
    *result = NULL;
    fill(&parameters, values, count);
    if (store->conn == NULL ||
        PQsendQueryParams(store->conn, sql, (int)count, parameters.types, parameters.values,
                          parameters.lengths, parameters.formats, is_binary) != 1)
        return lost(store);
    const enum store_result taken = take_result(store, result);
    if (taken != STORE_DONE)
        pg_link_roll_back(store);
    return taken;
}

int64_t pg_link_integer(const struct pg_result *result, int row, int column)
{
    const int len = PQgetlength(result, row, column);
    const char *const bytes = PQgetvalue(result, row, column);
    uint64_t number = len > 0 && (bytes[0] & 0x80) != 0 ? UINT64_MAX : 0;
    for (int i = 0; i < len; i++)
        number = number << 8 | (uint8_t)bytes[i];
    return (int64_t)number;
}

/* ---- connecting -------------------------------------------------------------------------- */

struct options {
    const char *names[OPTIONS_MAX];
    const char *values[OPTIONS_MAX];
    size_t count;
};

static void add_option(struct options *options, const char *name, const char *value)
{
    if (value == NULL || value[0] == '\0')
        return;
    ASSERT(options->count + 1 < OPTIONS_MAX);
    options->names[options->count] = name;
    options->values[options->count++] = value;
}

/* The item of a list with commas; a list of one item is for all. */
static const char *item_of(const char *list, unsigned place, char *item, size_t room)
{
    if (list == NULL)
        return NULL;
    const char *const only = strchr(list, ',') == NULL ? list : NULL;
    for (unsigned i = 0; only == NULL && i < place; i++) {
        list = strchr(list, ',');
        if (list == NULL)
            return NULL;
        list++;
    }
    (void)snprintf(item, room, "%.*s", (int)strcspn(list, ","), list);
    return item;
}

/* Options before the URL are defaults, those behind it count more. */
static struct pg_conn *start(const struct pg_address *address, unsigned host)
{
    struct options options = {.count = 0};
    char name[256];
    char number[64];
    char port[16];
    add_option(&options, "fallback_application_name", "solvegate");
    add_option(&options, "tcp_user_timeout", "15000");
    add_option(&options, "keepalives_idle", "10");
    add_option(&options, "keepalives_interval", "3");
    add_option(&options, "keepalives_count", "3");
    add_option(&options, "gssencmode", "disable");
    if (address->host_count > 1)
        add_option(&options, "target_session_attrs", "read-write");
    if (address->ca_file != NULL && !address->has_ssl_mode)
        add_option(&options, "sslmode", "verify-full");
    add_option(&options, "dbname", address->url);
    if (address->host_count > 1) {
        add_option(&options, "host", item_of(address->hosts, host, name, sizeof name));
        add_option(&options, "hostaddr", item_of(address->addresses, host, number, sizeof number));
        add_option(&options, "port", item_of(address->ports, host, port, sizeof port));
    }
    add_option(&options, "sslrootcert", address->ca_file);
    add_option(&options, "client_encoding", "UTF8");
    return PQconnectStartParams(options.names, options.values, 1);
}

/* False if the host does not let us in; *is_late if it did not answer in time. */
static bool finish(struct pg_conn *conn, unsigned seconds, bool *is_late)
{
    const int64_t end = now_ms() + (int64_t)seconds * 1000;
    PostgresPollingStatusType next = PGRES_POLLING_WRITING;
    *is_late = false;
    while (PQstatus(conn) != CONNECTION_BAD && next != PGRES_POLLING_OK &&
           next != PGRES_POLLING_FAILED) {
        const int64_t left = end - now_ms();
        const short events = next == PGRES_POLLING_READING ? POLLIN : POLLOUT;
        *is_late = left <= 0 || !wait_for(conn, events, (int)left);
        if (*is_late)
            return false;
        next = PQconnectPoll(conn);
    }
    return PQstatus(conn) == CONNECTION_OK;
}

/* A commit whose wait for a synchronous standby was cancelled reports success, and only a warning says that it may not
 * have been replicated. Its words depend on the language, its source does not. */
static void on_notice(void *context, const PGresult *notice)
{
    struct postgres_store *const store = context;
    const char *const function = PQresultErrorField(notice, PG_DIAG_SOURCE_FUNCTION);
    if (function != NULL && strcmp(function, "SyncRepWaitForLSN") == 0)
        store->is_unreplicated = true;
}

static enum store_result connect_host(struct postgres_store *store, unsigned host)
{
    bool is_late;
    struct pg_conn *const conn = start(&store->address, host);
    ASSERT(conn != NULL);
    (void)PQsetErrorVerbosity(conn, PQERRORS_VERBOSE);
    (void)PQsetNoticeReceiver(conn, on_notice, store);
    if (finish(conn, store->address.connect_seconds, &is_late)) {
        (void)PQsetErrorVerbosity(conn, PQERRORS_DEFAULT);
        store->conn = conn;
        return PQsetnonblocking(conn, 1) == 0 ? STORE_DONE : lost(store);
    }
    enum store_result result = STORE_RETRY;
    store->sqlstate[0] = '\0';
    if (is_late)
        pg_error_say(store,
                     "PostgreSQL did not let us in within %u s; check that it runs, and the "
                     "store's URL",
                     store->address.connect_seconds);
    else
        result = pg_error_connect(store, conn);
    store->is_late = is_late;
    PQfinish(conn);
    return result;
}

static enum store_result set_session(struct postgres_store *store)
{
    char sql[256];
    enum store_result result = STORE_DONE;
    if (PQserverVersion(store->conn) >= 140000)
        result = pg_link_run(store, SESSION_SETTINGS);
    (void)snprintf(sql, sizeof sql, "SET search_path = \"%s\"", store->address.schema);
    return result == STORE_DONE ? pg_link_run(store, sql) : result;
}

enum store_result pg_link_connect(struct postgres_store *store)
{
    enum store_result result = STORE_RETRY;
    store->is_late = false;
    store->patience_ms = store->address.patience_ms;
    pg_link_close(store);
    for (unsigned host = 0; host < store->address.host_count && result != STORE_DONE; host++)
        result = connect_host(store, host);
    if (result == STORE_DONE)
        result = set_session(store);
    if (result != STORE_DONE)
        pg_link_close(store);
    return result;
}

void pg_link_close(struct postgres_store *store)
{
    PQfinish(store->conn);
    store->conn = NULL;
}
