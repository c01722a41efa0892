/* Page addresses: the quick reader and libcurl's agree, and what is normal stays as it is.
 *
 * Input: the address. */
#include "fuzz.h"

#include "proto/pageurl.h"
#include "upstream/url.h"

#include <stdlib.h>

#define URL_ROOM 16384

/* Exactly the room that the reader is promised, so that a sanitizer sees one byte too many. */
static bool normalize(struct slice url, struct slice *normal, char **room)
{
    *room = malloc(url.len == 0 ? 1 : url.len);
    HOLDS(*room != NULL);
    return pageurl_normalize(url, *room, normal);
}

static void check_quick(struct slice url)
{
    char *room, *again_room;
    struct slice normal, again;
    if (normalize(url, &normal, &room)) {
        HOLDS(normal.len > 0 && normal.len <= url.len);
        HOLDS(normalize(normal, &again, &again_room) && slice_equals(normal, again));
        free(again_room);
        /* The fragment never counts. */
        HOLDS(memchr(normal.data, '#', normal.len) == NULL);
    }
    free(room);
}

/* libcurl decodes a host like 77%2e7 and takes it for an address only the next time, so such ones settle later. */
static void check_real(struct slice url)
{
    char first[URL_ROOM], second[URL_ROOM], third[URL_ROOM];
    const long len = url_normalize(url, first, sizeof(first));
    if (len < 0)
        return;
    HOLDS((size_t)len <= sizeof(first) && memchr(first, '#', (size_t)len) == NULL);
    const long again =
        url_normalize((struct slice){.data = first, .len = (size_t)len}, second, sizeof(second));
    HOLDS(again > 0);
    if (memchr(url.data, '%', url.len) == NULL)
        HOLDS(again == len && memcmp(first, second, (size_t)len) == 0);
    const long last =
        url_normalize((struct slice){.data = second, .len = (size_t)again}, third, sizeof(third));
    HOLDS(last == again && memcmp(second, third, (size_t)again) == 0);
}

/* The quick reader's form as libcurl writes it: an empty path is a slash. */
static void add_slash(struct slice normal, struct buf *out)
{
    size_t end = (size_t)((const char *)memchr(normal.data, ':', normal.len) - normal.data) + 3;
    while (end < normal.len && normal.data[end] != '/' && normal.data[end] != '?')
        end++;
    buf_add(out, (struct slice){.data = normal.data, .len = end});
    if (end == normal.len || normal.data[end] == '?')
        buf_add_char(out, '/');
    buf_add(out, (struct slice){.data = normal.data + end, .len = normal.len - end});
}

/* Where both understand an address they mean the same; libcurl alone knows that 0x7f.1 is 127.0.0.1, and drops the
 * mark of an empty query. */
static void check_agreement(struct slice url)
{
    char real[URL_ROOM], host[URL_ROOM];
    char *room;
    struct slice normal;
    struct buf slashed;
    buf_init(&slashed, URL_ROOM);
    const long len = url_normalize(url, real, sizeof(real));
    const long host_len = url_host(url, host, sizeof(host));
    if (normalize(url, &normal, &room) && len > 0 && host_len > 0 &&
        memmem(normal.data, normal.len, host, (size_t)host_len) != NULL &&
        normal.data[normal.len - 1] != '?') {
        add_slash(normal, &slashed);
        HOLDS(slice_equals(buf_slice(&slashed), (struct slice){.data = real, .len = (size_t)len}));
    }
    free(room);
    buf_close(&slashed);
}

/* The host decides what a client may ask for: both readers must find the same one. */
static void check_host(struct slice url)
{
    char host[URL_ROOM], other[URL_ROOM];
    const long len = url_host(url, host, sizeof(host));
    if (len < 0)
        return;
    HOLDS(len > 0 && host[len - 1] != '.');
    char *room;
    struct slice normal;
    if (normalize(url, &normal, &room)) {
        HOLDS(url_host(normal, other, sizeof(other)) == len);
        HOLDS(memcmp(host, other, (size_t)len) == 0);
    }
    free(room);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *bytes = exact_copy((struct slice){.data = (const char *)data, .len = size});
    const struct slice url = {.data = bytes, .len = size};
    check_quick(url);
    check_real(url);
    check_agreement(url);
    check_host(url);
    free(bytes);
    return 0;
}
