#include "seed.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static uint64_t seed;

void seed_init(int argc, char **argv)
{
    if (argc == 1) {
        struct timespec now;
        (void)clock_gettime(CLOCK_REALTIME, &now);
        /* Nine digits are easy to copy by hand and enough to differ from run to run. */
        seed = ((uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000) % 1000000000;
        return;
    }
    char *end = NULL;
    errno = 0;
    if (argc == 3 && strcmp(argv[1], "--seed") == 0)
        seed = strtoull(argv[2], &end, 10);
    if (end == NULL || end == argv[2] || *end != '\0' || errno != 0) {
        (void)fprintf(stderr, "usage: %s [--seed N]\n", argv[0]);
        exit(64);
    }
}

int seed_announce(void **state)
{
    (void)state;
    (void)printf("# seed %" PRIu64 " (replay with --seed %" PRIu64 ")\n", seed, seed);
    /* A failed ASSERT aborts without flushing, and just then the seed is wanted. */
    return fflush(stdout);
}

uint64_t seed_value(void)
{
    return seed;
}
