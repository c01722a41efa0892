#include "base/assert.h"

#include <stdio.h>
#include <stdlib.h>

_Noreturn void assert_fail(const char *expression, const char *file, int line)
{
    /* stderr is unbuffered, so the line is written before abort() drops everything else. */
    (void)fprintf(stderr, "solvegate: assertion failed: %s (%s:%d)\n", expression, file, line);
    abort();
}
