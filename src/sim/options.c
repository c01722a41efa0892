#include "sim/options.h"

#include "base/err.h"
#include "sim/profile.h"
#include "sim/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef bool (*option_setter)(struct options *options, const char *value);

struct option {
    const char *name;
    option_setter set;
    bool is_flag;
    const char *expects;
};

void options_init(struct options *options)
{
    *options = (struct options){
        .host = "127.0.0.1",
        .port = 8431,
        .busy_code = "ERROR_NO_SLOT_AVAILABLE",
        .balance_micros = 10 * 1000000,
        .solve_times = {{.method = SLICE_NONE, .shape = SOLVE_FIXED, .ms = 5000}},
        .solve_time_count = 1,
        .token_bytes = 200,
        .result_ttl_ms = 300 * 1000,
        .image_bytes_min = 100,
        .image_bytes_max = 1024 * 1024,
        .pingback_connections = 64,
        .pingback_timeout_ms = 10 * 1000,
        .ledger_max = 100000,
        .tasks_max = 1000000,
        .connections_max = 10000,
        .body_bytes_max = 4 * 1024 * 1024,
        .keep_alive_ms = 75 * 1000,
    };
}

static bool set_count(uint64_t *number, const char *value, uint64_t least, uint64_t most)
{
    unsigned long long parsed;

    if (!slice_to_u64(slice_from(value), &parsed) || parsed < least || parsed > most)
        return false;
    *number = parsed;
    return true;
}

static bool set_micros(uint64_t *micros, const char *value)
{
    double number;

    if (!text_to_double(slice_from(value), &number) || number > 1e9)
        return false;
    *micros = (uint64_t)(number * 1e6 + 0.5);
    return true;
}

/* Finds the index of value among words; false if there is none. */
static bool set_word(unsigned *place, const char *value, const char *const *words, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        if (strcmp(value, words[i]) == 0) {
            *place = i;
            return true;
        }
    }
    return false;
}

static bool set_listen(struct options *options, const char *value)
{
    const char *colon = strrchr(value, ':');
    uint64_t port;

    if (colon == NULL || !set_count(&port, colon + 1, 0, 65535))
        return false;
    size_t length = (size_t)(colon - value);
    if (length > 1 && value[0] == '[' && value[length - 1] == ']') {
        value++;
        length -= 2;
    }
    if (length == 0 || length >= sizeof options->host)
        return false;
    memcpy(options->host, value, length);
    options->host[length] = '\0';
    if (strcmp(options->host, "localhost") == 0)
        snprintf(options->host, sizeof options->host, "127.0.0.1");
    options->port = (int)port;
    return true;
}

static bool set_key(struct options *options, const char *value)
{
    if (options->key_count == OPTIONS_KEYS_MAX || strlen(value) != KEY_CHARACTERS)
        return false;
    options->keys[options->key_count++] = slice_from(value);
    return true;
}

static bool parse_uniform(struct slice text, struct solve_time *time)
{
    const char *dash = memchr(text.data, '-', text.len);

    if (dash == NULL)
        return false;
    const struct slice low = {text.data, (size_t)(dash - text.data)};
    const struct slice high = {dash + 1, text.len - low.len - 1};
    return text_to_ms(low, &time->ms) && text_to_ms(high, &time->until_ms) &&
           time->ms <= time->until_ms;
}

static bool parse_shape(struct slice text, struct solve_time *time)
{
    static const struct {
        const char *prefix;
        enum solve_shape shape;
    } shapes[] = {
        {"exp:", SOLVE_EXPONENTIAL},
        {"tail:", SOLVE_TAIL},
        {"uniform:", SOLVE_UNIFORM},
    };

    time->shape = SOLVE_FIXED;
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        const struct slice prefix = slice_from(shapes[i].prefix);
        if (!slice_starts_with(text, prefix))
            continue;
        time->shape = shapes[i].shape;
        text = slice_skip(text, prefix.len);
        break;
    }
    return time->shape == SOLVE_UNIFORM ? parse_uniform(text, time) : text_to_ms(text, &time->ms);
}

static bool set_solve_time(struct options *options, const char *value)
{
    const char *equals = strchr(value, '=');
    struct solve_time time = {.method = SLICE_NONE};

    if (equals != NULL) {
        time.method = (struct slice){value, (size_t)(equals - value)};
        value = equals + 1;
    }
    if (!parse_shape(slice_from(value), &time))
        return false;
    if (equals == NULL) {
        options->solve_times[0] = time;
        return true;
    }
    if (options->solve_time_count == OPTIONS_SOLVE_TIMES_MAX)
        return false;
    options->solve_times[options->solve_time_count++] = time;
    return true;
}

static bool set_ids(struct options *options, const char *value)
{
    static const char *const words[] = {"string", "number", "mixed", "long"};
    unsigned place;

    if (!set_word(&place, value, words, 4))
        return false;
    options->ids = (enum id_form)place;
    return true;
}

