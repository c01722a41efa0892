#include "upstream/sender.h"

#include "base/assert.h"
#include "upstream/lane.h"
#include "upstream/post.h"
#include "upstream/sockets.h"
#include "upstream/trust.h"

#include <curl/curl.h>
#include <stdlib.h>
#include <uv.h>

struct sender {
    uv_loop_t *loop;
    uv_idle_t turn; /* active while there is something to start */
    struct post_setup setup;
    struct sockets *sockets; /* owned */
    struct lane *lane;       /* owned */
    sender_end_fn on_end;
    void *context;
    struct list due;    /* posts that start with the next turn */
    struct list active; /* posts on the wire */
    uint32_t count, most;
    bool is_held; /* the loop is kept alive while posts are in progress */
    bool is_closing;
    uint32_t closing_parts;
    void (*on_closed)(void *context);
    void *closed_context;
};

/* ---- running ----------------------------------------------------------------------------- */

static void hold_loop(struct sender *sender)
{
    const bool is_busy = sender->count > 0;
    if (is_busy != sender->is_held)
        sockets_hold(sender->sockets, is_busy);
    sender->is_held = is_busy;
}

/* The handler is called last: it may send more or close the sender. */
static void conclude(struct sender *sender, struct post *post, bool is_ok)
{
    char word[POST_WORD_MAX];
    const uint64_t id = post->id;
    const bool is_delivered = post_conclude(post, is_ok, uv_now(sender->loop), word);
    post_free(post);
    sender->count--;
    hold_loop(sender);
    sender->on_end(sender->context, id, is_delivered, word);
}

static bool on_done(void *context, struct wire *wire, bool is_ok)
{
    struct sender *sender = context;
    if (sender->is_closing)
        return false;
    conclude(sender, CONTAINER_OF(wire, struct post, wire), is_ok);
    return !sender->is_closing && !sockets_is_late(sender->sockets);
}

static void on_turn(uv_idle_t *turn);

/* The next turn reports what the lane had no time for in this one. */
static void go_on(struct sender *sender)
{
    if (!sender->is_closing && lane_is_touched(sender->lane))
        (void)uv_idle_start(&sender->turn, on_turn);
}

static void on_settled(void *context)
{
    struct sender *sender = context;
    if (!sender->is_closing && lane_is_touched(sender->lane))
        lane_settle(sender->lane);
    go_on(sender);
}

static void start(struct sender *sender, struct post *post)
{
    list_unlink(&post->link);
    if (post->refusal != NULL) {
        conclude(sender, post, false);
        return;
    }
    post->deadline_ms = uv_now(sender->loop) + sender->setup.timeout_ms;
    list_append(&sender->active, &post->link);
    lane_add(sender->lane, &post->wire);
}

static void on_turn(uv_idle_t *turn)
{
    struct sender *sender = turn->data;
    struct list due;
    struct list *first;
    (void)uv_idle_stop(turn);
    /* Posts that handlers send meanwhile wait for the next turn: one that is refused and sent again
     * at once would loop for ever. */
    list_init(&due);
    list_splice(&due, &sender->due);
    while (!sender->is_closing && (first = list_first(&due)) != NULL)
        start(sender, CONTAINER_OF(first, struct post, link));
    list_splice(&sender->due, &due);
    if (!sender->is_closing && lane_is_touched(sender->lane) && !sockets_is_late(sender->sockets))
        lane_run(sender->lane);
    go_on(sender);
}

/* ---- sending ----------------------------------------------------------------------------- */

static bool has_room(const struct sender *sender)
{
    return !sender->is_closing && sender->count < sender->most;
}

static bool enqueue(struct sender *sender, struct post *take_post)
{
    list_append(&sender->due, &take_post->link);
    sender->count++;
    hold_loop(sender);
    (void)uv_idle_start(&sender->turn, on_turn);
    return true;
}

void sender_allow_private(struct sender *sender, bool allow_private)
{
    sender->setup.allow_private = allow_private;
}

bool sender_get(struct sender *sender, uint64_t id, struct slice url)
{
    return has_room(sender) && enqueue(sender, post_new(&sender->setup, id, url, SLICE_NONE));
}

