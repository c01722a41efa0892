/* Lines over time as JSON. */
#include "proto/api_series.h"

#include "proto/json_out.h"

#include <inttypes.h>

const char *series_step_name(enum series_step step)
{
    return step == SERIES_SECOND ? "second" : "minute";
}

void api_write_series_tag(struct buf *out, const struct series *series,
                          const struct series_ask *ask)
{
    const uint32_t points = series_page_points(series, ask->step, ask->page);
    buf_addf(out, "\"%016" PRIx64 "-%s-%" PRIu64, ask->run, series_step_name(ask->step), ask->page);
    if (ask->is_latest || points < SERIES_PAGE)
        buf_addf(out, "-%s%" PRIu64, ask->is_latest ? "latest-" : "",
                 series->rings[ask->step].count);
    buf_add_char(out, '"');
}

/* ---- lines ------------------------------------------------------------------------------- */

/* Where a line's values are. */
struct line {
    const struct series *series;
    const struct series_ask *ask;
    uint32_t points;
};

static const struct series_point *point_at(const struct line *line, uint32_t index)
{
    return series_point(line->series, line->ask->step, line->ask->page, index);
}

static void add_value(struct buf *out, bool is_known, uint64_t value)
{
    json_item(out);
    if (is_known)
        buf_add_u64(out, value);
    else
        buf_add(out, SLICE_OF("null"));
}

static void open_line(struct buf *out, const char *name)
{
    json_member(out, name);
    json_open(out, '[');
}

static void write_count(struct buf *out, const struct line *line, const char *name, int which)
{
    open_line(out, name);
    for (uint32_t i = 0; i < line->points; i++)
        add_value(out, point_at(line, i)->is_known, point_at(line, i)->counts[which]);
    json_close(out, ']');
}

static void write_gauge(struct buf *out, const struct line *line, const char *name, int which)
{
    open_line(out, name);
    for (uint32_t i = 0; i < line->points; i++)
        add_value(out, point_at(line, i)->is_known, point_at(line, i)->gauges[which]);
    json_close(out, ']');
}

static void write_solve_times(struct buf *out, const struct line *line, const char *name,
                              bool is_p95)
{
    open_line(out, name);
    for (uint32_t i = 0; i < line->points; i++) {
        const struct series_point *const point = point_at(line, i);
        add_value(out, point->has_solves, is_p95 ? point->solve_p95_ms : point->solve_p50_ms);
    }
    json_close(out, ']');
}

static void write_marks(struct buf *out, const struct line *line)
{
    open_line(out, "marks");
    for (uint32_t i = 0; i < line->points; i++)
        for (int mark = 0; mark < SERIES_MARKS; mark++) {
            if ((point_at(line, i)->marks >> mark & 1) == 0)
                continue;
            json_open(out, '{');
            json_number(out, "point", i);
            json_string(out, "what", series_mark_name((enum series_mark)mark));
            json_close(out, '}');
        }
    json_close(out, ']');
}

static void write_lines(struct buf *out, const struct line *line)
{
#define SERIES_WRITE_COUNT(name) write_count(out, line, #name, SERIES_COUNT_##name);
    SERIES_COUNT_LIST(SERIES_WRITE_COUNT)
#undef SERIES_WRITE_COUNT
#define SERIES_WRITE_GAUGE(name) write_gauge(out, line, #name, SERIES_GAUGE_##name);
    SERIES_GAUGE_LIST(SERIES_WRITE_GAUGE)
#undef SERIES_WRITE_GAUGE
    write_solve_times(out, line, "solve_p50_ms", false);
    write_solve_times(out, line, "solve_p95_ms", true);
    write_marks(out, line);
}

void api_write_series(struct buf *out, const struct series *series, const struct series_ask *ask)
{
    const struct line line = {
        .series = series,
        .ask = ask,
        .points = series_page_points(series, ask->step, ask->page),
    };
    json_open(out, '{');
    json_hex(out, "run",
             (const uint8_t[]){(uint8_t)(ask->run >> 56), (uint8_t)(ask->run >> 48),
                               (uint8_t)(ask->run >> 40), (uint8_t)(ask->run >> 32),
                               (uint8_t)(ask->run >> 24), (uint8_t)(ask->run >> 16),
                               (uint8_t)(ask->run >> 8), (uint8_t)ask->run},
             8);
    json_string(out, "step", series_step_name(ask->step));
    if (ask->is_latest) {
        json_time(out, "at", series_ended_ms(series, ask->step));
        json_number(out, "first_page", series_first_page(series, ask->step));
    }
    json_number(out, "page", ask->page);
    json_number(out, "points", line.points);
    json_bool(out, "complete", line.points == SERIES_PAGE);
    write_lines(out, &line);
    json_close(out, '}');
}
