/* What the engine knows of one key: flights under way with their requests and attempts, tasks that
 * may still be solved, the solution in memory and the newest dead letter. It answers "where is my
 * captcha now". */
#ifndef SOLVEGATE_TIMELINE_H
#define SOLVEGATE_TIMELINE_H

#include "base/slice.h"

#include <solvegate/event.h>
#include <solvegate/record.h>

struct engine;

/* So much is shown at most; the rest is only counted. */
#define TIMELINE_FLIGHTS 4
#define TIMELINE_STRAYS 4
#define TIMELINE_REQUESTS 20
#define TIMELINE_ATTEMPTS (NOTES_MAX + 1)

/* Who looks: somebody who sees everything, or a client, who sees what is its own. */
struct onlooker {
    client_id client;
    bool sees_all;
};

struct timeline_request {
    request_id id;
    client_id client;
    bool is_held; /* its caller waits at a door now */
};

/* Texts are borrowed until the next step. Times are 0 where they are not known. */
struct timeline_attempt {
    const char *state; /* sent, ambiguous, unconfirmed, working, void, failed, solved */
    int64_t started_wall_ms;
    int64_t accepted_wall_ms; /* the vendor named its task */
    int64_t asked_wall_ms;    /* the last poll */
    uint64_t took_ms;         /* until its end, or until now */
    enum error_class class;   /* of one that ended badly, else NONE */
    struct slice code;
    struct slice task_id;
};

struct timeline {
    const char *state;
    bool is_elsewhere; /* another node solves it, or may: this one waits for that */
    const char *next;  /* what its timer will do: poll, retry, give_up_reply, ask_store; or NULL */
    uint64_t next_in_ms; /* and when */
    client_id client;
    enum type type;
    enum dialect_kind dialect;
    enum reuse reuse;
    int64_t created_wall_ms;
    int64_t queued_wall_ms; /* when it last entered the queue */
    int64_t slot_wall_ms;   /* since when it holds a slot */
    uint64_t age_ms;
    uint64_t deadline_in_ms;
    uint32_t request_count; /* that the onlooker may see */
    size_t request_shown;
    struct timeline_request requests[TIMELINE_REQUESTS];
    size_t attempt_count;
    struct timeline_attempt attempts[TIMELINE_ATTEMPTS];
};

struct key_view {
    struct key key; /* all of it */
    uint32_t flight_total;
    size_t flight_count; /* the oldest of them */
    struct timeline flights[TIMELINE_FLIGHTS];
    size_t stray_count;
    struct timeline_attempt strays[TIMELINE_STRAYS];
    bool has_solution;
    int64_t born_wall_ms;
    uint64_t expires_in_ms;
    uint16_t solution_attempts;
    struct slice solution_task_id;
    uint64_t letter; /* its number, or 0 */
    int64_t letter_wall_ms;
    enum error_class letter_class;
    struct slice letter_code;
    size_t letter_attempt_count;
    struct timeline_attempt letter_attempts[NOTES_MAX];
};

/* False if nothing of it is known that the onlooker may see. Beginnings of keys are looked for among
 * the first flights and the newest letters only, so that the time that takes is bounded. */
bool engine_look_up(const struct engine *engine, const struct key_prefix *prefix,
                    const struct onlooker *onlooker, uint64_t now_ms, struct key_view *view);

#endif
