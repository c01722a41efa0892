#include "base/slice.h"

#include "base/ascii.h"

bool slice_equals_nocase(struct slice a, struct slice b)
{
    if (a.len != b.len)
        return false;
    /* Most bytes are equal as they stand; lower() runs only for the others. */
    for (size_t i = 0; i < a.len; i++)
        if (a.data[i] != b.data[i] && ascii_lower(a.data[i]) != ascii_lower(b.data[i]))
            return false;
    return true;
}

bool slice_starts_with(struct slice s, struct slice prefix)
{
    if (s.len < prefix.len)
        return false;
    return prefix.len == 0 || memcmp(s.data, prefix.data, prefix.len) == 0;
}

struct slice slice_take(struct slice *rest, char separator)
{
    struct slice taken = *rest;
    if (rest->len == 0)
        return taken;
    const char *const end = memchr(rest->data, separator, rest->len);
    if (end != NULL)
        taken.len = (size_t)(end - rest->data);
    *rest = slice_skip(*rest, end == NULL ? taken.len : taken.len + 1);
    return taken;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

struct slice slice_trim(struct slice s)
{
    while (s.len > 0 && is_blank(s.data[0])) {
        s.data++;
        s.len--;
    }
    while (s.len > 0 && is_blank(s.data[s.len - 1]))
        s.len--;
    return s;
}

bool slice_to_u64(struct slice s, unsigned long long *value)
{
    if (s.len == 0)
        return false;
    unsigned long long sum = 0;
    for (size_t i = 0; i < s.len; i++) {
        if (s.data[i] < '0' || s.data[i] > '9')
            return false;
        if (__builtin_mul_overflow(sum, 10, &sum) ||
            __builtin_add_overflow(sum, (unsigned)(s.data[i] - '0'), &sum))
            return false;
    }
    *value = sum;
    return true;
}
