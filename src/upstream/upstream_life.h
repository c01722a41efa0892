/* Opening and closing the upstream. */
#ifndef SOLVEGATE_UPSTREAM_UPSTREAM_LIFE_H
#define SOLVEGATE_UPSTREAM_UPSTREAM_LIFE_H

#include "upstream/upstream.h"

/* NULL with a sentence in mistake if the URL or CA file is unusable. */
struct upstream *upstream_new(struct uv_loop_s *loop, const struct upstream_options *options,
                              const struct upstream_handlers *handlers, struct buf *mistake);

/* Aborts calls on the wire (no handler is called any more); on_closed runs after the last handle is
 * closed. */
void upstream_close(struct upstream *upstream, void (*on_closed)(void *context), void *context);
void upstream_free(struct upstream *upstream);

#endif
