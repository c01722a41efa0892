/* The pages of the gateway's lines over time that the live view shows: seconds, or minutes. */
#ifndef SOLVEGATE_CLI_TOP_SERIES_H
#define SOLVEGATE_CLI_TOP_SERIES_H

#include "cli/remote.h"

struct yyjson_doc;
struct yyjson_val;

/* 24 hours by the minute, and the page that is being filled. */
#define TOP_PAGES 25
#define TOP_PAGE_POINTS 60

/* Zero-initialised: seconds. Complete pages never change, so they are fetched once. */
struct top_series {
    bool is_by_minute;
    char run[32];                        /* of the gateway that the pages are of */
    uint64_t latest;                     /* number of the newest page */
    struct yyjson_doc *pages[TOP_PAGES]; /* by number modulo TOP_PAGES; owned, or NULL */
};

void top_series_close(struct top_series *series);
/* Drops what is known if that changes something; call top_series_update. */
void top_series_set_step(struct top_series *series, bool is_by_minute);

/* Fetches what is new; without an answer there is nothing. */
void top_series_update(struct top_series *series, struct remote *remote,
                       struct remote_reply *reply);

/* How many points are known, and the number of the newest. */
size_t top_series_count(const struct top_series *series);
uint64_t top_series_last(const struct top_series *series);

/* The page of a known point, and the index in it. */
struct yyjson_val *top_series_page(const struct top_series *series, uint64_t point, size_t *index);
/* Negative: not known. */
double top_series_value(const struct top_series *series, uint64_t point, const char *name);

#endif
