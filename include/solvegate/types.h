/* Types of the engine's contract: ids, states, policies and limits. No functions. */
#ifndef SOLVEGATE_TYPES_H
#define SOLVEGATE_TYPES_H

#include "base/blob.h"
#include "base/slice.h"
#include "base/table.h"

#include <stdbool.h>
#include <stdint.h>

/* A request's public id: random, decimal below 2^53, because one client runs parseInt on it. 0 is none. */
typedef uint64_t request_id;
#define REQUEST_ID_LIMIT (UINT64_C(1) << 53)

/* Ids of the createTask dialect are below this limit, because one client declares them as a 32-bit
 * int; all other ids are not below it. The low bits of a short id are the layout of its solution
 * (src/proto/task_table.h), which therefore survives wherever the id does. */
#define SHORT_ID_LIMIT (UINT64_C(1) << 31)
#define SHORT_ID_LAYOUT_BITS 6

/* An attempt's name towards the vendor, random; proto makes it a callback's nonce with a MAC. 0 is none. */
typedef uint64_t attempt_id;

/* A caller that waits at a door, named by the gate; the engine only hands the id back. 0 is none. */
typedef uint64_t caller_id;

/* Index of a client in the configuration. */
typedef uint16_t client_id;

/* A journal record's number; 0 means "depends on nothing". */
typedef uint64_t journal_seq;

/* Longest task id and error code accepted from the vendor, with the NUL. */
#define TASK_ID_MAX 65
#define ERROR_CODE_MAX 65

/* The captcha's types, as far as lifetimes and policies differ. The name is the config's word. */
#define TYPE_LIST(X)                \
    X(RECAPTCHA_V2, "recaptcha_v2") \
    X(RECAPTCHA_V3, "recaptcha_v3") \
    X(HCAPTCHA, "hcaptcha")         \
    X(TURNSTILE, "turnstile")       \
    X(IMAGE, "image")               \
    X(GEETEST, "geetest")           \
    X(CLOUDFLARE, "cloudflare")     \
    X(OTHER, "default")

enum type {
#define TYPE_AS_ENUM(name, text) TYPE_##name,
    TYPE_LIST(TYPE_AS_ENUM)
#undef TYPE_AS_ENUM
        TYPE_COUNT
};

/* Who may get the same solution (docs/design.md 5.2). */
enum reuse {
    REUSE_DEFAULT, /* not set here: the next less specific setting decides */
    REUSE_SHARED,
    REUSE_SINGLE,
    REUSE_NONE,
};

/* In which dialect somebody asked (src/doors/dialect.h): for people only, nothing depends on it. */
#define DIALECT_LIST(X) \
    X(NONE, "none")     \
    X(VENDOR, "vendor") \
    X(V1, "v1")         \
    X(CREATETASK, "createtask")

enum dialect_kind {
#define DIALECT_AS_ENUM(name, text) DIALECT_##name,
    DIALECT_LIST(DIALECT_AS_ENUM)
#undef DIALECT_AS_ENUM
        DIALECT_COUNT
};

/* How an answer was obtained (docs/design.md section 3). */
#define SOURCE_LIST(X)            \
    X(API, "api")                 \
    X(DEDUP_WAIT, "dedup_wait")   \
    X(DEDUP_CACHE, "dedup_cache") \
    X(IDEMPOTENT, "idempotent")   \
    X(POOL, "pool")

enum source {
#define SOURCE_AS_ENUM(name, text) SOURCE_##name,
    SOURCE_LIST(SOURCE_AS_ENUM)
#undef SOURCE_AS_ENUM
        SOURCE_COUNT
};

/* The kind of failure behind an error code (docs/design.md 5.5); proto maps codes to classes. */
#define CLASS_LIST(X)           \
    X(NONE, "none")             \
    X(PENDING, "pending")       \
    X(BUSY, "busy")             \
    X(UNSOLVABLE, "unsolvable") \
    X(TRANSIENT, "transient")   \
    X(AMBIGUOUS, "ambiguous")   \
    X(ACCOUNT, "account")       \
    X(CALLER, "caller")         \
    X(PROXY, "proxy")           \
    X(UNKNOWN, "unknown")       \
    X(TIMEOUT, "timeout")

enum error_class {
#define CLASS_AS_ENUM(name, text) CLASS_##name,
    CLASS_LIST(CLASS_AS_ENUM)
#undef CLASS_AS_ENUM
        CLASS_COUNT
};

/* The reason of a submit; the name is the audit line's word. */
#define CAUSE_LIST(X)                                                         \
    X(FIRST, "first")   /* a caller asked */                                  \
    X(POOL, "pool")     /* a pool is refilled */                              \
    X(REPLAY, "replay") /* a dead letter is replayed */                       \
    X(RETRY, "retry")   /* the previous attempt failed: see class and code */ \
    X(RESEND, "resend") /* the previous attempt was never confirmed */        \
    X(DOUBLE, "double") /* nobody asked: a second task for one submit of ours */

enum cause {
#define CAUSE_AS_ENUM(name, text) CAUSE_##name,
    CAUSE_LIST(CAUSE_AS_ENUM)
#undef CAUSE_AS_ENUM
        CAUSE_COUNT
};

/* The state of a request as its caller sees it. */
enum request_state {
    REQUEST_QUEUED,  /* its flight has not been submitted (again) yet */
    REQUEST_SOLVING, /* its flight is at the vendor */
    REQUEST_SOLVED,
    REQUEST_FAILED,
};

/* Reasons for refusing a request or a look-up. */
#define REFUSAL_LIST(X)                                              \
    X(NONE, "accepted")                                              \
    X(FULL_REQUESTS, "too many requests are waiting")                \
    X(FULL_FLIGHTS, "too many flights are under way")                \
    X(FULL_PER_FLIGHT, "too many requests wait for this very solve") \
    X(FULL_CLIENT, "this client has too many requests waiting")      \
    X(BUDGET, "this client's budget for today is used up")           \
    X(BREAKER, "vendor account unavailable (breaker open)")          \
    X(MISMATCH, "the idempotency key was used for something else")   \
    X(DRAINING, "the gateway is shutting down")                      \
    X(STORE, "the journal cannot be written")                        \
    X(STORE_AWAY, "the store cannot be reached")                     \
    X(UNKNOWN_ID, "no such request")                                 \
    X(NOT_SOLVED, "this request has no solution (yet)")

enum refusal {
#define REFUSAL_AS_ENUM(name, text) REFUSAL_##name,
    REFUSAL_LIST(REFUSAL_AS_ENUM)
#undef REFUSAL_AS_ENUM
        REFUSAL_COUNT
};

/* The circuit breaker of the vendor account. */
enum breaker_state {
    BREAKER_CLOSED,
    BREAKER_OPEN,    /* nothing is submitted, new requests fail at once with the cause */
    BREAKER_PROBING, /* a free call is on its way */
};

#endif