static bool set_threads(struct options *options, const char *value)
{
    static const char *const words[] = {"mixed", "number", "string"};
    unsigned place;

    if (!set_word(&place, value, words, 3))
        return false;
    options->threads = (enum threads_form)place;
    return true;
}

static bool set_clearance(struct options *options, const char *value)
{
    static const char *const words[] = {"result", "request"};
    unsigned place;

    if (!set_word(&place, value, words, 2))
        return false;
    options->clearance = (enum clearance_form)place;
    return true;
}

static bool set_unknown(struct options *options, const char *value)
{
    static const char *const words[] = {"accept", "reject"};
    unsigned place;

    if (!set_word(&place, value, words, 2))
        return false;
    options->rejects_unknown = place == 1;
    return true;
}

static bool set_pingback_method(struct options *options, const char *value)
{
    static const char *const words[] = {"GET", "POST"};
    unsigned place;

    if (!set_word(&place, value, words, 2))
        return false;
    options->is_pingback_post = place == 1;
    return true;
}

static bool set_json_default(struct options *options, const char *value)
{
    uint64_t flag;

    if (!set_count(&flag, value, 0, 1))
        return false;
    options->is_json_default = flag == 1;
    return true;
}

static bool set_busy_code(struct options *options, const char *value)
{
    options->busy_code = value;
    return value[0] != '\0' && strlen(value) <= 64;
}

static bool set_seed(struct options *options, const char *value)
{
    options->has_seed = true;
    return set_count(&options->seed, value, 0, UINT64_MAX);
}

static bool add_fault(struct options *options, const char *value)
{
    if (options->fault_count == OPTIONS_FAULTS_MAX || value[0] == '\0')
        return false;
    options->faults[options->fault_count++] = value;
    return true;
}

/* A fault of the profile with the same name gives way; those of other options add up. */
static bool set_fault(struct options *options, const char *value)
{
    const size_t len = strcspn(value, "=");
    size_t kept = 0;
    for (size_t i = 0; i < options->fault_count; i++) {
        const char *const other = options->faults[i];
        if (i < options->profile_fault_count && strcspn(other, "=") == len &&
            strncmp(other, value, len) == 0)
            continue;
        options->faults[kept++] = other;
    }
    options->profile_fault_count -= options->fault_count - kept;
    options->fault_count = kept;
    return add_fault(options, value);
}

static bool set_script(struct options *options, const char *value)
{
    options->script = value;
    return value[0] != '\0';
}

#define SET_COUNT(function, field, least, most)                      \
    static bool function(struct options *options, const char *value) \
    {                                                                \
        return set_count(&options->field, value, least, most);       \
    }
#define SET_MS(function, field)                                      \
    static bool function(struct options *options, const char *value) \
    {                                                                \
        return text_to_ms(slice_from(value), &options->field);       \
    }
#define SET_BYTES(function, field, most)                                                      \
    static bool function(struct options *options, const char *value)                          \
    {                                                                                         \
        return text_to_bytes(slice_from(value), &options->field) && options->field <= (most); \
    }
#define SET_FLAG(function, field)                                    \
    static bool function(struct options *options, const char *value) \
    {                                                                \
        (void)value;                                                 \
        options->field = true;                                       \
        return true;                                                 \
    }

SET_COUNT(set_slots, slots, 0, 10000000)
SET_COUNT(set_token_bytes, token_bytes, 40, 65536)
SET_COUNT(set_pingback_connections, pingback_connections, 1, 4096)
SET_COUNT(set_ledger_max, ledger_max, 0, 10000000)
SET_COUNT(set_tasks_max, tasks_max, 1, 10000000)
SET_COUNT(set_connections_max, connections_max, 1, 100000)
SET_MS(set_result_ttl, result_ttl_ms)
SET_MS(set_keep_alive, keep_alive_ms)
SET_MS(set_pingback_timeout, pingback_timeout_ms)
SET_BYTES(set_image_min, image_bytes_min, 1UL << 30)
SET_BYTES(set_image_max, image_bytes_max, 1UL << 30)
SET_BYTES(set_body_max, body_bytes_max, 1UL << 30)
SET_FLAG(set_read_once, is_read_once)
SET_FLAG(set_log, is_logging)
SET_FLAG(set_help, wants_help)
SET_FLAG(set_version, wants_version)

static bool set_balance(struct options *options, const char *value)
{
    return set_micros(&options->balance_micros, value);
}

static bool set_price(struct options *options, const char *value)
{
    return set_micros(&options->price_micros, value);
}

