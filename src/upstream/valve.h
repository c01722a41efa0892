/* A valve in each TLS connection to the vendor: it bounds what is read without any reply, and
 * proves that nothing was written. */
#ifndef SOLVEGATE_UPSTREAM_VALVE_H
#define SOLVEGATE_UPSTREAM_VALVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct wire;

/* What a connection had written at some time. */
struct valve_mark {
    uint64_t connection; /* its number; 0: unknown */
    uint64_t written_bytes;
};

/* For CURLOPT_SSL_CTX_FUNCTION: gives the connection that the wire opens a valve. */
void valve_install(void *ssl_context, struct wire *wire);

/* The following are about the connection that a CURL handle uses now. */

/* It delivered so many bytes of a reply. */
void valve_credit(void *easy, size_t bytes);
struct valve_mark valve_mark(void *easy);
/* If no byte of an HTTP/2 request can have been written since then: makes sure that none ever will
 * be, also none that waits in a buffer, and returns true. */
bool valve_cut_if_unwritten(void *easy, struct valve_mark since);

#endif
