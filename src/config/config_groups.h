/* Reads values that hold several: lists, one value per type of captcha, and the error table. */
#ifndef SOLVEGATE_CONFIG_CONFIG_GROUPS_H
#define SOLVEGATE_CONFIG_CONFIG_GROUPS_H

#include "config/config_loader.h"

/* All return false after telling a mistake. base is the config or a client. */

/* Empties a list before its first item. */
void group_clear(const struct option *option, void *base);
/* Adds one item. */
bool group_add(struct loader *loader, const struct option *option, void *base,
               struct yyjson_val *value);
bool group_read_list(struct loader *loader, const struct option *option, void *base,
                     struct yyjson_val *value);

bool group_read_per_type(struct loader *loader, const struct option *option, void *base,
                         struct yyjson_val *value);
/* The entry of one type, by its name. */
bool group_read_type(struct loader *loader, const struct option *option, void *base,
                     struct slice type, struct yyjson_val *value);
/* Gives the types that were not named the value of "default". */
void group_finish_per_type(struct loader *loader, const struct option *option, void *base);

bool group_read_errors(struct loader *loader, const struct option *option,
                       struct yyjson_val *value);

#endif
