/* sim-cluster: simulates several gateways on one store. One seed is one run; see usage(). */
#include "../ending.h"
#include "cluster.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* No world takes this long, even with sanitizers on a slow machine. */
#define WORLD_SECONDS 120

struct arguments {
    uint64_t seed, count;
    unsigned seconds;
    bool is_traced, is_tap, is_early;
    const char *seeds; /* a file */
    bool without[FAULT_COUNT];
};

static _Noreturn void usage(void)
{
    (void)fputs(
        "usage: sim-cluster [--seed N] [--count N]   runs so many seeds, one line for each\n"
        "       sim-cluster --time SECONDS           fresh seeds until the time is up, at least "
        "200\n"
        "       sim-cluster --seeds FILE             every seed of a file, as TAP\n"
        "  --trace           everything that happens\n"
        "  --tap             speaks TAP\n"
        "  --without WORDS   these faults do not happen: a,b,c\n"
        "  --early           the seeds are of a time with fewer streams (cluster.h)\n",
        stderr);
    exit(64);
}

static uint64_t number(const char *text)
{
    char *end = NULL;
    const unsigned long long value = text == NULL ? 0 : strtoull(text, &end, 10);
    if (end == NULL || end == text)
        usage();
    return value;
}

static void read_without(struct arguments *arguments, const char *words)
{
    for (int fault = 0; words != NULL && fault < FAULT_COUNT; fault++) {
        const char *word = fault_word((enum fault)fault);
        const size_t len = strlen(word);
        for (const char *found = strstr(words, word); found != NULL;
             found = strstr(found + 1, word))
            arguments->without[fault] |=
                (found == words || found[-1] == ',') && (found[len] == ',' || found[len] == '\0');
    }
}

static void read_arguments(struct arguments *arguments, char **argv)
{
    for (char **arg = argv + 1; *arg != NULL; arg++) {
        if (strcmp(*arg, "--trace") == 0)
            arguments->is_traced = true;
        else if (strcmp(*arg, "--tap") == 0)
            arguments->is_tap = true;
        else if (strcmp(*arg, "--early") == 0)
            arguments->is_early = true;
        else if (arg[1] == NULL)
            usage();
        else if (strcmp(*arg, "--seed") == 0)
            arguments->seed = number(*++arg);
        else if (strcmp(*arg, "--count") == 0)
            arguments->count = number(*++arg);
        else if (strcmp(*arg, "--time") == 0)
            arguments->seconds = (unsigned)number(*++arg);
        else if (strcmp(*arg, "--seeds") == 0)
            arguments->seeds = *++arg;
        else if (strcmp(*arg, "--without") == 0)
            read_without(arguments, *++arg);
        else
            usage();
    }
}

static uint64_t current_seed;

static void on_abort(int signal)
{
    char line[64];
    const int len = snprintf(line, sizeof line, "seed %llu breaks an assertion\n",
                             (unsigned long long)current_seed);
    (void)signal;
    (void)!write(STDERR_FILENO, line, (size_t)len);
}

static void run(const struct arguments *arguments, uint64_t seed, struct cluster *c)
{
    current_seed = seed;
    struct plan plan;
    plan_draw(&plan, seed, arguments->is_early);
    for (int fault = 0; fault < FAULT_COUNT; fault++)
        if (arguments->without[fault])
            plan.strength[fault] = 0;
    *c = (struct cluster){.is_traced = arguments->is_traced};
    (void)alarm(WORLD_SECONDS);
    cluster_run(c, &plan);
    cluster_close(c);
}

/* In a process of its own, so that a broken rule ends only that. */
static bool survives(const struct arguments *arguments, uint64_t seed)
{
    (void)fflush(NULL);
    const pid_t child = fork();
    ASSERT(child >= 0);
    if (child == 0) {
        struct cluster c;
        run(arguments, seed, &c);
        end_in_order();
    }
    int status = 0;
    return waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* A seed, and perhaps "early", or "without" and words. */
static bool survives_line(const struct arguments *arguments, const char *line)
{
    struct arguments own = *arguments;
    own.is_early |= strstr(line, " early") != NULL;
    const char *words = strstr(line, " without ");
    char list[256] = "";
    if (words != NULL && sscanf(words, " without %255s", list) == 1)
        read_without(&own, list);
    return survives(&own, number(line));
}

static int run_file(const struct arguments *arguments)
{
    FILE *file = fopen(arguments->seeds, "r");
    char line[256];
    unsigned count = 0;
    unsigned failed = 0;
    if (file == NULL)
        usage();
    while (fgets(line, sizeof line, file) != NULL) {
        if (line[0] < '0' || line[0] > '9')
            continue;
        const bool is_good = survives_line(arguments, line);
        failed += !is_good;
        (void)printf("%sok %u - seed %s", is_good ? "" : "not ", ++count, line);
    }
    (void)fclose(file);
    (void)printf("1..%u\n", count);
    return failed > 0;
}

static int run_for(const struct arguments *arguments)
{
    struct timespec start;
    struct timespec now;
    struct sums sums = {0};
    (void)clock_gettime(CLOCK_MONOTONIC, &start);
    uint64_t seed = arguments->seed;
    do {
        struct cluster c;
        /* The seed is known even if the world aborts. */
        run(arguments, seed++, &c);
        sums_add(&sums, &c);
        (void)clock_gettime(CLOCK_MONOTONIC, &now);
    } while ((unsigned)(now.tv_sec - start.tv_sec) < arguments->seconds ||
             sums.worlds < WORLDS_ENOUGH);
    uint64_t faults = 0;
    for (int fault = 0; fault < FAULT_COUNT; fault++)
        faults |= (uint64_t)!arguments->without[fault] << fault;
    const char *missing = sums_missing(&sums, faults);
    if (arguments->is_tap)
        (void)printf("1..1\n%sok 1 - ", missing == NULL ? "" : "not ");
    sums_print(&sums);
    if (missing != NULL)
        (void)printf("# not ok: no %s in all these worlds\n", missing);
    return missing != NULL;
}

int main(int argc, char **argv)
{
    struct arguments arguments = {.seed = 1, .count = 1};
    (void)argc;
    read_arguments(&arguments, argv);
    (void)signal(SIGABRT, on_abort);
    (void)setvbuf(stdout, NULL, _IOLBF, 0);
    if (arguments.seeds != NULL)
        return run_file(&arguments);
    if (arguments.seconds > 0)
        return run_for(&arguments);
    for (uint64_t i = 0; i < arguments.count; i++) {
        struct cluster c;
        run(&arguments, arguments.seed + i, &c);
        (void)printf("%llu %llu %llu\n", (unsigned long long)(arguments.seed + i),
                     (unsigned long long)c.solved, (unsigned long long)c.answered);
    }
    return 0;
}
