/* Configurations: a file, an environment and flags are either accepted whole, and then keep what the program relies
 * on, or every mistake is one printable line that says where it is. Loading twice says the same, and a running
 * program that loads the same again changes nothing. It may also be given another file (adopt.h).
 *
 * Input: the file; after a line "%%" the environment, NAME=value a line; after another "%%" flags, path=value; after a
 * third the other file. */
#include "adopt.h"
#include "fuzz.h"

#include "config/config_clients.h"
#include "config/config_options.h"
#include "config/config_reference.h"

#include <sodium.h>
#include <stdlib.h>

#define PAIRS_MAX 16
#define WORD_MAX 256

struct pair {
    char name[WORD_MAX];
    char value[WORD_MAX];
};

static struct pair variables[PAIRS_MAX];
static size_t variable_count;

static const char *find_variable(const char *name)
{
    for (size_t i = 0; i < variable_count; i++)
        if (strcmp(variables[i].name, name) == 0)
            return variables[i].value;
    return NULL;
}

static void copy_word(char out[WORD_MAX], struct slice text)
{
    const size_t len = text.len < WORD_MAX - 1 ? text.len : WORD_MAX - 1;
    memcpy(out, text.data, len);
    out[len] = '\0';
}

/* Lines of name=value up to "%%" or the end. */
static size_t read_pairs(struct input *input, struct pair pairs[PAIRS_MAX])
{
    size_t count = 0;
    while (count < PAIRS_MAX && input->len > 0) {
        const struct slice line = input_line(input);
        if (slice_equals(line, SLICE_OF("%%")))
            break;
        size_t equals = 0;
        while (equals < line.len && line.data[equals] != '=')
            equals++;
        const size_t from = equals == line.len ? equals : equals + 1;
        copy_word(pairs[count].name, (struct slice){.data = line.data, .len = equals});
        copy_word(pairs[count++].value,
                  (struct slice){.data = line.data + from, .len = line.len - from});
    }
    return count;
}

/* Everything before a line "%%". */
static struct slice read_file(struct input *input)
{
    const char *start = (const char *)input->data;
    size_t len = 0;
    while (input->len > 0) {
        const struct slice line = input_line(input);
        if (slice_equals(line, SLICE_OF("%%")))
            break;
        len = (size_t)((const char *)input->data - start);
    }
    return (struct slice){.data = len == 0 ? "" : start, .len = len};
}

static void check_mistakes(struct slice text)
{
    static const struct slice places[] = {
        {"gate.json: ", 11}, {"environment: ", 13}, {"command line: ", 14}};
    size_t start = 0;
    for (size_t i = 0; i < text.len; i++) {
        if (text.data[i] != '\n')
            continue;
        const struct slice line = {.data = text.data + start, .len = i - start};
        bool is_placed = false;
        for (size_t k = 0; k < 3; k++)
            is_placed |= slice_starts_with(line, places[k]) && line.len > places[k].len;
        HOLDS(is_placed && slice_is_printable(line));
        start = i + 1;
    }
    HOLDS(start == text.len);
}

static void check_accepted(const struct config *config)
{
    HOLDS(config->listen_count >= 1 && config->listen_count <= CONFIG_LISTEN_MAX);
    HOLDS(config->upstream.key != NULL && config->upstream.url != NULL);
    HOLDS(config->engine.slots >= 1 || config->engine.slots_are_auto);
    HOLDS(config->engine.ambiguity_window_ms < config->engine.solve_timeout_ms);
    HOLDS(config->engine.retry_base_ms <= config->engine.retry_cap_ms);
    HOLDS(config->upstream.vendor.override_count <= CONFIG_ERRORS_MAX);
    for (size_t i = 0; i < TYPE_COUNT; i++) {
        HOLDS(config->min_ttl_ms < config->engine.ttl_ms[i]);
        HOLDS(config->reuse[i] > REUSE_DEFAULT && config->reuse[i] <= REUSE_NONE);
    }
    for (size_t i = 0; i < config->client_count; i++) {
        const struct config_client *client = &config->clients[i];
        HOLDS(client->name[0] != '\0' && client->options.weight >= 1 && client->scopes != 0);
        (void)config_client_allows(client, SLICE_OF("www.example.com"));
    }
    HOLDS(config_find_client(config, SLICE_OF("a key that is too short")) == -1);
}

