/* The pulse's connection to PostgreSQL: beats, and notifications of claims that ended. */
#ifndef SOLVEGATE_STORE_POSTGRES_POSTGRES_PULSE_H
#define SOLVEGATE_STORE_POSTGRES_POSTGRES_PULSE_H

#include "store/postgres/postgres_private.h"

/* The channel of those who share the schema. */
#define PG_CHANNEL_MAX 32
void pg_pulse_channel(const char *schema, char channel[PG_CHANNEL_MAX]);

/* Names in a notification: its payload has less than 8000 bytes. */
#define PG_PULSE_NAMES 180
/* Adds a name to a payload. */
void pg_pulse_add_name(struct buf *payload, const struct key *name);

/* As in struct store_sharing. */
enum store_result pg_pulse_beat(struct store_backend *pulse, const struct demand *demand,
                                struct store_members *members);
enum store_result pg_pulse_wait(struct store_backend *pulse, int fd, int timeout_ms,
                                void (*on_woken)(void *context, const struct key *name),
                                void *context);
enum store_result pg_pulse_inbox(struct store_backend *pulse, unsigned limit,
                                 void (*on_fact)(void *context, const struct fact *take_fact),
                                 void *context);

#endif
