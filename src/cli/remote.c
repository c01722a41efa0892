#include "cli/remote.h"

#include "cli/progress.h"
#include "cli/remote_key.h"
#include "cli/show.h"
#include "cli/term.h"

#include <curl/curl.h>
#include <sodium.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sysexits.h>
#include <yyjson.h>

#define UNIX_PREFIX "unix:"
#define TIMEOUT_S 60U
#define CONNECT_TIMEOUT_S 10L
#define TICK_MS 200

struct remote_link {
    CURLM *multi;
    CURL *easy;
};

void remote_add_query(struct buf *path, const char *name, const char *value)
{
    char *escaped = curl_easy_escape(NULL, value, 0);
    buf_addf(path, "%s%s=%s", memchr(path->data, '?', path->len) == NULL ? "?" : "&", name,
             escaped == NULL ? "" : escaped);
    curl_free(escaped);
}

void remote_close(struct remote *remote)
{
    if (remote->link != NULL) {
        curl_easy_cleanup(remote->link->easy);
        curl_multi_cleanup(remote->link->multi);
        free(remote->link);
    }
    sodium_memzero(remote->key, sizeof remote->key);
    remote->link = NULL;
}

void remote_reply_init(struct remote_reply *reply)
{
    *reply = (struct remote_reply){.status = 0};
    buf_init(&reply->body, REMOTE_REPLY_MAX);
}

/* ---- one call ---------------------------------------------------------------------------- */

static size_t on_body(char *data, size_t size, size_t count, void *context)
{
    struct buf *reply = context;
    buf_add(reply, (struct slice){.data = data, .len = size * count});
    return reply->is_full ? 0 : size * count;
}

static struct curl_slist *add_header(struct curl_slist *headers, const char *name,
                                     const char *value)
{
    char line[512];
    (void)snprintf(line, sizeof line, "%s%s", name, value);
    headers = curl_slist_append(headers, line);
    sodium_memzero(line, sizeof line);
    return headers;
}

static struct curl_slist *make_headers(const struct remote *remote,
                                       const struct remote_request *request)
{
    struct curl_slist *headers = add_header(NULL, "Content-Type: ", "application/json");
    /* Without this curl sends "Expect: 100-continue" before a large body and waits a second for the
     * reply. */
    headers = add_header(headers, "Expect:", "");
    if (remote->key[0] != '\0')
        headers = add_header(headers, "Authorization: Bearer ", remote->key);
    if (request->idempotency_key != NULL)
        headers = add_header(headers, "Idempotency-Key: ", request->idempotency_key);
    return headers;
}

static void set_target(CURL *easy, const struct remote *remote, const char *path)
{
    char url[REMOTE_PATH_MAX + 1024];
    size_t len = strlen(remote->url);
    const bool is_unix = strncmp(remote->url, UNIX_PREFIX, strlen(UNIX_PREFIX)) == 0;
    if (is_unix)
        curl_easy_setopt(easy, CURLOPT_UNIX_SOCKET_PATH, remote->url + strlen(UNIX_PREFIX));
    /* An address copied from a browser ends with a slash. */
    while (len > 0 && remote->url[len - 1] == '/')
        len--;
    if (is_unix)
        (void)snprintf(url, sizeof url, "http://localhost%s", path);
    else
        (void)snprintf(url, sizeof url, "%.*s%s", (int)len, remote->url, path);
    curl_easy_setopt(easy, CURLOPT_URL, url);
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(easy, CURLOPT_NOPROXY, "*");
}

static bool link_up(struct remote *remote)
{
    if (remote->link != NULL)
        return true;
    struct remote_link *link = malloc(sizeof *link);
    if (link == NULL)
        return false;
    *link = (struct remote_link){.multi = curl_multi_init(), .easy = curl_easy_init()};
    remote->link = link;
    return link->multi != NULL && link->easy != NULL;
}

