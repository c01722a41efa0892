/* The report about a vendor, for people and as JSON. */
#ifndef SOLVEGATE_CLI_BENCH_VENDOR_PRINT_H
#define SOLVEGATE_CLI_BENCH_VENDOR_PRINT_H

#include "cli/bench_tally.h"

#define BENCH_VENDOR_ROWS_MAX 64

/* One method at one number of requests at once. */
struct bench_vendor_row {
    char method[48];
    uint32_t at_once;
    uint64_t unfinished;
    struct bench_tally *tally; /* owned by whoever made the row */
};

struct bench_vendor_report {
    const char *url;
    struct bench_vendor_row rows[BENCH_VENDOR_ROWS_MAX];
    size_t row_count;
    uint64_t poll_ms;
    double spent, budget;
    double spent_by_balance;
    bool has_balance;         /* the vendor told one */
    bool is_spent_by_balance; /* else by the price: the balance does not show all of it */
    bool is_balance_blind;    /* it never fell, and no price was given */
    bool
        is_spent_known; /* else the vendor stopped telling its balance, or that is blind: it may be more */
    bool is_budget_used; /* so fewer were sent than asked for */
    bool has_callbacks;  /* the vendor was asked to call back */
};

/* How many of the failures mean that the vendor had no thread free. */
uint64_t bench_vendor_busy(const struct bench_tally *tally);

void bench_vendor_write(const struct bench_vendor_report *report, struct buf *out);
void bench_vendor_write_json(const struct bench_vendor_report *report, struct buf *out);

#endif
