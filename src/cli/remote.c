#include "cli/remote.h"

#include <curl/curl.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>
#include <yyjson.h>

#define DEFAULT_URL "http://127.0.0.1:8430"
#define UNIX_PREFIX "unix:"
#define TIMEOUT_S 60L

void remote_init(struct remote *remote)
{
    const char *url = getenv("SOLVEGATE_URL");
    *remote = (struct remote){.url = url == NULL || *url == '\0' ? DEFAULT_URL : url};
}

bool remote_take_flag(struct remote *remote, const struct cli_arg *arg)
{
    if (strcmp(arg->flag->name, "url") == 0)
        remote->url = arg->value;
    else if (strcmp(arg->flag->name, "json") == 0)
        remote->is_json = true;
    else
        return false;
    return true;
}

void remote_add_query(struct buf *path, const char *name, const char *value)
{
    char *escaped = curl_easy_escape(NULL, value, 0);
    buf_addf(path, "%s%s=%s", memchr(path->data, '?', path->len) == NULL ? "?" : "&", name,
             escaped == NULL ? "" : escaped);
    curl_free(escaped);
}

static size_t on_body(char *data, size_t size, size_t count, void *context)
{
    struct buf *reply = context;
    buf_add(reply, (struct slice){.data = data, .len = size * count});
    return reply->is_full ? 0 : size * count;
}

/* The key travels in a header; everything here ends with the process, a moment later. */
static struct curl_slist *make_headers(void)
{
    struct curl_slist *headers = curl_slist_append(NULL, "Content-Type: application/json");
    const char *key = getenv("SOLVEGATE_KEY");
    if (key == NULL || *key == '\0')
        return headers;
    char line[256];
    (void)snprintf(line, sizeof(line), "Authorization: Bearer %s", key);
    headers = curl_slist_append(headers, line);
    sodium_memzero(line, sizeof(line));
    return headers;
}

static void set_target(CURL *easy, const struct remote *remote, const char *path)
{
    char url[4096];
    size_t len = strlen(remote->url);
    const bool is_unix = strncmp(remote->url, UNIX_PREFIX, strlen(UNIX_PREFIX)) == 0;
    if (is_unix)
        curl_easy_setopt(easy, CURLOPT_UNIX_SOCKET_PATH, remote->url + strlen(UNIX_PREFIX));
    /* Whoever copies an address from a browser copies its last slash too. */
    while (len > 0 && remote->url[len - 1] == '/')
        len--;
    if (is_unix)
        (void)snprintf(url, sizeof(url), "http://localhost%s", path);
    else
        (void)snprintf(url, sizeof(url), "%.*s%s", (int)len, remote->url, path);
    curl_easy_setopt(easy, CURLOPT_URL, url);
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(easy, CURLOPT_NOPROXY, "*");
}

/* The gateway answers mistakes with a sentence; that is what a person wants to read. */
static int tell_problem(const struct command *command, long status, const struct buf *reply)
{
    yyjson_doc *doc = yyjson_read(reply->data == NULL ? "" : reply->data, reply->len, 0);
    const char *detail = yyjson_get_str(yyjson_obj_get(yyjson_doc_get_root(doc), "detail"));
    (void)fprintf(stderr, "solvegate %s: %s (HTTP %ld)\n", command->name,
                  detail == NULL ? "the gateway did not say why" : detail, status);
    yyjson_doc_free(doc);
    if (status == 401 || status == 403)
        return EX_NOPERM;
    if (status == 404 || status == 422 || status == 400)
        return EX_DATAERR;
    return EX_UNAVAILABLE;
}

static int judge(const struct command *command, const struct remote *remote, CURL *easy,
                 CURLcode result, const struct buf *reply)
{
    long status = 0;
    if (result != CURLE_OK) {
        (void)fprintf(stderr, "solvegate %s: no gateway answers at %s: %s\n", command->name,
                      remote->url, curl_easy_strerror(result));
        return EX_UNAVAILABLE;
    }
    curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
    return status / 100 == 2 ? EX_OK : tell_problem(command, status, reply);
}

int remote_call(const struct command *command, const struct remote *remote, const char *method,
                const char *path, const char *body, struct buf *reply)
{
    CURL *easy = curl_easy_init();
    if (easy == NULL)
        return EX_OSERR;
    struct curl_slist *headers = make_headers();
    set_target(easy, remote, path);
    curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, method);
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(easy, CURLOPT_TIMEOUT, TIMEOUT_S);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_body);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, reply);
    if (body != NULL)
        curl_easy_setopt(easy, CURLOPT_POSTFIELDS, body);
    const CURLcode result = curl_easy_perform(easy);
    const int code = judge(command, remote, easy, result, reply);
    curl_slist_free_all(headers);
    curl_easy_cleanup(easy);
    return code;
}