static bool is_to_go_on(const struct remote *remote, struct progress *progress)
{
    progress_tick(progress);
    return remote->on_wait == NULL || remote->on_wait(remote->context);
}

/* Waits in steps, so that signals, keys and the progress line are handled meanwhile. */
static enum remote_end perform(const struct remote *remote, struct progress *progress,
                               CURLcode *result)
{
    CURLM *const multi = remote->link->multi;
    int running = 1;
    while (running > 0) {
        if (curl_multi_perform(multi, &running) != CURLM_OK)
            return REMOTE_UNREACHABLE;
        if (running > 0 && !is_to_go_on(remote, progress))
            return REMOTE_GIVEN_UP;
        if (running > 0 && curl_multi_poll(multi, NULL, 0, TICK_MS, NULL) != CURLM_OK)
            return REMOTE_UNREACHABLE;
    }
    int left;
    const CURLMsg *const message = curl_multi_info_read(multi, &left);
    *result = message == NULL ? CURLE_RECV_ERROR : message->data.result;
    return *result == CURLE_OK ? REMOTE_ANSWERED : REMOTE_UNREACHABLE;
}

/* The address is checked where it is connected to: a name may resolve differently from one second to the next. */
static curl_socket_t on_open_socket(void *context, curlsocktype purpose,
                                    struct curl_sockaddr *address)
{
    const struct remote *const remote = context;
    (void)purpose;
    if (!remote->allows(&address->addr))
        return CURL_SOCKET_BAD;
    return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

static void set_options(CURL *easy, struct remote *remote, const struct remote_request *request,
                        struct remote_reply *reply)
{
    const unsigned timeout = request->timeout_s == 0 ? TIMEOUT_S : request->timeout_s;
    if (remote->allows != NULL) {
        curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, on_open_socket);
        curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, remote);
    }
    curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, request->method);
    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT, CONNECT_TIMEOUT_S);
    curl_easy_setopt(easy, CURLOPT_TIMEOUT, (long)timeout);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_body);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, &reply->body);
    if (request->body != NULL)
        curl_easy_setopt(easy, CURLOPT_POSTFIELDS, request->body);
}

enum remote_end remote_send(struct remote *remote, const struct remote_request *request,
                            struct remote_reply *reply)
{
    CURLcode result = CURLE_FAILED_INIT;
    struct progress progress;
    buf_reset(&reply->body);
    reply->status = 0;
    if (!link_up(remote)) {
        (void)snprintf(reply->trouble, sizeof reply->trouble, "curl does not start");
        return REMOTE_UNREACHABLE;
    }
    CURL *const easy = remote->link->easy;
    curl_easy_reset(easy);
    struct curl_slist *headers = make_headers(remote, request);
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers);
    set_target(easy, remote, request->path);
    set_options(easy, remote, request, reply);
    (void)curl_multi_add_handle(remote->link->multi, easy);
    progress_start(&progress, remote->shows_progress ? "waiting for the gateway" : NULL);
    const enum remote_end end = perform(remote, &progress, &result);
    progress_stop(&progress);
    curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &reply->status);
    (void)curl_multi_remove_handle(remote->link->multi, easy);
    curl_slist_free_all(headers);
    if (end == REMOTE_UNREACHABLE)
        (void)snprintf(reply->trouble, sizeof reply->trouble, "%s", curl_easy_strerror(result));
    return end;
}

/* ---- with words -------------------------------------------------------------------------- */

