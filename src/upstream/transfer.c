#include "upstream/transfer.h"

#include "base/assert.h"
#include "upstream/lane.h"
#include "upstream/sockets.h"
#include "upstream/trust.h"

#include <curl/curl.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>

/* docs/reliability.md threat 23: replies have a few hundred bytes; only a poll's reply may hold a
 * solution. */
#define REPLY_MAX_BYTES ((size_t)64 * 1024)
#define HEADERS_MAX_BYTES ((size_t)32 * 1024)
/* What comes with a reply besides its body, at most. */
#define OVERHEAD_BYTES ((size_t)16 * 1024)
/* Fits an image of the largest accepted body with every byte escaped. */
#define BODY_MAX_BYTES ((size_t)32 * 1024 * 1024)
#define CONTENT_TYPE_MAX_BYTES 256
/* libcurl announces bodies of a mebibyte or more with "Expect: 100-continue" and waits, unless a header forbids it. */
#define UNANNOUNCED_BYTES ((size_t)256 * 1024)
/* Larger buffers are freed between calls: images are rare, handles are many. */
#define KEEP_BYTES ((size_t)16 * 1024)

/* ---- callbacks --------------------------------------------------------------------------- */

static size_t on_body(char *data, size_t size, size_t count, void *context)
{
    struct transfer *transfer = context;
    const size_t len = size * count;
    const size_t room = transfer->reply.cap - transfer->reply.len;
    buf_add(&transfer->reply, (struct slice){.data = data, .len = len < room ? len : room});
    transfer->is_too_big = len > room;
    if (transfer->setup->has_tls)
        valve_credit(transfer->wire.easy, len);
    /* Any other number than len ends the transfer; the bytes that fit are kept, since they may
     * begin with a task id. */
    return transfer->is_too_big ? 0 : len;
}

/* A vendor that replies has acted upon the request, so the debug lines are no longer needed as
 * proof. */
static void begin_reply(struct transfer *transfer, struct slice status_line)
{
    if (transfer->setup->has_tls)
        valve_credit(transfer->wire.easy, OVERHEAD_BYTES);
    transfer->is_http2 = slice_starts_with(status_line, SLICE_OF("HTTP/2 "));
    if (transfer->setup->has_http2)
        WIRE_SET(transfer->wire.easy, CURLOPT_VERBOSE, 0L);
}

static size_t on_header(char *data, size_t size, size_t count, void *context)
{
    struct transfer *transfer = context;
    const size_t len = size * count;
    const struct slice name = SLICE_OF("retry-after:");
    if (transfer->header_bytes == 0)
        begin_reply(transfer, (struct slice){.data = data, .len = len});
    transfer->header_bytes += len;
    if (transfer->header_bytes > HEADERS_MAX_BYTES)
        return 0;
    const struct slice start = {.data = data, .len = len < name.len ? len : name.len};
    if (slice_equals_nocase(start, name)) {
        size_t end = len;
        while (end > name.len && (data[end - 1] == '\r' || data[end - 1] == '\n'))
            end--;
        const size_t value_len = end - name.len;
        transfer->retry_after_len =
            value_len < sizeof transfer->retry_after ? value_len : sizeof transfer->retry_after;
        memcpy(transfer->retry_after, data + name.len, transfer->retry_after_len);
    }
    return len;
}

static bool is_loopback_address(const char *address)
{
    return strncmp(address, "127.", 4) == 0 || strcmp(address, "::1") == 0 ||
           strncmp(address, "::ffff:127.", 11) == 0;
}

/* Reads the number after these words; false if there is none. */
static bool number_after(struct slice line, struct slice words, unsigned long long *number)
{
    const char *found = memmem(line.data, line.len, words.data, words.len);
    if (found == NULL)
        return false;
    const char *digits = found + words.len;
    const size_t most = (size_t)(line.data + line.len - digits);
    size_t len = 0;
    while (len < most && digits[len] >= '0' && digits[len] <= '9')
        len++;
    return slice_to_u64((struct slice){.data = digits, .len = len}, number);
}

/* Reads our stream's number: "Using Stream ID: 3" of libcurl 7.88, "[HTTP/2] [3] OPENED stream for
 * https://..." since 8.1. */
