/* Flights of a running gateway, oldest first, as rows of a table. */
#ifndef SOLVEGATE_CLI_FLIGHT_LIST_H
#define SOLVEGATE_CLI_FLIGHT_LIST_H

#include "cli/remote.h"

/* The most flights fetched: nobody reads more, and each page costs the gateway time. */
#define FLIGHT_LIST_MAX 10000

struct flight_row {
    char key[16]; /* its first digits */
    char state[24];
    char client[72];
    char type[32];
    char task[40];
    char error[72];
    uint64_t requests;
    uint64_t attempts;
    double age;
    double left;
};

struct flight_list {
    struct flight_row *rows; /* owned */
    size_t count;
    size_t room;
    uint64_t total; /* how many flights the gateway has */
    bool is_read;   /* the last reply was a list of flights */
};

void flight_list_close(struct flight_list *list);

/* Fetches at most `most` flights and sorts them. The reply is that of the last call; if it is not
 * 2xx the list is incomplete. */
enum remote_end flight_list_fetch(struct flight_list *list, struct remote *remote,
                                  struct remote_reply *reply, size_t most);

/* Writes at most `rows` flights. */
void flight_list_write(const struct flight_list *list, struct buf *out, unsigned width,
                       size_t rows);

#endif
