/* Secrets that survive a restart: made on first use, replaced when they are too old. */
#ifndef SOLVEGATE_STORE_STORE_SECRET_H
#define SOLVEGATE_STORE_STORE_SECRET_H

#include "store/store_driver.h"

/* As store_rotating_secret; old_bytes may be NULL. */
int secret_get(struct store_backend *backend, const char *name, int64_t max_age_ms, uint8_t *bytes,
               uint8_t *old_bytes, size_t count) MUST_CHECK;

/* For drivers that replace a secret: is the stored one the one before, or is there none if that is NULL? */
bool secret_is_same(const struct store_secret *stored, const struct store_secret *before);

#endif
