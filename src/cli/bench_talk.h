/* What a benchmark says to a gateway or vendor, in each dialect, and what the replies mean. */
#ifndef SOLVEGATE_CLI_BENCH_TALK_H
#define SOLVEGATE_CLI_BENCH_TALK_H

#include "base/buf.h"
#include "cli/bench_plan.h"

#include <solvegate/types.h>

/* The gateway holds a reply for at most 50 s. */
#define BENCH_HOLD_S 50U
#define BENCH_ID_MAX 48
/* Of --pageurl: each target's own parameter has to fit behind it. */
#define BENCH_PAGEURL_MAX 2000
#define BENCH_CODE_MAX 48
#define BENCH_MESSAGE_MAX ((size_t)4 * 1024 * 1024)

struct bench_images;

struct bench_talk {
    const struct bench_plan *plan;     /* borrowed, as is everything here */
    const char *key;                   /* never empty where the dialect demands one */
    const struct bench_images *images; /* or NULL: images are generated */
    const char *pingback;              /* of the next ask; or NULL */
};

/* A call: a POST if it has a body, else a GET. */
struct bench_message {
    struct buf path; /* both end with a NUL that does not count */
    struct buf body;
    bool is_look; /* else it asks for a captcha, and may cost money each time it is sent */
};

enum bench_news { BENCH_SOLVED, BENCH_PENDING, BENCH_FAILED };

struct bench_heard {
    enum bench_news news;
    int source;                /* enum source of a solution, or -1 if the dialect does not tell */
    char id[BENCH_ID_MAX];     /* of a request that is pending */
    char code[BENCH_CODE_MAX]; /* of a failure */
};

void bench_message_init(struct bench_message *message);
void bench_message_close(struct bench_message *message);

/* For how many seconds the gateway may hold the reply to an ask; 0: it is not asked to. */
unsigned bench_talk_ask_hold(const struct bench_talk *talk);
/* Asks for the target with this number. */
void bench_talk_ask(const struct bench_talk *talk, uint64_t target, struct bench_message *message);
/* Asks for the result; hold_s is for how long the gateway may hold the reply. */
void bench_talk_look(const struct bench_talk *talk, const char *id, unsigned hold_s,
                     struct bench_message *message);
/* Reads the reply to an ask or to a look. */
void bench_talk_hear(const struct bench_talk *talk, bool is_look, long status, struct slice body,
                     struct bench_heard *heard);

/* Whether a vendor may have accepted what was asked for, and charge for it: not if the ask was never sent, or was
 * refused. */
bool bench_talk_may_cost(bool is_sent, bool is_complete, long status, struct slice body);

/* The lines of headers for all calls; returns how many. auth has room for the key. */
#define BENCH_HEADERS_MAX 3
#define BENCH_HEADER_ROOM 320
size_t bench_talk_headers(const struct bench_talk *talk, char auth[BENCH_HEADER_ROOM],
                          const char *lines[BENCH_HEADERS_MAX]);

/* True if the method is one that takes an image. */
bool bench_is_image(const char *method);

#endif