/* Sets what its parts would set, so options behind it win. */
static bool set_profile(struct options *options, const char *value)
{
    const struct profile *profile = profile_find(value);
    bool is_set = profile != NULL && set_price(options, profile->price);

    if (!is_set)
        return false;
    options->slots = profile->slots;
    if (profile->busy_code != NULL)
        options->busy_code = profile->busy_code;
    for (size_t i = 0; i < PROFILE_TIMES_MAX && profile->solve_times[i] != NULL; i++)
        is_set = is_set && set_solve_time(options, profile->solve_times[i]);
    for (size_t i = 0; i < PROFILE_FAULTS_MAX && profile->faults[i] != NULL; i++)
        is_set = is_set && add_fault(options, profile->faults[i]);
    options->profile_fault_count = options->fault_count;
    return is_set;
}

#define DURATION "a duration such as 250ms, 5s or 2m"

static const struct option table[] = {
    {"--listen", set_listen, false, "ADDRESS:PORT with a numeric address"},
    {"--key", set_key, false, "a key of exactly 32 characters, at most 16 of them"},
    {"--profile", set_profile, false, "captchaai, 2captcha, slow or flaky"},
    {"--slots", set_slots, false, "a number, 0 for no limit"},
    {"--busy-code", set_busy_code, false, "an error code"},
    {"--balance", set_balance, false, "an amount such as 10.5"},
    {"--price", set_price, false, "an amount such as 0.001"},
    {"--solve-time", set_solve_time, false, "[METHOD=]5s, exp:5s, tail:5s or uniform:2s-8s"},
    {"--seed", set_seed, false, "a number"},
    {"--token-bytes", set_token_bytes, false, "a number between 40 and 65536"},
    {"--result-ttl", set_result_ttl, false, DURATION},
    {"--read-once", set_read_once, true, ""},
    {"--ids", set_ids, false, "string, number, mixed or long"},
    {"--threadsinfo", set_threads, false, "mixed, number or string"},
    {"--cloudflare", set_clearance, false, "result or request"},
    {"--default-json", set_json_default, false, "0 or 1"},
    {"--unknown-methods", set_unknown, false, "accept or reject"},
    {"--image-min", set_image_min, false, "a size such as 100 or 1KiB"},
    {"--image-max", set_image_max, false, "a size such as 100KiB or 1MiB"},
    {"--pingback-method", set_pingback_method, false, "GET or POST"},
    {"--pingback-connections", set_pingback_connections, false, "a number between 1 and 4096"},
    {"--pingback-timeout", set_pingback_timeout, false, DURATION},
    {"--fault", set_fault, false, "NAME=PROBABILITY[,VALUE]"},
    {"--script", set_script, false, "JSON text or a file's name"},
    {"--ledger-max", set_ledger_max, false, "a number"},
    {"--tasks-max", set_tasks_max, false, "a number"},
    {"--connections-max", set_connections_max, false, "a number"},
    {"--body-max", set_body_max, false, "a size such as 4MiB"},
    {"--keep-alive", set_keep_alive, false, DURATION ", 0 for ever"},
    {"--log", set_log, true, ""},
    {"--help", set_help, true, ""},
    {"-h", set_help, true, ""},
    {"--version", set_version, true, ""},
};
#define TABLE_COUNT (sizeof table / sizeof table[0])

static const struct option *find_option(const char *argument, size_t length)
{
    for (size_t i = 0; i < TABLE_COUNT; i++)
        if (strlen(table[i].name) == length && memcmp(table[i].name, argument, length) == 0)
            return &table[i];
    return NULL;
}

static int complain_unknown(const char *argument)
{
    const char *names[TABLE_COUNT];

    for (size_t i = 0; i < TABLE_COUNT; i++)
        names[i] = table[i].name;
    const char *nearest = text_nearest(argument, names, TABLE_COUNT);
    fprintf(stderr, "solvegate-sim: unknown option %s", argument);
    if (nearest != NULL)
        fprintf(stderr, ", did you mean %s?\n", nearest);
    else
        fprintf(stderr, "; solvegate-sim --help lists them all\n");
    return ERR_INVALID;
}

int options_parse(struct options *options, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        const char *equals = strncmp(argv[i], "--", 2) == 0 ? strchr(argv[i], '=') : NULL;
        const size_t length = equals == NULL ? strlen(argv[i]) : (size_t)(equals - argv[i]);
        const struct option *option = find_option(argv[i], length);
        if (option == NULL) {
            char name[64];
            snprintf(name, sizeof name, "%.*s", (int)(length > 60 ? 60 : length), argv[i]);
            return complain_unknown(name);
        }
        const char *value = equals == NULL ? NULL : equals + 1;
        if (!option->is_flag && value == NULL && i + 1 < argc)
            value = argv[++i];
        if (option->is_flag ? equals != NULL : value == NULL || !option->set(options, value)) {
            fprintf(stderr, "solvegate-sim: %s %s%s\n", option->name,
                    option->is_flag ? "takes no value" : "expects ", option->expects);
            return ERR_INVALID;
        }
        if (option->is_flag)
            (void)option->set(options, "");
    }
    return 0;
}
