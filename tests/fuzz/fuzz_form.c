/* Forms and query strings: held against a slow reader, against themselves in two halves, and written anew.
 *
 * Input: the encoded form. */
#include "same.h"

#include "proto/form.h"

#include <stdlib.h>

#define PAIRS_MAX 256 /* as form.c has it */

/* The slow reader: one pair at a time, one byte at a time. */
struct slow {
    struct buf names[PARAMS_MAX];
    struct buf values[PARAMS_MAX];
    size_t count;
    size_t pairs;
    bool is_over; /* a limit that the reader has, too */
};

static int hex_of(char c)
{
    static const char digits[] = "0123456789abcdef";
    const char lower = c >= 'A' && c <= 'F' ? (char)(c | 0x20) : c;
    const char *found = c == '\0' ? NULL : strchr(digits, lower);
    return found == NULL ? -1 : (int)(found - digits);
}

static void decode_slowly(struct slice raw, struct buf *out)
{
    for (size_t i = 0; i < raw.len; i++) {
        const char c = raw.data[i];
        const bool has_two = c == '%' && raw.len - i > 2;
        if (has_two && hex_of(raw.data[i + 1]) >= 0 && hex_of(raw.data[i + 2]) >= 0) {
            buf_add_char(out, (char)(hex_of(raw.data[i + 1]) << 4 | hex_of(raw.data[i + 2])));
            i += 2;
        } else {
            buf_add_char(out, c == '+' ? ' ' : c);
        }
    }
}

static size_t slow_place(const struct slow *slow, const struct buf *name)
{
    size_t place = 0;
    while (place < slow->count && !slice_equals(buf_slice(&slow->names[place]), buf_slice(name)))
        place++;
    return place;
}

static void add_slowly(struct slow *slow, struct slice pair)
{
    size_t equals = 0;
    while (equals < pair.len && pair.data[equals] != '=')
        equals++;
    if (equals == 0)
        return;
    struct buf name;
    buf_init(&name, PARAMS_CAP);
    decode_slowly((struct slice){.data = pair.data, .len = equals}, &name);
    const size_t place = slow_place(slow, &name);
    slow->is_over |= name.len > PARAM_NAME_MAX || place == PARAMS_MAX;
    if (slow->is_over) {
        buf_close(&name);
        return;
    }
    if (place == slow->count) {
        slow->names[slow->count] = name;
        buf_init(&slow->values[slow->count++], PARAMS_CAP);
    } else {
        buf_close(&name);
    }
    buf_reset(&slow->values[place]);
    const size_t from = equals == pair.len ? equals : equals + 1;
    const struct slice value = {.data = pair.data + from, .len = pair.len - from};
    decode_slowly(value, &slow->values[place]);
}

static void read_slowly(struct slow *slow, struct slice form)
{
    *slow = (struct slow){.count = 0};
    for (size_t from = 0; from < form.len && !slow->is_over;) {
        size_t end = from;
        while (end < form.len && form.data[end] != '&')
            end++;
        slow->is_over |= slow->pairs++ == PAIRS_MAX;
        if (!slow->is_over)
            add_slowly(slow, (struct slice){.data = form.data + from, .len = end - from});
        from = end + 1;
    }
}

static void slow_close(struct slow *slow)
{
    for (size_t i = 0; i < slow->count; i++) {
        buf_close(&slow->names[i]);
        buf_close(&slow->values[i]);
    }
}

static void check_against_slow(const struct params *params, int code, struct slice form)
{
    struct slow slow;
    read_slowly(&slow, form);
    HOLDS((code != 0) == slow.is_over);
    for (size_t i = 0; code == 0 && i < params->count; i++) {
        HOLDS(params->count == slow.count);
        HOLDS(slice_equals(params->items[i].name, buf_slice(&slow.names[i])));
        HOLDS(slice_equals(params->items[i].value, buf_slice(&slow.values[i])));
    }
    slow_close(&slow);
}

/* A query and a body that together are this form: the values of the first move with the arena. */
static void check_halves(const struct params *params, struct slice form)
{
    const char *cut = memchr(form.data + form.len / 2, '&', form.len - form.len / 2);
    if (cut == NULL)
        return;
    const size_t first = (size_t)(cut - form.data);
    struct params halves;
    params_init(&halves, PARAMS_CAP);
    HOLDS(params_add_form(&halves, (struct slice){.data = form.data, .len = first}) == 0);
    HOLDS(params_add_form(&halves, (struct slice){.data = cut + 1, .len = form.len - first - 1}) ==
          0);
    HOLDS(params_are_same(params, &halves));
    params_close(&halves);
}

/* Too little room is an answer, and what was read before it stays readable. */
static void check_full(struct slice form)
{
    struct params params;
    params_init(&params, 16);
    check_reading(&params, params_add_form(&params, form));
    params_close(&params);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *bytes = exact_copy((struct slice){.data = (const char *)data, .len = size});
    const struct slice form = {.data = bytes, .len = size};
    struct params params;
    params_init(&params, PARAMS_CAP);
    const int code = params_add_form(&params, form);
    check_reading(&params, code);
    check_against_slow(&params, code, form);
    check_full(form);
    if (code == 0) {
        struct buf again;
        buf_init(&again, PARAMS_CAP);
        check_halves(&params, form);
        write_as_form(&again, &params);
        check_form_means(buf_slice(&again), &params);
        check_packing(&params);
        buf_close(&again);
    }
    params_close(&params);
    free(bytes);
    return 0;
}
