/* Lines over time as JSON (base/series.h): a page of points, one array for each line. */
#ifndef SOLVEGATE_PROTO_API_SERIES_H
#define SOLVEGATE_PROTO_API_SERIES_H

#include "base/buf.h"
#include "base/series.h"

struct series_ask {
    uint64_t run; /* names this run of the gateway: after a restart the numbers begin anew */
    enum series_step step;
    uint64_t page;
    bool is_latest; /* asked for without a number: tells the time and which pages there are, too */
};

/* "second" or "minute". */
const char *series_step_name(enum series_step step);

/* The entity tag with its quotes. A complete page keeps its own for ever, since it never changes. */
void api_write_series_tag(struct buf *out, const struct series *series,
                          const struct series_ask *ask);

void api_write_series(struct buf *out, const struct series *series, const struct series_ask *ask);

#endif
