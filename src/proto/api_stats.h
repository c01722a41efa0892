/* The books as JSON, for /v1/stats, written in pieces. */
#ifndef SOLVEGATE_PROTO_API_STATS_H
#define SOLVEGATE_PROTO_API_STATS_H

#include "proto/api.h"

struct books;
struct shadow_report;

/* One page of the books. */
struct stats_page {
    bool is_day;
    int64_t day; /* since 1970, UTC */
    const struct stats *stats;
};

/* State of the service, for the statistics; texts are borrowed. */
struct stats_service {
    const char *version;
    const char *store;                     /* memory, writable, away, full or broken */
    const char *store_kind, *store_server; /* "" in memory only */
    uint64_t uptime_ms;
    bool is_draining, has_callbacks, store_is_async;
};

/* The statistics in pieces, in this order: open; a page "total" and a page "today"; open_days and pages without a name;
 * open_budgets and a budget for each client that has one; close. Each page is open_page, its clients in any number of
 * pieces, close_page. */
void api_stats_open(struct buf *out, const struct gauges *gauges);
void api_stats_open_page(struct buf *out, const char *name, const struct stats_page *page);
/* Writes the tallies of these clients; empty ones are left out. */
void api_stats_clients(struct buf *out, const struct books *books, uint16_t from, uint16_t to,
                       const struct stats_scope *scope);
/* unknown_errors is given for the total only, else NULL. */
void api_stats_close_page(struct buf *out, const struct books *books,
                          const struct unknown_errors *unknown_errors,
                          const struct stats_scope *scope);
void api_stats_open_days(struct buf *out);
void api_stats_open_budgets(struct buf *out);
void api_stats_budget(struct buf *out, const char *client, const struct budget_view *budget);
void api_stats_close(struct buf *out, const struct stats_service *service,
                     const struct shadow_report *shadow, const struct stats_scope *scope);

#endif
