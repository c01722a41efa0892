/* Units of clients' budgets: what the server does when they are drawn, and how many all nodes have. */
#ifndef SOLVEGATE_STORE_REDIS_REDIS_BUDGET_H
#define SOLVEGATE_STORE_REDIS_REDIS_BUDGET_H

#include "store/redis/redis_private.h"

/* A part of the script that writes a batch; budgets.h has the rule. */
extern const char redis_draw_source[];

/* As in struct store_sharing. */
enum store_result redis_sum_drawn(struct store_backend *reader, int64_t day,
                                  struct store_budget *budgets, uint32_t count);

#endif
