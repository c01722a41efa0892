#include "plan.h"

#include "samples.h"

#include <math.h>
#include <stdlib.h>

#define SIGMA 0.3
#define LONGEST 3.0
#define TWO_PI 6.283185307179586

/* Above 0 and at most 1. */
static double draw_unit(struct plan *plan)
{
    return (double)((rand_u64(&plan->rand) >> 11) + 1) / 9007199254740992.0;
}

void plan_init(struct plan *plan, const struct plan_options *options)
{
    *plan = (struct plan){.options = *options};
    rand_init(&plan->rand, options->seed);
}

void plan_close(struct plan *plan)
{
    free(plan->targets);
    free(plan->asked);
}

int64_t plan_gap_ns(struct plan *plan)
{
    return (int64_t)(-log(draw_unit(plan)) / plan->options.rate * 1e9);
}

/* Box and Muller. */
static double draw_normal(struct plan *plan)
{
    const double radius = sqrt(-2 * log(draw_unit(plan)));
    return radius * cos(TWO_PI * draw_unit(plan));
}

static uint32_t add_target(struct plan *plan)
{
    if (plan->target_count == plan->target_room)
        plan->targets = room_double(plan->targets, &plan->target_room, sizeof(*plan->targets));
    const double factor = fmin(exp(SIGMA * draw_normal(plan)), LONGEST);
    plan->targets[plan->target_count] =
        (struct target){.solve_ms = (uint32_t)(plan->options.solve_ms * factor)};
    return (uint32_t)plan->target_count++;
}

/* The logarithm of k is uniform, so k itself has a chance of about 1/k. */
static uint32_t repeat_target(struct plan *plan)
{
    const double most = fmin((double)plan->options.reach, (double)plan->asked_count);
    const size_t back = (size_t)exp(draw_unit(plan) * log(most));
    return plan->asked[plan->asked_count - (back < 1 ? 1 : back)];
}

uint32_t plan_draw(struct plan *plan, bool *is_first)
{
    *is_first = plan->asked_count == 0 || draw_unit(plan) > plan->options.duplicates;
    const uint32_t target = *is_first ? add_target(plan) : repeat_target(plan);
    if (plan->asked_count == plan->asked_room)
        plan->asked = room_double(plan->asked, &plan->asked_room, sizeof(*plan->asked));
    plan->asked[plan->asked_count++] = target;
    return target;
}
