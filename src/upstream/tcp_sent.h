/* How much a TCP socket has sent. */
#ifndef SOLVEGATE_UPSTREAM_TCP_SENT_H
#define SOLVEGATE_UPSTREAM_TCP_SENT_H

#include <stdint.h>

/* Bytes that the socket has ever taken for sending; 0 if unknown. */
uint64_t tcp_sent_bytes(int fd);

#endif
