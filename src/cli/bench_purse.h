/* How much of a budget a benchmark of a vendor may still spend, and how many captchas that is. */
#ifndef SOLVEGATE_CLI_BENCH_PURSE_H
#define SOLVEGATE_CLI_BENCH_PURSE_H

#include <stdbool.h>
#include <stdint.h>

/* A price that shows in the balance is known after one captcha; a plan that charges nothing, after so many. */
#define PURSE_FREE_MIN 3

struct bench_purse {
    double budget;
    double spent;
    double floor; /* the least price to reckon with, as given; 0: none */
    double price; /* the highest of one captcha of this type, as far as known */
    bool is_price_known;
    uint64_t tried; /* captchas of this type while the price was not known */
};

void bench_purse_init(struct bench_purse *purse, double budget, double floor);

/* Another type has another price. */
void bench_purse_next_type(struct bench_purse *purse);

/* How many of `wanted` captchas may be sent now: one at a time while the price is not known, and
 * never more than the rest of the budget pays for. */
uint64_t bench_purse_allows(const struct bench_purse *purse, uint64_t wanted);

/* So many were sent, solved or not, and so much was spent since the start, by the balance. */
void bench_purse_pay(struct bench_purse *purse, uint64_t sent, uint64_t solved, double spent);

#endif
