#include "cli/bench_purse.h"

#include <math.h>

/* Balances are sums of decimals. */
#define ROUNDING 1e-9

void bench_purse_init(struct bench_purse *purse, double budget, double floor)
{
    *purse = (struct bench_purse){.budget = budget, .whole = budget, .floor = floor};
    bench_purse_next_type(purse);
}

void bench_purse_open(struct bench_purse *purse, double balance)
{
    purse->has_balance = true;
    purse->balance = balance;
    purse->is_price_known = false; /* a price that was given may be too low */
}

void bench_purse_next_type(struct bench_purse *purse)
{
    purse->earlier = bench_purse_reserved(purse);
    purse->accepted = 0;
    purse->price = purse->floor;
    purse->dearest = purse->floor;
    purse->is_price_known = purse->floor > 0 && !purse->has_balance;
    purse->tried = 0;
    purse->step = 1;
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

bool bench_purse_is_blind(const struct bench_purse *purse)
{
    return purse->has_balance && purse->fallen <= ROUNDING && purse->ever > 0;
}

static uint64_t at_most(double most, uint64_t wanted)
{
    return most < (double)wanted ? (uint64_t)most : wanted;
}

/* How many are paid for even if they, and those that the balance does not show yet, prove to cost PURSE_RISE times what
 * is known. A balance that never fell is not waited for: then the price was given, or there is none. */
static double safe_number(const struct bench_purse *purse)
{
    const double unshown =
        purse->fallen > ROUNDING ? fmax(bench_purse_reserved(purse) - purse->fallen, 0) : 0;
    const double left =
        purse->whole - bench_purse_spent(purse) - (PURSE_RISE - 1) * unshown + ROUNDING;
    return fmax(floor(left / (PURSE_RISE * purse->dearest)), 1);
}

uint64_t bench_purse_allows(const struct bench_purse *purse, uint64_t wanted)
{
    const double left = purse->budget - bench_purse_spent(purse);
    /* A vendor that stops telling may charge whatever it likes. */
    if (left < ROUNDING || purse->is_silent || left + ROUNDING < purse->dearest)
        return 0;
    if (!purse->is_price_known)
        return at_most(1, wanted);
    if (purse->has_balance)
        wanted = at_most((double)purse->step, wanted);
    if (purse->dearest <= 0)
        return wanted;
    const double affordable = floor((left + ROUNDING) / purse->dearest);
    return at_most(purse->has_balance ? fmin(affordable, safe_number(purse)) : affordable, wanted);
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

/* What the balance has shown all of is known, and a price that rises later is not that of those captchas. */
static void settle(struct bench_purse *purse)
{
    if (purse->accepted == 0 || purse->price <= 0 || !bench_purse_is_shown(purse))
        return;
    purse->earlier = purse->fallen;
    purse->accepted = 0;
}

/* A price that the balance does not show is the one that was given, or nothing; the latter is believed later. */
static bool is_believed(const struct bench_purse *purse)
{
    return purse->floor > 0 ? purse->accepted > 0 : purse->tried >= PURSE_FREE_MIN;
}

void bench_purse_pay(struct bench_purse *purse, uint64_t accepted, uint64_t solved,
                     const double *balance)
{
    const double unshown = bench_purse_reserved(purse) - purse->fallen;
    const double paid = balance == NULL ? 0 : purse->balance - *balance;
    const double known = purse->is_price_known ? purse->price : HUGE_VAL;
    purse->accepted += accepted;
    purse->ever += accepted;
    purse->is_silent = purse->has_balance && balance == NULL && purse->floor <= 0;
    if (balance != NULL)
        purse->balance = *balance;
    if (paid > ROUNDING) {
        purse->fallen += paid;
        take_fall(purse, paid - fmax(unshown, 0), accepted, solved);
    } else {
        purse->tried += solved;
    }
    purse->is_price_known = purse->is_price_known || is_believed(purse);
    if (purse->price > known + ROUNDING)
        purse->step = 1;
    else if (purse->is_price_known && accepted > 0 && purse->step < UINT32_MAX)
        purse->step *= 2;
    settle(purse);
}
