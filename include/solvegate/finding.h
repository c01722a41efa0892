/* Finding: any gateway on a shared store answers for a request that another one has, by its id. */
#ifndef SOLVEGATE_FINDING_H
#define SOLVEGATE_FINDING_H

#include <solvegate/record.h>
#include <solvegate/types.h>

/* For ACTION_FIND. The store looks for the request's row, whoever has it, and for what became of it, all
 * at one moment. It only reads, so it needs no lease and overtakes records. */
struct find {
    request_id id;
    client_id client; /* who asks: nobody is told about another client's request */
    uint64_t ticket;  /* returned with the result */
};

enum found_result {
    FOUND_WAITING,     /* its flight goes on */
    FOUND_SOLVED,      /* it has its solution; one that only it may have was handed out to it */
    FOUND_FAILED,      /* with class and code */
    FOUND_UNKNOWN,     /* this client has no such request: the store said so */
    FOUND_UNAVAILABLE, /* the store did not answer: nothing is known */
};

/* How an ACTION_FIND ended. */
struct found {
    request_id id; /* as in the find, as are the next two */
    client_id client;
    uint64_t ticket;
    enum found_result result;
    bool has_name; /* WAITING: the end of this claim may be its end, too */
    struct key name;
    bool is_solving; /* WAITING: its task is at the vendor */
    enum source source;
    uint16_t attempts;
    const struct solution_row *solution; /* borrowed; SOLVED */
    enum error_class class;              /* FAILED */
    char code[ERROR_CODE_MAX];           /* FAILED */
};

#endif
