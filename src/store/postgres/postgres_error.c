#include "store/postgres/postgres_error.h"

#include "store/postgres/postgres_address.h"
#include "store/postgres/postgres_cluster_sql.h"
#include "store/postgres/postgres_link.h"

#include <libpq-fe.h>
#include <stdio.h>

/* While the gateway runs, everything that a person can repair is a retry: the records stay queued, nothing is lost,
 * and the state's reason says what to repair. Only damage is for good. The first prefix that fits decides. */
static const struct {
    const char *prefix;
    enum store_result result;
    bool ends_session; /* another connection may do better, even if this one still works */
    const char *advice;
} meanings[] = {
    {PG_FENCED, STORE_REFUSED, false, "another gateway has this one's rows now"},
    {PG_APPLIED, STORE_RETRY, false, "its claims are asked again"},
    {"53300", STORE_RETRY, true, "close other clients, or raise its max_connections"},
    {"53", STORE_NO_ROOM, false, "give its server more disk space or memory"},
    {"XX001", STORE_FAILED, false, "its files are damaged: restore a backup"},
    {"XX002", STORE_FAILED, false, "an index is damaged: REINDEX, or restore a backup"},
    {"25006", STORE_RETRY, true,
     "it is a standby or read-only: name the primary, or all hosts, in the store's URL"},
    {"28", STORE_RETRY, true, "check user and password in the store's URL, and pg_hba.conf"},
    {"3D000", STORE_RETRY, true, "create the database, or correct the store's URL"},
    {"42501", STORE_RETRY, false,
     "grant the rights; `solvegate store init --print-sql` lists the tables"},
    {"3F000", STORE_RETRY, true,
     "restore the schema, or run what `solvegate store init --print-sql` prints"},
    {"42P01", STORE_RETRY, true,
     "restore the tables, or run what `solvegate store init --print-sql` prints"},
    {"42883", STORE_RETRY, true,
     "restore the functions, or run what `solvegate store init --print-sql` prints"},
    {"57P03", STORE_RETRY, true, "it starts or stops: wait"},
    {"57P", STORE_RETRY, true, "the connection is made again"},
    {"08", STORE_RETRY, true, "the connection is made again"},
    {"26000", STORE_RETRY, true, "connect directly, or through a pooler in session mode"},
    {"40", STORE_RETRY, false, "it is tried again"},
    {"55P03", STORE_RETRY, false, "somebody else locks a row or table; it is tried again"},
    {"57014", STORE_RETRY, false, "it took too long; it is tried again"},
};
#define MEANINGS (sizeof meanings / sizeof meanings[0])

static size_t meaning_of(const char *sqlstate)
{
    size_t i = 0;
    while (i < MEANINGS && strncmp(sqlstate, meanings[i].prefix, strlen(meanings[i].prefix)) != 0)
        i++;
    return i;
}

void pg_error_say(struct postgres_store *store, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(store->base.why, sizeof store->base.why, format, arguments);
    va_end(arguments);
}

bool pg_error_is(const struct postgres_store *store, const char *sqlstate)
{
    return strcmp(store->sqlstate, sqlstate) == 0;
}

bool pg_error_is_brief(const struct postgres_store *store, enum store_result result)
{
    if (result != STORE_RETRY || store->is_late)
        return false;
    return store->conn == NULL || strncmp(store->sqlstate, "40", 2) == 0;
}

static void explain(struct postgres_store *store, const char *prefix, const char *message,
                    const char *advice)
{
    struct buf text;
    buf_init(&text, sizeof store->base.why);
    buf_addf(&text, "%s", prefix);
    pg_address_add_message(&store->address, message, &text);
    pg_error_say(store, "%.*s; %s", (int)text.len, buf_slice(&text).data, advice);
    buf_close(&text);
}

static enum store_result decide(struct postgres_store *store, const char *prefix,
                                const char *message)
{
    const size_t i = meaning_of(store->sqlstate);
    explain(store, prefix, message, i < MEANINGS ? meanings[i].advice : "it is tried again");
    if (i < MEANINGS && meanings[i].ends_session)
        pg_link_close(store);
    return i < MEANINGS ? meanings[i].result : STORE_RETRY;
}

static void set_sqlstate(struct postgres_store *store, const char *sqlstate)
{
    (void)snprintf(store->sqlstate, sizeof store->sqlstate, "%s", sqlstate == NULL ? "" : sqlstate);
}

static enum store_result lose(struct postgres_store *store)
{
    const char *const message = store->conn == NULL ? "" : PQerrorMessage(store->conn);
    set_sqlstate(store, "");
    if (store->is_late)
        pg_error_say(store, "PostgreSQL does not answer; the connection is made again");
    else
        explain(store, "the connection to PostgreSQL was lost: ",
                message[0] == '\0' ? "no reason was given" : message, "it is made again");
    pg_link_close(store);
    return STORE_RETRY;
}

enum store_result pg_error_take(struct postgres_store *store, const struct pg_result *result)
{
    const char *const sqlstate =
        result == NULL ? NULL : PQresultErrorField(result, PG_DIAG_SQLSTATE);
    if (sqlstate == NULL)
        return lose(store);
    set_sqlstate(store, sqlstate);
    const char *const message = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
    const enum store_result decided =
        decide(store, "PostgreSQL says: ", message == NULL ? sqlstate : message);
    if (store->conn != NULL && PQstatus(store->conn) != CONNECTION_OK)
        pg_link_close(store);
    return decided;
}

/* ---- connecting -------------------------------------------------------------------------- */

static bool is_code(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z');
}

/* The server's words may be in any language, but a verbose message has "FATAL:  28P01: …". libpq offers no other way to
 * the SQLSTATE of a connection that failed. */
static const char *find_sqlstate(const char *message)
{
    for (const char *c = strstr(message, ":  "); c != NULL; c = strstr(c + 1, ":  ")) {
        size_t len = 0;
        while (is_code(c[3 + len]))
            len++;
        if (len == PG_SQLSTATE_MAX - 1 && c[3 + len] == ':')
            return c + 3;
    }
    return NULL;
}

enum store_result pg_error_connect(struct postgres_store *store, const struct pg_conn *conn)
{
    char message[512];
    (void)snprintf(message, sizeof message, "%s", PQerrorMessage(conn));
    char *const place = strstr(message, "\nLOCATION:");
    if (place != NULL)
        *place = '\0';
    const char *const sqlstate = find_sqlstate(message);
    char code[PG_SQLSTATE_MAX] = "";
    if (sqlstate != NULL)
        memcpy(code, sqlstate, sizeof code - 1);
    set_sqlstate(store, code);
    if (code[0] != '\0')
        return decide(store, "PostgreSQL refuses the connection: ", message);
    explain(store, "PostgreSQL cannot be reached: ", message,
            "check that it runs, and the store's URL");
    return STORE_RETRY;
}