/* The gateway describes mistakes in a sentence, which is printed for people. */
static int tell_problem(const struct command *command, const struct remote_reply *reply)
{
    const struct slice text = buf_slice(&reply->body);
    yyjson_doc *doc = yyjson_read(text.data, text.len, 0);
    const char *detail = yyjson_get_str(yyjson_obj_get(yyjson_doc_get_root(doc), "detail"));
    struct buf words;
    buf_init(&words, 4096);
    show_add_clean(&words, detail == NULL ? "the gateway did not say why" : detail);
    (void)fprintf(stderr, "solvegate %s: %.*s (HTTP %ld)\n", command->name, (int)words.len,
                  buf_slice(&words).data, reply->status);
    buf_close(&words);
    yyjson_doc_free(doc);
    if (reply->status == 401 || reply->status == 403)
        return EX_NOPERM;
    if (reply->status == 429 || reply->status >= 500)
        return EX_UNAVAILABLE;
    return reply->status / 100 == 4 ? EX_DATAERR : EX_PROTOCOL;
}

static void tell_unreachable(const struct command *command, const struct remote *remote,
                             const struct remote_reply *reply)
{
    struct buf url;
    buf_init(&url, 4096);
    show_add_url(&url, remote->url);
    (void)fprintf(stderr, "solvegate %s: no gateway answers at %.*s: %s\n", command->name,
                  (int)url.len, buf_slice(&url).data, reply->trouble);
    buf_close(&url);
}

int remote_tell(const struct command *command, const struct remote *remote, enum remote_end end,
                const struct remote_reply *reply)
{
    switch (end) {
    case REMOTE_UNREACHABLE:
        tell_unreachable(command, remote, reply);
        return EX_UNAVAILABLE;
    case REMOTE_GIVEN_UP:
        return term_signal() == 0 ? EX_UNAVAILABLE : term_exit_code(term_signal());
    case REMOTE_ANSWERED:
        break;
    }
    return reply->status / 100 == 2 ? EX_OK : tell_problem(command, reply);
}

int remote_call(const struct command *command, struct remote *remote, const char *method,
                const char *path, const char *body, struct buf *reply)
{
    const struct remote_request request = {.method = method, .path = path, .body = body};
    struct remote_reply answer;
    remote->shows_progress = true;
    remote_reply_init(&answer);
    const enum remote_end end = remote_send(remote, &request, &answer);
    const int code = remote_tell(command, remote, end, &answer);
    buf_close(reply);
    *reply = answer.body;
    return code;
}

void remote_print_json(const struct buf *body)
{
    show_print(body);
    (void)fputc('\n', stdout);
}

int remote_tell_not_json(const struct command *command)
{
    (void)fprintf(stderr, "solvegate %s: the gateway's reply is not JSON\n", command->name);
    return EX_PROTOCOL;
}

int remote_show(const struct command *command, const struct remote *remote, const struct buf *reply,
                remote_print print)
{
    if (remote->is_json) {
        remote_print_json(reply);
        return EX_OK;
    }
    yyjson_doc *doc = yyjson_read(buf_slice(reply).data, reply->len, 0);
    if (doc == NULL)
        return remote_tell_not_json(command);
    print(yyjson_doc_get_root(doc));
    yyjson_doc_free(doc);
    return EX_OK;
}

int remote_get(const struct command *command, struct remote *remote, const char *path,
               remote_print print)
{
    struct buf reply;
    buf_init(&reply, REMOTE_REPLY_MAX);
    int code = remote_call(command, remote, "GET", path, NULL, &reply);
    if (code == EX_OK)
        code = remote_show(command, remote, &reply, print);
    buf_close(&reply);
    return code;
}

static enum cli_result take_flags(struct cli_args *args, struct remote *remote)
{
    struct cli_arg arg;
    enum cli_result result;
    while ((result = cli_next(args, &arg)) == CLI_ARG) {
        if (arg.flag == NULL)
            return cli_wrong_argument(args->command, arg.value);
        (void)remote_take_flag(remote, &arg);
    }
    return result;
}

int remote_run_get(struct cli_args *args, const char *path, remote_print print)
{
    struct remote remote;
    remote_init(&remote);
    int code;
    if (remote_open(args->command, &remote, take_flags(args, &remote), &code))
        code = remote_get(args->command, &remote, path, print);
    remote_close(&remote);
    return code;
}
