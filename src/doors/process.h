/* What the system says about this process, under the names that every Prometheus client library uses. */
#ifndef SOLVEGATE_DOORS_PROCESS_H
#define SOLVEGATE_DOORS_PROCESS_H

#include "base/buf.h"

#include <stdint.h>

struct uv_loop_s;

/* started_wall_ms: when the process began. What cannot be found out is left out. */
void process_write_metrics(struct buf *out, struct uv_loop_s *loop, int64_t started_wall_ms);

#endif