static void read_stream(struct transfer *transfer, struct slice line)
{
    unsigned long long stream;
    const bool is_told =
        slice_starts_with(line, SLICE_OF("Using Stream ID: "))
            ? number_after(line, SLICE_OF("Using Stream ID: "), &stream)
            : slice_starts_with(line, SLICE_OF("[HTTP/2] [")) &&
                  memmem(line.data, line.len, "] OPENED stream for ", 20) != NULL &&
                  number_after(line, SLICE_OF("[HTTP/2] ["), &stream);
    if (is_told)
        transfer->stream = stream;
}

/* HTTP/2: the vendor did not act upon a stream that it refused, or that is beyond the last one of
 * its GOAWAY (RFC 9113 6.8 and 8.7). libcurl reports that only in these lines. If their wording
 * ever changes, such a submit is ambiguous, which only costs time. */
static int on_debug(CURL *easy, curl_infotype kind, char *text, size_t len, void *context)
{
    struct transfer *transfer = context;
    (void)easy;
    if (kind != CURLINFO_TEXT || transfer->sends != 1)
        return 0;
    const size_t line_len = len > 0 && text[len - 1] == '\n' ? len - 1 : len;
    const struct slice line = {.data = text, .len = line_len};
    unsigned long long last;
    read_stream(transfer, line);
    const bool is_goaway = slice_starts_with(line, SLICE_OF("recveived GOAWAY, error=")) ||
                           slice_starts_with(line, SLICE_OF("received GOAWAY, error="));
    if (is_goaway && number_after(line, SLICE_OF("last_stream="), &last))
        transfer->is_refused |= last < transfer->stream;
    transfer->is_refused |=
        slice_equals(line, SLICE_OF("REFUSED_STREAM, retrying a fresh connect"));
    return 0;
}

/* libcurl calls this right before it sends a request on any connection. If a kept-alive connection
 * dies before the reply, libcurl sends the request again by itself, even a POST, and we would pay
 * twice (docs/reliability.md finding 1): so the second send is refused. Repeating a poll is
 * harmless. */
static int on_before_send(void *context, char *peer, char *local, int peer_port, int local_port)
{
    struct transfer *transfer = context;
    (void)local;
    (void)peer_port;
    (void)local_port;
    if (transfer->setup->must_be_loopback && !is_loopback_address(peer))
        return CURL_PREREQFUNC_ABORT;
    const bool is_repeatable = transfer->kind != CALL_SUBMIT && transfer->kind != CALL_REPORT;
    transfer->sends++;
    lane_note_sent(&transfer->wire);
    if (transfer->setup->has_tls && !is_repeatable)
        transfer->before_send = valve_mark(transfer->wire.easy);
    /* Enables the lines for on_debug only while they may be needed: making them takes 6 % of the
     * instructions of a solve. */
    if (transfer->setup->has_http2 && !is_repeatable)
        WIRE_SET(transfer->wire.easy, CURLOPT_VERBOSE, 1L);
    if (transfer->sends == 1 || is_repeatable)
        return CURL_PREREQFUNC_OK;
    /* A further request would not be the first on this connection, and less could be proven about
     * it. */
    WIRE_SET(transfer->wire.easy, CURLOPT_FORBID_REUSE, 1L);
    return CURL_PREREQFUNC_ABORT;
}

static curl_socket_t on_open_socket(void *context, curlsocktype purpose,
                                    struct curl_sockaddr *address)
{
    struct transfer *transfer = context;
    struct sockets *sockets = transfer->setup->sockets;
    (void)purpose;
    const int fd = sockets_open(sockets, address->family, address->socktype, address->protocol);
    if (fd < 0)
        return CURL_SOCKET_BAD;
    transfer->wire.socket = sockets_name(sockets, fd);
    return fd;
}

/* ---- setup ------------------------------------------------------------------------------- */

bool transfer_setup_init(struct transfer_setup *setup)
{
    const curl_version_info_data *info = curl_version_info(CURLVERSION_NOW);
    setup->form_headers = wire_add_header(NULL, "Content-Type: application/x-www-form-urlencoded");
    /* Without it a slow name server would block the loop. */
    return (info->features & CURL_VERSION_ASYNCHDNS) != 0;
}

