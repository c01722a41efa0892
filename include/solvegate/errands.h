/* Errands: what a caller wants of a request or a dead letter that another gateway has is carried out there. */
#ifndef SOLVEGATE_ERRANDS_H
#define SOLVEGATE_ERRANDS_H

#include <solvegate/types.h>

/* What an entry of the inbox says, and whom it is for. */
enum fact_kind {
    FACT_NEWS,   /* what the vendor said about an attempt: for whoever has the attempt's row */
    FACT_ERRAND, /* for whoever has the request's or the letter's row; else for the node `to` */
    FACT_REPLY,  /* how an errand ended: for the node `to` */
    FACT_BAD,    /* a solution that many may have was reported as bad: for all other nodes */
    FACT_TAKEN,  /* a single-use solution was taken from the node `to` */
};

enum errand_verb {
    ERRAND_REPORT_GOOD,
    ERRAND_REPORT_BAD,
    ERRAND_DETACH,
    ERRAND_LETTERS,
    ERRAND_LOOK, /* what became of a request that has no row */
    ERRAND_SHOW, /* what is known of a key */
};

/* With FACT_ERRAND and FACT_REPLY; with FACT_TAKEN only `to`. A node that has no run goes without: its errands come
 * back to the teller. */
struct errand {
    enum errand_verb verb;
    uint16_t from, to; /* numbers of nodes, as in struct engine_options; 0: none */
    /* With an errand: who asks; only requests of its own are touched. Of an order about letters: the client that it
     * names, if it names one. */
    client_id client;
    request_id id;        /* or the number of the letter; 0: an order about many */
    caller_id caller;     /* who waits for the reply */
    uint64_t ticket;      /* number of the errand, also in its reply */
    enum refusal refusal; /* of a reply; REFUSAL_NONE: it was carried out */
    /* Of a reply: letters that were changed. Of what is known of a key: enum shown. */
    uint32_t count;
};

/* With the FACT_REPLY to an ERRAND_LOOK that found the request; class, code, task id, text and extra are in the fact's
 * result. */
struct sighting {
    enum request_state state;
    enum source source;
    enum type type;
    bool is_single;
    uint16_t attempts;
    int64_t born_wall_ms, expires_wall_ms; /* of its solution, as the next one */
    uint64_t solve_ms;
};

/* A key, or its first hexadecimal digits. */
struct key_prefix {
    struct key key;
    size_t digits;
};

/* With an ERRAND_SHOW. */
struct show {
    caller_id caller; /* as the client, of the caller's question only */
    client_id client;
    struct key_prefix prefix;
    bool sees_all; /* else only what is the client's */
};

/* What a node knows of a key: the text of the reply, which the gate writes (gate.h). */
enum shown {
    SHOWN_NOTHING,
    SHOWN_REST,   /* something is left of it, or it waits for another node's flight */
    SHOWN_FLIGHT, /* it is solved here */
};

/* With FACT_BAD. The store lets every row with this solution expire at once, whoever has it. */
struct bad_solution {
    struct key key;
    attempt_id attempt; /* that brought it: all its copies have the same */
};

/* With FACT_TAKEN. */
struct taken_solution {
    struct key key;
    uint64_t solution; /* number of its row */
};

/* A FACT_BAD is an entry for each node; that of a node has the fact's number and so many times the node's besides. */
#define FACT_NUMBER_STEP 512

#endif
