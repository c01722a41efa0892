#include "upstream/valve.h"

#include "base/assert.h"
#include "sys/log.h"
#include "upstream/sockets.h"
#include "upstream/trust_store.h"
#include "upstream/wire.h"

#include <curl/curl.h>
#include <openssl/bio.h>
#include <openssl/ssl.h>
#include <stdlib.h>

/* Bytes of a connection that belong to no reply: its handshake takes up to 20 KiB, settings and
 * window updates a few dozen for each reply. */
#define EXCESS_MAX_BYTES ((uint64_t)256 * 1024)
/* A request of HTTP/2 begins with a HEADERS frame: nine bytes and at least seven fields of a byte
 * each, in a TLS record of at least 21 more. Less can only be about the connection: libcurl sends
 * a WINDOW_UPDATE or confirms settings before it sees that it may not send the request. */
#define CONTROL_MAX_BYTES 36u

/* One per connection, owned by its BIO. */
struct valve {
    struct sockets *sockets; /* borrowed */
    uint64_t socket;         /* its name */
    uint64_t number;
    uint64_t excess_bytes;
    bool is_cut;
};

static uint64_t connections;

/* If another attempt to connect came after the one that succeeded, the socket's name is not known:
 * libcurl closes the connection when it next tries to use it. */
static void cut(struct valve *valve)
{
    valve->is_cut = true;
    sockets_hang_up(valve->sockets, valve->socket);
}

static void count_read(struct valve *valve, size_t bytes)
{
    valve->excess_bytes += bytes;
    if (valve->is_cut || valve->excess_bytes <= EXCESS_MAX_BYTES)
        return;
    cut(valve);
    LOG(LOG_LEVEL_WARN, "vendor_flood", log_number("bytes", (int64_t)valve->excess_bytes),
        log_string("meaning", "a connection brought that much besides replies, and was cut"));
}

/* libcurl's HTTP/2 reads its socket until it is empty, which a vendor can prevent for as long as it
 * likes; so what it reads is counted here. Before an operation, any result below 1 becomes its
 * result; afterwards, the result does. */
/* NOLINTNEXTLINE(readability-function-size): OpenSSL says what its parameters are */
static long on_operation(BIO *bio, int operation, const char *data, size_t len, int number,
                         long big_number, int result, size_t *done)
{
    struct valve *valve = (void *)BIO_get_callback_arg(bio);
    (void)data;
    (void)len;
    (void)number;
    (void)big_number;
    if (operation == BIO_CB_FREE) {
        free(valve);
        BIO_set_callback_arg(bio, NULL);
    } else if (operation == (BIO_CB_READ | BIO_CB_RETURN) && result > 0) {
        count_read(valve, *done);
        /* Bytes that came are an error now; libcurl would take another refusal for an empty socket
         * and wait. */
        return valve->is_cut ? -1 : result;
    } else if (operation == BIO_CB_WRITE && valve->is_cut) {
        BIO_clear_retry_flags(bio);
        return -1;
    }
    return result;
}

/* The wire is the one that connects, and so still there. */
static void on_info(const SSL *ssl, int where, int value)
{
    BIO *bio = SSL_get_rbio(ssl);
    (void)value;
    if (!(where & SSL_CB_HANDSHAKE_START) || bio == NULL || BIO_get_callback_ex(bio) != NULL)
        return;
    struct valve *valve = calloc(1, sizeof *valve);
    ASSERT(valve != NULL);
    const struct wire *wire = SSL_CTX_get_app_data(SSL_get_SSL_CTX(ssl));
    *valve =
        (struct valve){.sockets = wire->guard, .socket = wire->socket, .number = ++connections};
    BIO_set_callback_arg(bio, (char *)valve);
    /* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): the BIO has it, and frees it */
    BIO_set_callback_ex(bio, on_operation);
}

void valve_install(void *ssl_context, struct wire *wire)
{
    (void)SSL_CTX_set_app_data((SSL_CTX *)ssl_context, wire);
    SSL_CTX_set_info_callback(ssl_context, on_info);
}

/* ---- what the handle's connection says ---------------------------------------------------- */

static BIO *bio_of(CURL *easy)
{
    struct curl_tlssessioninfo *info = NULL;
    if (!trust_store_is_usable() ||
        curl_easy_getinfo(easy, CURLINFO_TLS_SSL_PTR, &info) != CURLE_OK || info == NULL ||
        info->backend != CURLSSLBACKEND_OPENSSL || info->internals == NULL)
        return NULL;
    BIO *bio = SSL_get_rbio(info->internals);
    return bio != NULL && BIO_get_callback_ex(bio) == on_operation ? bio : NULL;
}

static struct valve *valve_of(BIO *bio)
{
    return (void *)BIO_get_callback_arg(bio);
}

void valve_credit(void *easy, size_t bytes)
{
    BIO *bio = bio_of(easy);
    if (bio == NULL)
        return;
    struct valve *valve = valve_of(bio);
    valve->excess_bytes -= valve->excess_bytes < bytes ? valve->excess_bytes : bytes;
}

struct valve_mark valve_mark(void *easy)
{
    BIO *bio = bio_of(easy);
    if (bio == NULL)
        return (struct valve_mark){.connection = 0};
    /* libcurl reads and writes by the same BIO. */
    return (struct valve_mark){.connection = valve_of(bio)->number,
                               .written_bytes = BIO_number_written(bio)};
}

bool valve_cut_if_unwritten(void *easy, struct valve_mark since)
{
    const struct valve_mark now = valve_mark(easy);
    if (now.connection == 0 || now.connection != since.connection ||
        now.written_bytes - since.written_bytes > CONTROL_MAX_BYTES)
        return false;
    cut(valve_of(bio_of(easy)));
    return true;
}
