#include "store/postgres/postgres_address.h"

#include "base/assert.h"

#include <libpq-fe.h>
#include <sodium.h>
#include <stdlib.h>

#define DEFAULT_SCHEMA "solvegate"
#define CONNECT_SECONDS 5
#define CONNECT_SECONDS_MAX 60
/* Longer than any statement may take. */
#define PATIENCE_MS 15000
/* Shorter passwords occur in every sentence. */
#define SECRET_LEAST 3
#define EXAMPLE "postgresql://user@host:5432/database?sslmode=verify-full"

static char *copy_of(const char *text)
{
    if (text == NULL || text[0] == '\0')
        return NULL;
    char *const copy = strdup(text);
    ASSERT(copy != NULL);
    return copy;
}

static void forget(char *secret)
{
    if (secret != NULL)
        sodium_memzero(secret, strlen(secret));
    free(secret);
}

/* ---- the schema -------------------------------------------------------------------------- */

static bool is_plain(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

const char *pg_address_schema(const struct store_place *place, struct buf *mistake)
{
    const char *const schema =
        place->prefix == NULL || place->prefix[0] == '\0' ? DEFAULT_SCHEMA : place->prefix;
    size_t len = 0;
    while (is_plain(schema[len]))
        len++;
    const bool is_good = schema[len] == '\0' && len < PG_SCHEMA_MAX &&
                         strncmp(schema, "pg_", 3) != 0 && strcmp(schema, "public") != 0 &&
                         strcmp(schema, "information_schema") != 0;
    if (!is_good)
        buf_addf(mistake,
                 "store_prefix names a PostgreSQL schema of solvegate's own: at most %d letters, "
                 "digits and _, and "
                 "neither \"public\" nor \"information_schema\" nor one that begins with pg_",
                 PG_SCHEMA_MAX - 1);
    return is_good ? schema : NULL;
}

/* ---- the URL ----------------------------------------------------------------------------- */

/* An unescaped "@" or "/" in a password makes libpq read a part of it as the host, the port or the database, and
 * print that. */
static bool is_split_as_meant(const char *url)
{
    const char *const start = url + strlen("postgresql://");
    const char *const at = strchr(start, '@');
    const char *const slash = strchr(start, '/');
    if (at == NULL)
        return true;
    const char *const question = strchr(at, '?');
    const char *const next = strchr(at + 1, '@');
    return (slash == NULL || at < slash) && (next == NULL || (question != NULL && question < next));
}

/* libpq quotes the whole URL in some messages, and a part of the password in others. The name of an unknown parameter
 * is safe if no user and password can be behind it. */
static struct slice unknown_parameter(const char *url, const char *why)
{
    static const char words[] = "invalid URI query parameter: \"";
    const char *const question = strchr(url, '?');
    const char *name = why == NULL ? NULL : strstr(why, words);
    if (name == NULL || question == NULL || strchr(question, '@') != NULL)
        return SLICE_NONE;
    name += sizeof words - 1;
    return (struct slice){.data = name, .len = strspn(name, "abcdefghijklmnopqrstuvwxyz_")};
}

static void explain_url(const char *url, const char *why, struct buf *mistake)
{
    const struct slice name = unknown_parameter(url, why);
    buf_addf(mistake, "the store's URL cannot be read");
    if (name.len > 0)
        buf_addf(mistake, ": libpq knows no parameter \"%.*s\"", (int)name.len, name.data);
    buf_addf(mistake,
             "; it looks like " EXAMPLE ", with each special character of a password as %%XX");
}

static unsigned count_items(const char *list)
{
    unsigned count = 1;
    for (const char *c = list; c != NULL && *c != '\0'; c++)
        count += *c == ',';
    return count;
}

static unsigned seconds_of(const char *text)
{
    unsigned long long seconds = 0;
    if (!slice_to_u64(slice_from(text), &seconds) || seconds == 0 || seconds > CONNECT_SECONDS_MAX)
        return CONNECT_SECONDS;
    return (unsigned)seconds;
}

static void take_option(struct pg_address *address, const PQconninfoOption *option)
{
    const char *const name = option->keyword;
    if (option->val == NULL)
        return;
    if (strcmp(name, "host") == 0)
        address->hosts = copy_of(option->val);
    else if (strcmp(name, "hostaddr") == 0)
        address->addresses = copy_of(option->val);
    else if (strcmp(name, "port") == 0)
        address->ports = copy_of(option->val);
    else if (strcmp(name, "connect_timeout") == 0)
        address->connect_seconds = seconds_of(option->val);
    else if (strcmp(name, "sslmode") == 0)
        address->has_ssl_mode = true;
    else if (strcmp(name, "password") == 0)
        address->secrets[0] = copy_of(option->val);
    else if (strcmp(name, "sslpassword") == 0)
        address->secrets[1] = copy_of(option->val);
}

static bool is_unverified(const PQconninfoOption *option)
{
    return option->val != NULL && strcmp(option->keyword, "sslmode") == 0 &&
           (strcmp(option->val, "disable") == 0 || strcmp(option->val, "allow") == 0 ||
            strcmp(option->val, "prefer") == 0);
}

/* The value is not quoted, since it may be a part of a password that a question mark cut off. */
static bool check_ssl_mode(const PQconninfoOption *option, struct buf *mistake)
{
    static const char *const modes[] = {"disable", "allow",     "prefer",
                                        "require", "verify-ca", "verify-full"};
    if (option->val == NULL || strcmp(option->keyword, "sslmode") != 0)
        return true;
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++)
        if (strcmp(option->val, modes[i]) == 0)
            return true;
    buf_addf(mistake, "the store's URL has an sslmode that is none of disable, allow, prefer, "
                      "require, verify-ca and verify-full; the last one proves who the server is");
    return false;
}

