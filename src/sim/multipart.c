#include "sim/multipart.h"

#define BOUNDARY_BYTES_MAX 200

/* Takes the text before the first mark off the front of rest; false if there is no mark. */
static bool take_until(struct slice *rest, struct slice mark, struct slice *taken)
{
    const char *found =
        rest->len < mark.len ? NULL : memmem(rest->data, rest->len, mark.data, mark.len);

    if (found == NULL)
        return false;
    *taken = (struct slice){.data = rest->data, .len = (size_t)(found - rest->data)};
    rest->data = found + mark.len;
    rest->len -= taken->len + mark.len;
    return true;
}

/* The value of name="..." or name=... among the semicolon-separated parameters of a header. */
static struct slice header_parameter(struct slice header, struct slice name)
{
    struct slice rest = header;
    struct slice skipped;

    while (take_until(&rest, SLICE_OF(";"), &skipped)) {
        rest = slice_trim(rest);
        if (rest.len <= name.len || rest.data[name.len] != '=' ||
            !slice_equals_nocase((struct slice){rest.data, name.len}, name))
            continue;
        struct slice value = {rest.data + name.len + 1, rest.len - name.len - 1};
        struct slice inner;
        if (value.len > 0 && value.data[0] == '"') {
            value.data++;
            value.len--;
            return take_until(&value, SLICE_OF("\""), &inner) ? inner : SLICE_NONE;
        }
        return take_until(&value, SLICE_OF(";"), &inner) ? slice_trim(inner) : slice_trim(value);
    }
    return SLICE_NONE;
}

struct slice multipart_boundary(struct slice content_type)
{
    static const char prefix[] = "multipart/";
    const size_t length = sizeof prefix - 1;

    if (content_type.len < length ||
        !slice_equals_nocase((struct slice){content_type.data, length}, SLICE_OF(prefix)))
        return SLICE_NONE;
    const struct slice boundary = header_parameter(content_type, SLICE_OF("boundary"));
    return boundary.len == 0 || boundary.len > BOUNDARY_BYTES_MAX ? SLICE_NONE : boundary;
}

/* The Content-Disposition line among the part's headers. */
static struct slice find_disposition(struct slice headers)
{
    const struct slice name = SLICE_OF("content-disposition:");
    struct slice line;

    do {
        if (!take_until(&headers, SLICE_OF("\r\n"), &line)) {
            line = headers;
            headers = SLICE_NONE;
        }
        if (line.len > name.len && slice_equals_nocase((struct slice){line.data, name.len}, name))
            return line;
    } while (slice_is_given(headers));
    return SLICE_NONE;
}

static int add_part(struct params *params, struct slice part)
{
    struct slice headers;

    if (!take_until(&part, SLICE_OF("\r\n\r\n"), &headers))
        return ERR_INVALID;
    const struct slice disposition = find_disposition(headers);
    const struct param param = {
        .name = header_parameter(disposition, SLICE_OF("name")),
        .value = part,
        .filename = header_parameter(disposition, SLICE_OF("filename")),
    };
    if (!slice_is_given(param.name))
        return ERR_INVALID;
    return params_add(params, &param);
}

int multipart_parse(struct params *params, struct slice boundary, struct slice body)
{
    char mark[BOUNDARY_BYTES_MAX + 4] = "\r\n--";
    const struct slice delimiter = {mark, boundary.len + 4};
    const struct slice opening = {mark + 2, boundary.len + 2};
    struct slice part;

    memcpy(mark + 4, boundary.data, boundary.len);
    if (slice_starts_with(body, opening))
        body = (struct slice){body.data + opening.len, body.len - opening.len};
    else if (!take_until(&body, delimiter, &part))
        return ERR_INVALID;
    while (!slice_starts_with(body, SLICE_OF("--"))) {
        if (!slice_starts_with(body, SLICE_OF("\r\n")))
            return ERR_INVALID;
        body = (struct slice){body.data + 2, body.len - 2};
        if (!take_until(&body, delimiter, &part))
            return ERR_INVALID;
        const int rc = add_part(params, part);
        if (rc != 0)
            return rc;
    }
    return 0;
}
