/* sim-engine: simulates the whole gateway around the real engine. One seed is one run; see usage(). */
#include "hunt.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

struct arguments {
    uint64_t seed;
    uint64_t count;
    uint64_t steps;
    unsigned seconds;
    unsigned jobs;
    bool has_seed, is_traced, is_tap, is_shrinking;
    const char *seeds; /* a file */
    struct narrowing narrowing;
};

static _Noreturn void usage(void)
{
    (void)fputs(
        "usage: sim-engine [--seed N] [--count N]          runs so many seeds, one line for each:\n"
        "                                                  seed, trace hash, solves, violations\n"
        "       sim-engine --time SECONDS [--jobs N]       fresh seeds until the time is up\n"
        "       sim-engine --seeds FILE                    every seed of a file, as TAP\n"
        "  --trace           every event, action and state change\n"
        "  --steps N         stops there\n"
        "  --without WORDS   these faults do not happen: a,b,c; extras: pools, pingbacks, reloads\n"
        "                    and drains\n"
        "  --needs N         at most so many clients' needs\n"
        "  --keys N          at most so many different things they want\n"
        "  --shrink          makes the failing seed small\n"
        "  --tap             speaks TAP\n",
        stderr);
    exit(64);
}

/* ---- arguments ------------------------------------------------------------------------------------- */

static uint64_t number(const char *text)
{
    char *end = NULL;
    const unsigned long long value = text == NULL ? 0 : strtoull(text, &end, 10);
    if (end == NULL || end == text || *end != '\0')
        usage();
    return value;
}

static bool exclude(struct narrowing *narrowing, struct slice word)
{
    const bool is_all = slice_equals(word, SLICE_OF("extras"));
    bool is_known = is_all;
    for (int fault = 0; fault < FAULT_COUNT; fault++) {
        const bool is_it = slice_equals(slice_from(fault_word((enum fault)fault)), word) ||
                           (is_all && fault >= FAULT_EXTRAS);
        narrowing->without[fault] |= is_it;
        is_known |= is_it;
    }
    return is_known;
}

static void read_without(struct narrowing *narrowing, const char *words)
{
    if (words == NULL)
        usage();
    while (*words != '\0') {
        const size_t len = strcspn(words, ",");
        if (!exclude(narrowing, (struct slice){.data = words, .len = len}))
            usage();
        words += len + (words[len] == ',');
    }
}

static bool read_flag(struct arguments *arguments, const char *word)
{
    bool *const flags[] = {&arguments->is_traced, &arguments->is_tap, &arguments->is_shrinking};
    static const char *const words[] = {"--trace", "--tap", "--shrink"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strcmp(word, words[i]) == 0) {
            *flags[i] = true;
            return true;
        }
    }
    return false;
}

static void read_value(struct arguments *arguments, const char *word, const char *value)
{
    if (strcmp(word, "--seed") == 0) {
        arguments->seed = number(value);
        arguments->has_seed = true;
    } else if (strcmp(word, "--count") == 0) {
        arguments->count = number(value);
    } else if (strcmp(word, "--steps") == 0) {
        arguments->steps = number(value);
    } else if (strcmp(word, "--time") == 0) {
        arguments->seconds = (unsigned)number(value);
    } else if (strcmp(word, "--jobs") == 0) {
        arguments->jobs = (unsigned)number(value);
    } else if (strcmp(word, "--needs") == 0) {
        arguments->narrowing.needs = (uint32_t)number(value);
    } else if (strcmp(word, "--keys") == 0) {
        arguments->narrowing.keys = (uint32_t)number(value);
    } else if (strcmp(word, "--without") == 0) {
        read_without(&arguments->narrowing, value);
    } else if (strcmp(word, "--seeds") == 0) {
        arguments->seeds = value;
    } else {
        usage();
    }
}