static bool take_options(struct pg_address *address, const PQconninfoOption *options,
                         struct buf *mistake)
{
    for (; options->keyword != NULL; options++) {
        take_option(address, options);
        if (!check_ssl_mode(options, mistake))
            return false;
        if (address->ca_file != NULL && is_unverified(options)) {
            buf_addf(mistake,
                     "store_ca_file verifies nothing with sslmode=%s; write sslmode=verify-full",
                     options->val);
            return false;
        }
    }
    const char *const list = address->hosts != NULL ? address->hosts : address->addresses;
    address->host_count = count_items(list);
    return true;
}

static bool read_url(struct pg_address *address, struct buf *mistake)
{
    char *why = NULL;
    if (!is_split_as_meant(address->url)) {
        explain_url(address->url, NULL, mistake);
        return false;
    }
    PQconninfoOption *const options = PQconninfoParse(address->url, &why);
    if (options == NULL)
        explain_url(address->url, why, mistake);
    const bool is_good = options != NULL && take_options(address, options, mistake);
    PQconninfoFree(options);
    PQfreemem(why);
    return is_good;
}

bool pg_address_init(struct pg_address *address, const struct store_place *place,
                     const char *location, struct buf *mistake)
{
    *address = (struct pg_address){.connect_seconds = CONNECT_SECONDS,
                                   .host_count = 1,
                                   .allow_async = place->allow_async,
                                   .patience_ms = place->patience_ms == 0 ? PATIENCE_MS
                                                                          : (int)place->patience_ms,
                                   .ca_file = copy_of(place->ca_file)};
    const char *const schema = pg_address_schema(place, mistake);
    if (schema == NULL)
        return false;
    memcpy(address->schema, schema, strlen(schema) + 1);
    struct buf url;
    buf_init(&url, strlen(location) + sizeof "postgresql:");
    buf_addf(&url, "postgresql:%s", location);
    buf_add_char(&url, '\0');
    ASSERT(!url.is_full);
    address->url = url.data;
    if (strncmp(location, "//", 2) == 0)
        return read_url(address, mistake);
    explain_url(address->url, NULL, mistake);
    return false;
}

void pg_address_close(struct pg_address *address)
{
    forget(address->url);
    for (size_t i = 0; i < PG_SECRETS_MAX; i++)
        forget(address->secrets[i]);
    free(address->ca_file);
    free(address->hosts);
    free(address->addresses);
    free(address->ports);
    *address = (struct pg_address){.url = NULL};
}

/* ---- messages ---------------------------------------------------------------------------- */

/* The length of a password at the start of the text, or 0. */
static size_t secret_length(const struct pg_address *address, const char *text)
{
    for (size_t i = 0; i < PG_SECRETS_MAX; i++) {
        const char *const hidden = address->secrets[i];
        const size_t len = hidden == NULL ? 0 : strlen(hidden);
        if (len >= SECRET_LEAST && strncmp(text, hidden, len) == 0)
            return len;
    }
    return 0;
}

void pg_address_add_message(const struct pg_address *address, const char *message, struct buf *out)
{
    size_t end = strlen(message);
    while (end > 0 && strchr(" \n", message[end - 1]) != NULL)
        end--;
    for (size_t i = 0; i < end;) {
        const size_t len = secret_length(address, message + i);
        if (len > 0)
            buf_add(out, SLICE_OF("***"));
        else if (message[i] == '\n')
            buf_add(out, SLICE_OF("; "));
        else if (message[i] != '\t')
            buf_add_char(out, message[i]);
        i += len > 0 ? len : 1;
    }
}
