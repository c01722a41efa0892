/* Random requests: any change of what is asked changes the key, any change of how it is asked does
 * not. `--count N` says how many; a million takes a minute in a release build. */
#include "base/rand.h"
#include "encode.h"
#include "proto/form.h"
#include "proto/key.h"
#include "seed.h"

#include <inttypes.h>
#include <setjmp.h>
#include <sodium.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#define CAP ((size_t)64 * 1024)
#define FIELDS_MAX 40
#define POOL_BYTES 16384
#define DEFAULT_COUNT 100000

static uint64_t request_count = DEFAULT_COUNT;
static struct params params;
static struct identity identity;
static struct buf scratch;
static struct buf query;
static struct buf body;

static int setup(void **state)
{
    params_init(&params, CAP);
    buf_init(&scratch, IDENTITY_SCRATCH_BYTES);
    buf_init(&query, CAP);
    buf_init(&body, CAP);
    return seed_announce(state);
}

static int teardown(void **state)
{
    (void)state;
    params_close(&params);
    buf_close(&scratch);
    buf_close(&query);
    buf_close(&body);
    return 0;
}

/* One request; the bytes of its fields live in its pool. */
struct request {
    struct field fields[FIELDS_MAX];
    size_t count;
    char pool[POOL_BYTES];
    size_t used;
};

/* What a kind of request may have: a capital letter must be there, and the letter says how the
 * value looks (see make_value). */
struct profile {
    const char *method;
    const char *fields[12];
};

static const struct profile PROFILES[] = {
    {"turnstile", {"K sitekey", "U pageurl", "t action", "t data", "t pagedata", "t userAgent"}},
    {"userrecaptcha",
     {"K googlekey", "U pageurl", "o invisible", "o enterprise", "t data-s", "t domain",
      "t cookies", "t userAgent"}},
    {"userrecaptcha",
     {"K googlekey", "U pageurl", "V version", "t action", "d min_score", "o enterprise"}},
    {"hcaptcha", {"K sitekey", "U pageurl", "o invisible", "t data", "t domain"}},
    {"post",
     {"I file", "d numeric", "d min_len", "d max_len", "o phrase", "t lang", "t textinstructions"}},
    {"cloudflare_challenge", {"U pageurl", "T proxy", "T proxytype", "t userAgent"}},
    {"geetest", {"K gt", "T challenge", "U pageurl", "t api_server"}},
    {"brand_new", {"t a", "t b", "l long", "t data[key]", "d n", "t x-y"}},
};
#define PROFILE_COUNT (sizeof(PROFILES) / sizeof(PROFILES[0]))

static char *take(struct request *request, size_t len)
{
    assert_true(request->used + len <= POOL_BYTES);
    char *const place = request->pool + request->used;
    request->used += len;
    return place;
}

static struct slice keep(struct request *request, const char *text)
{
    const size_t len = strlen(text);
    char *const place = take(request, len);
    memcpy(place, text, len);
    return (struct slice){place, len};
}

static struct slice random_text(struct request *request, struct rand *rand, size_t len)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                  "-_.~ /:?&=+%#\"\\{}[]|<>,;";
    char *const place = take(request, len);
    for (size_t i = 0; i < len; i++)
        place[i] = letters[rand_below(rand, sizeof(letters) - 1)];
    return (struct slice){place, len};
}

static struct slice random_url(struct request *request, struct rand *rand)
{
    char url[200];
    (void)snprintf(url, sizeof(url), "%s://h%" PRIu64 ".example%s/p%" PRIu64 "%s",
                   one_in(rand, 2) ? "http" : "https", rand_below(rand, 100000),
                   one_in(rand, 5) ? ":8443" : "", rand_u64(rand),
                   one_in(rand, 3) ? "?q=A%20b&C" : "");
    return keep(request, url);
}

