/* How much of a budget a benchmark of a vendor may still spend, and how many captchas that is. */
#ifndef SOLVEGATE_CLI_BENCH_PURSE_H
#define SOLVEGATE_CLI_BENCH_PURSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A price that shows in the balance is known after one captcha; a plan that charges nothing, after so many. */
#define PURSE_FREE_MIN 3
/* What is sent between two looks at the balance may cost so many times the price and still be paid for. */
#define PURSE_RISE 4

struct bench_purse {
    double budget;  /* that may be spent by the end of this row */
    double whole;   /* that may be spent in all */
    double floor;   /* the least price to reckon with, as given; 0: none */
    double price;   /* the highest of one captcha of this type, as far as known */
    double dearest; /* what one may cost if only the solved ones did; never less than the price */
    bool is_price_known;
    uint64_t tried; /* captchas of this type while the price was not known */
    uint64_t
        accepted;  /* captchas of this type that may have to be paid for, and are not in earlier */
    uint64_t step; /* at most so many more until the balance is looked at, if there is one */
    uint64_t ever; /* as accepted, of all types */
    double
        earlier; /* reserved for those of the types before, and what the balance has shown all of */
    bool has_balance; /* the vendor told it before the first captcha */
    bool is_silent;   /* it does not any more, and no price was given */
    double balance;   /* as told last */
    double fallen;    /* by how much it fell, all in all; what is paid in does not count */
};

void bench_purse_init(struct bench_purse *purse, double budget, double floor);
/* The balance before the first captcha. */
void bench_purse_open(struct bench_purse *purse, double balance);

/* Another type has another price. */
void bench_purse_next_type(struct bench_purse *purse);

/* How many of `wanted` captchas may be sent now: one at a time while the price is not known, and never more than the
 * rest of the budget pays for. Where the balance tells a price that rises, twice as many as before while it stays, and
 * more than one only if the rest of the whole budget pays for them at PURSE_RISE times the price. */
uint64_t bench_purse_allows(const struct bench_purse *purse, uint64_t wanted);

/* The vendor may have accepted so many more, solved or not, and tells this balance; NULL if it does not. */
void bench_purse_pay(struct bench_purse *purse, uint64_t accepted, uint64_t solved,
                     const double *balance);

/* All accepted captchas at the price, but for those that the balance has shown all of: it may show the others late, or
 * hide them behind a payment. */
double bench_purse_reserved(const struct bench_purse *purse);
/* The larger of what is reserved and what the balance fell by: it never falls. */
double bench_purse_spent(const struct bench_purse *purse);
/* The balance shows all that is reserved. */
bool bench_purse_is_shown(const struct bench_purse *purse);
/* Captchas were accepted and the balance never fell, so it says nothing of what was spent. */
bool bench_purse_is_blind(const struct bench_purse *purse);

#endif
