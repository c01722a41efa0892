/* The inside of the callback client: jobs, their target addresses and the connections kept open to
 * them. */
#ifndef SOLVEGATE_SIM_PINGBACK_PRIVATE_H
#define SOLVEGATE_SIM_PINGBACK_PRIVATE_H

#include "base/blob.h"
#include "base/list.h"
#include "sim/pingback.h"

#include <llhttp.h>
#include <uv.h>

#define PEER_READ_BYTES 16384
#define ORIGINS_MAX 256
/* More than the tasks that a benchmark keeps in flight; further calls fail at once. */
#define JOBS_MAX 500000

struct origin {
    struct sockaddr_storage address;
    char authority[80];  /* host and port as the Host header wants them */
    struct list waiting; /* jobs */
    struct list idle;    /* peers */
    uint32_t open;       /* peers, busy or idle */
    uint32_t jobs;       /* delayed, waiting and in progress */
    bool is_used;
};

struct job {
    struct list link; /* in delayed or in its origin's waiting; in no list while in progress */
    struct wheel_timer timer;
    struct origin *origin; /* NULL if the URL cannot be called */
    struct blob *bytes;    /* the whole HTTP request */
    struct pingback_result result;
    bool is_again; /* it already failed once on a kept connection */
};

struct peer {
    uv_tcp_t tcp;
    uv_connect_t connect;
    uv_write_t write;
    llhttp_t parser;
    struct list all;
    struct list link; /* the origin's idle list, or nothing */
    struct wheel_timer timer;
    struct pingback *pingback;
    struct origin *origin;
    struct job *job;
    int failure;    /* a write that failed at once, or 0 */
    bool is_kept;   /* it has completed a call before */
    bool has_reply; /* bytes of the present reply arrived */
    bool is_done;   /* the present reply is complete */
    bool is_closing;
};

struct pingback {
    uv_loop_t *loop;
    struct clock *clock;
    struct pingback_style style;
    pingback_done done;
    void *context;
    struct origin origins[ORIGINS_MAX];
    struct list delayed;
    struct list peers;
    uint32_t job_count;
    llhttp_settings_t settings;
    char in[PEER_READ_BYTES];
};

/* Ends a job: tells the owner and frees it. */
void job_finish(struct pingback *pingback, struct job *job, int status);

#endif
