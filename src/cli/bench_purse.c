#include "cli/bench_purse.h"

#include <math.h>

/* Balances are sums of decimals. */
#define ROUNDING 1e-9

void bench_purse_init(struct bench_purse *purse, double budget, double floor)
{
    *purse = (struct bench_purse){.budget = budget, .floor = floor};
    bench_purse_next_type(purse);
}

void bench_purse_open(struct bench_purse *purse, double balance)
{
    purse->has_balance = true;
    purse->balance = balance;
}

void bench_purse_next_type(struct bench_purse *purse)
{
    purse->earlier = bench_purse_reserved(purse);
    purse->accepted = 0;
    purse->price = purse->floor;
    purse->dearest = purse->floor;
    purse->is_price_known = purse->floor > 0;
    purse->tried = 0;
}

double bench_purse_reserved(const struct bench_purse *purse)
{
    return purse->earlier + (double)purse->accepted * purse->price;
}

double bench_purse_spent(const struct bench_purse *purse)
{
    return fmax(purse->fallen, bench_purse_reserved(purse));
}

bool bench_purse_is_shown(const struct bench_purse *purse)
{
    return purse->has_balance && purse->fallen + ROUNDING >= bench_purse_reserved(purse);
}

uint64_t bench_purse_allows(const struct bench_purse *purse, uint64_t wanted)
{
    const double left = purse->budget - bench_purse_spent(purse);
    /* A vendor that stops telling may charge whatever it likes. */
    if (left < ROUNDING || purse->is_silent)
        return 0;
    if (!purse->is_price_known)
        return wanted < 1 ? wanted : 1;
    if (purse->dearest <= 0)
        return wanted;
    const double affordable = floor((left + ROUNDING) / purse->dearest);
    return affordable < (double)wanted ? (uint64_t)affordable : wanted;
}

/* The balance fell by so much. What is reserved and was not shown yet explains it first; the rest was charged for the
 * captchas of this round. Those that failed may have cost nothing, so it may be the price of the solved ones alone; but
 * where the price that is known explains it, it stays. */
static void take_fall(struct bench_purse *purse, double rest, uint64_t accepted, uint64_t solved)
{
    const uint64_t fewest = solved > 0 ? solved : accepted;
    const double each = rest / (double)(fewest > 0 ? fewest : 1);
    if (rest <= ROUNDING)
        return;
    purse->dearest = fmax(purse->dearest, each);
    if (!purse->is_price_known || rest > (double)accepted * purse->price + ROUNDING)
        purse->price = fmax(purse->price, each);
    purse->is_price_known = true;
}

void bench_purse_pay(struct bench_purse *purse, uint64_t accepted, uint64_t solved,
                     const double *balance)
{
    const double unshown = bench_purse_reserved(purse) - purse->fallen;
    const double paid = balance == NULL ? 0 : purse->balance - *balance;
    purse->accepted += accepted;
    purse->is_silent = purse->has_balance && balance == NULL && purse->floor <= 0;
    if (balance != NULL)
        purse->balance = *balance;
    if (paid > ROUNDING) {
        purse->fallen += paid;
        take_fall(purse, paid - fmax(unshown, 0), accepted, solved);
    } else if (!purse->is_price_known) {
        purse->tried += solved;
        purse->is_price_known = purse->tried >= PURSE_FREE_MIN;
    }
}
