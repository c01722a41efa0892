/* The gateway: wires the doors, the engine and the vendor together and runs the loop. */
#ifndef SOLVEGATE_GATE_GATE_H
#define SOLVEGATE_GATE_GATE_H

#include <solvegate/event.h>

struct buf;
struct config;
struct gate;
struct http_reply;
struct http_request;
struct store_letters;

/* Reads the configuration again; returns 0, or another value with a line per mistake. Opens the
 * buffer. */
struct gate_loader {
    void *context;
    int (*load)(void *context, struct config *config, struct buf *mistakes);
};

/* Reads requests and writes answers; the gate calls it and knows no dialect. */
struct gate_doors {
    void (*open)(struct gate *gate);
    void (*close)(struct gate *gate);
    void (*reload)(struct gate *gate); /* the configuration has changed */
    void (*request)(struct gate *gate, const struct http_request *request);
    /* Writes the dialect's refusal of a request that HTTP itself refuses; false if its path has no
     * dialect. */
    bool (*refuse)(struct gate *gate, const struct http_request *request, uint16_t status,
                   struct http_reply *reply);
    void (*answer)(struct gate *gate, const struct answer *answer);
    void (*account)(struct gate *gate, const struct account_answer *account);
    void (*letters)(struct gate *gate, const struct letters_answer *letters);
    /* What this gateway knows of a key, for another one; NULL: nothing. The caller owns it. */
    struct blob *(*show)(struct gate *gate, const struct fact *fact, enum shown *shown);
    void (*shown)(struct gate *gate, const struct shown_answer *answer);
    /* The books of all gateways that share the store came; not given: they cannot be read. */
    void (*books)(struct gate *gate, struct slice text);
    /* Letters of the gateways that share the store came; NULL: none will come any more. */
    void (*found_letters)(struct gate *gate, const struct store_letters *letters);
    /* Writes a notice as JSON to be posted; false if its request's dialect has notices in the
     * query of a GET. */
    bool (*notice)(struct gate *gate, const struct notify *notify, struct buf *json);
    /* Answers a callback: it is durable, or could not be made durable. */
    void (*callback)(struct gate *gate, caller_id caller, bool is_kept);
    /* Called once a turn while there is work: long replies are written in pieces. */
    void (*work)(struct gate *gate);
    bool (*has_work)(const struct gate *gate);
};

/* Listens, prints the ready line on stdout, and serves until SIGTERM or SIGINT; SIGHUP reloads.
 * Returns an exit code. */
int gate_run(struct config *config, const struct gate_loader *loader,
             const struct gate_doors *doors);

#endif
