#include "upstream/post.h"

#include "base/assert.h"
#include "http/http_peer.h"
#include "proto/address_public.h"
#include "upstream/sockets.h"
#include "upstream/trust.h"

#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>

/* Replies are discarded; reading them to the end only keeps their connections usable. */
#define BODY_MAX_BYTES ((size_t)64 * 1024)
#define HEAD_MAX_BYTES ((size_t)32 * 1024)

/* ---- callbacks --------------------------------------------------------------------------- */

static size_t on_body(char *data, size_t size, size_t count, void *context)
{
    struct post *post = context;
    (void)data;
    post->body_bytes += size * count;
    post->is_too_big |= post->body_bytes > BODY_MAX_BYTES;
    /* Any other number than the length ends the transfer. */
    return post->is_too_big ? 0 : size * count;
}

static size_t on_head(char *data, size_t size, size_t count, void *context)
{
    struct post *post = context;
    const struct slice line = {.data = data, .len = size * count};
    /* libcurl accepts a truncated head, so its empty line is checked here. Trailers come here too,
     * without an empty line at their end. */
    if (slice_starts_with(line, SLICE_OF("HTTP/")))
        post->has_head = false;
    else if (slice_equals(line, SLICE_OF("\r\n")) || slice_equals(line, SLICE_OF("\n")))
        post->has_head = true;
    post->head_bytes += line.len;
    return post->head_bytes > HEAD_MAX_BYTES ? 0 : line.len;
}

/* An open connection may have been made under other rules, so its address is checked again. */
static int on_before_send(void *context, char *peer, char *local, int peer_port, int local_port)
{
    struct post *post = context;
    struct http_address address;
    (void)local;
    (void)peer_port;
    (void)local_port;
    const bool is_known = http_peer_parse(&address, slice_from(peer));
    if (!post->setup->allow_private && (!is_known || !address_is_public(address.bytes))) {
        post->is_refused = true;
        return CURL_PREREQFUNC_ABORT;
    }
    post->is_sent = true;
    return CURL_PREREQFUNC_OK;
}

/* Checks the address that will be connected to, after the last lookup, so that a name that resolves
 * to a public address when it is checked and to a private one when it is used is still refused. */
static curl_socket_t on_open_socket(void *context, curlsocktype purpose,
                                    struct curl_sockaddr *address)
{
    struct post *post = context;
    struct http_address peer;
    (void)purpose;
    if (!http_peer_from_socket(&peer, &address->addr) ||
        (!post->setup->allow_private && !address_is_public(peer.bytes))) {
        post->is_refused = true;
        return CURL_SOCKET_BAD;
    }
    const int fd =
        sockets_open(post->setup->sockets, address->family, address->socktype, address->protocol);
    post->is_dialled |= fd >= 0;
    return fd < 0 ? CURL_SOCKET_BAD : fd;
}

/* ---- life -------------------------------------------------------------------------------- */

void post_setup_init(struct post_setup *setup, struct trust *take_trust)
{
    setup->json_headers = wire_add_header(NULL, "Content-Type: application/json");
    setup->trust = take_trust;
}

void post_setup_close(struct post_setup *setup)
{
    curl_slist_free_all(setup->json_headers);
    trust_close(setup->trust);
}

