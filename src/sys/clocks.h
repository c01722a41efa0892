/* Two clocks side by side: the wall's, which people set, and the machine's own, which runs evenly. */
#ifndef SOLVEGATE_SYS_CLOCKS_H
#define SOLVEGATE_SYS_CLOCKS_H

#include <stdint.h>

struct clocks {
    int64_t wall_ms; /* since 1970 */
    int64_t even_ms; /* since the machine started, also while it sleeps */
    int64_t
        slept_ms; /* of that, how long it slept: CLOCK_MONOTONIC, and so the loop's clock, stands still then */
    const char *boot; /* borrowed: which start that was; "" where nobody says */
};

/* Both at the same moment. */
struct clocks clocks_read(void);

/* How far the wall clock was set between two readings of the same boot. Clocks also drift apart, and are
 * slowly put right again: that is none. */
int64_t clocks_leap_ms(const struct clocks *before, const struct clocks *now);

#endif
