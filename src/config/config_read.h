/* Reads one given value into its option's field, for every kind and shape. */
#ifndef SOLVEGATE_CONFIG_CONFIG_READ_H
#define SOLVEGATE_CONFIG_CONFIG_READ_H

#include "config/config_loader.h"

/* base is the config, client or pool that holds the field. Mistakes are told through the loader,
 * whose path names the value already. */
void read_value(struct loader *loader, const struct option *option, void *base,
                struct yyjson_val *value);

/* Reads one value of the loader's option into place. False after telling a mistake. */
bool read_one(struct loader *loader, void *place, struct yyjson_val *value);

/* Reads a value of the config from plain text: a variable or a flag. type names one entry of an
 * option per type, or is NULL. If splits is set, commas separate the items of a list; else the text
 * is one item, added to those that the same origin gave before. */
void read_plain(struct loader *loader, const struct option *option, const char *type,
                const char *text, bool splits);

/* Gives types that were not named the value of "default"; call it after everything is read. */
void read_finish(struct loader *loader);

#endif
