/* The fields that options fill: presets, lists, comparing and swapping. */
#ifndef SOLVEGATE_CONFIG_CONFIG_FIELDS_H
#define SOLVEGATE_CONFIG_CONFIG_FIELDS_H

#include "config/config_options.h"

/* Sets every field of the home, which must be all zero, to its default. */
void options_preset(enum option_home home, void *base);
/* Frees and wipes the memory that its fields own. */
void options_close(enum option_home home, void *base);

/* The address of one value; type is used only for options per type. */
void *option_place(const struct option *option, const void *base, size_t type);
/* For kinds that are numbers. */
uint64_t option_number(const struct option *option, const void *base);
uint64_t option_number_at(const struct option *option, const void *place);
void option_store(const struct option *option, void *place, uint64_t number);
bool option_is_number(const struct option *option);
bool option_is_text(const struct option *option);

/* For lists and maps that are pointers: the length, and adding a copy of an item. */
size_t option_item_count(const struct option *option, const void *base);
void option_add_item(const struct option *option, void *base, const void *item);
void option_clear(const struct option *option, void *base);
/* Replaces an owned text. */
void option_store_text(void *place, const char *text);

bool option_is_same(const struct option *option, const void *a, const void *b);
void option_swap(const struct option *option, void *a, void *b);

#endif
