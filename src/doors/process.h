/* Metrics about this process, under the names that every Prometheus client library uses. */
#ifndef SOLVEGATE_DOORS_PROCESS_H
#define SOLVEGATE_DOORS_PROCESS_H

#include "base/buf.h"

#include <stdint.h>

struct uv_loop_s;

/* started_wall_ms is the start of the process. Leaves out metrics that cannot be determined. */
void process_write_metrics(struct buf *out, struct uv_loop_s *loop, int64_t started_wall_ms);

#endif
