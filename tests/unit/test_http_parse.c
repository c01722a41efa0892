/* Requests cut into pieces are the same requests: the parser must not care how bytes arrive. */
#include "seed.h"

#include "base/rand.h"
#include "http/http_parse.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define BYTES_MAX 8192
#define CUTS_MAX 16

static const struct http_limits limits = {.url_bytes = 64, .header_bytes = 256, .body_bytes = 64};

/* What came of one request, independent of where its bytes lay. */
struct outcome {
    enum http_parsed parsed;
    uint16_t status;
    size_t rest; /* bytes left over behind a whole request */
    char text[1024];
};

static void describe(struct outcome *outcome, const struct http_parse *parse, const char *base)
{
    struct slice path, query;
    http_parse_target(parse, base, &path, &query);
    const struct slice parts[] = {
        path,
        query,
        http_parse_body(parse, base),
        http_parse_field(parse, base, HTTP_FIELD_HOST),
        http_parse_field(parse, base, HTTP_FIELD_CONTENT_TYPE),
        http_parse_field(parse, base, HTTP_FIELD_AUTHORIZATION),
        http_parse_field(parse, base, HTTP_FIELD_X_FORWARDED_FOR),
    };
    size_t at = 0;
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        assert_true(at + parts[i].len + 2 < sizeof(outcome->text));
        if (slice_is_given(parts[i]))
            memcpy(outcome->text + at, parts[i].data, parts[i].len);
        at += parts[i].len;
        outcome->text[at++] = slice_is_given(parts[i]) ? '|' : '-';
    }
    outcome->text[at++] = (char)('0' + (int)http_parse_method(parse));
}

/* As http_input.c does it: the bytes move with every piece, and only what must stay is kept. Every
 * buffer is exactly as large as needed, so that a sanitizer sees a step too far. */
static struct outcome feed(struct slice bytes, const size_t *cuts, size_t cut_count)
{
    struct outcome outcome = {.parsed = HTTP_PARSED_PART};
    struct http_parse parse;
    http_parse_start(&parse, &limits);
    char *kept = NULL;
    size_t kept_len = 0, at = 0;
    for (size_t i = 0; i <= cut_count && outcome.parsed == HTTP_PARSED_PART; i++) {
        const size_t end = i < cut_count ? cuts[i] : bytes.len;
        if (end <= at)
            continue;
        size_t len = kept_len + (end - at);
        char *moved = malloc(len);
        assert_non_null(moved);
        if (kept_len > 0)
            memcpy(moved, kept, kept_len);
        memcpy(moved + kept_len, bytes.data + at, end - at);
        free(kept);
        kept = moved;
        const size_t offered = len;
        outcome.parsed = http_parse_feed(&parse, kept, &len);
        assert_true(len <= offered);
        at = end;
        if (outcome.parsed == HTTP_PARSED_WHOLE)
            outcome.rest = bytes.len - at + (offered - len);
        kept_len = len;
    }
    if (outcome.parsed == HTTP_PARSED_WHOLE)
        describe(&outcome, &parse, kept);
    if (outcome.parsed == HTTP_PARSED_BAD)
        outcome.status = parse.status;
    free(kept);
    return outcome;
}

static void assert_same(const struct outcome *a, const struct outcome *b)
{
    assert_int_equal(a->parsed, b->parsed);
    assert_int_equal(a->rest, b->rest);
    assert_memory_equal(a->text, b->text, sizeof(a->text));
}

#define HEAD "POST /a?b HTTP/1.1\r\nHost: x\r\nContent-Type: t/t\r\n"
#define CHUNKED HEAD "Transfer-Encoding: chunked\r\n\r\n"
static const char *const good[] = {
    "GET / HTTP/1.1\r\nHost: x\r\n\r\n",
    "GET http://h/p?q#f HTTP/1.0\r\nAuthorization:  k \r\nX-Forwarded-For:\r\n\r\nGET /",
    HEAD "Content-Length: 5\r\n\r\nhello",
    HEAD "Content-Length: 5\r\nUpgrade: h2c\r\nConnection: upgrade\r\n\r\nhelloPOST",
    CHUNKED "3\r\nabc\r\n1;e=v\r\nd\r\n0\r\n\r\n",
    CHUNKED "0a\r\n0123456789\r\n0\r\nX-Trailer: t\r\nHost: y\r\n\r\nGET",
};
#define GOOD_COUNT (sizeof(good) / sizeof(good[0]))

static void a_good_request_is_whole_and_its_parts_are_right(void **state)
{
    (void)state;
    static const char *const expected[GOOD_COUNT] = {
        "/|-|x|---0",           "/p|q||--k||0",        "/a|b|hello|x|t/t|--2",
        "/a|b|hello|x|t/t|--2", "/a|b|abcd|x|t/t|--2", "/a|b|0123456789|x|t/t|--2",
    };
    static const size_t rest[GOOD_COUNT] = {0, 5, 0, 4, 0, 3};
    for (size_t i = 0; i < GOOD_COUNT; i++) {
        const struct outcome whole = feed(slice_from(good[i]), NULL, 0);
        assert_int_equal(whole.parsed, HTTP_PARSED_WHOLE);
        assert_int_equal(whole.rest, rest[i]);
        assert_string_equal(whole.text, expected[i]);
    }
}

static void every_way_to_cut_a_request_in_three_gives_the_same_request(void **state)
{
    (void)state;
    for (size_t i = 0; i < GOOD_COUNT; i++) {
        const struct slice bytes = slice_from(good[i]);
        const struct outcome whole = feed(bytes, NULL, 0);
        for (size_t a = 1; a < bytes.len; a++) {
            for (size_t b = a; b < bytes.len; b++) {
                const size_t cuts[] = {a, b};
                const struct outcome pieces = feed(bytes, cuts, 2);
                assert_same(&whole, &pieces);
            }
        }
    }
}

