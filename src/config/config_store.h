/* The place of the journal: its URL, its prefix, and whether the way there is protected. */
#ifndef SOLVEGATE_CONFIG_CONFIG_STORE_H
#define SOLVEGATE_CONFIG_CONFIG_STORE_H

#include "config/config.h"

/* A scheme, a colon and something behind it, in visible ASCII; whether a driver knows it is another question. */
bool value_parse_store(struct slice text, void *out);
/* At most 40 letters, digits and '_', which both a schema and a key may contain. */
#define STORE_PREFIX_MAX 40
bool value_parse_prefix(struct slice text, void *out);

/* Finds the place of the journal: the store, or data_dir, whose URL is written into url (which the caller opens
 * and closes). False without a journal. Everything is borrowed. */
bool config_place(const struct config *config, struct buf *url, struct store_place *place);

/* A sentence on what others can read or change on the way to the store, or NULL. */
const char *config_store_warning(const struct config *config);

#endif
