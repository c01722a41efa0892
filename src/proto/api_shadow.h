/* Shadow mode and advice as JSON, for /v1/stats (docs/design.md 5.11). */
#ifndef SOLVEGATE_PROTO_API_SHADOW_H
#define SOLVEGATE_PROTO_API_SHADOW_H

#include "base/buf.h"
#include "proto/api.h"

#include <solvegate/findings.h>

/* Adds the member "shadow" of a page, client or type; nothing if nothing was paid for in shadow mode. */
void api_shadow_tally(struct buf *out, const struct tally *tally, const struct stats_scope *scope);

/* The member "shadow" of the whole: who is in shadow mode, and what the engine found out. */
struct shadow_report {
    bool (*is_shadow)(void *context, client_id client); /* of the scope's clients */
    void *context;
    struct shadow_hour day;
    const struct repeat_view *repeats;
    size_t repeat_count;
    const struct target_view *targets;
    size_t target_count;
};
void api_shadow_report(struct buf *out, const struct shadow_report *report,
                       const struct stats_scope *scope);

#endif