static void bytes_before_the_request_line_are_bounded_however_they_arrive(void **state)
{
    (void)state;
    char bytes[512];
    memset(bytes, '\r', 400);
    memcpy(bytes + 400, good[0], strlen(good[0]));
    const struct slice all = {.data = bytes, .len = 400 + strlen(good[0])};
    const size_t cuts[] = {390};
    const struct outcome whole = feed(all, NULL, 0);
    const struct outcome pieces = feed(all, cuts, 1);
    assert_int_equal(whole.parsed, HTTP_PARSED_BAD);
    assert_same(&whole, &pieces);
}

static int compare_sizes(const void *a, const void *b)
{
    const size_t x = *(const size_t *)a, y = *(const size_t *)b;
    return (x > y) - (x < y);
}

/* Bytes that have a meaning somewhere in a request are likelier than others to change one. */
static char likely_byte(struct rand *rand)
{
    static const char special[] = "\r\n \t:;,#?/%0159afHTPhostx\0\x7f\x80\xff";
    return rand_below(rand, 4) == 0 ? (char)rand_below(rand, 256)
                                    : special[rand_below(rand, sizeof(special) - 1)];
}

static size_t garble(struct rand *rand, char *bytes, size_t len)
{
    const uint64_t changes = rand_below(rand, 4);
    for (uint64_t i = 0; i < changes && len > 2; i++) {
        const size_t at = (size_t)rand_below(rand, len);
        switch (rand_below(rand, 4)) {
        case 0: /* One byte less. */
            memmove(bytes + at, bytes + at + 1, --len - at);
            break;
        case 1: /* One byte more. */
            memmove(bytes + at + 1, bytes + at, len++ - at);
            bytes[at] = likely_byte(rand);
            break;
        case 2: { /* One byte many times: what outgrows the limits. */
            const size_t more = (size_t)rand_below(rand, 500);
            memmove(bytes + at + more, bytes + at, len - at);
            memset(bytes + at, bytes[at + more], more);
            len += more;
            break;
        }
        default:
            bytes[at] = likely_byte(rand);
            break;
        }
    }
    return len;
}

static void garbled_requests_are_judged_alike_however_they_arrive(void **state)
{
    (void)state;
    struct rand rand;
    rand_init(&rand, seed_value());
    size_t seen[3] = {0};
    for (int round = 0; round < 60000; round++) {
        char bytes[BYTES_MAX];
        const char *from = good[rand_below(&rand, GOOD_COUNT)];
        size_t len = strlen(from);
        memcpy(bytes, from, len);
        len = garble(&rand, bytes, len);
        if (rand_below(&rand, 4) == 0)
            len -= (size_t)rand_below(&rand, len);
        size_t cuts[CUTS_MAX];
        const size_t count = (size_t)rand_below(&rand, CUTS_MAX) + 1;
        for (size_t i = 0; i < count; i++)
            cuts[i] = (size_t)rand_below(&rand, len);
        qsort(cuts, count, sizeof(cuts[0]), compare_sizes);
        const struct slice all = {.data = bytes, .len = len};
        const struct outcome whole = feed(all, NULL, 0);
        const struct outcome pieces = feed(all, cuts, count);
        assert_same(&whole, &pieces);
        seen[whole.parsed]++;
    }
    /* A test that only ever saw one verdict would show little. */
    for (size_t i = 0; i < 3; i++)
        assert_true(seen[i] > 1000);
}

static void framing_is_bounded_wherever_it_stands(void **state)
{
    (void)state;
    static const char *const shapes[] = {
        CHUNKED "1;%s\r\na\r\n0\r\n\r\n",
        CHUNKED "1\r\na\r\n1;%s\r\nb\r\n0\r\n\r\n",
        CHUNKED "%s1\r\na\r\n0\r\n\r\n",
        CHUNKED "1\r\na\r\n0\r\nX: %s\r\n\r\n",
    };
    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
        for (size_t size = 100; size <= 4200; size += 4100) {
            static char filler[5000], text[6000];
            memset(filler, '0', size);
            filler[size] = '\0';
            const char *gap = strstr(shapes[i], "%s");
            const size_t before = (size_t)(gap - shapes[i]), after = strlen(gap + 2);
            memcpy(text, shapes[i], before);
            memcpy(text + before, filler, size);
            memcpy(text + before + size, gap + 2, after);
            const struct slice bytes = {.data = text, .len = before + size + after};
            const size_t cuts[] = {before + size / 2};
            const struct outcome whole = feed(bytes, NULL, 0);
            const struct outcome pieces = feed(bytes, cuts, 1);
            assert_same(&whole, &pieces);
            assert_int_equal(whole.parsed, size == 100 ? HTTP_PARSED_WHOLE : HTTP_PARSED_BAD);
        }
    }
}

int main(int argc, char **argv)
{
    seed_init(argc, argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_good_request_is_whole_and_its_parts_are_right),
        cmocka_unit_test(every_way_to_cut_a_request_in_three_gives_the_same_request),
        cmocka_unit_test(bytes_before_the_request_line_are_bounded_however_they_arrive),
        cmocka_unit_test(garbled_requests_are_judged_alike_however_they_arrive),
        cmocka_unit_test(framing_is_bounded_wherever_it_stands),
    };
    return cmocka_run_group_tests(tests, seed_announce, NULL);
}
