#include "cli/bench_schedule.h"

#include <math.h>

#define NS_PER_MS 1e6
#define NS_PER_S 1e9
/* Sums of fractions miss whole numbers by a little: a request that is due at the very end of a stage is in the next. */
#define ROUNDING 1e-6

static double stage_requests(const struct bench_stage *stage)
{
    return isinf(stage->length_ns) ? INFINITY : (stage->first + stage->last) / 2 * stage->length_ns;
}

static void add_stage(struct bench_schedule *schedule, double first, double last, double length_ns)
{
    struct bench_stage *const stage = &schedule->stages[schedule->count];
    *stage = (struct bench_stage){.first = first, .last = last, .length_ns = length_ns};
    if (schedule->count > 0) {
        const struct bench_stage *const before = stage - 1;
        stage->begin_ns = before->begin_ns + before->length_ns;
        stage->before = before->before + stage_requests(before);
    }
    schedule->count++;
}

void bench_schedule_init(struct bench_schedule *schedule, const struct bench_plan *plan)
{
    const double all_ns = plan->duration_ms == 0 ? INFINITY : (double)plan->duration_ms * NS_PER_MS;
    const double step_ns = all_ns / (double)plan->step_count;
    const double ramp_ns = fmin((double)plan->ramp_ms * NS_PER_MS, step_ns);
    *schedule = (struct bench_schedule){.count = 0};
    if (ramp_ns > 0)
        add_stage(schedule, 0, plan->steps[0] / NS_PER_S, ramp_ns);
    for (size_t i = 0; i < plan->step_count; i++) {
        const double rate = plan->steps[i] / NS_PER_S;
        add_stage(schedule, rate, rate, i == 0 ? step_ns - ramp_ns : step_ns);
    }
}

/* Solves first * t + (last - first) / (2 * length) * t * t = wanted for t. */
static double time_of(const struct bench_stage *stage, double wanted)
{
    const double growth =
        isinf(stage->length_ns) ? 0 : (stage->last - stage->first) / (2 * stage->length_ns);
    if (growth <= 0)
        return wanted / stage->first;
    const double root = sqrt(stage->first * stage->first + 4 * growth * wanted);
    return (root - stage->first) / (2 * growth);
}

uint64_t bench_schedule_due(struct bench_schedule *schedule, uint64_t number)
{
    const double wanted = (double)number;
    while (schedule->at < schedule->count) {
        const struct bench_stage *const stage = &schedule->stages[schedule->at];
        if (wanted + ROUNDING < stage->before + stage_requests(stage)) {
            const double inside = fmax(wanted - stage->before, 0);
            return (uint64_t)(stage->begin_ns + time_of(stage, inside) + 0.5);
        }
        schedule->at++;
    }
    return BENCH_NEVER;
}
