#include "sim/text.h"

#include "base/assert.h"

#include <stdio.h>
#include <stdlib.h>

/* Words also come from magic sitekeys, that is from strangers, so their number and total size are
 * bounded. */
#define INTERN_WORDS 1024
#define INTERN_BYTES ((size_t)16 << 20)
#define MS_MAX (10ULL * 365 * 24 * 3600 * 1000)

static char *interned[INTERN_WORDS];
static size_t interned_count;
static size_t interned_bytes;

bool text_to_double(struct slice text, double *number)
{
    double value = 0;
    double weight = 1;
    bool has_digit = false;
    bool is_fraction = false;

    if (text.len > 24)
        return false;
    for (size_t i = 0; i < text.len; i++) {
        const char c = text.data[i];
        if (c == '.' && !is_fraction) {
            is_fraction = true;
            continue;
        }
        if (c < '0' || c > '9')
            return false;
        has_digit = true;
        value = value * 10 + (c - '0');
        if (is_fraction)
            weight *= 10;
    }
    if (!has_digit)
        return false;
    *number = value / weight;
    return true;
}

struct unit {
    const char *name;
    double factor;
};

/* Splits "12.5ms" into its number and unit; 0 when the unit is not in the list. */
static double unit_factor(struct slice *text, const struct unit *units, size_t count)
{
    size_t digits = 0;

    while (digits < text->len &&
           ((text->data[digits] >= '0' && text->data[digits] <= '9') || text->data[digits] == '.'))
        digits++;
    const struct slice name = slice_skip(*text, digits);
    text->len = digits;
    for (size_t i = 0; i < count; i++)
        if (slice_equals(name, slice_from(units[i].name)))
            return units[i].factor;
    return 0;
}

bool text_to_ms(struct slice text, uint64_t *ms)
{
    static const struct unit units[] = {
        {"ms", 1}, {"s", 1000}, {"m", 60000}, {"h", 3600000}, {"d", 86400000},
    };
    double number;

    if (slice_equals(text, SLICE_OF("0"))) {
        *ms = 0;
        return true;
    }
    const double factor = unit_factor(&text, units, sizeof units / sizeof units[0]);
    if (factor <= 0 || !text_to_double(text, &number) || number * factor > (double)MS_MAX)
        return false;
    *ms = (uint64_t)(number * factor + 0.5);
    return true;
}

bool text_to_bytes(struct slice text, uint64_t *bytes)
{
    static const struct unit units[] = {
        {"", 1},
        {"KiB", 1024},
        {"MiB", 1048576},
    };
    double number;

    const double factor = unit_factor(&text, units, sizeof units / sizeof units[0]);
    if (factor <= 0 || !text_to_double(text, &number) || number * factor > 1e12)
        return false;
    *bytes = (uint64_t)(number * factor);
    return true;
}

/* Length of the well-formed UTF-8 sequence at text, or 0. */
static size_t utf8_length(const unsigned char *text, size_t len)
{
    const unsigned char c = text[0];
    const size_t need = c < 0x80                ? 1
                        : c >= 0xc2 && c < 0xe0 ? 2
                        : c >= 0xe0 && c < 0xf0 ? 3
                        : c >= 0xf0 && c < 0xf5 ? 4
                                                : 0;

    if (need == 0 || need > len)
        return 0;
    for (size_t i = 1; i < need; i++)
        if ((text[i] & 0xc0) != 0x80)
            return 0;
    if ((c == 0xe0 && text[1] < 0xa0) || (c == 0xed && text[1] > 0x9f) ||
        (c == 0xf0 && text[1] < 0x90) || (c == 0xf4 && text[1] > 0x8f))
        return 0;
    return need;
}

static void add_json_special(struct buf *out, const unsigned char *text, size_t length)
{
    if (length == 0)
        buf_add(out, SLICE_OF("\\ufffd"));
    else if (length > 1)
        buf_add(out, (struct slice){.data = (const char *)text, .len = length});
    else if (text[0] == '"' || text[0] == '\\')
        buf_addf(out, "\\%c", text[0]);
    else
        buf_addf(out, "\\u%04x", text[0]);
}

void text_add_json(struct buf *out, struct slice text)
{
    const unsigned char *data = (const unsigned char *)text.data;
    size_t from = 0;
    size_t i = 0;

    buf_add_char(out, '"');
    while (i < text.len) {
        if (data[i] >= 0x20 && data[i] < 0x7f && data[i] != '"' && data[i] != '\\') {
            i++;
            continue;
        }
        buf_add(out, (struct slice){.data = text.data + from, .len = i - from});
        const size_t length = utf8_length(data + i, text.len - i);
        add_json_special(out, data + i, length);
        i += length == 0 ? 1 : length;
        from = i;
    }
    if (text.len > from)
        buf_add(out, slice_skip(text, from));
    buf_add_char(out, '"');
}

void text_add_url(struct buf *out, struct slice text)
{
    static const char hex[] = "0123456789ABCDEF";

    for (size_t i = 0; i < text.len; i++) {
        const unsigned char c = (unsigned char)text.data[i];
        const bool is_plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
                              (c >= 'A' && c <= 'Z') || c == '-' || c == '_' || c == '.' ||
                              c == '~';
        if (is_plain) {
            buf_add_char(out, (char)c);
        } else {
            const char escaped[3] = {'%', hex[c >> 4], hex[c & 15]};
            buf_add(out, (struct slice){.data = escaped, .len = sizeof escaped});
        }
    }
}

uint64_t text_hash(struct slice bytes)
{
    uint64_t hash = 0xcbf29ce484222325ULL;

    for (size_t i = 0; i < bytes.len; i++)
        hash = (hash ^ (unsigned char)bytes.data[i]) * 0x100000001b3ULL;
    return hash;
}

const char *text_intern(struct slice word)
{
    for (size_t i = 0; i < interned_count; i++)
        if (slice_equals(slice_from(interned[i]), word))
            return interned[i];
    if (interned_count == INTERN_WORDS || word.len > INTERN_BYTES - interned_bytes)
        return "ERROR_SIM_TOO_MANY_WORDS";
    char *copy = malloc(word.len + 1);
    ASSERT(copy != NULL);
    if (word.len > 0)
        memcpy(copy, word.data, word.len);
    copy[word.len] = '\0';
    interned[interned_count++] = copy;
    interned_bytes += word.len;
    return copy;
}

void text_forget_interned(void)
{
    while (interned_count > 0)
        free(interned[--interned_count]);
    interned_bytes = 0;
}

/* Edit distance by rows; words longer than a row never match. */
static size_t edit_distance(const char *a, const char *b)
{
    enum { ROW = 48 };
    size_t row[ROW];
    const size_t a_len = strlen(a);
    const size_t b_len = strlen(b);

    if (a_len >= ROW || b_len >= ROW)
        return ROW;
    for (size_t j = 0; j <= b_len; j++)
        row[j] = j;
    for (size_t i = 1; i <= a_len; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= b_len; j++) {
            const size_t above = row[j];
            size_t best = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
            best = above + 1 < best ? above + 1 : best;
            best = row[j - 1] + 1 < best ? row[j - 1] + 1 : best;
            diagonal = above;
            row[j] = best;
        }
    }
    return row[b_len];
}

const char *text_nearest(const char *word, const char *const *candidates, size_t count)
{
    const char *best = NULL;
    size_t best_distance = strlen(word) / 3 + 2;

    for (size_t i = 0; i < count; i++) {
        const size_t distance = edit_distance(word, candidates[i]);
        if (distance < best_distance) {
            best_distance = distance;
            best = candidates[i];
        }
    }
    return best;
}
