/* Looks for requests, letters, books and budgets in a schema that gateways share, whichever of them has the rows. */
#ifndef SOLVEGATE_STORE_POSTGRES_POSTGRES_FIND_H
#define SOLVEGATE_STORE_POSTGRES_POSTGRES_FIND_H

#include "store/postgres/postgres_private.h"

struct store_sought;

/* As in struct store_sharing. */
enum store_result pg_find(struct store_backend *reader, struct store_sought *sought,
                          uint32_t count);
enum store_result pg_letter_numbers(struct store_backend *reader,
                                    void (*on_number)(void *context, uint64_t number),
                                    void *context);
enum store_result pg_letters(struct store_backend *reader, const uint64_t *numbers, uint32_t count,
                             bool is_full, store_on_letter *on_letter, void *context);
enum store_result pg_books(struct store_backend *reader, uint16_t node, int64_t wall_ms,
                           store_on_values *on_values, void *context);
enum store_result pg_sum_drawn(struct store_backend *reader, int64_t day,
                               struct store_budget *budgets, uint32_t count);

#endif
