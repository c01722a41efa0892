/* Reads single values: texts, numbers, durations, sizes and words. */
#ifndef SOLVEGATE_CONFIG_CONFIG_SCALARS_H
#define SOLVEGATE_CONFIG_CONFIG_SCALARS_H

#include "config/config_loader.h"

/* All return false after telling a mistake. place is the field, bytes its size. */

/* The value as text, with ${NAME} replaced if it comes from the file; out keeps the bytes.
 * Anything but a text without control characters is a mistake. */
bool scalar_text(struct loader *loader, const struct option *option, struct yyjson_val *value,
                 char out[CONFIG_TEXT_MAX], struct slice *text);

bool scalar_read_copy(struct loader *loader, const struct option *option, struct yyjson_val *value,
                      char place[CONFIG_TEXT_MAX]);
bool scalar_read_url(struct loader *loader, const struct option *option, struct yyjson_val *value,
                     char place[CONFIG_TEXT_MAX]);
bool scalar_read_flag(struct loader *loader, const struct option *option, struct yyjson_val *value,
                      void *place, size_t bytes);
bool scalar_read_count(struct loader *loader, const struct option *option, struct yyjson_val *value,
                       void *place, size_t bytes);
bool scalar_read_duration(struct loader *loader, const struct option *option,
                          struct yyjson_val *value, void *place, size_t bytes);
bool scalar_read_size(struct loader *loader, const struct option *option, struct yyjson_val *value,
                      void *place, size_t bytes);
/* A number of 0 to most, kept as that many parts of one. */
bool scalar_read_fraction(struct loader *loader, const struct option *option,
                          struct yyjson_val *value, double most, double parts, void *place,
                          size_t bytes);
bool scalar_read_word(struct loader *loader, const struct option *option, struct yyjson_val *value,
                      void *place, size_t bytes);

#endif
