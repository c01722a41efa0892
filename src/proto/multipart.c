/* multipart/form-data bodies (RFC 7578), which the vendor's own clients use for everything. */
#include "proto/multipart.h"

#include "proto/params_private.h"

/* RFC 2046 5.1.1. */
#define BOUNDARY_MAX 70
/* docs/reliability.md threat 6. */
#define PART_HEADERS_MAX 4096

struct reader {
    struct params *params;
    struct slice rest; /* the unread part of the body */
    char delimiter[BOUNDARY_MAX + 4];
    size_t delimiter_len; /* "\r\n--" and the boundary */
    unsigned part;        /* counted from 1, for error messages */
};

/* name=value pairs after a header's first word, as in `form-data; name="file"`. */
struct attribute {
    struct slice name;
    struct slice value;
    bool is_escaped; /* the value holds \" */
};

static void skip(struct slice *s, size_t count)
{
    s->data += count;
    s->len -= count;
}

static size_t find_any(struct slice s, const char *set)
{
    size_t len = 0;
    while (len < s.len && (s.data[len] == '\0' || strchr(set, s.data[len]) == NULL))
        len++;
    return len;
}

/* Reads up to the closing quote; false without one. */
static bool read_quoted(struct slice *text, struct attribute *attribute)
{
    skip(text, 1);
    size_t len = 0;
    attribute->is_escaped = false;
    while (len < text->len && text->data[len] != '"') {
        /* Only \" is an escape: browsers send C:\file.png as it is. */
        if (text->data[len] == '\\' && len + 1 < text->len && text->data[len + 1] == '"') {
            attribute->is_escaped = true;
            len++;
        }
        len++;
    }
    if (len >= text->len)
        return false;
    attribute->value = (struct slice){.data = text->data, .len = len};
    skip(text, len + 1);
    return true;
}

/* Returns 1 with an attribute, 0 at the end, negative if malformed. text starts at a ';' or the end. */
static int read_attribute(struct slice *text, struct attribute *attribute)
{
    *text = slice_trim(*text);
    while (text->len > 0 && text->data[0] == ';') {
        skip(text, 1);
        *text = slice_trim(*text);
    }
    if (text->len == 0)
        return 0;
    const size_t name_len = find_any(*text, "=;");
    if (name_len == 0 || name_len == text->len || text->data[name_len] != '=')
        return ERR_INVALID;
    attribute->name = slice_trim((struct slice){.data = text->data, .len = name_len});
    skip(text, name_len + 1);
    *text = slice_trim(*text);
    if (text->len > 0 && text->data[0] == '"') {
        if (!read_quoted(text, attribute))
            return ERR_INVALID;
        *text = slice_trim(*text);
        return text->len == 0 || text->data[0] == ';' ? 1 : ERR_INVALID;
    }
    const size_t value_len = find_any(*text, "; \t");
    attribute->value = (struct slice){.data = text->data, .len = value_len};
    attribute->is_escaped = false;
    skip(text, value_len);
    return 1;
}

bool multipart_boundary(struct slice content_type, struct slice *boundary)
{
    static const struct slice multipart = SLICE_INIT("multipart/");
    content_type = slice_trim(content_type);
    if (content_type.len < multipart.len ||
        !slice_equals_nocase((struct slice){content_type.data, multipart.len}, multipart))
        return false;
    skip(&content_type, find_any(content_type, ";"));
    struct attribute attribute;
    while (read_attribute(&content_type, &attribute) > 0) {
        if (!slice_equals_nocase(attribute.name, SLICE_OF("boundary")) || attribute.value.len == 0)
            continue;
        *boundary = attribute.value;
        return true;
    }
    return false;
}

/* The value of an attribute without its backslashes; NULL data when the arena is full. */
static struct slice unescape(struct params *params, const struct attribute *attribute)
{
    if (!attribute->is_escaped)
        return attribute->value;
    char *const room = params_reserve(params, attribute->value.len);
    if (room == NULL)
        return SLICE_NONE;
    size_t len = 0;
    for (size_t i = 0; i < attribute->value.len; i++) {
        if (attribute->value.data[i] == '\\' && i + 1 < attribute->value.len &&
            attribute->value.data[i + 1] == '"')
            i++;
        room[len++] = attribute->value.data[i];
    }
    buf_commit(&params->arena, len);
    return (struct slice){.data = room, .len = len};
}

