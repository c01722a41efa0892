/* What is known of one key, as JSON. */
#ifndef SOLVEGATE_PROTO_API_TIMELINE_H
#define SOLVEGATE_PROTO_API_TIMELINE_H

#include "proto/api.h"

#include <solvegate/timeline.h>

/* Names only clients that the onlooker may know. `node` is the gateway whose view it is, NULL if it shares no store. */
void api_write_timeline(struct buf *out, const struct key_view *view,
                        const struct onlooker *onlooker, const struct api_names *names,
                        const char *node);

#endif
