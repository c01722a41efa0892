#include "cli/show.h"

#include "proto/json_out.h"

#include <inttypes.h>
#include <stdio.h>
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

void show_add_clean(struct buf *out, const char *text)
{
    for (const unsigned char *at = (const unsigned char *)text; *at != '\0'; at++) {
        /* C1 controls are two bytes in UTF-8, and some terminals obey them. */
        const bool is_c1 = at[0] == 0xc2 && at[1] >= 0x80 && at[1] < 0xa0;
        const bool is_control = *at < ' ' || *at == 0x7f || is_c1;
        buf_add_char(out, is_control ? '?' : (char)*at);
        at += is_c1 ? 1 : 0;
    }
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