/* The last part of `UTF-8''name%20of.png`, kept encoded: the vendor looks only at its extension. */
static struct slice extended_filename(struct slice value)
{
    const char *const quote = memrchr(value.data, '\'', value.len);
    if (quote != NULL)
        skip(&value, (size_t)(quote + 1 - value.data));
    return value;
}

/* Fills name and filename from the value of a Content-Disposition. */
static int read_disposition(struct reader *reader, struct slice value, struct param *item)
{
    struct params *const params = reader->params;
    struct attribute attribute;
    struct attribute name = {.value = SLICE_NONE};
    struct attribute filename = {.value = SLICE_NONE};
    const size_t type_len = find_any(value, ";");
    const struct slice type = slice_trim((struct slice){.data = value.data, .len = type_len});
    if (!slice_equals_nocase(type, SLICE_OF("form-data")))
        return params_fail(params, ERR_INVALID, "part %u is not form-data", reader->part);
    skip(&value, type_len);
    int code;
    while ((code = read_attribute(&value, &attribute)) > 0) {
        if (slice_equals_nocase(attribute.name, SLICE_OF("name")))
            name = attribute;
        else if (slice_equals_nocase(attribute.name, SLICE_OF("filename")))
            filename = attribute;
        else if (slice_equals_nocase(attribute.name, SLICE_OF("filename*")) &&
                 !slice_is_given(filename.value))
            filename = (struct attribute){.value = extended_filename(attribute.value)};
    }
    if (code < 0)
        return params_fail(params, ERR_INVALID, "part %u has a malformed Content-Disposition",
                           reader->part);
    if (name.value.len == 0)
        return params_fail(params, ERR_INVALID, "part %u has no name", reader->part);
    /* One reservation for both values, so that the second does not move the first. */
    if (params_reserve(params, name.value.len + filename.value.len) == NULL)
        return params_fail_length(params);
    item->name = unescape(params, &name);
    item->filename = unescape(params, &filename);
    return 0;
}

/* A header line must have no control bytes: whatever passes here is sent on to the vendor. */
static bool is_clean_line(struct slice line)
{
    for (size_t i = 0; i < line.len; i++)
        if ((unsigned char)line.data[i] < ' ' && line.data[i] != '\t')
            return false;
    return line.len > 0 && line.data[0] != ' ' && line.data[0] != '\t';
}

static int read_header(struct reader *reader, struct slice line, struct param *item)
{
    const char *const colon = memchr(line.data, ':', line.len);
    if (colon == NULL || colon == line.data || !is_clean_line(line))
        return params_fail(reader->params, ERR_INVALID, "part %u has a malformed header line",
                           reader->part);
    const struct slice name = {.data = line.data, .len = (size_t)(colon - line.data)};
    if (!slice_equals_nocase(slice_trim(name), SLICE_OF("content-disposition")))
        return 0; /* Content-Type says nothing about a parameter; Transfer-Encoding is obsolete. */
    skip(&line, name.len + 1);
    return read_disposition(reader, line, item);
}

/* Reads the header lines and the empty line behind them. */
static int read_headers(struct reader *reader, struct param *item)
{
    struct slice *const rest = &reader->rest;
    size_t left = PART_HEADERS_MAX;
    while (true) {
        const size_t window = rest->len < left ? rest->len : left;
        const char *const end = memmem(rest->data, window, "\r\n", 2);
        if (end == NULL && rest->len >= left)
            return params_fail(reader->params, ERR_FULL,
                               "part %u has more than %d bytes of headers", reader->part,
                               PART_HEADERS_MAX);
        if (end == NULL)
            return params_fail(reader->params, ERR_INVALID, "part %u ends within its headers",
                               reader->part);
        const struct slice line = {.data = rest->data, .len = (size_t)(end - rest->data)};
        skip(rest, line.len + 2);
        left -= line.len + 2;
        if (line.len == 0)
            return 0;
        const int code = read_header(reader, line, item);
        if (code != 0)
            return code;
    }
}

/* Looks at the bytes after a delimiter: returns how many to skip to the next part, 0 at the closing
 * delimiter, negative if this is no delimiter (one boundary may be a prefix of another). */
