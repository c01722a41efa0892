#include "cluster.h"

#include <stdio.h>

void sums_add(struct sums *sums, const struct cluster *c)
{
    sums->worlds++;
#define SUM_ADD(field, text, faults) sums->field += c->field;
    SUM_LIST(SUM_ADD)
#undef SUM_ADD
}

void sums_print(const struct sums *sums)
{
    (void)printf("%llu worlds", (unsigned long long)sums->worlds);
#define SUM_PRINT(field, text, faults) \
    (void)printf(", %llu %s", (unsigned long long)sums->field, text);
    SUM_LIST(SUM_PRINT)
#undef SUM_PRINT
    (void)putchar('\n');
}

const char *sums_missing(const struct sums *sums, uint64_t faults)
{
#define SUM_MISSING(field, text, needed)              \
    if (sums->field == 0 && (faults & (needed)) != 0) \
        return text;
    SUM_LIST(SUM_MISSING)
#undef SUM_MISSING
    return NULL;
}