static void read_arguments(struct arguments *arguments, int argc, char **argv)
{
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    struct timespec now;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    *arguments = (struct arguments){.count = 1, .jobs = cores < 1 ? 1 : (unsigned)cores};
    arguments->seed =
        ((uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000) % 1000000000000;
    for (int i = 1; i < argc; i++) {
        if (read_flag(arguments, argv[i]))
            continue;
        if (i + 1 == argc)
            usage();
        read_value(arguments, argv[i], argv[i + 1]);
        i++;
    }
    if (arguments->jobs == 0)
        usage();
}

/* ---- modes ------------------------------------------------------------------------------------------- */

static int run_seeds(const struct arguments *arguments)
{
    static struct sim sim;
    sim.is_traced = arguments->is_traced;
    /* Whatever ends the run must not take the last lines along. */
    (void)setvbuf(stdout, NULL, _IOLBF, 0);
    sim.step_limit = arguments->steps;
    for (uint64_t i = 0; i < arguments->count; i++) {
        struct plan plan;
        plan_draw(&plan, arguments->seed + i);
        narrow(&plan, &arguments->narrowing);
        sim_run(&sim, &plan);
        (void)printf("%llu %016llx %llu 0\n", (unsigned long long)plan.seed,
                     (unsigned long long)sim.hash, (unsigned long long)sim.solved);
        (void)fflush(stdout);
    }
    sim_close(&sim);
    return 0;
}

static unsigned long long per_minute(uint64_t count, uint64_t ms)
{
    return ms == 0 ? 0 : count * 60000 / ms;
}

static void print_result(const struct hunt_result *result)
{
    (void)printf("# %llu worlds, %llu solves, %llu answers, %llu crashes, %llu steps in %llu ms\n",
                 (unsigned long long)result->worlds, (unsigned long long)result->solves,
                 (unsigned long long)result->answers, (unsigned long long)result->crashes,
                 (unsigned long long)result->steps, (unsigned long long)result->milliseconds);
    (void)printf("# %llu solves a minute, %llu per minute of two cores' own time\n",
                 per_minute(result->solves, result->milliseconds),
                 per_minute(result->solves * 2, result->cpu_ms));
}

static int run_hunt(const struct arguments *arguments)
{
    const struct hunt hunt = {.first_seed = arguments->seed,
                              .seconds = arguments->seconds,
                              .jobs = arguments->jobs,
                              .narrowing = arguments->narrowing};
    struct hunt_result result;
    if (arguments->is_tap)
        (void)printf("1..1\n");
    (void)printf("# seeds from %llu\n", (unsigned long long)hunt.first_seed);
    hunt_run(&hunt, &result);
    print_result(&result);
    if (result.has_failed)
        (void)printf("# seed %llu breaks a rule\n", (unsigned long long)result.failed_seed);
    if (arguments->is_tap)
        (void)printf("%sok 1 - no rule breaks in random worlds\n", result.has_failed ? "not " : "");
    (void)fflush(stdout);
    if (result.has_failed && arguments->is_shrinking) {
        struct narrowing narrowing = arguments->narrowing;
        shrink(result.failed_seed, &narrowing);
    }
    return result.has_failed;
}

/* "--without WORDS" behind a seed's number, if it is there; returns what follows. */
static char *read_line(struct narrowing *narrowing, char *rest)
{
    static const char option[] = " --without ";
    *narrowing = (struct narrowing){.needs = 0};
    rest[strcspn(rest, "\n")] = '\0';
    if (strncmp(rest, option, sizeof option - 1) != 0)
        return rest;
    char *words = rest + sizeof option - 1;
    rest = words + strcspn(words, " ");
    if (*rest != '\0')
        *rest++ = '\0';
    read_without(narrowing, words);
    return rest;
}

/* One seed a line, and after it what it once found. */
static int run_file(const char *path)
{
    char line[512];
    unsigned count = 0, failed = 0;
    FILE *file = fopen(path, "r");
    if (file == NULL) {
        perror(path);
        return 66;
    }
    while (fgets(line, sizeof line, file) != NULL) {
        char *end = NULL;
        const unsigned long long seed = strtoull(line, &end, 10);
        if (end == line)
            continue;
        struct narrowing narrowing;
        const char *what = read_line(&narrowing, end);
        const bool is_bad = hunt_fails(seed, &narrowing);
        failed += is_bad;
        (void)printf("%sok %u - seed %llu %s\n", is_bad ? "not " : "", ++count, seed, what);
    }
    (void)fclose(file);
    (void)printf("1..%u\n", count);
    return failed > 0;
}

int main(int argc, char **argv)
{
    struct arguments arguments;
    read_arguments(&arguments, argc, argv);
    if (arguments.seeds != NULL)
        return run_file(arguments.seeds);
    if (arguments.seconds > 0)
        return run_hunt(&arguments);
    if (arguments.is_shrinking) {
        shrink(arguments.seed, &arguments.narrowing);
        return 0;
    }
    return run_seeds(&arguments);
}
