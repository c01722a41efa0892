#include "upstream/wire.h"

#include "base/assert.h"
#include "upstream/sockets.h"
#include "upstream/trust.h"

#include <curl/curl.h>

/* docs/reliability.md threat 16: new connections check the certificates again. */
#define CONNECTION_LIFETIME_S 600L
/* Below the usual idle timeouts of servers, so that we rarely send into a closing connection. */
#define CONNECTION_IDLE_S 50L

static int on_close_socket(void *context, curl_socket_t fd)
{
    sockets_shut(context, fd);
    return 0;
}

static void set_safety(CURL *easy, const char *protocols)
{
    WIRE_SET(easy, CURLOPT_PROTOCOLS_STR, protocols);
    WIRE_SET(easy, CURLOPT_FOLLOWLOCATION, 0L);
    WIRE_SET(easy, CURLOPT_PROXY, ""); /* ignores the environment's proxies, too */
    WIRE_SET(easy, CURLOPT_NOPROXY, "*");
    WIRE_SET(easy, CURLOPT_NETRC, (long)CURL_NETRC_IGNORED);
    WIRE_SET(easy, CURLOPT_ACCEPT_ENCODING, NULL);
    WIRE_SET(easy, CURLOPT_HTTP09_ALLOWED, 0L);
    WIRE_SET(easy, CURLOPT_SSL_VERIFYPEER, 1L);
    WIRE_SET(easy, CURLOPT_SSL_VERIFYHOST, 2L);
    WIRE_SET(easy, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
}

void wire_init(struct wire *wire, const char *protocols, struct trust *trust,
               struct sockets *sockets)
{
    CURL *easy = curl_easy_init();
    ASSERT(easy != NULL);
    *wire = (struct wire){.easy = easy};
    set_safety(easy, protocols);
    if (trust != NULL)
        trust_apply(trust, easy);
    WIRE_SET(easy, CURLOPT_NOSIGNAL, 1L);
    /* Threads look up names, and libcurl would wait for an unfinished lookup when its transfer
     * ends: a dead name server would block the loop. With this option it abandons the thread. */
    WIRE_SET(easy, CURLOPT_QUICK_EXIT, 1L);
    WIRE_SET(easy, CURLOPT_MAXLIFETIME_CONN, CONNECTION_LIFETIME_S);
    WIRE_SET(easy, CURLOPT_MAXAGE_CONN, CONNECTION_IDLE_S);
    /* A connection outlives the call that opened it. */
    WIRE_SET(easy, CURLOPT_CLOSESOCKETFUNCTION, on_close_socket);
    WIRE_SET(easy, CURLOPT_CLOSESOCKETDATA, sockets);
    WIRE_SET(easy, CURLOPT_PRIVATE, wire);
}

void wire_close(struct wire *wire)
{
    ASSERT(wire->lane == NULL);
    /* A post that is never sent has no handle. */
    curl_easy_cleanup(wire->easy);
}

void *wire_add_header(void *headers, const char *line)
{
    struct curl_slist *begun = headers == NULL ? curl_slist_append(NULL, "Expect:") : headers;
    struct curl_slist *longer = curl_slist_append(begun, line);
    ASSERT(begun != NULL && longer != NULL);
    return longer;
}
