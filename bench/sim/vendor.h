/* The vendor: everything behind in.php and res.php, and the life of its tasks. */
#ifndef SIM_VENDOR_H
#define SIM_VENDOR_H

#include "answer.h"
#include "clock.h"
#include "faults.h"
#include "http.h"
#include "magic.h"
#include "options.h"
#include "params.h"
#include "pingback.h"
#include "plan.h"
#include "tasks.h"
#include "totals.h"

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

/* vendor.c */
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

/* callbacks.c */
/* Makes the callbacks the task's fault asks for; early is the connection that waits for them, or 0. */
void callbacks_start(struct vendor *vendor, struct task *task, slab_id early);
void callbacks_on_done(void *vendor, const struct pingback_result *result);

/* submit.c and poll.c: the doors; the parameters are already parsed. */
void submit_serve(struct vendor *vendor, const struct http_request *request,
                  struct http_reply *reply, bool is_sync);
void poll_serve(struct vendor *vendor, struct http_reply *reply);

/* doors.c */
/* The http_handler: every path. The context is a struct vendor. */
void doors_serve(void *vendor, const struct http_request *request, struct http_reply *reply);

/* speak.c: replies in the vendor's dialect. */
bool speak_is_json(const struct vendor *vendor);
/* Content type and CORS of a reply; true if it is to be JSON. */
bool speak_begin(struct vendor *vendor, struct http_reply *reply);
void speak_error(struct vendor *vendor, struct http_reply *reply, const char *code);
void speak_ok(struct vendor *vendor, struct http_reply *reply, struct slice word);
void speak_fault(struct vendor *vendor, struct http_reply *reply, const struct fault *fault);

#endif