static long delimiter_end(struct slice after)
{
    size_t len = 0;
    if (after.len >= 2 && after.data[0] == '-' && after.data[1] == '-')
        return 0;
    while (len < after.len && (after.data[len] == ' ' || after.data[len] == '\t'))
        len++;
    if (after.len - len < 2 || after.data[len] != '\r' || after.data[len + 1] != '\n')
        return -1;
    return (long)len + 2;
}

/* Linear whatever the bytes are, since a line break occurs in a delimiter only at its start; memmem()
 * takes ten times as long for a body of dashes. */
static const char *find_delimiter(const struct reader *reader, const char *from, const char *end)
{
    if ((size_t)(end - from) < reader->delimiter_len)
        return NULL;
    const char *const last = end - reader->delimiter_len;
    while (from <= last) {
        if (*from != '\r')
            from = memchr(from, '\r', (size_t)(last - from) + 1);
        if (from == NULL)
            return NULL;
        if (from[1] == '\n' && memcmp(from, reader->delimiter, reader->delimiter_len) == 0)
            return from;
        from++;
    }
    return NULL;
}

/* Cuts everything up to the next delimiter into *content and moves past it. Returns 1 if another
 * part follows, 0 at the closing delimiter, negative if there is none. */
static int next_delimiter(struct reader *reader, struct slice *content)
{
    struct slice *const rest = &reader->rest;
    const char *from = rest->data;
    const char *const end = rest->data + rest->len;
    const char *found;
    while ((found = find_delimiter(reader, from, end)) != NULL) {
        const char *const behind = found + reader->delimiter_len;
        const long skipped = delimiter_end((struct slice){behind, (size_t)(end - behind)});
        if (skipped >= 0) {
            *content = (struct slice){.data = rest->data, .len = (size_t)(found - rest->data)};
            skip(rest, (size_t)(behind - rest->data) + (size_t)skipped);
            return skipped > 0 ? 1 : 0;
        }
        from = found + 1;
    }
    return params_fail(reader->params, ERR_INVALID, "the closing boundary is missing after part %u",
                       reader->part);
}

/* The first delimiter may be at the very start, without the line break before it. */
static int first_delimiter(struct reader *reader)
{
    struct slice preamble;
    const struct slice bare = {reader->delimiter + 2, reader->delimiter_len - 2};
    if (slice_starts_with(reader->rest, bare)) {
        const struct slice after = {reader->rest.data + bare.len, reader->rest.len - bare.len};
        const long skipped = delimiter_end(after);
        if (skipped >= 0) {
            skip(&reader->rest, bare.len + (size_t)skipped);
            return skipped > 0 ? 1 : 0;
        }
    }
    const int code = next_delimiter(reader, &preamble);
    if (code < 0)
        return params_fail(reader->params, ERR_INVALID,
                           "the multipart boundary of the content type is nowhere in the body");
    return code;
}

static int open_reader(struct reader *reader, struct slice boundary)
{
    if (boundary.len == 0 || boundary.len > BOUNDARY_MAX)
        return params_fail(reader->params, ERR_INVALID,
                           "a multipart boundary has 1 to %d characters", BOUNDARY_MAX);
    memcpy(reader->delimiter, "\r\n--", 4);
    memcpy(reader->delimiter + 4, boundary.data, boundary.len);
    reader->delimiter_len = boundary.len + 4;
    return first_delimiter(reader);
}

int params_add_multipart(struct params *params, struct slice body, struct slice boundary)
{
    struct reader reader = {.params = params, .rest = body};
    int more = body.len == 0 ? 0 : open_reader(&reader, boundary);
    while (more > 0) {
        struct param item = {.name = SLICE_NONE, .filename = SLICE_NONE};
        reader.part++;
        /* Parts are counted separately from the params, because parts of one name replace each other. */
        if (reader.part > PARAMS_MAX)
            return params_fail(params, ERR_FULL, "more than %d parts", PARAMS_MAX);
        int code = read_headers(&reader, &item);
        if (code == 0 && !slice_is_given(item.name))
            code =
                params_fail(params, ERR_INVALID, "part %u has no Content-Disposition", reader.part);
        if (code != 0)
            return code;
        more = next_delimiter(&reader, &item.value);
        if (more < 0)
            return more;
        code = params_put(params, item);
        if (code != 0)
            return code;
    }
    return more;
}
