#include "doors/render.h"

#include "base/assert.h"
#include "doors/door_cluster_stats.h"
#include "doors/door_metrics.h"
#include "doors/door_stats.h"
#include "doors/reply.h"

#include <stdlib.h>

/* 1024 clients that were active every day take some 3 MiB. */
#define TEXT_MAX (16u << 20)
/* Copying a longer text for one caller fills a turn. */
#define SMALL_TEXT 65536
/* One entry per caller; there are never more callers than exchanges. */
#define CALLERS_MAX (64u << 20)

static const struct {
    void (*begin)(struct gate *gate, struct buf *out);
    bool (*go_on)(struct gate *gate, struct buf *out);
    struct slice content_type;
} kinds[RENDER_COUNT] = {
    [RENDER_METRICS] = {door_metrics_begin, door_metrics_go_on,
                        SLICE_INIT("text/plain; version=0.0.4; charset=utf-8")},
    [RENDER_STATS] = {door_stats_begin, door_stats_go_on, SLICE_INIT("application/json")},
    [RENDER_CLUSTER] = {door_cluster_stats_begin, door_cluster_stats_go_on,
                        SLICE_INIT("application/json")},
};

void render_open(struct gate *gate)
{
    gate->render = calloc(1, sizeof *gate->render);
    ASSERT(gate->render != NULL);
    for (int kind = 0; kind < RENDER_COUNT; kind++) {
        struct render_job *job = &gate->render->jobs[kind];
        buf_init(&job->waiting, CALLERS_MAX);
        buf_init(&job->asking, CALLERS_MAX);
        buf_init(&job->text, TEXT_MAX);
    }
    buf_init(&gate->render->cluster.callers, CALLERS_MAX);
    buf_init(&gate->render->cluster.text, TEXT_MAX);
}

void render_close(struct gate *gate)
{
    struct render *render = gate->render;
    for (int kind = 0; kind < RENDER_COUNT; kind++) {
        buf_close(&render->jobs[kind].waiting);
        buf_close(&render->jobs[kind].asking);
        buf_close(&render->jobs[kind].text);
    }
    books_close(&render->metrics.books);
    books_close(&render->stats.total);
    books_close(&render->stats.today);
    books_close(&render->stats.past);
    buf_close(&render->cluster.callers);
    buf_close(&render->cluster.text);
    free(render);
}

static bool is_busy(const struct render_job *job)
{
    return job->asking.len > 0 || job->waiting.len > 0;
}

/* Callers that arrive later get the next text, since this one is older than their request. */
static void begin(struct gate *gate, struct render_job *job, enum render_kind kind)
{
    const struct buf none = job->asking;
    job->asking = job->waiting;
    job->waiting = none;
    job->answered = 0;
    job->is_whole = false;
    kinds[kind].begin(gate, &job->text);
}

static void answer_next(struct gate *gate, struct render_job *job, enum render_kind kind)
{
    caller_id caller;
    struct visit visit;
    memcpy(&caller, job->asking.data + job->answered, sizeof caller);
    job->answered += sizeof caller;
    if (visit_load(gate, caller, &visit))
        reply_bytes(gate, caller, &visit, kinds[kind].content_type, buf_slice(&job->text));
}

static void answer(struct gate *gate, struct render_job *job, enum render_kind kind)
{
    ASSERT(!job->text.is_full);
    do {
        answer_next(gate, job, kind);
    } while (job->answered < job->asking.len && job->text.len <= SMALL_TEXT);
    if (job->answered < job->asking.len)
        return;
    buf_reset(&job->asking);
    buf_reset(&job->text);
    if (job->text.room > SMALL_TEXT)
        buf_close(&job->text);
}

static void go_on(struct gate *gate, enum render_kind kind)
{
    struct render_job *job = &gate->render->jobs[kind];
    if (job->asking.len == 0)
        begin(gate, job, kind);
    if (!job->is_whole)
        job->is_whole = !kinds[kind].go_on(gate, &job->text);
    if (job->is_whole)
        answer(gate, job, kind);
}

void render_ask(struct gate *gate, const struct http_request *request, const struct visit *visit,
                enum render_kind kind)
{
    struct render_job *job = &gate->render->jobs[kind];
    const bool is_first = !is_busy(job);
    visit_store(request, visit);
    buf_add(&job->waiting,
            (struct slice){.data = (const char *)&request->caller, .len = sizeof request->caller});
    if (is_first)
        go_on(gate, kind);
    http_expect_long(gate->server, request->caller);
}

void render_give(struct gate *gate, enum render_kind kind, const struct buf *callers)
{
    struct render_job *job = &gate->render->jobs[kind];
    const bool is_first = !is_busy(job);
    buf_add(&job->waiting, buf_slice(callers));
    if (is_first && callers->len > 0)
        go_on(gate, kind);
}

bool render_has_work(const struct gate *gate)
{
    for (int kind = 0; kind < RENDER_COUNT; kind++)
        if (is_busy(&gate->render->jobs[kind]))
            return true;
    return false;
}

void render_work(struct gate *gate)
{
    for (int kind = 0; kind < RENDER_COUNT; kind++)
        if (is_busy(&gate->render->jobs[kind]))
            go_on(gate, (enum render_kind)kind);
}
