#include "cli/show.h"

#include "proto/json_out.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <yyjson.h>

uint64_t show_number(struct yyjson_val *object, const char *name)
{
    return yyjson_get_uint(yyjson_obj_get(object, name));
}

double show_real(struct yyjson_val *object, const char *name)
{
    return yyjson_get_num(yyjson_obj_get(object, name));
}

bool show_flag(struct yyjson_val *object, const char *name)
{
    return yyjson_get_bool(yyjson_obj_get(object, name));
}

const char *show_text(struct yyjson_val *object, const char *name)
{
    const char *text = yyjson_get_str(yyjson_obj_get(object, name));
    return text == NULL ? "-" : text;
}

bool show_has(struct yyjson_val *object, const char *name)
{
    return yyjson_obj_get(object, name) != NULL;
}

/* How many bytes the control character takes that the text begins with; 0 if it begins with none. */
static size_t control_len(const unsigned char *text)
{
    if (text[0] < ' ' || text[0] == 0x7f)
        return 1;
    /* C1 controls are two bytes in UTF-8, and some terminals obey them. */
    if (text[0] == 0xc2 && text[1] >= 0x80 && text[1] < 0xa0)
        return 2;
    if (text[0] != 0xe2)
        return 0;
    /* U+200E, U+200F, U+202A to U+202E and U+2066 to U+2069 change the direction of what follows, so that it reads as
     * something else. */
    const bool is_mark = text[1] == 0x80 && (text[2] == 0x8e || text[2] == 0x8f);
    const bool is_embedding = text[1] == 0x80 && text[2] >= 0xaa && text[2] <= 0xae;
    const bool is_isolate = text[1] == 0x81 && text[2] >= 0xa6 && text[2] <= 0xa9;
    return is_mark || is_embedding || is_isolate ? 3 : 0;
}

static void add_clean(struct buf *out, const char *text, const char *end)
{
    while (text < end) {
        const size_t len = control_len((const unsigned char *)text);
        buf_add_char(out, len > 0 ? '?' : *text);
        text += len > 0 ? len : 1;
    }
}

void show_add_clean(struct buf *out, const char *text)
{
    add_clean(out, text, text + strlen(text));
}

void show_add_url(struct buf *out, const char *url)
{
    const char *const scheme = strstr(url, "://");
    const char *const host = scheme == NULL ? url : scheme + 3;
    const char *at = host + strcspn(host, "/?#");
    while (at > host && at[-1] != '@')
        at--;
    if (strncmp(url, "unix:", 5) == 0) {
        show_add_clean(out, url);
        return;
    }
    if (scheme != NULL)
        buf_add(out, (struct slice){.data = url, .len = (size_t)(host - url)});
    add_clean(out, at, at + strcspn(at, "?#"));
}

void show_add_seconds(struct buf *out, double seconds)
{
    const uint64_t whole = seconds < 0 ? 0 : (uint64_t)(seconds + 0.5);
    if (seconds < 0.9995)
        buf_addf(out, "%" PRIu64 "ms", seconds < 0 ? 0 : (uint64_t)(seconds * 1000 + 0.5));
    else if (seconds < 9.95)
        buf_addf(out, "%.1fs", seconds);
    else if (whole < 60)
        buf_addf(out, "%" PRIu64 "s", whole);
    else if (whole < 3600)
        buf_addf(out, "%" PRIu64 "m%02" PRIu64 "s", whole / 60, whole % 60);
    else if (whole < 86400)
        buf_addf(out, "%" PRIu64 "h%02" PRIu64 "m", whole / 3600, whole / 60 % 60);
    else
        buf_addf(out, "%" PRIu64 "d%02" PRIu64 "h", whole / 86400, whole / 3600 % 24);
}

void show_add_count(struct buf *out, uint64_t number)
{
    char digits[24];
    const int len = snprintf(digits, sizeof digits, "%" PRIu64, number);
    for (int i = 0; i < len; i++) {
        if (i > 0 && (len - i) % 3 == 0)
            buf_add_char(out, ',');
        buf_add_char(out, digits[i]);
    }
}

void show_add_lines(struct buf *out, const char *name, struct slice lines)
{
    json_member(out, name);
    json_open(out, '[');
    while (lines.len > 0) {
        json_item(out);
        (void)json_add_string(out, slice_take(&lines, '\n'));
    }
    json_close(out, ']');
}

void show_print(const struct buf *text)
{
    (void)fwrite(buf_slice(text).data, 1, text->len, stdout);
}
