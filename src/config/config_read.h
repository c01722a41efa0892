/* Reads one given value into its option's field, whatever its kind and shape. */
#ifndef SOLVEGATE_CONFIG_CONFIG_READ_H
#define SOLVEGATE_CONFIG_CONFIG_READ_H

#include "config/config_loader.h"

/* base is the config, client or pool that holds the field. Mistakes are told through the loader,
 * whose path names the value already. */
void read_value(struct loader *loader, const struct option *option, void *base,
                struct yyjson_val *value);

/* One value of the loader's option into place, wherever that is. False after telling a mistake. */
bool read_one(struct loader *loader, void *place, struct yyjson_val *value);

/* A value of the config from plain text, of the environment or a flag. type is a captcha's name for one entry
 * of an option per type, or NULL. A list is separated by commas when splits is set, else the text is
 * one item that is added if the same origin gave one before. */
void read_plain(struct loader *loader, const struct option *option, const char *type,
                const char *text, bool splits);

/* Types that were not named follow "default"; to be called when everything is read. */
void read_finish(struct loader *loader);

#endif
