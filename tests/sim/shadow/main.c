/* sim-shadow: does shadow mode predict what serving saves? Each seed is a trace of requests, which is run both ways. */
#include "compare.h"

#include "base/assert.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct arguments {
    uint64_t seed, count;
    bool is_traced, is_tap;
};

/* All worlds of one kind together. */
struct sums {
    uint64_t worlds, overloaded, equal, requests, paid, predicted, real;
    uint64_t error, worst; /* submits that the prediction was wrong by */
    double worst_share; /* the same as a share of what was paid, in worlds of 100 submits or more */
    uint64_t duplicate_mechanisms[3]; /* predicted: dedup_wait, dedup_cache, idempotent */
    uint64_t real_mechanisms[3];
};

static _Noreturn void usage(void)
{
    (void)fputs(
        "usage: sim-shadow [--seed N] [--count N] [--trace] [--tap]\n"
        "  --count N   so many worlds, from the seed on (1000)\n"
        "  --trace     a line for each\n"
        "  --tap       speaks TAP, and fails where the prediction is worse than it may be\n",
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

static void read_arguments(struct arguments *arguments, char **argv)
{
    for (char **arg = argv + 1; *arg != NULL; arg++) {
        if (strcmp(*arg, "--trace") == 0)
            arguments->is_traced = true;
        else if (strcmp(*arg, "--tap") == 0)
            arguments->is_tap = true;
        else if (strcmp(*arg, "--seed") == 0)
            arguments->seed = number(*++arg);
        else if (strcmp(*arg, "--count") == 0)
            arguments->count = number(*++arg);
        else
            usage();
    }
}

static uint64_t distance(uint64_t a, uint64_t b)
{
    return a > b ? a - b : b - a;
}

/* What shadow mode says that serving would have spared. */
static uint64_t predicted(const struct stats *stats)
{
    return stats->shadow_dedup_wait + stats->shadow_dedup_cache + stats->shadow_idempotent -
           stats->shadow_retried;
}

static void add_mechanisms(struct sums *sums, const struct stats *shadow,
                           const struct stats *served)
{
    sums->duplicate_mechanisms[0] += shadow->shadow_dedup_wait;
    sums->duplicate_mechanisms[1] += shadow->shadow_dedup_cache;
    sums->duplicate_mechanisms[2] += shadow->shadow_idempotent;
    sums->real_mechanisms[0] += served->answered_dedup_wait;
    sums->real_mechanisms[1] += served->answered_dedup_cache;
    sums->real_mechanisms[2] += served->answered_idempotent;
}

/* Shadow mode pays for every request once, whatever happens. */
static void check_shadow(const struct trace *trace, const struct came_to *shadow)
{
    ASSERT(shadow->twice == 0 && shadow->unanswered == 0);
    ASSERT(shadow->stats.submits == trace->count && shadow->stats.rejected == 0);
    ASSERT(shadow->stats.answered_dedup_wait == 0 && shadow->stats.answered_dedup_cache == 0 &&
           shadow->stats.answered_idempotent == 0);
    /* A submit with a lost reply is counted once its callback proves it; polled worlds have none. */
    ASSERT(trace->lost_permille > 0 || shadow->stats.shadow_paid == shadow->paid);
}

static uint64_t less(uint64_t all, uint64_t part)
{
    return all > part ? all - part : 0;
}

/* What serving refuses because of its idempotency key is not paid for, and no saving. */
static uint64_t saved(const struct came_to *shadow, const struct came_to *served)
{
    return less(shadow->paid, served->paid + served->stats.rejected);
}

/* A plan too small for the load, or a vendor that is busy all the time: served requests fail in the
 * queue, unpaid, which is no saving either. Nothing can be compared there. */
static bool is_overloaded(const struct trace *trace, const struct came_to *served)
{
    const struct stats *stats = &served->stats;
    return (stats->failures_timeout + stats->failures_busy) * 100 > trace->count;
}

static void compare(const struct arguments *arguments, uint64_t seed, struct sums all[WEATHERS])
{
    static struct trace trace;
    struct came_to shadow;
    struct came_to served;
    trace_draw(&trace, seed);
    trace_run(&trace, true, &shadow);
    trace_run(&trace, false, &served);
    check_shadow(&trace, &shadow);
    ASSERT(served.unanswered == 0);
    struct sums *sums = &all[trace.weather];
    if (is_overloaded(&trace, &served)) {
        sums->overloaded++;
        return;
    }
    const uint64_t guess = predicted(&shadow.stats);
    const uint64_t real = saved(&shadow, &served);
    const uint64_t error = distance(guess, real);
    const double share = shadow.paid < 100 ? 0 : (double)error / (double)shadow.paid;
    sums->worlds++;
    sums->equal += error == 0;
    sums->requests += trace.count;
    sums->paid += shadow.paid;
    sums->predicted += guess;
    sums->real += real;
    sums->error += error;
    sums->worst = error > sums->worst ? error : sums->worst;
    sums->worst_share = share > sums->worst_share ? share : sums->worst_share;
    add_mechanisms(sums, &shadow.stats, &served.stats);
    if (arguments->is_traced)
        (void)printf("seed %llu %s: %u requests, shadow paid %llu, served paid %llu,"
                     " refused %llu, saved %llu, predicted %llu\n",
                     (unsigned long long)seed, weather_name(trace.weather), trace.count,
                     (unsigned long long)shadow.paid, (unsigned long long)served.paid,
                     (unsigned long long)served.stats.rejected, (unsigned long long)real,
                     (unsigned long long)guess);
}

static double percent(uint64_t part, uint64_t whole)
{
    return whole == 0 ? 0 : 100 * (double)part / (double)whole;
}

static void report(const struct sums *sums, const char *name, const char *prefix)
{
    (void)printf("%s%s: %llu worlds (and %llu overloaded ones), %llu requests, %llu paid in shadow "
                 "mode; would save %llu"
                 " (%.2f %%), serving saved %llu (%.2f %%); equal in %llu worlds, wrong by %.2f %%"
                 " of what was paid on the whole, by %llu submits and %.2f %% at worst\n",
                 prefix, name, (unsigned long long)sums->worlds,
                 (unsigned long long)sums->overloaded, (unsigned long long)sums->requests,
                 (unsigned long long)sums->paid, (unsigned long long)sums->predicted,
                 percent(sums->predicted, sums->paid), (unsigned long long)sums->real,
                 percent(sums->real, sums->paid), (unsigned long long)sums->equal,
                 percent(sums->error, sums->paid), (unsigned long long)sums->worst,
                 100 * sums->worst_share);
    (void)printf("%s  joined %llu (really %llu), from memory %llu (%llu), by idempotency key %llu"
                 " (%llu)\n",
                 prefix, (unsigned long long)sums->duplicate_mechanisms[0],
                 (unsigned long long)sums->real_mechanisms[0],
                 (unsigned long long)sums->duplicate_mechanisms[1],
                 (unsigned long long)sums->real_mechanisms[1],
                 (unsigned long long)sums->duplicate_mechanisms[2],
                 (unsigned long long)sums->real_mechanisms[2]);
}

/* How far the prediction may be off on the whole, in percent of what was paid:
 * measured over 1 000 worlds, and some room for fewer of them. */
static const double allowed_percent[WEATHERS] = {
    [CALM] = 0, [POLLED] = 0.5, [QUEUED] = 3, [STORMY] = 6};

static int verdict(const struct sums all[WEATHERS])
{
    int failures = 0;
    (void)printf("1..%d\n", WEATHERS);
    for (int weather = 0; weather < WEATHERS; weather++) {
        const bool is_good =
            all[weather].worlds > 0 &&
            percent(all[weather].error, all[weather].paid) <= allowed_percent[weather];
        failures += !is_good;
        (void)printf("%sok %d - shadow mode predicts what serving saves: %s\n",
                     is_good ? "" : "not ", weather + 1, weather_name((enum weather)weather));
    }
    return failures > 0;
}

int main(int argc, char **argv)
{
    (void)argc;
    struct arguments arguments = {.seed = 1, .count = 1000};
    struct sums all[WEATHERS] = {{0}};
    read_arguments(&arguments, argv);
    for (uint64_t seed = arguments.seed; seed < arguments.seed + arguments.count; seed++)
        compare(&arguments, seed, all);
    for (int weather = 0; weather < WEATHERS; weather++)
        report(&all[weather], weather_name((enum weather)weather), arguments.is_tap ? "# " : "");
    return arguments.is_tap ? verdict(all) : 0;
}
