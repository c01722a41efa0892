/* Alerts to the operator's webhook: rare, small, retried a few times, never in the way of the loop. */
#ifndef SOLVEGATE_UPSTREAM_WEBHOOK_H
#define SOLVEGATE_UPSTREAM_WEBHOOK_H

#include <solvegate/event.h>

struct uv_loop_s;
struct webhook;

/* NULL when url is empty: then webhook_alert does nothing. */
struct webhook *webhook_new(struct uv_loop_s *loop, const char *url);

/* Posts one JSON object; beyond a few alerts under way further ones are dropped and logged. */
void webhook_alert(struct webhook *webhook, const struct alert *alert);

/* What is under way gives up soon; the loop runs until it has. */
void webhook_close(struct webhook *webhook);

/* After the loop ended. */
void webhook_free(struct webhook *webhook);

/* The fixed word of an alert, as log and webhook have it. */
const char *alert_name(enum alert_kind kind);

#endif
