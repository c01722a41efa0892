/* Alerts to the operator's webhook: rare, small, retried a few times, never blocking the loop. */
#ifndef SOLVEGATE_UPSTREAM_WEBHOOK_H
#define SOLVEGATE_UPSTREAM_WEBHOOK_H

#include <solvegate/event.h>

struct uv_loop_s;
struct webhook;

/* NULL if url is empty: then webhook_alert does nothing. */
struct webhook *webhook_new(struct uv_loop_s *loop, const char *url);

/* Posts one JSON object; if too many alerts are in progress, it is dropped and logged. */
void webhook_alert(struct webhook *webhook, const struct alert *alert);

/* Alerts in progress give up soon; the loop runs until they have. */
void webhook_close(struct webhook *webhook);

/* Call it after the loop has ended. */
void webhook_free(struct webhook *webhook);

/* The fixed word of an alert, for log and webhook. */
const char *alert_name(enum alert_kind kind);

#endif
