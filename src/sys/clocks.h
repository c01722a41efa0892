/* Two clocks: the wall clock, which people can set, and the machine's own, which runs evenly. */
#ifndef SOLVEGATE_SYS_CLOCKS_H
#define SOLVEGATE_SYS_CLOCKS_H

#include <stdint.h>

struct clocks {
    int64_t wall_ms; /* since 1970 */
    int64_t even_ms; /* since the machine booted, including sleep */
    int64_t
        slept_ms; /* the part spent asleep, which CLOCK_MONOTONIC and the loop's clock leave out */
    const char *boot; /* borrowed: the boot id; "" if unknown */
};

/* Reads both clocks at the same moment. */
struct clocks clocks_read(void);

/* The even one alone, in a quarter of the time. */
int64_t clocks_even_ms(void);

/* From now on the wall clock of this process is a server's: that one's time was asked for at sent_ms of our even clock,
 * and has come just now. What people do to the wall clock of this machine does not matter any more. */
void clocks_follow(int64_t server_wall_ms, int64_t sent_ms);

/* How far the wall clock was set between two readings of the same boot; 0 for drift and for its
 * slow correction. */
int64_t clocks_leap_ms(const struct clocks *before, const struct clocks *now);

#endif
