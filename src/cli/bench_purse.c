#include "cli/bench_purse.h"

#include <math.h>

/* Balances are sums of decimals. */
#define ROUNDING 1e-9

void bench_purse_init(struct bench_purse *purse, double budget, double floor)
{
    *purse = (struct bench_purse){.budget = budget, .floor = floor};
    bench_purse_next_type(purse);
}

void bench_purse_next_type(struct bench_purse *purse)
{
    purse->price = purse->floor;
    purse->is_price_known = purse->floor > 0;
    purse->tried = 0;
}

uint64_t bench_purse_allows(const struct bench_purse *purse, uint64_t wanted)
{
    const double left = purse->budget - purse->spent;
    if (left < ROUNDING)
        return 0;
    if (!purse->is_price_known)
        return wanted < 1 ? wanted : 1;
    if (purse->price <= 0)
        return wanted;
    const double affordable = floor((left + ROUNDING) / purse->price);
    return affordable < (double)wanted ? (uint64_t)affordable : wanted;
}

void bench_purse_pay(struct bench_purse *purse, uint64_t sent, uint64_t solved, double spent)
{
    const double paid = spent - purse->spent;
    purse->spent = spent;
    if (paid > ROUNDING && sent > 0) {
        /* Those that failed may have cost nothing, so the price is that of the solved ones. */
        purse->price = fmax(purse->price, paid / (double)(solved > 0 ? solved : sent));
        purse->is_price_known = true;
    } else if (!purse->is_price_known) {
        purse->tried += solved;
        purse->is_price_known = purse->tried >= PURSE_FREE_MIN;
    }
}
