#include "feed.h"

#include <stdlib.h>

#define TEXT_MAX_BYTES ((size_t)1 << 20)

static void add_part(struct buf *text, struct slice part)
{
    buf_add_char(text, slice_is_given(part) ? '+' : '-');
    buf_add_u64(text, part.len);
    buf_add_char(text, ' ');
    buf_add(text, part);
}

static void describe(struct fed *fed)
{
    struct slice path, query;
    http_parse_target(&fed->parse, fed->base, &path, &query);
    add_part(&fed->text, path);
    add_part(&fed->text, query);
    for (int i = 0; i < HTTP_FIELD_COUNT; i++)
        add_part(&fed->text, http_parse_field(&fed->parse, fed->base, (enum http_field)i));
    add_part(&fed->text, http_parse_body(&fed->parse, fed->base));
    buf_addf(&fed->text, "%d %d", (int)http_parse_method(&fed->parse),
             (int)fed->parse.expects_continue);
    HOLDS(!fed->text.is_full);
}

static size_t piece_length(enum pieces pieces, struct rand *rand, size_t left)
{
    switch (pieces) {
    case PIECES_WHOLE:
        return left;
    case PIECES_BYTES:
        return 1;
    case PIECES_DRAWN: {
        /* Short ones and long ones, so that borders meet and are leapt over. */
        const uint64_t most = UINT64_C(1) << rand_below(rand, 10);
        const size_t drawn = 1 + (size_t)rand_below(rand, most);
        return drawn < left ? drawn : left;
    }
    }
    UNREACHABLE();
}

void feed_open(struct fed *fed, const struct http_limits *limits, struct slice bytes,
               enum pieces pieces, uint64_t seed)
{
    struct rand rand;
    rand_init(&rand, seed);
    *fed = (struct fed){.parsed = HTTP_PARSED_PART};
    buf_init(&fed->text, TEXT_MAX_BYTES);
    http_parse_start(&fed->parse, limits);
    size_t kept = 0;
    for (size_t at = 0; at < bytes.len && fed->parsed == HTTP_PARSED_PART;) {
        const size_t more = piece_length(pieces, &rand, bytes.len - at);
        /* The bytes move with every piece, and their memory ends where they end. */
        char *moved = malloc(kept + more);
        HOLDS(moved != NULL);
        if (kept > 0)
            memcpy(moved, fed->base, kept);
        memcpy(moved + kept, bytes.data + at, more);
        free(fed->base);
        fed->base = moved;
        at += more;
        const size_t offered = kept + more;
        kept = offered;
        fed->parsed = http_parse_feed(&fed->parse, fed->base, &kept);
        HOLDS(kept <= offered);
        if (fed->parsed == HTTP_PARSED_WHOLE)
            fed->rest = bytes.len - at + (offered - kept);
    }
    if (fed->parsed == HTTP_PARSED_WHOLE)
        describe(fed);
    if (fed->parsed == HTTP_PARSED_BAD)
        fed->status = fed->parse.status;
}

void feed_close(struct fed *fed)
{
    free(fed->base);
    buf_close(&fed->text);
}

bool feed_is_same(const struct fed *a, const struct fed *b)
{
    return a->parsed == b->parsed && a->rest == b->rest &&
           slice_equals(buf_slice(&a->text), buf_slice(&b->text));
}

void write_chunked(struct buf *out, struct slice content_type, struct slice body, uint64_t seed)
{
    struct rand rand;
    rand_init(&rand, seed);
    buf_add(out, SLICE_OF("POST /in.php HTTP/1.1\r\nHost: gate\r\nContent-Type: "));
    buf_add(out, content_type);
    buf_add(out, SLICE_OF("\r\nTransfer-Encoding: chunked\r\n\r\n"));
    for (size_t at = 0; at < body.len;) {
        const size_t len = piece_length(PIECES_DRAWN, &rand, body.len - at);
        buf_addf(out, "%zx\r\n", len);
        buf_add(out, (struct slice){.data = body.data + at, .len = len});
        buf_add(out, SLICE_OF("\r\n"));
        at += len;
    }
    buf_add(out, SLICE_OF("0\r\n\r\n"));
}
