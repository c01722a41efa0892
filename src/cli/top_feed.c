#include "cli/top_feed.h"

#include "cli/progress.h"
#include "cli/remote_key.h"
#include "cli/show.h"

#include <sysexits.h>
#include <yyjson.h>

/* The view looks for the oldest flight once a second, so the fetch has to be cheap. */
#define FLIGHTS_FETCHED 300
#define UPTIME SLICE_OF("\nsolvegate_uptime_seconds ")

const char *top_counter_member(enum top_counter counter)
{
    static const char *const members[TOP_COUNTERS] = {
        [TOP_REQUESTS] = "requests", [TOP_FREE] = "deduplicated", [TOP_PAID] = "answered_api",
        [TOP_FAILED] = "failed",     [TOP_REFUSED] = "rejected",  [TOP_SUBMITS] = "submits",
        [TOP_SOLVES] = "solves",
    };
    return members[counter];
}

void top_feed_init(struct top_feed *feed)
{
    *feed = (struct top_feed){.stats = NULL};
    remote_init(&feed->remote);
    remote_reply_init(&feed->reply);
}

void top_feed_close(struct top_feed *feed)
{
    yyjson_doc_free(feed->stats);
    yyjson_doc_free(feed->letters);
    flight_list_close(&feed->flights);
    top_series_close(&feed->series);
    buf_close(&feed->reply.body);
    remote_close(&feed->remote);
}

/* ---- looking ----------------------------------------------------------------------------- */

static enum remote_end get(struct top_feed *feed, const char *path)
{
    const struct remote_request request = {.method = "GET", .path = path, .timeout_s = 10};
    return remote_send(&feed->remote, &request, &feed->reply);
}

static bool is_good(const struct top_feed *feed, enum remote_end end)
{
    return end == REMOTE_ANSWERED && feed->reply.status / 100 == 2;
}

static bool get_json(struct top_feed *feed, const char *path, yyjson_doc **doc,
                     enum remote_end *end)
{
    *end = get(feed, path);
    if (!is_good(feed, *end))
        return false;
    yyjson_doc *const fresh =
        yyjson_read(buf_slice(&feed->reply.body).data, feed->reply.body.len, 0);
    if (fresh == NULL)
        return false;
    yyjson_doc_free(*doc);
    *doc = fresh;
    return true;
}

static void take_sample(struct top_feed *feed)
{
    yyjson_val *const total = yyjson_obj_get(yyjson_doc_get_root(feed->stats), "total");
    struct top_sample *sample = &feed->samples[feed->sample_count++ % TOP_SAMPLES];
    sample->at_ms = progress_now_ms();
    for (int i = 0; i < TOP_COUNTERS; i++)
        sample->counters[i] = show_number(total, top_counter_member((enum top_counter)i));
}

/* Reads the one number that the statistics lack. */
static void read_uptime(struct top_feed *feed)
{
    const struct slice text = buf_slice(&feed->reply.body);
    const char *at = memmem(text.data, text.len, UPTIME.data, UPTIME.len);
    feed->uptime_s = 0;
    if (at == NULL)
        return;
    at += UPTIME.len;
    for (; at < text.data + text.len && *at >= '0' && *at <= '9'; at++)
        feed->uptime_s = feed->uptime_s * 10 + (uint64_t)(*at - '0');
}

static void note_trouble(struct top_feed *feed, enum remote_end end)
{
    if (end == REMOTE_ANSWERED)
        (void)snprintf(feed->trouble, sizeof feed->trouble, "the gateway answers HTTP %ld",
                       feed->reply.status);
    else
        (void)snprintf(feed->trouble, sizeof feed->trouble, "no gateway answers: %s",
                       feed->reply.trouble);
    /* A restarted gateway counts from zero again. */
    feed->sample_count = 0;
}

int top_feed_update(struct top_feed *feed, const struct command *command, bool is_first)
{
    enum remote_end end;
    if (!get_json(feed, "/v1/stats", &feed->stats, &end)) {
        if (end == REMOTE_GIVEN_UP)
            return is_first ? remote_tell(command, &feed->remote, end, &feed->reply) : EX_OK;
        if (is_first && is_good(feed, end))
            return remote_tell_not_json(command);
        if (is_first)
            return remote_tell(command, &feed->remote, end, &feed->reply);
        note_trouble(feed, end);
        return EX_OK;
    }
    feed->trouble[0] = '\0';
    take_sample(feed);
    if (feed->remote.is_json)
        return EX_OK;
    (void)flight_list_fetch(&feed->flights, &feed->remote, &feed->reply, FLIGHTS_FETCHED);
    (void)get_json(feed, "/v1/letters?limit=5", &feed->letters, &end);
    top_series_update(&feed->series, &feed->remote, &feed->reply);
    if (is_good(feed, get(feed, "/metrics")))
        read_uptime(feed);
    return EX_OK;
}

/* ---- rates ------------------------------------------------------------------------------- */

static const struct top_sample *sample_ago(const struct top_feed *feed, size_t looks)
{
    const size_t kept = feed->sample_count < TOP_SAMPLES ? feed->sample_count : TOP_SAMPLES;
    const size_t ago = looks + 1 > kept ? kept - 1 : looks;
    return &feed->samples[(feed->sample_count - 1 - ago) % TOP_SAMPLES];
}

double top_feed_span(const struct top_feed *feed, size_t looks)
{
    if (feed->sample_count < 2)
        return 0;
    return (double)(sample_ago(feed, 0)->at_ms - sample_ago(feed, looks)->at_ms) / 1000;
}

double top_feed_rate(const struct top_feed *feed, enum top_counter counter, size_t looks)
{
    const double span = top_feed_span(feed, looks);
    if (span <= 0)
        return -1;
    const uint64_t now = sample_ago(feed, 0)->counters[counter];
    const uint64_t then = sample_ago(feed, looks)->counters[counter];
    /* The counter of a restarted gateway starts from zero. */
    return now < then ? -1 : (double)(now - then) / span;
}
