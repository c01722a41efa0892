#include "engine/unknown.h"

/* Names become labels and documents, so arbitrary bytes from the vendor are not accepted. */
static bool is_name(struct slice code)
{
    for (size_t i = 0; i < code.len; i++) {
        const char c = code.data[i];
        if (!((c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'))
            return false;
    }
    return code.len > 0 && code.len < ERROR_CODE_MAX;
}

/* The counter of this name: its own, a new one, or the one for all others. */
static uint64_t *times_of(struct unknown_errors *errors, struct slice code)
{
    if (!is_name(code))
        return &errors->other_times;
    for (size_t i = 0; i < errors->count; i++)
        if (slice_equals(slice_from(errors->items[i].name), code))
            return &errors->items[i].times;
    if (errors->count == UNKNOWN_ERRORS_MAX)
        return &errors->other_times;
    code_copy(errors->items[errors->count].name, code);
    return &errors->items[errors->count++].times;
}

void unknown_count(struct engine *engine, struct slice code)
{
    (*times_of(&engine->unknown_errors, code))++;
}

void unknown_check(const struct engine *engine)
{
    const struct unknown_errors *errors = &engine->unknown_errors;
    ASSERT(errors->count <= UNKNOWN_ERRORS_MAX);
    for (size_t i = 0; i < errors->count; i++) {
        ASSERT(is_name(slice_from(errors->items[i].name)) && errors->items[i].times > 0);
        for (size_t other = 0; other < i; other++)
            ASSERT(strcmp(errors->items[i].name, errors->items[other].name) != 0);
    }
}
