/* Prometheus text exposition, one family at a time. */
#ifndef SOLVEGATE_PROTO_METRICS_H
#define SOLVEGATE_PROTO_METRICS_H

#include "base/buf.h"
#include "base/histogram.h"
#include "proto/api.h"
#include "proto/books.h"

#include <solvegate/view.h>

/* Names are literals without the solvegate_ prefix; a counter's name gets the suffix _total. */
void metrics_counter(struct buf *out, const char *name, const char *help, uint64_t value);
void metrics_gauge(struct buf *out, const char *name, const char *help, uint64_t value);

/* Writes the head of a family whose name is given in full, and one sample of it; labels are
 * literals such as `held="yes"`, or empty. */
void metrics_head(struct buf *out, const char *name, const char *type, const char *help);
void metrics_sample(struct buf *out, const char *name, const char *labels, uint64_t value);
void metrics_sample_ms(struct buf *out, const char *name, const char *labels, uint64_t ms);
/* Writes a histogram of milliseconds as seconds; write its head first. */
void metrics_histogram(struct buf *out, const char *name, const char *labels,
                       const struct histogram *histogram);
/* As metrics_histogram, for observations of which per_one, a power of ten, make one unit. */
void metrics_histogram_in(struct buf *out, const char *name, const char *labels,
                          const struct histogram *histogram, unsigned per_one);

/* Writes all counters and gauges of the engine. */
void metrics_write_engine(struct buf *out, const struct stats *stats, const struct gauges *gauges);

/* Writes unknown errors by name, and always "other", so that the family exists before the first error. */
void metrics_write_unknown_errors(struct buf *out, const struct unknown_errors *errors);

/* Writes the counters of each client and of each type: at most `most` rows, starting at *at, which
 * is 0 at first. Returns false after the last row. */
bool metrics_write_books(struct buf *out, const struct books *books, size_t *at, size_t most,
                         const struct stats_scope *scope);

/* Looks up a client's budget; false if it has none. */
struct metrics_budgets {
    bool (*budget_of)(const void *context, client_id client, struct budget_view *budget);
    const void *context;
};

/* Writes the budgets of clients that have one, in the same way. */
bool metrics_write_budgets(struct buf *out, const struct metrics_budgets *budgets, size_t *at,
                           size_t most, const struct stats_scope *scope);

#endif
