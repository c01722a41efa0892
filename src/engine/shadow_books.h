/* The books of shadow mode: what was paid, and what serving would have spared, by day, hour, client
 * and type. */
#ifndef SOLVEGATE_ENGINE_SHADOW_BOOKS_H
#define SOLVEGATE_ENGINE_SHADOW_BOOKS_H

#include "engine/state.h"

/* The flight's submit is paid for. */
void shadow_books_paid(struct engine *engine, const struct flight *flight);

/* That submit is a duplicate: serving would have spared it. */
void shadow_books_duplicate(struct engine *engine, const struct flight *flight);

/* It was counted as a duplicate, but serving would have needed it as a retry. */
void shadow_books_retried(struct engine *engine, const struct flight *flight);

/* The hours of a day as they are journaled; NULL if nothing was paid for in shadow mode. */
struct blob *shadow_books_pack(const struct day *day);
void shadow_books_restore(struct day *day, const struct blob *hours);

#endif
