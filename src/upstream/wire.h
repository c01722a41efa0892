/* One libcurl handle on its way through a lane, and the settings that all our calls share. */
#ifndef SOLVEGATE_UPSTREAM_WIRE_H
#define SOLVEGATE_UPSTREAM_WIRE_H

#include <stdbool.h>
#include <stdint.h>

struct lane;
struct sockets;
struct trust;

/* Embedded in the struct that is sent; the lane returns it. */
struct wire {
    void *easy;            /* owned CURL handle */
    struct lane *lane;     /* its lane while in progress, or NULL */
    struct sockets *guard; /* borrowed; NULL, or its TLS connections get a valve (valve.h) */
    uint64_t socket;       /* the name of the socket that it opened last */
    bool is_sent;          /* its connection is open, as far as the lane was told */
    int result;            /* libcurl's code, once done */
};

/* Makes a handle that follows no redirects, ignores the environment and checks certificates.
 * protocols is for CURLOPT_PROTOCOLS_STR and copied; trust is borrowed, NULL without TLS. */
void wire_init(struct wire *wire, const char *protocols, struct trust *trust,
               struct sockets *sockets);
/* The wire must have left its lane. */
void wire_close(struct wire *wire);

/* Adds a line to the list. NULL begins a list; every list begins with an empty Expect, so that
 * libcurl does not wait for "100 Continue" before large bodies. */
void *wire_add_header(void *headers, const char *line);

/* Sets an option; it can fail only for lack of memory. */
#define WIRE_SET(easy, option, value)                                      \
    do {                                                                   \
        const CURLcode set_failed = curl_easy_setopt(easy, option, value); \
        ASSERT(set_failed == CURLE_OK);                                    \
    } while (0)

#endif
