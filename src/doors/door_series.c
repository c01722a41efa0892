/* GET /v1/series: a page of points, or only that it has not changed (docs/api.md, "Lines over time"). */
#include "doors/door_series.h"

#include "doors/intake.h"
#include "doors/reply.h"
#include "proto/api_series.h"

#include <string.h>

static const struct problem bad_step = {
    .status = 422,
    .code = "bad_parameter",
    .detail = SLICE_INIT("step: expected second or minute"),
};
static const struct problem bad_page = {
    .status = 422,
    .code = "bad_parameter",
    .detail = SLICE_INIT("page: expected a number"),
};
static const struct problem unknown_page = {
    .status = 404,
    .code = "unknown_page",
    .detail = SLICE_INIT("page: no longer kept, or not there yet; without it the newest page is "
                         "sent, whose first_page is the oldest"),
};

/* Fills what is asked for; returns what is wrong with it, or NULL. */
static const struct problem *read_ask(const struct gate *gate, struct series_ask *ask)
{
    const struct slice step = params_value(&gate->params, SLICE_OF("step"));
    const struct slice page = params_value(&gate->params, SLICE_OF("page"));
    unsigned long long number = 0;
    *ask = (struct series_ask){.run = gate->series_run, .is_latest = !slice_is_given(page)};
    if (slice_equals(step, SLICE_OF("minute")))
        ask->step = SERIES_MINUTE;
    else if (slice_is_given(step) && !slice_equals(step, SLICE_OF("second")))
        return &bad_step;
    if (!ask->is_latest && !slice_to_u64(page, &number))
        return &bad_page;
    const uint64_t last = series_last_page(gate->series, ask->step);
    ask->page = ask->is_latest ? last : number;
    const bool is_kept =
        ask->page >= series_first_page(gate->series, ask->step) && ask->page <= last;
    return is_kept ? NULL : &unknown_page;
}

/* A tag cannot be a part of another, because its quotes belong to it. */
static bool is_known_to(const struct http_request *request, struct slice tag)
{
    const struct slice given = request->if_none_match;
    return slice_equals(given, SLICE_OF("*")) ||
           (given.len >= tag.len && memmem(given.data, given.len, tag.data, tag.len) != NULL);
}

void door_series(struct gate *gate, const struct http_request *request, struct visit *visit,
                 uint64_t number)
{
    (void)number;
    struct series_ask ask;
    const struct problem *const problem = read_ask(gate, &ask);
    if (problem != NULL) {
        reply_problem(gate, request->caller, visit, problem);
        return;
    }
    buf_reset(&gate->words);
    api_write_series_tag(&gate->words, gate->series, &ask);
    const struct slice tag = buf_slice(&gate->words);
    const bool is_unchanged = is_known_to(request, tag);
    reply_header(gate, SLICE_OF("ETag"), tag);
    /* The next run has other pages at the same address, so a copy is good only if the tag says so. */
    reply_header(gate, SLICE_OF("Cache-Control"), SLICE_OF("private, no-cache"));
    if (!is_unchanged)
        api_write_series(&gate->body, gate->series, &ask);
    reply_json(gate, request->caller, visit, is_unchanged ? 304 : 200);
    buf_reset(&gate->words);
}
