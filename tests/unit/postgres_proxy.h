/* A socket between a driver and its PostgreSQL server that loses what a test orders. */
#ifndef SOLVEGATE_TESTS_POSTGRES_PROXY_H
#define SOLVEGATE_TESTS_POSTGRES_PROXY_H

#include <stddef.h>

enum proxy_order {
    PROXY_PASS,
    PROXY_LOSE_COMMIT, /* at the next COMMIT's tag both sides are cut; then it passes again */
    PROXY_CUT_CLIENT,  /* clients are cut, their sessions stay with the server; then it passes */
    PROXY_FREEZE,      /* nothing is answered any more */
};

/* Listens in the server's folder. */
void proxy_start(void);
void proxy_stop(void);
void proxy_set(enum proxy_order order);
/* How often an order was carried out. */
unsigned proxy_count(void);
void proxy_url(char *url, size_t room);

#endif
