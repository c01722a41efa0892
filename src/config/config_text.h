/* Texts as they are given, with ${NAME} replaced by environment variables. */
#ifndef SOLVEGATE_CONFIG_CONFIG_TEXT_H
#define SOLVEGATE_CONFIG_CONFIG_TEXT_H

#include "config/config_loader.h"

/* The value as text, with ${NAME} replaced if it comes from the file; out keeps the bytes. False after telling a
 * mistake: the value is no text, too long, or has control characters. */
bool text_read(struct loader *loader, const struct option *option, struct yyjson_val *value,
               char out[CONFIG_TEXT_MAX], struct slice *text);

#endif
