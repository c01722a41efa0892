/* The vendor: the state behind in.php and res.php, and the life of its tasks. */
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
    struct faults first_faults; /* as on the command line, for a reset */
    struct totals totals;
    struct code_total codes[TOTALS_CODES_MAX];
    struct rand rand; /* solve times */
    struct answer_style style;
    struct params params;
    struct buf scratch;
    struct buf headers;  /* extra header lines of the current reply */
    const char *outcome; /* one word for the log */
};

/* Takes over the given faults. */
void vendor_init(struct vendor *vendor, const struct options *options, struct clock *clock,
                 struct faults *take_faults, uint64_t seed);
void vendor_close(struct vendor *vendor);

/* Returns to the state after the start; ids continue, so that no old id names a new task. */
void vendor_reset(struct vendor *vendor);

/* Ends the task as solved or failed if it is due. */
void vendor_settle_if_due(struct vendor *vendor, struct task *task);
void vendor_settle(struct vendor *vendor, struct task *task);

/* Makes the result unreadable. */
void vendor_expire(struct vendor *vendor, struct task *task);

/* A callback for tasks_new. */
void vendor_forget(void *vendor, struct task *task);

/* Draws the solve time of a task of this method. */
uint64_t vendor_solve_ms(struct vendor *vendor, struct slice method);

#endif
