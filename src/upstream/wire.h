/* One libcurl handle on its way through a lane, and the settings that every call of ours has, whoever it is for. */
#ifndef SOLVEGATE_UPSTREAM_WIRE_H
#define SOLVEGATE_UPSTREAM_WIRE_H

struct lane;
struct sockets;
struct trust;

/* Embedded in what is sent; a lane gives it back. */
struct wire {
    void *easy;        /* owned CURL handle */
    struct lane *lane; /* where it is under way, or NULL */
    int result;        /* libcurl's code, once it is done */
};

/* A handle that follows nobody, believes no environment and checks certificates. protocols as
 * CURLOPT_PROTOCOLS_STR, which is copied; trust is borrowed, and NULL where there is no TLS. */
void wire_init(struct wire *wire, const char *protocols, struct trust *trust,
               struct sockets *sockets);
/* Must be out of its lane. */
void wire_close(struct wire *wire);

/* The list with one line more. Every list begins with an empty Expect, so that libcurl does not wait
 * for "100 Continue" before large bodies: NULL begins one. */
void *wire_add_header(void *headers, const char *line);

/* A setting that cannot fail but for want of memory. */
#define WIRE_SET(easy, option, value)                                      \
    do {                                                                   \
        const CURLcode set_failed = curl_easy_setopt(easy, option, value); \
        ASSERT(set_failed == CURLE_OK);                                    \
    } while (0)

#endif
