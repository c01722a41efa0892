#include "io/webhook.h"

#include "base/assert.h"
#include "base/buf.h"
#include "io/log.h"
#include "proto/json_out.h"

#include <solvegate/words.h>

#include <curl/curl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#include <uv.h>

#define POSTS_MAX 4
#define TRIES 3
#define TIMEOUT_MS 5000L
#define BODY_MAX 1024

struct webhook {
    uv_loop_t *loop; /* borrowed */
    char *url;       /* owned */
    atomic_bool is_closing;
    unsigned under_way;
};

/* One alert on its way, in a thread of libuv's pool: libcurl's easy interface blocks. */
struct post {
    uv_work_t work;
    struct webhook *webhook;
    struct buf body;
    bool is_delivered;
};

const char *alert_name(enum alert_kind kind)
{
    switch (kind) {
    case ALERT_BREAKER_OPEN:
        return "breaker_open";
    case ALERT_BREAKER_CLOSED:
        return "breaker_closed";
    case ALERT_DUPLICATE_PROVEN:
        return "duplicate_submit_proven";
    case ALERT_OTHER_SOLUTION:
        return "second_solution_differs";
    case ALERT_LETTERS:
        return "letters_growing";
    }
    UNREACHABLE();
}

static void write_body(struct buf *out, const struct alert *alert)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    json_open(out, '{');
    json_string(out, "alert", alert_name(alert->kind));
    json_time(out, "time", (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000);
    if (alert->kind == ALERT_LETTERS)
        json_number(out, "letters", alert->count);
    if (alert->code[0] != '\0') {
        json_string(out, "error", alert->code);
        json_string(out, "class", class_name(alert->class));
    }
    json_close(out, '}');
}

/* ---- in the thread ----------------------------------------------------------------------- */

static int on_progress(void *context, curl_off_t total_in, curl_off_t in, curl_off_t total_out,
                       curl_off_t out)
{
    (void)total_in;
    (void)in;
    (void)total_out;
    (void)out;
    const struct webhook *webhook = context;
    return atomic_load(&webhook->is_closing) ? 1 : 0;
}

static size_t on_reply(char *data, size_t size, size_t count, void *context)
{
    (void)data;
    (void)context;
    return size * count;
}

static void prepare(CURL *easy, const struct post *post, struct curl_slist *headers)
{
    curl_easy_setopt(easy, CURLOPT_URL, post->webhook->url);
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(easy, CURLOPT_PROXY, "");
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, TIMEOUT_MS);
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE, (long)post->body.len);
    curl_easy_setopt(easy, CURLOPT_POSTFIELDS, post->body.data);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_reply);
    curl_easy_setopt(easy, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(easy, CURLOPT_XFERINFOFUNCTION, on_progress);
    curl_easy_setopt(easy, CURLOPT_XFERINFODATA, post->webhook);
}

static bool deliver_once(CURL *easy)
{
    long status = 0;
    return curl_easy_perform(easy) == CURLE_OK &&
           curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status) == CURLE_OK &&
           status / 100 == 2;
}

static void deliver(uv_work_t *work)
{
    struct post *post = CONTAINER_OF(work, struct post, work);
    struct curl_slist *headers = curl_slist_append(NULL, "Content-Type: application/json");
    CURL *easy = curl_easy_init();
    if (easy != NULL && headers != NULL) {
        prepare(easy, post, headers);
        for (unsigned try = 0; try < TRIES && !post->is_delivered; try++) {
            /* 1 s, then 2 s: long enough for a receiver that restarts. */
            for (unsigned s = 0; s < try && !atomic_load(&post->webhook->is_closing); s++)
                sleep(1);
            post->is_delivered = deliver_once(easy);
        }
    }
    curl_easy_cleanup(easy);
    curl_slist_free_all(headers);
}

/* ---- on the loop ------------------------------------------------------------------------- */

static void on_delivered(uv_work_t *work, int status)
{
    (void)status;
    struct post *post = CONTAINER_OF(work, struct post, work);
    post->webhook->under_way--;
    if (!post->is_delivered)
        LOG(LOG_LEVEL_ERROR, "alert_undelivered", log_number("tries", TRIES));
    buf_close(&post->body);
    free(post);
}

struct webhook *webhook_new(struct uv_loop_s *loop, const char *url)
{
    if (url[0] == '\0')
        return NULL;
    struct webhook *webhook = calloc(1, sizeof *webhook);
    ASSERT(webhook != NULL);
    webhook->loop = loop;
    webhook->url = strdup(url);
    ASSERT(webhook->url != NULL);
    return webhook;
}

void webhook_alert(struct webhook *webhook, const struct alert *alert)
{
    if (webhook == NULL || atomic_load(&webhook->is_closing))
        return;
    if (webhook->under_way == POSTS_MAX) {
        LOG(LOG_LEVEL_ERROR, "alert_dropped", log_string("alert", alert_name(alert->kind)));
        return;
    }
    struct post *post = calloc(1, sizeof *post);
    ASSERT(post != NULL);
    post->webhook = webhook;
    buf_init(&post->body, BODY_MAX);
    write_body(&post->body, alert);
    webhook->under_way++;
    const int err = uv_queue_work(webhook->loop, &post->work, deliver, on_delivered);
    ASSERT(err == 0);
}

void webhook_close(struct webhook *webhook)
{
    if (webhook != NULL)
        atomic_store(&webhook->is_closing, true);
}

void webhook_free(struct webhook *webhook)
{
    if (webhook == NULL)
        return;
    ASSERT(webhook->under_way == 0);
    free(webhook->url);
    free(webhook);
}