bool sender_post(struct sender *sender, uint64_t id, struct slice url, struct slice json)
{
    return has_room(sender) && enqueue(sender, post_new(&sender->setup, id, url, json));
}

bool sender_refuse(struct sender *sender, uint64_t id, const char *word)
{
    return has_room(sender) && enqueue(sender, post_new_refused(id, word));
}

/* ---- life -------------------------------------------------------------------------------- */

static struct sender *fail(const char *sentence, struct buf *mistake)
{
    buf_add(mistake, slice_from(sentence));
    curl_global_cleanup();
    return NULL;
}

static struct sender *make(struct uv_loop_s *loop, const struct sender_options *options,
                           struct trust *take_trust)
{
    struct sender *sender = calloc(1, sizeof *sender);
    ASSERT(sender != NULL);
    const struct sockets_handlers ready = {
        .context = sender, .on_ready = lane_on_ready, .on_settled = on_settled};
    sender->sockets = sockets_new(loop, &ready);
    if (sender->sockets == NULL) {
        trust_close(take_trust);
        free(sender);
        return NULL;
    }
    sender->loop = loop;
    sender->most = options->connections > 0 ? options->connections : 1;
    sender->setup.sockets = sender->sockets;
    sender->setup.timeout_ms = options->timeout_ms;
    sender->setup.allow_private = options->allow_private;
    post_setup_init(&sender->setup, take_trust);
    list_init(&sender->due);
    list_init(&sender->active);
    const int failed = uv_idle_init(loop, &sender->turn);
    ASSERT(failed == 0);
    sender->turn.data = sender;
    return sender;
}

struct sender *sender_new(struct uv_loop_s *loop, const struct sender_options *options,
                          sender_end_fn on_end, void *context, struct buf *mistake)
{
    if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
        buf_add(mistake, SLICE_OF("libcurl cannot start"));
        return NULL;
    }
    if ((curl_version_info(CURLVERSION_NOW)->features & CURL_VERSION_ASYNCHDNS) == 0)
        return fail("this libcurl resolves names on the loop (no AsynchDNS)", mistake);
    struct trust *trust = trust_open(options->ca_file);
    if (trust == NULL)
        return fail("ca_file: it holds no certificate that can be read", mistake);
    struct sender *sender = make(loop, options, trust);
    if (sender == NULL)
        return fail("no descriptor left for an epoll set", mistake);
    const struct lane_handlers handlers = {.context = sender, .on_done = on_done};
    sender->lane = lane_new(loop, sender->sockets, sender->most, &handlers);
    sender->on_end = on_end;
    sender->context = context;
    return sender;
}

static void on_part_closed(void *context)
{
    struct sender *sender = context;
    if (--sender->closing_parts > 0)
        return;
    void (*on_closed)(void *context) = sender->on_closed;
    void *closed_context = sender->closed_context;
    post_setup_close(&sender->setup);
    free(sender);
    curl_global_cleanup();
    on_closed(closed_context);
}

static void free_posts(struct sender *sender, struct list *posts)
{
    LIST_FOR_EACH_SAFE(link, posts) {
        struct post *post = CONTAINER_OF(link, struct post, link);
        if (post->wire.lane != NULL)
            lane_remove(sender->lane, &post->wire);
        post_free(post);
    }
}

/* Runs from the loop itself, so no libcurl call and no handler of ours is on the stack. */
static void tear_down(uv_handle_t *turn)
{
    struct sender *sender = turn->data;
    free_posts(sender, &sender->due);
    free_posts(sender, &sender->active);
    sender->closing_parts = 2;
    lane_close(sender->lane, on_part_closed, sender);
    sockets_close(sender->sockets, on_part_closed, sender);
}

void sender_close(struct sender *sender, void (*on_closed)(void *context), void *context)
{
    ASSERT(!sender->is_closing);
    sender->is_closing = true;
    sender->on_closed = on_closed;
    sender->closed_context = context;
    uv_close((uv_handle_t *)&sender->turn, tear_down);
}
