/* The vendor: what stands behind in.php and res.php, and the life of its tasks. */
#ifndef SOLVEGATE_SIM_VENDOR_H
#define SOLVEGATE_SIM_VENDOR_H

#include "sim/answer.h"
#include "sim/clock.h"
#include "sim/faults.h"
#include "sim/http.h"
#include "sim/options.h"
#include "sim/params.h"
#include "sim/pingback.h"
#include "sim/plan.h"
#include "sim/tasks.h"
#include "sim/totals.h"

struct vendor {
    const struct options *options;
    struct clock *clock;
    struct http_server *server; /* set once it exists */
    struct pingback *pingback;
    struct tasks tasks;
    struct plan plan;
    struct faults faults;
    struct faults first_faults; /* as the command line had them, for a reset */
    struct totals totals;
    struct code_total codes[TOTALS_CODES_MAX];
    struct rand rand; /* solve times */
    struct answer_style style;
    struct params params;
    struct buf scratch;
    struct buf headers;  /* extra lines of the reply being made */
    const char *outcome; /* one word for the log */
};

/* The faults given are taken over. */
void vendor_init(struct vendor *vendor, const struct options *options, struct clock *clock,
                 struct faults *take_faults, uint64_t seed);
void vendor_close(struct vendor *vendor);

/* Back to the state after the start; ids go on, so that nobody meets a new task under an old id. */
void vendor_reset(struct vendor *vendor);

/* Solved or failed, now; a no-op unless it is due. */
void vendor_settle_if_due(struct vendor *vendor, struct task *task);
void vendor_settle(struct vendor *vendor, struct task *task);

/* The result cannot be read any more. */
void vendor_expire(struct vendor *vendor, struct task *task);

/* For tasks_new. */
void vendor_forget(void *vendor, struct task *task);

/* How long a task of this method takes, drawn anew. */
uint64_t vendor_solve_ms(struct vendor *vendor, struct slice method);

#endif