static struct slice make_value(struct request *request, struct rand *rand, char look)
{
    static const char *const digits[] = {"1", "2", "3", "4", "7", "9"};
    switch (look | 0x20) {
    case 'k':
        return random_text(request, rand, 20 + (size_t)rand_below(rand, 20));
    case 'u':
        return random_url(request, rand);
    case 'o':
        return keep(request, "1");
    case 'v':
        return keep(request, "v3");
    case 'd':
        return keep(request, digits[rand_below(rand, 6)]);
    case 'l':
        return random_text(request, rand, 400 + (size_t)rand_below(rand, 300));
    case 'i':
        return random_text(request, rand, 100 + (size_t)rand_below(rand, 200));
    default:
        return random_text(request, rand, 3 + (size_t)rand_below(rand, 30));
    }
}

static void add(struct request *request, struct slice name, struct slice value)
{
    assert_true(request->count < FIELDS_MAX);
    request->fields[request->count++] = (struct field){name, value, false};
}

static void make_request(struct request *request, struct rand *rand, const struct profile *profile)
{
    request->count = 0;
    request->used = 0;
    add(request, SLICE_OF("method"), slice_from(profile->method));
    for (size_t i = 0; i < 12 && profile->fields[i] != NULL; i++) {
        const char look = profile->fields[i][0];
        if (look >= 'a' && one_in(rand, 2))
            continue;
        add(request, slice_from(profile->fields[i] + 2), make_value(request, rand, look));
        request->fields[request->count - 1].is_file = look == 'I';
    }
}

static void copy_request(struct request *to, const struct request *from)
{
    to->count = 0;
    to->used = 0;
    for (size_t i = 0; i < from->count; i++) {
        char *const value = take(to, from->fields[i].value.len);
        memcpy(value, from->fields[i].value.data, from->fields[i].value.len);
        add(to, from->fields[i].name, (struct slice){value, from->fields[i].value.len});
        to->fields[i].is_file = from->fields[i].is_file;
    }
}

static struct field *find(struct request *request, const char *name)
{
    for (size_t i = 0; i < request->count; i++)
        if (slice_equals(request->fields[i].name, slice_from(name)))
            return &request->fields[i];
    return NULL;
}

/* The same request by another way: spelling of names and addresses, defaults, transport. */
static void respell_url(struct request *request, struct rand *rand)
{
    struct field *const field = find(request, "pageurl");
    char url[400];
    size_t len = 0;
    if (field == NULL)
        return;
    const char *const path = memchr(field->value.data + 8, '/', field->value.len - 8);
    const size_t front = (size_t)(path - field->value.data);
    for (; len < front; len++) {
        const char c = field->value.data[len];
        url[len] = c >= 'a' && c <= 'z' && one_in(rand, 4) ? (char)(c - 0x20) : c;
    }
    const bool has_port = memchr(field->value.data + 8, ':', front - 8) != NULL;
    if (!has_port && one_in(rand, 2))
        len += (size_t)snprintf(url + len, 8, "%s", field->value.data[4] == 's' ? ":443" : ":80");
    memcpy(url + len, path, field->value.len - front);
    len += field->value.len - front;
    if (one_in(rand, 2))
        len += (size_t)snprintf(url + len, 16, "#frag?x");
    url[len] = '\0';
    field->value = keep(request, url);
}

static void rename_field(struct request *request, const char *from, const char *to)
{
    struct field *const field = find(request, from);
    if (field != NULL)
        field->name = slice_from(to);
}

