#include "upstream/webhook.h"

#include "base/assert.h"
#include "base/buf.h"
#include "proto/json_out.h"
#include "sys/log.h"
#include "upstream/sender.h"

#include <solvegate/words.h>

#include <stdlib.h>
#include <time.h>
#include <uv.h>

#define POSTS_MAX 4
#define TRIES 3
#define TIMEOUT_MS 5000
/* Pauses of 1 s, then 2 s: enough for a receiver that restarts. */
#define PAUSE_MS 1000
#define BODY_MAX 1024

/* An alert in progress; its index is its id. */
struct place {
    struct webhook *webhook;
    uv_timer_t pause;
    struct buf body;
    unsigned tries;
    bool is_busy;
};

struct webhook {
    struct sender *sender; /* owned */
    char *url;             /* owned */
    struct place places[POSTS_MAX];
    bool is_closing;
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
    case ALERT_TASK_TWICE:
        return "task_id_twice";
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
        json_string(out, "class", error_class_name(alert->class));
    }
    json_close(out, '}');
}

/* ---- delivering -------------------------------------------------------------------------- */

static void try(struct place *place)
{
    const struct webhook *webhook = place->webhook;
    place->tries++;
    const bool is_taken = sender_post(webhook->sender, (uint64_t)(place - webhook->places),
                                      slice_from(webhook->url), buf_slice(&place->body));
    ASSERT(is_taken); /* the sender has as many connections as there are entries */
}

static void on_pause_over(uv_timer_t *pause)
{
    try(CONTAINER_OF(pause, struct place, pause));
}

static void on_end(void *context, uint64_t id, bool is_delivered, const char *word)
{
    struct webhook *webhook = context;
    struct place *place = &webhook->places[id];
    if (!is_delivered && place->tries < TRIES) {
        (void)uv_timer_start(&place->pause, on_pause_over, place->tries * PAUSE_MS, 0);
        return;
    }
    if (!is_delivered)
        LOG(LOG_LEVEL_ERROR, "alert_undelivered", log_number("tries", TRIES),
            log_string("why", word));
    buf_close(&place->body);
    place->is_busy = false;
}

static struct place *find_place(struct webhook *webhook)
{
    for (size_t i = 0; i < POSTS_MAX; i++)
        if (!webhook->places[i].is_busy)
            return &webhook->places[i];
    return NULL;
}

void webhook_alert(struct webhook *webhook, const struct alert *alert)
{
    if (webhook == NULL || webhook->is_closing)
        return;
    struct place *place = find_place(webhook);
    if (place == NULL) {
        LOG(LOG_LEVEL_ERROR, "alert_dropped", log_string("alert", alert_name(alert->kind)));
        return;
    }
    place->is_busy = true;
    place->tries = 0;
    buf_init(&place->body, BODY_MAX);
    write_body(&place->body, alert);
    try(place);
}

/* ---- life -------------------------------------------------------------------------------- */

static struct sender *make_sender(struct uv_loop_s *loop, struct webhook *webhook)
{
    /* The operator chose the address, so it may be a private one. */
    const struct sender_options options = {
        .connections = POSTS_MAX, .timeout_ms = TIMEOUT_MS, .allow_private = true};
    struct buf mistake;
    buf_init(&mistake, BODY_MAX);
    struct sender *sender = sender_new(loop, &options, on_end, webhook, &mistake);
    if (sender == NULL)
        LOG(LOG_LEVEL_ERROR, "alerts_unusable", log_text("why", buf_slice(&mistake)));
    buf_close(&mistake);
    return sender;
}

struct webhook *webhook_new(struct uv_loop_s *loop, const char *url)
{
    if (url == NULL)
        return NULL;
    struct webhook *webhook = calloc(1, sizeof *webhook);
    ASSERT(webhook != NULL);
    webhook->sender = make_sender(loop, webhook);
    if (webhook->sender == NULL) {
        free(webhook);
        return NULL;
    }
    webhook->url = strdup(url);
    ASSERT(webhook->url != NULL);
    for (size_t i = 0; i < POSTS_MAX; i++) {
        webhook->places[i].webhook = webhook;
        const int failed = uv_timer_init(loop, &webhook->places[i].pause);
        ASSERT(failed == 0);
    }
    return webhook;
}

/* The loop ends only after everything is closed, and webhook_free follows. */
static void on_sender_closed(void *context)
{
    struct webhook *webhook = context;
    webhook->sender = NULL;
}

void webhook_close(struct webhook *webhook)
{
    if (webhook == NULL || webhook->is_closing)
        return;
    webhook->is_closing = true;
    sender_close(webhook->sender, on_sender_closed, webhook);
    for (size_t i = 0; i < POSTS_MAX; i++)
        uv_close((uv_handle_t *)&webhook->places[i].pause, NULL);
}

void webhook_free(struct webhook *webhook)
{
    if (webhook == NULL)
        return;
    ASSERT(webhook->is_closing && webhook->sender == NULL);
    for (size_t i = 0; i < POSTS_MAX; i++)
        buf_close(&webhook->places[i].body);
    free(webhook->url);
    free(webhook);
}
