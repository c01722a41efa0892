/* Texts about all clients: written in pieces, a bounded one a turn, for everybody who asked before they were begun. */
#ifndef SOLVEGATE_DOORS_RENDER_H
#define SOLVEGATE_DOORS_RENDER_H

#include "doors/visit.h"
#include "gate/gate_state.h"
#include "proto/books.h"

enum render_kind { RENDER_METRICS, RENDER_STATS, RENDER_COUNT };

struct render_job {
    struct buf waiting; /* callers of the next text */
    struct buf asking;  /* callers of the text that is being written; empty: none is */
    size_t answered;    /* bytes of them */
    struct buf text;
    bool is_whole;
};

/* What the text of /metrics goes on with. */
struct metrics_render {
    struct books books;
    size_t at;
};

/* What the text of /v1/stats goes on with. Counters of today and since the start are those of the moment when it was
 * begun, so that they balance; the days before do not change any more. */
struct stats_render {
    struct books total, today, past;
    struct stats total_stats, today_stats;
    struct unknown_errors unknown_errors;
    int64_t days[STATS_DAYS + 1]; /* their numbers, today first */
    size_t page_count;            /* all since the start, then the days */
    size_t page;
    uint16_t client; /* the next one of the page */
    bool is_open;    /* the page's head is written */
};

struct render {
    struct render_job jobs[RENDER_COUNT];
    struct metrics_render metrics;
    struct stats_render stats;
};

void render_open(struct gate *gate);
void render_close(struct gate *gate);

/* The caller is answered at once where little is to be written, else in a later turn. */
void render_ask(struct gate *gate, const struct http_request *request, const struct visit *visit,
                enum render_kind kind);

/* The next pieces. */
void render_work(struct gate *gate);
bool render_has_work(const struct gate *gate);

/* door_metrics.c and door_stats.c: a text's beginning, and its next piece; false when it was the last. */
void door_metrics_begin(struct gate *gate, struct buf *out);
bool door_metrics_go_on(struct gate *gate, struct buf *out);
void door_stats_begin(struct gate *gate, struct buf *out);
bool door_stats_go_on(struct gate *gate, struct buf *out);

#endif