/* A stranger's client with a known key is found by it. */
static void check_clients(const struct config *config)
{
    static const struct slice keys[] = {{"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", 32},
                                        {"bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb", 32}};
    for (size_t i = 0; i < 2; i++) {
        uint8_t hash[CLIENT_KEY_HASH_BYTES];
        config_hash_key(keys[i], hash);
        long expected = -1;
        for (size_t k = 0; k < config->client_count; k++)
            if (memcmp(config->clients[k].key_hash, hash, sizeof(hash)) == 0)
                expected = (long)k;
        HOLDS(config_find_client(config, keys[i]) == expected);
    }
}

/* NULL when it is refused; free_config() it. */
static struct config *load(struct slice file, const struct pair *flags, size_t flag_count,
                           struct buf *mistakes)
{
    struct config *config = malloc(sizeof(*config));
    struct config_flag given[PAIRS_MAX];
    HOLDS(config != NULL);
    size_t count = 0;
    for (size_t i = 0; i < flag_count; i++) {
        /* Which options have a flag is for the command line to know, so all others are its mistake. */
        const struct option *option = option_find(SLICE_OF(""), slice_from(flags[i].name));
        if (option != NULL && option->home == HOME_CONFIG)
            given[count++] = (struct config_flag){
                .flag = "--flag", .path = flags[i].name, .value = flags[i].value};
    }
    buf_init(mistakes, (size_t)1 << 20);
    const int code = config_load(config, file, "gate.json", find_variable, given, count, mistakes);
    HOLDS((code == 0) == (mistakes->len == 0) && (code == 0 || code == ERR_INVALID));
    check_mistakes(buf_slice(mistakes));
    if (code == 0) {
        check_accepted(config);
        check_clients(config);
        return config;
    }
    config_close(config);
    free(config);
    return NULL;
}

static void free_config(struct config *config)
{
    if (config != NULL)
        config_close(config);
    free(config);
}

static void check_reference(void)
{
    struct buf out;
    buf_init(&out, (size_t)1 << 20);
    config_write_reference(&out);
    HOLDS(out.len > 1000 && !out.is_full);
    buf_close(&out);
}

/* A reload: the file was changed, everything else is as it was at start. */
static void reload(struct config *running, struct slice text, const struct pair *flags,
                   size_t flag_count)
{
    struct buf mistakes;
    char *bytes = exact_copy(text);
    struct config *fresh =
        load((struct slice){.data = bytes, .len = text.len}, flags, flag_count, &mistakes);
    if (fresh != NULL) {
        adopt_and_check(running, fresh, running->client_count + flag_count % 3);
        check_clients(running);
    }
    free_config(fresh);
    buf_close(&mistakes);
    free(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input input = {.data = data, .len = size};
    struct pair flags[PAIRS_MAX];
    struct buf first, second;
    HOLDS(sodium_init() >= 0);
    if (size == 0)
        check_reference();
    const struct slice text = read_file(&input);
    variable_count = read_pairs(&input, variables);
    const size_t flag_count = read_pairs(&input, flags);
    char *bytes = exact_copy(text);
    const struct slice file = {.data = bytes, .len = text.len};
    struct config *running = load(file, flags, flag_count, &first);
    struct config *again = load(file, flags, flag_count, &second);
    HOLDS((running == NULL) == (again == NULL));
    HOLDS(slice_equals(buf_slice(&first), buf_slice(&second)));
    if (running != NULL) {
        adopt_the_same(running, again);
        reload(running, input_rest(&input), flags, flag_count);
    }
    free_config(running);
    free_config(again);
    buf_close(&first);
    buf_close(&second);
    free(bytes);
    return 0;
}
