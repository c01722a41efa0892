/* The command line's options. */
#ifndef SOLVEGATE_SIM_OPTIONS_H
#define SOLVEGATE_SIM_OPTIONS_H

#include "base/slice.h"

#include <stdint.h>

#define OPTIONS_KEYS_MAX 16
#define OPTIONS_SOLVE_TIMES_MAX 32
#define OPTIONS_FAULTS_MAX 64
#define KEY_CHARACTERS 32

enum solve_shape {
    SOLVE_FIXED,       /* constant */
    SOLVE_EXPONENTIAL, /* mean given */
    SOLVE_TAIL,        /* Pareto with exponent 2: mean given, half of it is the minimum */
    SOLVE_UNIFORM,     /* between two bounds */
};

struct solve_time {
    struct slice method; /* not given: every method without a time of its own */
    enum solve_shape shape;
    uint64_t ms;
    uint64_t until_ms; /* upper bound of SOLVE_UNIFORM */
};

enum id_form {
    IDS_STRING,
    IDS_NUMBER,
    IDS_MIXED, /* number and string in turn; the vendor's form depends on the method */
    IDS_LONG,  /* 23 digits with leading zeros */
};

enum threads_form { THREADS_MIXED, THREADS_NUMBER, THREADS_STRING };

enum clearance_form { CLEARANCE_RESULT, CLEARANCE_REQUEST };

struct options {
    char host[64];
    int port;
    struct slice keys[OPTIONS_KEYS_MAX]; /* none: every key of the right length is valid */
    size_t key_count;
    uint64_t slots; /* 0: no limit */
    const char *busy_code;
    uint64_t balance_micros;
    uint64_t price_micros;
    struct solve_time solve_times[OPTIONS_SOLVE_TIMES_MAX];
    size_t solve_time_count;
    uint64_t seed;
    bool has_seed;
    uint64_t token_bytes;
    uint64_t result_ttl_ms;
    bool is_read_once;
    enum id_form ids;
    enum threads_form threads;
    enum clearance_form clearance;
    bool is_json_default;
    bool rejects_unknown;
    uint64_t image_bytes_min;
    uint64_t image_bytes_max;
    bool is_pingback_post;
    uint64_t pingback_connections;
    uint64_t pingback_timeout_ms;
    const char *faults[OPTIONS_FAULTS_MAX]; /* NAME=P[,VALUE], parsed by the faults module */
    size_t fault_count;
    size_t profile_fault_count; /* the first of them, which are the profile's or before it */
    const char *script;         /* JSON text or a file's name, or NULL */
    uint64_t ledger_max;
    uint64_t tasks_max;
    uint64_t connections_max;
    uint64_t body_bytes_max;
    uint64_t keep_alive_ms;
    bool is_logging;
    bool wants_help;
    bool wants_version;
};

void options_init(struct options *options);

/* Returns 0, or ERR_INVALID after printing the mistake and a suggestion on stderr. */
int options_parse(struct options *options, int argc, char **argv);

#endif
