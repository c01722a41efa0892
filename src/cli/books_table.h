/* The gateway's books by client and by type, as tables. */
#ifndef SOLVEGATE_CLI_BOOKS_TABLE_H
#define SOLVEGATE_CLI_BOOKS_TABLE_H

#include <solvegate/stats.h>

struct yyjson_val;

/* Today, the last days together, and everything since the gateway started. */
enum span { SPAN_TODAY, SPAN_DAYS, SPAN_START, SPAN_COUNT };

/* The pages of a reply that make up the span; returns how many. */
#define BOOKS_PAGES_MAX (STATS_DAYS + 1)
size_t books_pages(struct yyjson_val *root, enum span span,
                   struct yyjson_val *pages[BOOKS_PAGES_MAX]);

/* True if the books hold money, which is so only where prices are set. */
bool books_have_money(struct yyjson_val *root);

/* Sorts by cost, highest first; prints nothing if there was no activity. */
void books_print(struct yyjson_val *root, enum span span);

/* Prints what is used and left of budgets today, if there are any. */
void books_print_budgets(struct yyjson_val *root);

#endif
