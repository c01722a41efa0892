#include "base/rand.h"
#include "config_world.h"
#include "seed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#define RANDOM_TEXTS 1000
#define MUTATED_TEXTS 5000
#define TEXT_MAX 4096

static const char sample[] =
    "{\"listen\": [\"127.0.0.1:1\", \"unix:/x\"], \"trusted_proxies\": [\"10.0.0.0/8\", \"::1\"],"
    "\"upstream\": {\"url\": \"https://a.b\", \"key\": \"${K}\", \"slots\": \"auto\", \"price\": "
    "{\"image\": 0.5}},"
    "\"poll\": {\"first\": {\"image\": \"1s\", \"default\": \"5s\"}}, \"solve_timeout\": \"100s\","
    "\"retry\": {\"base\": \"1s\", \"budget\": 0.5, \"busy\": 3}, \"errors\": {\"E\": \"busy\"},"
    "\"cache\": {\"ttl\": {\"image\": \"1h\"}, \"bytes\": \"1MiB\", \"solutions\": 5},"
    "\"reuse\": {\"default\": \"single\"}, \"dedup\": {\"scope\": \"global\", \"include_proxy\": "
    "true},"
    "\"clients\": [{\"name\": \"a\", \"key\": \"" KEY_A
    "\", \"allow_hosts\": [\"*.a.b\"], \"scopes\": [\"admin\"]},"
    "{\"name\": \"b\", \"key_hash\": "
    "\"2788636be25cace0bd9e45bdde650b4fc0e979575d7f3d58c6248b18ab237609\","
    "\"weight\": 2, \"budget_per_day\": 9}], \"limits\": {\"body\": 4096}, \"log\": {\"level\": "
    "\"warn\"},}";

/* One mistake is one line of visible ASCII that names the file, whatever the file holds. */
static void check_mistakes(const struct world *world)
{
    const struct slice text = buf_slice(&world->mistakes);
    size_t start = 0;
    for (size_t i = 0; i < text.len; i++) {
        if (text.data[i] == '\n') {
            const struct slice line = {.data = text.data + start, .len = i - start};
            assert_true(slice_starts_with(line, SLICE_OF("gate.json: ")));
            start = i + 1;
        } else if (text.data[i] < ' ' || text.data[i] > '~') {
            fail_msg("byte 0x%02x in a message", (unsigned char)text.data[i]);
        }
    }
    assert_int_equal(start, text.len);
}

/* What was taken without a mistake keeps what the rest of the program relies on. */
static void check_accepted(const struct config *config)
{
    assert_in_range(config->listen_count, 1, CONFIG_LISTEN_MAX);
    assert_true(config->upstream.key != NULL);
    assert_in_range(config->engine.slots, 0, 100000);
    assert_true(config->engine.ambiguity_window_ms < config->engine.solve_timeout_ms);
    for (size_t i = 0; i < TYPE_COUNT; i++) {
        assert_true(config->min_ttl_ms < config->engine.ttl_ms[i]);
        assert_in_range(config->reuse[i], REUSE_SHARED, REUSE_NONE);
    }
    for (size_t i = 0; i < config->client_count; i++) {
        assert_true(config->clients[i].name[0] != '\0');
        assert_true(config->clients[i].options.weight >= 1);
        assert_true(config->clients[i].scopes != 0);
    }
}

/* The text is copied to its exact size, so that reading past its end is seen by the sanitizer. */
static bool load_and_check(const char *bytes, size_t len)
{
    struct blob *const copy = blob_new((struct slice){.data = bytes, .len = len});
    struct world world;
    world_load_bytes(&world, blob_slice(copy));
    check_mistakes(&world);
    if (world.code == 0)
        check_accepted(&world.config);
    const bool is_good = world.code == 0;
    world_close(&world);
    blob_unref(copy);
    return is_good;
}

static void random_bytes_never_do_harm(void **state)
{
    (void)state;
    struct rand rand;
    rand_init(&rand, seed_value());
    for (int i = 0; i < RANDOM_TEXTS; i++) {
        char text[256];
        const size_t len = 1 + rand_below(&rand, sizeof(text) - 1);
        for (size_t k = 0; k < len; k++)
            text[k] = (char)rand_u64(&rand);
        (void)load_and_check(text, len);
    }
}

static void random_tokens_never_do_harm(void **state)
{
    (void)state;
    static const char *const tokens[] = {"{",           "}",       "[",          "]",
                                         ",",           ":",       "\"listen\"", "\"upstream\"",
                                         "\"clients\"", "\"key\"", "\"${K}\"",   "\"${\"",
                                         "5",           "-1e9",    "true",       "null",
                                         "\"5s\"",      "//\n",    "\"errors\"", "\"cache\""};
    struct rand rand;
    rand_init(&rand, seed_value());
    for (int i = 0; i < RANDOM_TEXTS; i++) {
        char text[TEXT_MAX];
        size_t len = 0;
        for (uint64_t k = 1 + rand_below(&rand, 40); k > 0; k--) {
            const char *const token = tokens[rand_below(&rand, sizeof(tokens) / sizeof(tokens[0]))];
            memcpy(text + len, token, strlen(token));
            len += strlen(token);
        }
        (void)load_and_check(text, len);
    }
}

/* Characters that are good JSON and must not reach a terminal as they are. */
static void overwrite(struct rand *rand, char *text, size_t at, size_t len)
{
    static const char *const pieces[] = {"\\n",      "\\u001b",      "\\u0000",
                                         "\xc3\xa4", "\xe2\x80\xa8", "\x7f"};
    const char *const piece = pieces[rand_below(rand, sizeof(pieces) / sizeof(pieces[0]))];
    if (strlen(piece) <= len - at)
        memcpy(text + at, piece, strlen(piece));
}

/* Changes, removes or repeats a few bytes. */
static size_t mutate(struct rand *rand, char *text, size_t len)
{
    for (uint64_t k = 1 + rand_below(rand, 3); k > 0 && len > 2; k--) {
        const size_t at = rand_below(rand, len);
        const size_t run = 1 + rand_below(rand, len - at < 30 ? len - at : 30);
        switch (rand_below(rand, 5)) {
        case 0:
            text[at] = (char)rand_u64(rand);
            break;
        case 1:
            text[at] = "0123456789\"{}[]:,.$-az"[rand_below(rand, 22)];
            break;
        case 2:
            memmove(text + at, text + at + run, len - at - run);
            len -= run;
            break;
        case 3:
            overwrite(rand, text, at, len);
            break;
        default:
            if (len + run <= TEXT_MAX) {
                memmove(text + at + run, text + at, len - at);
                len += run;
            }
        }
    }
    return len;
}

static void mutated_files_never_do_harm(void **state)
{
    (void)state;
    world_set_environment((const char *const[]){"K", "vendor", NULL});
    assert_true(load_and_check(sample, strlen(sample)));
    struct rand rand;
    rand_init(&rand, seed_value());
    size_t good = 0;
    for (int i = 0; i < MUTATED_TEXTS; i++) {
        char text[TEXT_MAX];
        memcpy(text, sample, sizeof(sample));
        const size_t len = mutate(&rand, text, strlen(sample));
        good += len > 0 && load_and_check(text, len);
    }
    /* Both outcomes have to occur, else the mutations are too weak or too strong. */
    assert_true(good > 0 && good < MUTATED_TEXTS);
    world_set_environment(NULL);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_bytes_never_do_harm),
        cmocka_unit_test(random_tokens_never_do_harm),
        cmocka_unit_test(mutated_files_never_do_harm),
    };
    seed_init(argc, argv);
    return cmocka_run_group_tests(tests, seed_announce, NULL);
}
