/* Prometheus text exposition, one family at a time. */
#ifndef SOLVEGATE_PROTO_METRICS_H
#define SOLVEGATE_PROTO_METRICS_H

#include "base/buf.h"
#include "base/histogram.h"
#include "proto/api.h"
#include "proto/books.h"

#include <solvegate/engine.h>

/* Names are literals without the solvegate_ prefix; a counter's gets _total at the end. */
void metrics_counter(struct buf *out, const char *name, const char *help, uint64_t value);
void metrics_gauge(struct buf *out, const char *name, const char *help, uint64_t value);
/* Milliseconds, told in seconds as Prometheus wants them. */
void metrics_counter_ms(struct buf *out, const char *name, const char *help, uint64_t ms);

/* The lines before the samples of a family whose name is given in full, and one sample of it;
 * labels are literals such as `held="yes"`, or empty. */
void metrics_head(struct buf *out, const char *name, const char *type, const char *help);
void metrics_sample(struct buf *out, const char *name, const char *labels, uint64_t value);
void metrics_sample_ms(struct buf *out, const char *name, const char *labels, uint64_t ms);
/* The same for a histogram; its head comes first. */
void metrics_histogram(struct buf *out, const char *name, const char *labels,
                       const struct histogram *histogram);

/* Everything the engine counts and holds. */
void metrics_write_engine(struct buf *out, const struct stats *stats, const struct gauges *gauges);

/* By name, and "other" in any case, so that the family is there before the first. */
void metrics_write_unknown_errors(struct buf *out, const struct unknown_errors *errors);

/* Counters of each client and of each type: at most so many lines more, from *at on, which is 0 at first. False when
 * they were the last. */
bool metrics_write_books(struct buf *out, const struct books *books, size_t *at, size_t most,
                         const struct stats_scope *scope);

#endif
