/* The pulse's connections to Redis: one for beats, one that hears of claims that ended. */
#ifndef SOLVEGATE_STORE_REDIS_REDIS_PULSE_H
#define SOLVEGATE_STORE_REDIS_REDIS_PULSE_H

#include "store/redis/redis_private.h"

/* As in struct store_sharing. */
struct store_backend *pulse_make(const struct store_backend *backend);
enum store_result pulse_beat(struct store_backend *pulse, const struct demand *demand,
                             struct store_members *members);
enum store_result pulse_wait(struct store_backend *pulse, int fd, int timeout_ms,
                             void (*on_woken)(void *context, const struct key *name),
                             void *context);
enum store_result pulse_inbox(struct store_backend *pulse, unsigned limit,
                              void (*on_fact)(void *context, const struct fact *take_fact),
                              void *context);

#endif
