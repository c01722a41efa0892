/* What lost replies and callbacks cost: the real engine in a world that loses them.
 *
 *     callbacks-ambiguity [--seed N] [--requests N] [--keys N] [SCENARIO...]
 *
 * Prints one line of JSON for each scenario. Time is virtual, the journal is durable at once, and the
 * same seed tells the same story. A submit is paid for when the vendor accepted it, and unused when no
 * caller ever got its solution. */
#include "world.h"

#include <solvegate/view.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LOSSES .lost_requests = 5000, .lost_replies = 5000, .lost_callbacks = 20000

static const struct scenario scenarios[] = {
    /* Every request wants a solution of its own, so that a million requests are a million submits. */
    {.name = "lossy", LOSSES, .reuse = REUSE_SINGLE},
    {.name = "naive", LOSSES, .reuse = REUSE_SINGLE, .is_naive = true},
    {.name = "healthy", .reuse = REUSE_SINGLE},
    {.name = "shared", LOSSES, .reuse = REUSE_SHARED},
    /* Polls too late for a caller who waits 120 s. */
    {.name = "late", LOSSES, .reuse = REUSE_SINGLE, .fallback_after_ms = 120000},
    /* Fifty submits a second instead of one. */
    {.name = "busy", LOSSES, .reuse = REUSE_SINGLE, .keys = 1000},
};

#define SCENARIO_COUNT (sizeof(scenarios) / sizeof(scenarios[0]))

static void print_figures(const struct world *world, double seconds)
{
    const struct figures *figures = &world->figures;
    const struct stats *stats = engine_stats(world->engine);
#define FIELD(name, value) printf(", \"%s\": %llu", name, (unsigned long long)(value))
    printf("{\"scenario\": \"%s\", \"seconds\": %.1f", world->scenario.name, seconds);
    FIELD("seed", world->setting.seed);
    FIELD("requests", world->asked);
    FIELD("virtual_s", world->now_ms / 1000);
    FIELD("submits", figures->submits);
    FIELD("accepted", figures->accepted);
    FIELD("unused", figures->unused);
    FIELD("duplicates_live", figures->duplicates_live);
    FIELD("solves", stats->solves);
    FIELD("callbacks", figures->callbacks);
    FIELD("polls", figures->polls);
    FIELD("probes", figures->probes);
    FIELD("answered", figures->answered);
    FIELD("gave_up", figures->gave_up);
    FIELD("failed", figures->failed);
    FIELD("refused", figures->refused);
    FIELD("breaker_openings", figures->breaker_openings);
    FIELD("resends", stats->resends);
    FIELD("ambiguous", stats->submits_ambiguous);
    FIELD("callbacks_late", stats->callbacks_late);
    FIELD("expired_unused", stats->solutions_expired_unused);
#undef FIELD
    puts("}");
    (void)fflush(stdout);
}

static void run(const struct scenario *scenario, const struct setting *setting)
{
    struct world world;
    const clock_t started = clock();
    world_run(&world, scenario, setting);
    print_figures(&world, (double)(clock() - started) / CLOCKS_PER_SEC);
    world_close(&world);
}

static _Noreturn void refuse(const char *word)
{
    fprintf(stderr, "callbacks-ambiguity: cannot make sense of %s; see the head of ambiguity.c\n",
            word);
    exit(64);
}

/* The number that follows an option. */
static uint64_t number_after(char **words, int count, int place, uint64_t most)
{
    if (place + 1 >= count)
        refuse(words[place]);
    char *end;
    const uint64_t number = strtoull(words[place + 1], &end, 10);
    if (*words[place + 1] == '\0' || *end != '\0' || number == 0 || number > most)
        refuse(words[place + 1]);
    return number;
}

static const struct scenario *find(const char *name)
{
    for (size_t i = 0; i < SCENARIO_COUNT; i++) {
        if (strcmp(scenarios[i].name, name) == 0)
            return &scenarios[i];
    }
    refuse(name);
}

int main(int argc, char **argv)
{
    struct setting setting = {.seed = 1, .requests = 1000000, .keys = 20};
    const struct scenario *chosen[SCENARIO_COUNT];
    size_t count = 0;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--seed") == 0)
            setting.seed = number_after(argv, argc, i++, UINT64_MAX);
        else if (strcmp(argv[i], "--requests") == 0)
            setting.requests = (uint32_t)number_after(argv, argc, i++, 100000000);
        else if (strcmp(argv[i], "--keys") == 0)
            setting.keys = (uint32_t)number_after(argv, argc, i++, 1000000);
        else if (count < SCENARIO_COUNT)
            chosen[count++] = find(argv[i]);
        else
            refuse(argv[i]);
    }
    for (size_t i = 0; count == 0 && i < SCENARIO_COUNT; i++)
        run(&scenarios[i], &setting);
    for (size_t i = 0; i < count; i++)
        run(chosen[i], &setting);
    return 0;
}
