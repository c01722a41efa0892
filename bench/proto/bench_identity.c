/* Nanoseconds per request of reading its parameters and working out its identity. */
#include "base/assert.h"
#include "proto/key.h"

#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* Many short rounds: others use the machine too. */
#define ROUNDS 61
#define BODY_CAP ((size_t)2 * 1024 * 1024)

struct subject {
    const char *name;
    struct slice content_type;
    struct slice body;
    bool is_slow; /* an image: fewer turns */
};

static const char FORM[] =
    "key=0123456789abcdef0123456789abcdef&method=turnstile&sitekey=0x4AAAAAAAC3DHQFLr1GavRN"
    "&pageurl=https%3A%2F%2Fwww.example.com%2Faccount%2Flogin&json=1";
static const char FORM_RECAPTCHA[] =
    "key=0123456789abcdef0123456789abcdef&method=userrecaptcha&version=v3&action=verify&min_score="
    "0.3"
    "&googlekey=6LfD3PIbAAAAAJs_eEHvoOl75_83eXSqpPSRFJ_u"
    "&pageurl=https%3A%2F%2Fwww.example.com%2Faccount%2Flogin&json=1&soft_id=4580&header_acao=1";
static const char JSON[] = "{\"method\":\"turnstile\",\"sitekey\":\"0x4AAAAAAAC3DHQFLr1GavRN\","
                           "\"pageurl\":\"https://www.example.com/account/login\",\"wait\":30}";
static const char JSON_RECAPTCHA[] =
    "{\"method\":\"userrecaptcha\",\"version\":\"v3\",\"action\":\"verify\",\"min_score\":0.3,"
    "\"googlekey\":\"6LfD3PIbAAAAAJs_eEHvoOl75_83eXSqpPSRFJ_u\","
    "\"pageurl\":\"https://www.example.com/account/login\",\"wait\":30,\"invisible\":false}";

static uint64_t now_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now); /* others on the machine do not count */
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* A body of an image request, whose bytes do not matter. */
static struct slice image_form(size_t image_bytes)
{
    static const char front[] = "key=k&method=base64&json=1&body=";
    const size_t letters = image_bytes / 3 * 4;
    char *const form = malloc(sizeof(front) + letters);
    ASSERT(form != NULL);
    memcpy(form, front, sizeof(front) - 1);
    for (size_t i = 0; i < letters; i++)
        form[sizeof(front) - 1 + i] =
            "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"[i * 31 % 62];
    return (struct slice){.data = form, .len = sizeof(front) - 1 + letters};
}

/* What cannot be avoided: the digest of just as many bytes. */
static double digest_ns(const struct subject *subject, unsigned turns)
{
    static unsigned char digest[crypto_generichash_BYTES];
    const uint64_t start = now_ns();
    for (unsigned i = 0; i < turns; i++)
        (void)crypto_generichash(digest, sizeof(digest), (const unsigned char *)subject->body.data,
                                 subject->body.len, digest, sizeof(digest));
    return (double)(now_ns() - start) / turns;
}

static double parse_ns(const struct subject *subject, unsigned turns, struct params *params)
{
    const uint64_t start = now_ns();
    for (unsigned i = 0; i < turns; i++) {
        params_reset(params);
        const int code = params_add_body(params, subject->content_type, subject->body);
        ASSERT(code == 0);
    }
    return (double)(now_ns() - start) / turns;
}

static double total_ns(const struct subject *subject, unsigned turns, struct params *params,
                       const struct identity_options *options, struct buf *scratch)
{
    static struct identity identity;
    const struct identity_scope scope = identity_scope_of(options, SLICE_OF("crawler"));
    const uint64_t start = now_ns();
    for (unsigned i = 0; i < turns; i++) {
        params_reset(params);
        int code = params_add_body(params, subject->content_type, subject->body);
        ASSERT(code == 0);
        code = identity_compute(options, params, &scope, scratch, &identity);
        ASSERT(code == 0);
    }
    return (double)(now_ns() - start) / turns;
}

static void print_rounds(const char *name, const double rounds[ROUNDS])
{
    printf(", \"%s\": [", name);
    for (size_t i = 0; i < ROUNDS; i++)
        printf("%s%.1f", i == 0 ? "" : ", ", rounds[i]);
    printf("]");
}

/* One line of JSON. */
static void run(const struct subject *subject, const struct identity_options *options)
{
    static struct params params;
    struct buf scratch;
    double parse[ROUNDS];
    double total[ROUNDS];
    double digest[ROUNDS];
    const unsigned turns = subject->is_slow ? 20 : 5000;
    params_init(&params, BODY_CAP);
    buf_init(&scratch, IDENTITY_SCRATCH_BYTES);
    for (size_t round = 0; round < ROUNDS; round++) {
        parse[round] = parse_ns(subject, turns, &params);
        total[round] = total_ns(subject, turns, &params, options, &scratch);
        digest[round] = digest_ns(subject, turns);
    }
    printf("{\"name\": \"%s\", \"bytes\": %zu", subject->name, subject->body.len);
    print_rounds("parse", parse);
    print_rounds("total", total);
    print_rounds("digest", digest);
    puts("}");
    fflush(stdout);
    buf_close(&scratch);
    params_close(&params);
}

int main(void)
{
    if (sodium_init() < 0)
        return 1;
    struct identity_options options = {.include_proxy = false};
    randombytes_buf(options.secret, sizeof(options.secret));
    const struct slice image = image_form(50 * 1024);
    const struct subject subjects[] = {
        {"turnstile, form", SLICE_NONE, SLICE_OF(FORM), false},
        {"turnstile, JSON", SLICE_OF("application/json"), SLICE_OF(JSON), false},
        {"recaptcha v3, form", SLICE_NONE, SLICE_OF(FORM_RECAPTCHA), false},
        {"recaptcha v3, JSON", SLICE_OF("application/json"), SLICE_OF(JSON_RECAPTCHA), false},
        {"image of 50 KiB, base64 form", SLICE_NONE, image, true},
    };
    for (size_t i = 0; i < sizeof(subjects) / sizeof(subjects[0]); i++)
        run(&subjects[i], &options);
    free((char *)image.data);
    return 0;
}
