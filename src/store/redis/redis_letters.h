/* Reads the letters of all gateways that share a Redis. */
#ifndef SOLVEGATE_STORE_REDIS_REDIS_LETTERS_H
#define SOLVEGATE_STORE_REDIS_REDIS_LETTERS_H

#include "store/redis/redis_private.h"

/* What SCRIPT_LETTERS does. */
extern const char redis_letters_source[];

/* As in struct store_sharing. */
enum store_result redis_letter_numbers(struct store_backend *reader,
                                       void (*on_number)(void *context, uint64_t number),
                                       void *context);
enum store_result redis_letters(struct store_backend *reader, const uint64_t *numbers,
                                uint32_t count, bool is_full, store_on_letter *on_letter,
                                void *context);

#endif