/* The URL comes from a stranger: only plain HTTP and HTTPS, to exactly that address. */
static void set_connection(CURL *easy, struct post *post)
{
    WIRE_SET(easy, CURLOPT_DISALLOW_USERNAME_IN_URL, 1L);
    WIRE_SET(easy, CURLOPT_PATH_AS_IS, 1L);
    WIRE_SET(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    WIRE_SET(easy, CURLOPT_TIMEOUT_MS, (long)post->setup->timeout_ms);
    WIRE_SET(easy, CURLOPT_OPENSOCKETFUNCTION, on_open_socket);
    WIRE_SET(easy, CURLOPT_OPENSOCKETDATA, post);
}

static void set_request(CURL *easy, struct post *post, struct slice url, struct slice body)
{
    char *text = malloc(url.len + 1);
    ASSERT(text != NULL);
    memcpy(text, url.data, url.len);
    text[url.len] = '\0';
    WIRE_SET(easy, CURLOPT_URL, text);
    free(text);
    WIRE_SET(easy, CURLOPT_USERAGENT, "solvegate/" SOLVEGATE_VERSION);
    if (slice_is_given(body)) {
        WIRE_SET(easy, CURLOPT_HTTPHEADER, post->setup->json_headers);
        WIRE_SET(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)body.len);
        WIRE_SET(easy, CURLOPT_COPYPOSTFIELDS, body.data);
    }
    WIRE_SET(easy, CURLOPT_WRITEFUNCTION, on_body);
    WIRE_SET(easy, CURLOPT_WRITEDATA, post);
    WIRE_SET(easy, CURLOPT_HEADERFUNCTION, on_head);
    WIRE_SET(easy, CURLOPT_HEADERDATA, post);
    WIRE_SET(easy, CURLOPT_PREREQFUNCTION, on_before_send);
    WIRE_SET(easy, CURLOPT_PREREQDATA, post);
}

static struct post *new_post(uint64_t id)
{
    struct post *post = calloc(1, sizeof *post);
    ASSERT(post != NULL);
    list_init(&post->link);
    post->id = id;
    return post;
}

struct post *post_new(const struct post_setup *setup, uint64_t id, struct slice url,
                      struct slice body)
{
    struct post *post = new_post(id);
    wire_init(&post->wire, "http,https", setup->trust, setup->sockets);
    CURL *easy = post->wire.easy;
    post->setup = setup;
    set_connection(easy, post);
    set_request(easy, post, url, body);
    return post;
}

struct post *post_new_refused(uint64_t id, const char *refusal)
{
    struct post *post = new_post(id);
    post->refusal = refusal;
    return post;
}

void post_free(struct post *post)
{
    list_unlink(&post->link);
    wire_close(&post->wire);
    free(post);
}

/* ---- how it ended ------------------------------------------------------------------------ */

static curl_off_t lookup_time(const struct post *post)
{
    curl_off_t time = 0;
    (void)curl_easy_getinfo(post->wire.easy, CURLINFO_NAMELOOKUP_TIME_T, &time);
    return time;
}

static bool is_about_tls(int result)
{
    return result == CURLE_SSL_CONNECT_ERROR || result == CURLE_PEER_FAILED_VERIFICATION ||
           result == CURLE_SSL_CERTPROBLEM || result == CURLE_SSL_CIPHER ||
           result == CURLE_SSL_ISSUER_ERROR || result == CURLE_SSL_INVALIDCERTSTATUS;
}

/* Except for TLS, the progress of the transfer says more than libcurl's code. */
static const char *failure_of(const struct post *post, uint64_t now_ms)
{
    if (post->refusal != NULL)
        return post->refusal;
    if (post->is_refused && !post->is_dialled)
        return "address_refused";
    if (post->is_too_big)
        return "reply_too_big";
    /* The loop's clock is from the start of its turn, libcurl's is current. */
    if (now_ms >= post->deadline_ms || post->wire.result == CURLE_OPERATION_TIMEDOUT)
        return "timeout";
    if (post->is_sent)
        return "reply_broken";
    if (!post->is_dialled && lookup_time(post) == 0)
        return "name_unknown";
    return is_about_tls(post->wire.result) ? "tls_failed" : "unreachable";
}

bool post_conclude(const struct post *post, bool is_ok, uint64_t now_ms, char word[POST_WORD_MAX])
{
    long status = 0;
    if (post->refusal == NULL)
        (void)curl_easy_getinfo(post->wire.easy, CURLINFO_RESPONSE_CODE, &status);
    /* A truncated reply may mean that the receiver crashed; one that is too long does not. */
    const bool is_answered =
        post->has_head && status >= 200 && (is_ok || (post->is_too_big && status / 100 == 2));
    if (is_answered)
        (void)snprintf(word, POST_WORD_MAX, "http_%ld", status);
    else
        (void)snprintf(word, POST_WORD_MAX, "%s", failure_of(post, now_ms));
    return is_answered && status / 100 == 2;
}