void transfer_setup_close(struct transfer_setup *setup)
{
    curl_slist_free_all(setup->form_headers);
    curl_url_cleanup(setup->submit_url);
    curl_url_cleanup(setup->query_url);
    sessions_free(setup->sessions);
    trust_close(setup->trust);
    free(setup->user_agent);
    *setup = (struct transfer_setup){.sockets = NULL};
}

static void set_connection(CURL *easy, const struct transfer_setup *setup)
{
    WIRE_SET(easy, CURLOPT_TCP_NODELAY, 1L);
    WIRE_SET(easy, CURLOPT_HTTP_VERSION,
             setup->may_http2 ? (long)CURL_HTTP_VERSION_2TLS : (long)CURL_HTTP_VERSION_1_1);
    WIRE_SET(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)setup->connect_timeout_ms);
    WIRE_SET(easy, CURLOPT_OPENSOCKETFUNCTION, on_open_socket);
}

struct transfer *transfer_new(const struct transfer_setup *setup)
{
    struct transfer *transfer = calloc(1, sizeof *transfer);
    ASSERT(transfer != NULL);
    wire_init(&transfer->wire, setup->protocols, setup->trust, setup->sockets);
    CURL *easy = transfer->wire.easy;
    transfer->setup = setup;
    list_init(&transfer->link);
    buf_init(&transfer->body, BODY_MAX_BYTES);
    buf_init(&transfer->content_type, CONTENT_TYPE_MAX_BYTES);
    buf_init(&transfer->reply, REPLY_MAX_BYTES);
    transfer->wire.guard = setup->sockets;
    set_connection(easy, setup);
    WIRE_SET(easy, CURLOPT_CURLU, setup->query_url);
    WIRE_SET(easy, CURLOPT_USERAGENT, setup->user_agent);
    WIRE_SET(easy, CURLOPT_POST, 1L);
    WIRE_SET(easy, CURLOPT_WRITEFUNCTION, on_body);
    WIRE_SET(easy, CURLOPT_WRITEDATA, transfer);
    WIRE_SET(easy, CURLOPT_HEADERFUNCTION, on_header);
    WIRE_SET(easy, CURLOPT_HEADERDATA, transfer);
    WIRE_SET(easy, CURLOPT_PREREQFUNCTION, on_before_send);
    WIRE_SET(easy, CURLOPT_PREREQDATA, transfer);
    WIRE_SET(easy, CURLOPT_OPENSOCKETDATA, transfer);
    WIRE_SET(easy, CURLOPT_DEBUGFUNCTION, on_debug);
    WIRE_SET(easy, CURLOPT_DEBUGDATA, transfer);
    return transfer;
}

static void wipe(struct buf *buf)
{
    if (buf->data != NULL)
        sodium_memzero(buf->data, buf->room);
    buf_close(buf);
}

void transfer_free(struct transfer *transfer)
{
    list_unlink(&transfer->link);
    sessions_leave(&transfer->sessions, transfer->wire.easy);
    wire_close(&transfer->wire);
    curl_slist_free_all(transfer->headers);
    wipe(&transfer->body);
    buf_close(&transfer->content_type);
    buf_close(&transfer->reply);
    free(transfer);
}

/* ---- one call ---------------------------------------------------------------------------- */

void transfer_reset(struct transfer *transfer, enum call_kind kind, attempt_id attempt)
{
    transfer->kind = kind;
    transfer->attempt = attempt;
    transfer->header_bytes = 0;
    transfer->sends = 0;
    transfer->before_send = (struct valve_mark){.connection = 0};
    transfer->is_too_big = false;
    transfer->is_refused = false;
    transfer->stream = 0;
    transfer->retry_after_len = 0;
    if (transfer->body.room > KEEP_BYTES)
        wipe(&transfer->body);
    if (transfer->reply.room > KEEP_BYTES)
        buf_close(&transfer->reply);
    buf_reset(&transfer->body);
    buf_reset(&transfer->content_type);
    buf_reset(&transfer->reply);
    transfer->reply.cap = kind == CALL_POLL ? VENDOR_REPLY_MAX_BYTES : REPLY_MAX_BYTES;
}

