/* The fields that options fill: defaults, numbers of any width, owned texts and lists. Plain ISO C,
 * so that simulations of the engine alone start from the same defaults as the program. */
#include "config/config_fields.h"

#include "base/assert.h"
#include "config/config_options.h"

#include <stdlib.h>

bool option_is_text(const struct option *option)
{
    return option->kind < OPTION_NAME;
}

bool option_is_number(const struct option *option)
{
    return option->kind >= OPTION_FLAG;
}

/* True for a list in memory of its own; bits are a number. */
static bool has_items(const struct option *option)
{
    return option->count_offset != 0;
}

void *option_place(const struct option *option, const void *base, size_t type)
{
    return (char *)(uintptr_t)base + option->offset + type * option->bytes;
}

void option_store(const struct option *option, void *place, uint64_t number)
{
    /* The option's range guarantees that the number fits the field. */
    if (option->bytes == 1)
        *(uint8_t *)place = (uint8_t)number;
    else if (option->bytes == 2)
        *(uint16_t *)place = (uint16_t)number;
    else if (option->bytes == 4)
        *(uint32_t *)place = (uint32_t)number;
    else
        *(uint64_t *)place = number;
}

uint64_t option_number_at(const struct option *option, const void *place)
{
    if (option->bytes == 1)
        return *(const uint8_t *)place;
    if (option->bytes == 2)
        return *(const uint16_t *)place;
    return option->bytes == 4 ? *(const uint32_t *)place : *(const uint64_t *)place;
}

uint64_t option_number(const struct option *option, const void *base)
{
    return option_number_at(option, option_place(option, base, 0));
}

/* ---- texts and lists ----------------------------------------------------------------------- */

/* Texts may be keys, which must not stay behind in freed memory; volatile keeps the compiler from
 * removing these writes. */
static void free_text(const void *place)
{
    char *text;
    memcpy(&text, place, sizeof text);
    for (volatile char *c = text; c != NULL && *c != '\0'; c++)
        *c = '\0';
    free(text);
}

void option_store_text(void *place, const char *text)
{
    const size_t bytes = strlen(text) + 1;
    char *const copy = malloc(bytes);
    ASSERT(copy != NULL);
    memcpy(copy, text, bytes);
    free_text(place);
    memcpy(place, &copy, sizeof copy);
}

size_t option_item_count(const struct option *option, const void *base)
{
    size_t count;
    memcpy(&count, (const char *)base + option->count_offset, sizeof count);
    return count;
}

static char *items_of(const struct option *option, const void *base)
{
    char *items;
    memcpy(&items, option_place(option, base, 0), sizeof items);
    return items;
}

static void set_items(const struct option *option, void *base, const char *items, size_t count)
{
    memcpy(option_place(option, base, 0), &items, sizeof items);
    memcpy((char *)base + option->count_offset, &count, sizeof count);
}

void option_add_item(const struct option *option, void *base, const void *item)
{
    const size_t count = option_item_count(option, base);
    char *const items = realloc(items_of(option, base), (count + 1) * option->bytes);
    ASSERT(items != NULL);
    memcpy(items + count * option->bytes, item, option->bytes);
    set_items(option, base, items, count + 1);
}

void option_clear(const struct option *option, void *base)
{
    if (!has_items(option)) {
        option_store(option, option_place(option, base, 0), 0);
        return;
    }
    char *const items = items_of(option, base);
    for (size_t i = 0; option_is_text(option) && i < option_item_count(option, base); i++)
        free_text(items + i * option->bytes);
    free(items);
    set_items(option, base, NULL, 0);
}

void options_close(enum option_home home, void *base)
{
    for (const struct option *option = option_table; option < option_table + option_count;
         option++) {
        if (option->home != home)
            continue;
        if (has_items(option))
            option_clear(option, base);
        else if (option_is_text(option))
            free_text(option_place(option, base, 0));
    }
}

/* ---- defaults ------------------------------------------------------------------------------ */

static void preset_number(const struct option *option, void *base)
{
    const size_t count = option->shape == SHAPE_PER_TYPE ? TYPE_COUNT : 1;
    for (size_t type = 0; type < count; type++)
        option_store(option, option_place(option, base, type), option->preset.number);
    for (const struct option_type *own = option->types; own != NULL && own->type < TYPE_COUNT;
         own++)
        option_store(option, option_place(option, base, own->type), own->preset.number);
}

static void preset_text(const struct option *option, void *base)
{
    if (!has_items(option)) {
        option_store_text(option_place(option, base, 0), option->preset.text);
        return;
    }
    char *item = NULL;
    option_store_text(&item, option->preset.text);
    option_add_item(option, base, &item);
}

void options_preset(enum option_home home, void *base)
{
    for (const struct option *option = option_table; option < option_table + option_count;
         option++) {
        const char *const text = option->preset.text;
        if (option->home == home && option_is_number(option))
            preset_number(option, base);
        else if (option->home == home && option_is_text(option) && text != NULL && *text != '\0')
            preset_text(option, base);
    }
}

/* ---- two of them --------------------------------------------------------------------------- */

static bool is_same_item(const struct option *option, const char *a, const char *b)
{
    if (!option_is_text(option))
        return memcmp(a, b, option->bytes) == 0;
    const char *left, *right;
    memcpy(&left, a, sizeof left);
    memcpy(&right, b, sizeof right);
    return left == right || (left != NULL && right != NULL && strcmp(left, right) == 0);
}

bool option_is_same(const struct option *option, const void *a, const void *b)
{
    const bool is_list = has_items(option);
    const char *const left = is_list ? items_of(option, a) : option_place(option, a, 0);
    const char *const right = is_list ? items_of(option, b) : option_place(option, b, 0);
    const size_t count = is_list                           ? option_item_count(option, a)
                         : option->shape == SHAPE_PER_TYPE ? TYPE_COUNT
                                                           : 1;
    if (is_list && option_item_count(option, b) != count)
        return false;
    for (size_t i = 0; i < count; i++)
        if (!is_same_item(option, left + i * option->bytes, right + i * option->bytes))
            return false;
    return true;
}

static void swap_bytes(char *a, char *b, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const char c = a[i];
        a[i] = b[i];
        b[i] = c;
    }
}

void option_swap(const struct option *option, void *a, void *b)
{
    const size_t bytes = has_items(option)                 ? sizeof(void *)
                         : option->shape == SHAPE_PER_TYPE ? TYPE_COUNT * option->bytes
                                                           : option->bytes;
    swap_bytes(option_place(option, a, 0), option_place(option, b, 0), bytes);
    if (has_items(option))
        swap_bytes((char *)a + option->count_offset, (char *)b + option->count_offset,
                   sizeof(size_t));
}
