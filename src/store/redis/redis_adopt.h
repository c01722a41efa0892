/* Takes a dead gateway's rows and claims, and gives them. */
#ifndef SOLVEGATE_STORE_REDIS_REDIS_ADOPT_H
#define SOLVEGATE_STORE_REDIS_REDIS_ADOPT_H

#include "store/store_driver.h"

/* As in struct store_sharing. */
enum store_result redis_adopt(struct store_backend *backend, const struct store_member *dead,
                              bool is_again, bool *is_ours, const struct store_adopted *to);

#endif