static void add_noise(struct request *request, struct rand *rand, const struct profile *profile)
{
    static const char *const transport[] = {
        "key",  "json",  "soft_id", "header_acao", "pingback",        "callback", "debug",
        "wait", "reuse", "min_ttl", "max_age",     "idempotency_key", "priority"};
    static const char *const falses[] = {"0", "false", "no", "False", ""};
    for (size_t i = 0; i < sizeof(transport) / sizeof(transport[0]); i++)
        if (one_in(rand, 3))
            add(request, slice_from(transport[i]), random_text(request, rand, 5));
    if (find(request, "invisible") == NULL && one_in(rand, 2))
        add(request, SLICE_OF("invisible"), slice_from(falses[rand_below(rand, 5)]));
    if (find(request, "enterprise") == NULL && one_in(rand, 2))
        add(request, SLICE_OF("enterprise"), slice_from(falses[rand_below(rand, 5)]));
    if (find(request, "googlekey") != NULL && find(request, "version") == NULL && one_in(rand, 2))
        add(request, SLICE_OF("version"), SLICE_OF("v2"));
    if (find(request, "proxy") == NULL && one_in(rand, 2))
        add(request, SLICE_OF("proxy"), random_text(request, rand, 9));
    if (profile->method[0] == 'p' && find(request, "phrase") == NULL && one_in(rand, 2))
        add(request, SLICE_OF("phrase"), slice_from(falses[rand_below(rand, 5)]));
}

/* The file of an upload as base64, which any encoding can carry. */
static void make_base64(struct request *request)
{
    struct field *const file = find(request, "file");
    if (file == NULL)
        return;
    const size_t room = sodium_base64_encoded_len(file->value.len, sodium_base64_VARIANT_ORIGINAL);
    char *const text = take(request, room);
    (void)sodium_bin2base64(text, room, (const uint8_t *)file->value.data, file->value.len,
                            sodium_base64_VARIANT_ORIGINAL);
    *file = (struct field){SLICE_OF("body"), {text, room - 1}, false};
    find(request, "method")->value = SLICE_OF("base64");
}

static void shuffle(struct request *request, struct rand *rand)
{
    for (size_t i = request->count; i > 1; i--) {
        const size_t j = (size_t)rand_below(rand, i);
        const struct field moved = request->fields[j];
        request->fields[j] = request->fields[i - 1];
        request->fields[i - 1] = moved;
    }
}

static void disguise(struct request *request, struct rand *rand, const struct profile *profile)
{
    respell_url(request, rand);
    add_noise(request, rand, profile);
    if (one_in(rand, 2) && find(request, "sitekey") != NULL)
        rename_field(request, "sitekey", "googlekey");
    else if (one_in(rand, 2))
        rename_field(request, "googlekey", "sitekey");
    if (one_in(rand, 2))
        rename_field(request, "userAgent", "useragent");
    shuffle(request, rand);
}

/* Another request: one value, one field or the method differs. */
static void flip(struct request *request, struct rand *rand)
{
    const size_t at = (size_t)rand_below(rand, request->count);
    struct field *const field = &request->fields[at];
    if (slice_equals(field->name, SLICE_OF("method"))) {
        /* What is empty says nothing about an image. */
        if (find(request, "file") != NULL)
            add(request, SLICE_OF("extra"), SLICE_OF("1"));
        else if (one_in(rand, 2))
            add(request, SLICE_OF("extra"), one_in(rand, 2) ? SLICE_OF("") : SLICE_OF("1"));
        else
            field->value = SLICE_OF("brand_newer");
        return;
    }
    const bool is_optional = at > 3 || slice_equals(field->value, SLICE_OF("1"));
    if (is_optional && one_in(rand, 2)) {
        *field = request->fields[--request->count];
        return;
    }
    /* The end of an address is its path, where every letter counts. */
    const bool is_url = slice_equals(field->name, SLICE_OF("pageurl"));
    const size_t byte = is_url ? field->value.len - 1 : (size_t)rand_below(rand, field->value.len);
    char *const place = request->pool + (field->value.data - request->pool) + byte;
    *place = *place == '5' ? '6' : '5';
}