/* A multipart body needs a header of its own that names its boundary. */
static void set_multipart_headers(struct transfer *transfer)
{
    char line[CONTENT_TYPE_MAX_BYTES + 32];
    const struct slice type = buf_slice(&transfer->content_type);
    const int len = snprintf(line, sizeof line, "Content-Type: %.*s", (int)type.len, type.data);
    ASSERT(len > 0 && (size_t)len < sizeof line);
    curl_slist_free_all(transfer->headers);
    transfer->headers = wire_add_header(NULL, line);
}

/* libcurl gives a form its content type by itself; with headers of our own it formats each, byte by byte, and looks
 * through all of them a dozen times. */
static void *headers_of(const struct transfer *transfer, bool is_multipart)
{
    if (is_multipart)
        return transfer->headers;
    return transfer->body.len > UNANNOUNCED_BYTES ? transfer->setup->form_headers : NULL;
}

void transfer_arm(struct transfer *transfer, uint64_t now_ms)
{
    const struct transfer_setup *setup = transfer->setup;
    const bool is_submit = transfer->kind == CALL_SUBMIT;
    CURL *easy = transfer->wire.easy;
    if (is_submit != transfer->is_on_submit_url) {
        WIRE_SET(easy, CURLOPT_CURLU, is_submit ? setup->submit_url : setup->query_url);
        transfer->is_on_submit_url = is_submit;
    }
    const bool is_multipart =
        slice_starts_with(buf_slice(&transfer->content_type), SLICE_OF("multipart/"));
    if (is_multipart)
        set_multipart_headers(transfer);
    WIRE_SET(easy, CURLOPT_HTTPHEADER, headers_of(transfer, is_multipart));
    if (setup->sessions != NULL)
        sessions_apply(setup->sessions, &transfer->sessions, easy, now_ms);
    WIRE_SET(easy, CURLOPT_VERBOSE, 0L);
    WIRE_SET(easy, CURLOPT_FORBID_REUSE, 0L);
    WIRE_SET(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)transfer->body.len);
    WIRE_SET(easy, CURLOPT_POSTFIELDS, buf_slice(&transfer->body).data);
}

void transfer_give_up(struct transfer *transfer)
{
    if (transfer->header_bytes > 0 || transfer->sends == 0)
        return;
    WIRE_SET(transfer->wire.easy, CURLOPT_FORBID_REUSE, 1L);
    /* HTTP/2 queues a request while the vendor allows no further stream (SETTINGS). */
    if (transfer->sends == 1)
        transfer->is_refused |= valve_cut_if_unwritten(transfer->wire.easy, transfer->before_send);
}

void transfer_reply(const struct transfer *transfer, bool is_ok, int64_t wall_ms,
                    struct vendor_reply *reply)
{
    long status = 0;
    (void)curl_easy_getinfo(transfer->wire.easy, CURLINFO_RESPONSE_CODE, &status);
    *reply = (struct vendor_reply){
        .is_sent = transfer->sends > 0 && !(transfer->is_refused && transfer->header_bytes == 0),
        .is_complete = is_ok,
        .http_status = status,
        .body = buf_slice(&transfer->reply),
        .is_too_big = transfer->is_too_big,
        .wall_ms = wall_ms,
    };
    if (transfer->retry_after_len > 0)
        reply->retry_after = slice_trim(
            (struct slice){.data = transfer->retry_after, .len = transfer->retry_after_len});
}

/* libcurl notes a refused stream in the handle, and if it sends the request again because the connection had served
 * before, the note stays: of the handle's next request that ends without a reply on a new connection it then says that
 * its stream was refused. That would be taken for a proof, and paid twice. */
bool transfer_is_clean(const struct transfer *transfer, bool is_ok)
{
    return is_ok && transfer->sends == 1;
}

uint64_t transfer_bytes_out(const struct transfer *transfer)
{
    long request = 0;
    curl_off_t upload = 0;
    (void)curl_easy_getinfo(transfer->wire.easy, CURLINFO_REQUEST_SIZE, &request);
    (void)curl_easy_getinfo(transfer->wire.easy, CURLINFO_SIZE_UPLOAD_T, &upload);
    return (uint64_t)request + (uint64_t)upload;
}
