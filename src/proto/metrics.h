/* Prometheus text exposition, one family at a time. */
#ifndef SOLVEGATE_PROTO_METRICS_H
#define SOLVEGATE_PROTO_METRICS_H

#include "base/buf.h"

#include <solvegate/engine.h>

/* Names are literals without the solvegate_ prefix; a counter's gets _total at the end. */
void metrics_counter(struct buf *out, const char *name, const char *help, uint64_t value);
void metrics_gauge(struct buf *out, const char *name, const char *help, uint64_t value);

/* Everything the engine counts and holds. */
void metrics_write_engine(struct buf *out, const struct stats *stats, const struct gauges *gauges);

#endif
