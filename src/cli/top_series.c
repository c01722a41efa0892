#include "cli/top_series.h"

#include "cli/show.h"

#include <yyjson.h>

static void clear(struct top_series *series)
{
    for (size_t i = 0; i < TOP_PAGES; i++) {
        yyjson_doc_free(series->pages[i]);
        series->pages[i] = NULL;
    }
    series->run[0] = '\0';
}

void top_series_close(struct top_series *series)
{
    clear(series);
}

void top_series_set_step(struct top_series *series, bool is_by_minute)
{
    if (is_by_minute != series->is_by_minute)
        clear(series);
    series->is_by_minute = is_by_minute;
}

/* ---- looking ----------------------------------------------------------------------------- */

static yyjson_val *root_of(const struct top_series *series, uint64_t page)
{
    yyjson_val *const root = yyjson_doc_get_root(series->pages[page % TOP_PAGES]);
    return root != NULL && show_number(root, "page") == page ? root : NULL;
}

static yyjson_doc *fetch(struct remote *remote, struct remote_reply *reply, const char *path)
{
    const struct remote_request request = {.method = "GET", .path = path, .timeout_s = 10};
    if (remote_send(remote, &request, reply) != REMOTE_ANSWERED || reply->status != 200)
        return NULL;
    return yyjson_read(buf_slice(&reply->body).data, reply->body.len, 0);
}

static void keep(struct top_series *series, uint64_t page, yyjson_doc *take_doc)
{
    yyjson_doc **const place = &series->pages[page % TOP_PAGES];
    yyjson_doc_free(*place);
    *place = take_doc;
}

/* The newest page; false without an answer. */
static bool fetch_latest(struct top_series *series, struct remote *remote,
                         struct remote_reply *reply)
{
    yyjson_doc *const doc =
        fetch(remote, reply, series->is_by_minute ? "/v1/series?step=minute" : "/v1/series");
    yyjson_val *const root = yyjson_doc_get_root(doc);
    const char *const run = show_text(root, "run");
    if (doc == NULL || strcmp(run, series->run) != 0)
        clear(series);
    if (doc == NULL)
        return false;
    (void)snprintf(series->run, sizeof series->run, "%s", run);
    series->latest = show_number(root, "page");
    keep(series, series->latest, doc);
    return true;
}

/* A page before the newest is complete, unless it was the newest when it was fetched. */
static bool fetch_older(struct top_series *series, struct remote *remote,
                        struct remote_reply *reply, uint64_t page)
{
    yyjson_val *const known = root_of(series, page);
    char path[64];
    if (known != NULL && show_flag(known, "complete"))
        return true;
    (void)snprintf(path, sizeof path, "/v1/series?page=%llu%s", (unsigned long long)page,
                   series->is_by_minute ? "&step=minute" : "");
    keep(series, page, fetch(remote, reply, path));
    return root_of(series, page) != NULL;
}

void top_series_update(struct top_series *series, struct remote *remote, struct remote_reply *reply)
{
    const uint64_t wanted = series->is_by_minute ? TOP_PAGES - 1 : 1;
    if (!fetch_latest(series, remote, reply))
        return;
    const uint64_t first = show_number(root_of(series, series->latest), "first_page");
    for (uint64_t ago = 1; ago <= wanted && series->latest >= first + ago; ago++)
        if (!fetch_older(series, remote, reply, series->latest - ago))
            return;
}

/* ---- points ------------------------------------------------------------------------------ */

static size_t points_of(const struct top_series *series, uint64_t page)
{
    const uint64_t points = show_number(root_of(series, page), "points");
    return points < TOP_PAGE_POINTS ? (size_t)points : TOP_PAGE_POINTS;
}

size_t top_series_count(const struct top_series *series)
{
    size_t count = points_of(series, series->latest);
    for (uint64_t ago = 1; ago < TOP_PAGES && ago <= series->latest; ago++) {
        if (points_of(series, series->latest - ago) < TOP_PAGE_POINTS)
            break;
        count += TOP_PAGE_POINTS;
    }
    return count;
}

uint64_t top_series_last(const struct top_series *series)
{
    return series->latest * TOP_PAGE_POINTS + points_of(series, series->latest) - 1;
}

yyjson_val *top_series_page(const struct top_series *series, uint64_t point, size_t *index)
{
    *index = point % TOP_PAGE_POINTS;
    return root_of(series, point / TOP_PAGE_POINTS);
}

double top_series_value(const struct top_series *series, uint64_t point, const char *name)
{
    size_t index;
    yyjson_val *const page = top_series_page(series, point, &index);
    yyjson_val *const value = yyjson_arr_get(yyjson_obj_get(page, name), index);
    return yyjson_is_num(value) ? yyjson_get_num(value) : -1;
}
