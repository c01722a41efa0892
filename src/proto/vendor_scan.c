#include "proto/vendor_scan.h"

#include "base/ascii.h"

const char *const GEETEST_V3[] = {"challenge", "validate", "seccode"};
const char *const GEETEST_V4[] = {"lot_number", "pass_token", "captcha_output"};

static size_t skip_space(struct slice json, size_t i)
{
    while (i < json.len && ascii_is_space(json.data[i]))
        i++;
    return i;
}

/* Index after the closing quote of the string that opens at start; 0 if it is truncated. */
static size_t string_end(struct slice json, size_t start)
{
    for (size_t i = start + 1; i < json.len; i++) {
        if (json.data[i] == '\\')
            i++;
        else if (json.data[i] == '"')
            return i + 1;
    }
    return 0;
}

/* Index after a string, or after a number or word that is visibly complete; 0 for anything else. */
static size_t scalar_end(struct slice json, size_t i)
{
    if (i >= json.len || json.data[i] == '{' || json.data[i] == '[')
        return 0;
    if (json.data[i] == '"')
        return string_end(json, i);
    while (i < json.len && !ascii_is_space(json.data[i]) && json.data[i] != ',' &&
           json.data[i] != '}')
        i++;
    return i < json.len ? i : 0;
}

bool scan_is_too_deep(struct slice json)
{
    size_t depth = 0;
    for (size_t i = 0; i < json.len; i++) {
        const char c = json.data[i];
        if (c == '"') {
            const size_t end = string_end(json, i);
            if (end == 0)
                break;
            i = end - 1;
        } else if (c == '{' || c == '[') {
            if (++depth > SCAN_DEPTH_MAX)
                return true;
        } else if ((c == '}' || c == ']') && (depth == 0 || --depth == 0)) {
            break; /* The vendor's server may have appended something. */
        }
    }
    return false;
}

size_t scan_whole_members(struct slice json)
{
    size_t whole = 0;
    size_t i = skip_space(json, 1);
    while (i < json.len && json.data[i] == '"') {
        size_t end = string_end(json, i);
        if (end == 0)
            break;
        i = skip_space(json, end);
        if (i >= json.len || json.data[i] != ':')
            break;
        end = scalar_end(json, skip_space(json, i + 1));
        if (end == 0)
            break;
        whole = end;
        i = skip_space(json, end);
        if (i >= json.len || json.data[i] != ',')
            break;
        i = skip_space(json, i + 1);
    }
    return whole;
}

/* ---- a yes in what cannot be parsed ------------------------------------------------------ */

struct statement {
    bool says_yes, says_else; /* the value of the status; both if it is there twice */
    unsigned v3, v4;          /* which of GeeTest's members are there, a bit each */
};

#define ALL_MEMBERS ((1u << GEETEST_MEMBERS) - 1)

static unsigned bit_of(struct slice name, const char *const names[GEETEST_MEMBERS])
{
    for (unsigned i = 0; i < GEETEST_MEMBERS; i++)
        if (slice_equals(name, slice_from(names[i])))
            return 1u << i;
    return 0;
}

/* Looks at a string in the outermost object, which is a member's name if a colon follows. */
static void note_member(struct statement *statement, struct slice json, size_t start, size_t end)
{
    const struct slice name = {.data = json.data + start + 1, .len = end - start - 2};
    const size_t colon = skip_space(json, end);
    if (colon >= json.len || json.data[colon] != ':')
        return;
    const size_t at = skip_space(json, colon + 1);
    const size_t value_end = scalar_end(json, at);
    const struct slice value = {.data = json.data + at, .len = value_end == 0 ? 0 : value_end - at};
    if (slice_equals(name, SLICE_OF("status"))) {
        const bool is_yes = slice_equals(value, SLICE_OF("1")) ||
                            slice_equals(value, SLICE_OF("\"1\"")) ||
                            slice_equals(value, SLICE_OF("true"));
        statement->says_yes |= is_yes;
        statement->says_else |= !is_yes;
    } else if (value.len > 0 && value.data[0] == '"') {
        statement->v3 |= bit_of(name, GEETEST_V3);
        statement->v4 |= bit_of(name, GEETEST_V4);
    }
}

/* A quote that the vendor forgot to escape inside a text makes the last quote look like the start
 * of a string. */
static bool is_stray_quote(struct slice json, size_t quote)
{
    const size_t brace = skip_space(json, quote + 1);
    return brace < json.len && json.data[brace] == '}' && skip_space(json, brace + 1) == json.len;
}

/* False if the end did not arrive: then polling again may bring it. */
static bool read_statement(struct slice json, struct statement *statement)
{
    size_t depth = 0;
    for (size_t i = 0; i < json.len; i++) {
        const char c = json.data[i];
        if (c == '"') {
            const size_t end = string_end(json, i);
            if (end == 0)
                return is_stray_quote(json, i);
            if (depth == 1)
                note_member(statement, json, i, end);
            i = end - 1;
        } else if (c == '{' || c == '[') {
            depth++;
        } else if ((c == '}' || c == ']') && --depth == 0) {
            return true;
        }
    }
    return false;
}

bool scan_says_yes(struct slice json)
{
    struct statement statement = {.says_yes = false};
    if (json.len == 0 || json.data[0] != '{' || !read_statement(json, &statement))
        return false;
    const bool is_geetest = statement.v3 == ALL_MEMBERS || statement.v4 == ALL_MEMBERS;
    return !statement.says_else && (statement.says_yes || is_geetest);
}
