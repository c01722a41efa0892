#include "cli/bench_targets.h"

#include <math.h>

void bench_targets_init(struct bench_targets *targets, double repeat, double zipf, uint64_t seed)
{
    *targets = (struct bench_targets){.repeat = repeat, .zipf = zipf};
    rand_init(&targets->rand, seed);
}

/* Uniform in (0, 1]. */
static double fraction(struct rand *rand)
{
    return (double)((rand_u64(rand) >> 11) + 1) * 0x1p-53;
}

/* ---- Zipf's law: rejection-inversion of Hörmann and Derflinger (1996), which needs no table ---- */

/* The integral of 1 / x to the power of s, and its inverse. */
static double integral(double x, double s)
{
    return fabs(s - 1) < 1e-9 ? log(x) : (pow(x, 1 - s) - 1) / (1 - s);
}

static double integral_inverse(double y, double s)
{
    return fabs(s - 1) < 1e-9 ? exp(y) : pow(1 + y * (1 - s), 1 / (1 - s));
}

static uint64_t zipf_rank(struct rand *rand, uint64_t count, double s)
{
    const double low = integral(1.5, s) - 1;
    const double high = integral((double)count + 0.5, s);
    for (;;) {
        const double y = low + (high - low) * fraction(rand);
        const double x = integral_inverse(y, s);
        const double rank = fmin(fmax(floor(x + 0.5), 1), (double)count);
        if (y >= integral(rank + 0.5, s) - pow(rank, -s))
            return (uint64_t)rank;
    }
}

uint64_t bench_targets_next(struct bench_targets *targets)
{
    const bool repeats = targets->repeat > 0 && fraction(&targets->rand) <= targets->repeat;
    if (!repeats || targets->known == 0)
        return targets->known++;
    if (targets->zipf > 0)
        return zipf_rank(&targets->rand, targets->known, targets->zipf) - 1;
    return rand_below(&targets->rand, targets->known);
}