/* A file goes only into multipart, so elsewhere it goes as base64. */
static int read_request(struct request *request, struct rand *rand)
{
    const uint64_t encoding = rand_below(rand, 4);
    const size_t half = request->count / 2;
    params_reset(&params);
    if (encoding != 2 || one_in(rand, 2))
        make_base64(request);
    switch (encoding) {
    case 0: /* half in the query, half in the body */
        encode_form(&query, request->fields, half, rand);
        encode_form(&body, request->fields + half, request->count - half, rand);
        if (params_add_form(&params, buf_slice(&query)) != 0)
            return ERR_INVALID;
        return params_add_body(&params, SLICE_NONE, buf_slice(&body));
    case 1:
        encode_json(&body, request->fields, request->count, rand);
        return params_add_body(&params, SLICE_OF("text/plain"), buf_slice(&body));
    case 2:
        encode_multipart(&body, request->fields, request->count, rand);
        return params_add_body(&params, SLICE_OF("multipart/form-data; boundary=" ENCODE_BOUNDARY),
                               buf_slice(&body));
    default:
        encode_form(&body, request->fields, request->count, rand);
        return params_add_body(&params, SLICE_OF("application/json"), buf_slice(&body));
    }
}

static struct key compute(struct request *request, struct rand *rand)
{
    static const struct identity_options options = {.secret = {9, 8, 7}};
    const struct identity_scope scope = identity_scope_of(&options, SLICE_OF("crawler"));
    const int code = read_request(request, rand);
    if (code != 0)
        fail_msg("%s", params.mistake);
    assert_int_equal(params.count, request->count);
    if (identity_compute(&options, &params, &scope, &scratch, &identity) != 0)
        fail_msg("%s", identity.mistake_detail);
    return identity.key;
}

static void what_is_asked_makes_the_key_and_how_it_is_asked_does_not(void **state)
{
    (void)state;
    static struct request request;
    static struct request other;
    struct rand rand;
    rand_init(&rand, seed_value());
    for (uint64_t i = 0; i < request_count; i++) {
        const struct profile *const profile = &PROFILES[rand_below(&rand, PROFILE_COUNT)];
        make_request(&request, &rand, profile);
        copy_request(&other, &request);
        const struct key key = compute(&other, &rand);
        copy_request(&other, &request);
        disguise(&other, &rand, profile);
        const struct key same = compute(&other, &rand);
        if (memcmp(key.bytes, same.bytes, KEY_BYTES) != 0)
            fail_msg("request %" PRIu64 " (%s): asked in another way, but another key", i,
                     profile->method);
        copy_request(&other, &request);
        flip(&other, &rand);
        const struct key changed = compute(&other, &rand);
        if (memcmp(key.bytes, changed.bytes, KEY_BYTES) == 0)
            fail_msg("request %" PRIu64 " (%s): something else asked, but the same key", i,
                     profile->method);
    }
}

static int compare(const void *a, const void *b)
{
    return memcmp(a, b, KEY_BYTES);
}

static void different_requests_never_collide(void **state)
{
    (void)state;
    static struct request request;
    struct rand rand;
    struct key *const keys = calloc((size_t)request_count, sizeof(*keys));
    assert_non_null(keys);
    rand_init(&rand, seed_value() + 1);
    for (uint64_t i = 0; i < request_count; i++) {
        make_request(&request, &rand, &PROFILES[rand_below(&rand, PROFILE_COUNT)]);
        char number[32];
        (void)snprintf(number, sizeof(number), "%" PRIu64, i);
        add(&request, SLICE_OF("number"), keep(&request, number));
        keys[i] = compute(&request, &rand);
    }
    qsort(keys, (size_t)request_count, sizeof(*keys), compare);
    for (uint64_t i = 1; i < request_count; i++)
        assert_true(compare(&keys[i - 1], &keys[i]) != 0);
    free(keys);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_asked_makes_the_key_and_how_it_is_asked_does_not),
        cmocka_unit_test(different_requests_never_collide),
    };
    if (argc >= 3 && strcmp(argv[1], "--count") == 0) {
        request_count = strtoull(argv[2], NULL, 10);
        argv[2] = argv[0];
        argv += 2;
        argc -= 2;
    }
    seed_init(argc, argv);
    if (sodium_init() < 0)
        return 1;
    return cmocka_run_group_tests(tests, setup, teardown);
}
