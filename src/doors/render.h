/* Texts about all clients: written in bounded pieces, one a turn, for every caller that asked
 * before the text was begun. */
#ifndef SOLVEGATE_DOORS_RENDER_H
#define SOLVEGATE_DOORS_RENDER_H

#include "doors/visit.h"
#include "gate/gate_state.h"
#include "proto/books.h"
#include "store/store_letters.h"

enum render_kind { RENDER_METRICS, RENDER_STATS, RENDER_CLUSTER, RENDER_COUNT };

struct render_job {
    struct buf waiting; /* callers of the next text */
    struct buf asking;  /* callers of the text being written; empty: no text is */
    size_t answered;    /* bytes of asking that are answered */
    struct buf text;
    bool is_whole;
};

/* The state of a /metrics text between pieces. */
struct metrics_render {
    struct books books;
    size_t at, budgets_at;
};

/* The state of a /v1/stats text between pieces. Counters of today and since the start are copied
 * when the text is begun, so that they balance; past days no longer change. */
struct stats_render {
    struct books total, today, past;
    struct stats total_stats, today_stats;
    struct unknown_errors unknown_errors;
    int64_t days[STATS_DAYS + 1]; /* day numbers, today first */
    size_t page_count;            /* all since the start, then the days */
    size_t page;
    uint16_t client;        /* the page's next client */
    uint16_t budget_client; /* the next client after the pages */
    bool is_open;           /* the page's head is written */
    bool has_budgets;       /* the head of the budgets is written */
};

/* The books of all gateways, which the store has. */
struct cluster_render {
    bool is_asked;      /* the store has not answered yet */
    struct buf callers; /* who waits for that */
    struct buf text;    /* the latest answer */
};

/* Who waits for letters of other gateways, which the store has. */
struct letters_render {
    caller_id callers[STORE_LETTER_QUERIES];
    uint32_t count;
};

struct render {
    struct render_job jobs[RENDER_COUNT];
    struct letters_render letters;
    struct metrics_render metrics;
    struct stats_render stats;
    struct cluster_render cluster;
};

void render_open(struct gate *gate);
void render_close(struct gate *gate);

/* Answers the caller at once if the text is short, else in a later turn. */
void render_ask(struct gate *gate, const struct http_request *request, const struct visit *visit,
                enum render_kind kind);

/* The same for callers whose visits are stored. */
void render_give(struct gate *gate, enum render_kind kind, const struct buf *callers);

/* Writes the next pieces. */
void render_work(struct gate *gate);
bool render_has_work(const struct gate *gate);

#endif
