/* Clocks: each node has one that nobody sets, a little too fast or too slow, and takes the wall time from the store. */
#include "cluster.h"

#define CLOCK_START_MS 1000
/* A crystal is within 100, and the kernel slews by 500 at most. */
#define RATE_MOST_PPM 1000
#define MILLION INT64_C(1000000)
/* Of the question at the start. */
#define ROUND_TRIP_MS 20
#define SLOW_MS 2500

void clocks_draw(struct cluster *c, uint32_t place)
{
    const uint64_t rate = rand_below(&c->clock_rand, 2 * RATE_MOST_PPM + 1);
    if (c->plan.strength[FAULT_CLOCKS] > 0)
        c->nodes[place].rate_ppm = (int64_t)rate - RATE_MOST_PPM;
}

void clocks_begin(struct cluster *c, uint32_t place)
{
    struct node *node = &c->nodes[place];
    const int64_t now_ms = (int64_t)node_clock_ms(c, place, c->now_ms);
    node->followed_ms = wall_ms(c) - now_ms;
    if (c->plan.strength[FAULT_CLOCKS] == 0)
        return;
    const bool is_slow = rand_below(&c->clock_rand, 1000) < c->plan.strength[FAULT_STORE_SLOW];
    const uint64_t half_ms = (is_slow ? 2 * SLOW_MS : ROUND_TRIP_MS) / 2;
    node->followed_ms += (int64_t)rand_below(&c->clock_rand, 2 * half_ms + 1) - (int64_t)half_ms;
}

uint64_t node_clock_ms(const struct cluster *c, uint32_t place, uint64_t world_ms)
{
    const struct node *node = &c->nodes[place];
    const int64_t passed_ms = (int64_t)world_ms - START_MS;
    return world_ms + node->offset_ms - CLOCK_START_MS +
           (uint64_t)(passed_ms * node->rate_ppm / MILLION);
}

uint64_t node_world_ms(const struct cluster *c, uint32_t place, uint64_t clock_ms)
{
    const struct node *node = &c->nodes[place];
    const int64_t rate = MILLION + node->rate_ppm;
    const int64_t since_ms = (int64_t)(clock_ms - node_clock_ms(c, place, START_MS));
    if (since_ms <= 0)
        return START_MS;
    uint64_t world_ms = START_MS + (uint64_t)(since_ms * MILLION / rate);
    while (node_clock_ms(c, place, world_ms) < clock_ms)
        world_ms++;
    return world_ms;
}

int64_t node_wall_ms(const struct cluster *c, uint32_t place)
{
    return c->nodes[place].followed_ms + (int64_t)node_clock_ms(c, place, c->now_ms);
}

/* As src/sys/clocks.c does it: within what is possible it stays. */
void clocks_follow(struct cluster *c, uint32_t place, uint64_t sent_ms, uint64_t told_ms)
{
    struct node *node = &c->nodes[place];
    const int64_t told_wall_ms = wall_ms(c) - (int64_t)(c->now_ms - told_ms);
    const int64_t least_ms = told_wall_ms - (int64_t)node_clock_ms(c, place, c->now_ms);
    const int64_t most_ms = told_wall_ms - (int64_t)node_clock_ms(c, place, sent_ms);
    if (node->followed_ms < least_ms)
        node->followed_ms = least_ms;
    else if (node->followed_ms > most_ms)
        node->followed_ms = most_ms;
}

uint64_t clocks_off_ms(const struct cluster *c)
{
    if (c->plan.strength[FAULT_CLOCKS] == 0)
        return 0;
    return c->plan.strength[FAULT_STORE_SLOW] == 0 ? 2 * ROUND_TRIP_MS : SLOW_MS + ROUND_TRIP_MS;
}

uint64_t clocks_least_ms(const struct cluster *c, uint64_t clock_ms)
{
    const bool is_even = c->plan.strength[FAULT_CLOCKS] == 0;
    return is_even ? clock_ms : clock_ms - clock_ms * RATE_MOST_PPM / MILLION - 1;
}
