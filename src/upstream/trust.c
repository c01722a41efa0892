#include "upstream/trust.h"

#include "base/assert.h"
#include "base/list.h"
#include "sys/log.h"
#include "upstream/ca_file.h"
#include "upstream/trust_store.h"
#include "upstream/valve.h"
#include "upstream/wire.h"

#include <curl/curl.h>
#include <stdlib.h>
#include <string.h>

struct trust {
    struct list link; /* in the list of all open ones */
    char *bundle;     /* owned; NULL if the system's directory is used */
    void *store;      /* owned: the parsed bundle; NULL if libcurl reads it or the directory */
    unsigned users;
    unsigned version; /* counts how often the bundle was read anew */
};

/* One per file: the vendor's, the callers' and the system's. Only the loop's thread uses the list. */
static struct list everything = {.next = &everything, .prev = &everything};
/* Is the system's directory of certificates complete? Checked once: it does not move. */
static enum { UNKNOWN, YES, NO } has_directory;

static char *copy(const char *text)
{
    char *copied = text == NULL ? NULL : strdup(text);
    ASSERT(text == NULL || copied != NULL);
    return copied;
}

/* ---- opening ----------------------------------------------------------------------------- */

/* OpenSSL reads only the needed certificates of a directory, so it is better than a bundle if it is
 * complete. */
static const char *system_bundle(void)
{
    const curl_version_info_data *info = curl_version_info(CURLVERSION_NOW);
    if (has_directory == UNKNOWN)
        has_directory = ca_directory_is_complete(info->capath, info->cainfo) ? YES : NO;
    return has_directory == YES ? NULL : info->cainfo;
}

static bool is_same(const char *a, const char *b)
{
    return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

static struct trust *find(const char *bundle)
{
    LIST_FOR_EACH(link, &everything) {
        struct trust *trust = CONTAINER_OF(link, struct trust, link);
        if (is_same(trust->bundle, bundle))
            return trust;
    }
    return NULL;
}

struct trust *trust_open(const char *ca_file)
{
    const char *bundle = ca_file == NULL ? system_bundle() : ca_file;
    struct trust *trust = find(bundle);
    if (trust != NULL) {
        trust->users++;
        return trust;
    }
    void *store = bundle != NULL && trust_store_is_usable() ? trust_store_read(bundle) : NULL;
    /* A system without certificates can still speak plain HTTP. */
    if (store == NULL && ca_file != NULL && (trust_store_is_usable() || !ca_file_is_good(ca_file)))
        return NULL;
    trust = calloc(1, sizeof *trust);
    ASSERT(trust != NULL);
    *trust = (struct trust){.bundle = copy(bundle), .store = store, .users = 1};
    list_append(&everything, &trust->link);
    return trust;
}

void trust_close(struct trust *trust)
{
    if (trust == NULL || --trust->users > 0)
        return;
    list_unlink(&trust->link);
    trust_store_free(trust->store);
    free(trust->bundle);
    free(trust);
}

unsigned trust_version(const struct trust *trust)
{
    return trust->version;
}

/* ---- connections ------------------------------------------------------------------------- */

static CURLcode on_context(CURL *easy, void *ssl_context, void *context)
{
    const struct trust *trust = context;
    struct wire *wire = NULL;
    if (trust->store != NULL)
        trust_store_use(trust->store, ssl_context);
    (void)curl_easy_getinfo(easy, CURLINFO_PRIVATE, &wire);
    if (wire != NULL && wire->guard != NULL)
        valve_install(ssl_context, wire);
    return CURLE_OK;
}

/* libcurl must have only one source: with a file and a directory it reads the whole file for each
 * connection. And it must not keep our store in its own cache (before 8.4 it would), or a new one
 * would not be used for a day. */
void trust_apply(struct trust *trust, void *easy)
{
    if (trust_store_is_usable()) {
        WIRE_SET(easy, CURLOPT_SSL_CTX_FUNCTION, on_context);
        WIRE_SET(easy, CURLOPT_SSL_CTX_DATA, trust);
    }
    if (trust->store != NULL) {
        WIRE_SET(easy, CURLOPT_CAINFO, NULL);
        WIRE_SET(easy, CURLOPT_CAPATH, NULL);
        WIRE_SET(easy, CURLOPT_CA_CACHE_TIMEOUT, 0L);
    } else if (trust->bundle != NULL) {
        WIRE_SET(easy, CURLOPT_CAINFO, trust->bundle);
        WIRE_SET(easy, CURLOPT_CAPATH, NULL);
    } else {
        WIRE_SET(easy, CURLOPT_CAINFO, NULL);
    }
}

/* ---- reading again ----------------------------------------------------------------------- */

struct trust_news {
    struct trust_news *next;
    char *bundle; /* owned */
    void *store;  /* owned; NULL before it is read, and if it is unusable */
};

struct trust_news *trust_news_new(void)
{
    struct trust_news *first = NULL;
    LIST_FOR_EACH(link, &everything) {
        const struct trust *trust = CONTAINER_OF(link, struct trust, link);
        if (trust->store == NULL)
            continue;
        struct trust_news *news = calloc(1, sizeof *news);
        ASSERT(news != NULL);
        *news = (struct trust_news){.next = first, .bundle = copy(trust->bundle)};
        first = news;
    }
    return first;
}

void trust_news_read(struct trust_news *news)
{
    for (; news != NULL; news = news->next)
        news->store = trust_store_read(news->bundle);
}

static void adopt(const struct trust_news *news)
{
    struct trust *trust = find(news->bundle);
    if (trust == NULL || news->store == NULL) {
        trust_store_free(news->store);
    } else {
        trust_store_free(trust->store);
        trust->store = news->store;
        trust->version++;
    }
    if (news->store == NULL)
        LOG(LOG_LEVEL_WARN, "certificates_unreadable", log_string("file", news->bundle),
            log_string("why", "it is no regular file or holds no certificate that can be read"),
            log_string("meaning", "those that were read before are still trusted"));
}

void trust_news_adopt(struct trust_news *take_news)
{
    while (take_news != NULL) {
        struct trust_news *next = take_news->next;
        adopt(take_news);
        free(take_news->bundle);
        free(take_news);
        take_news = next;
    }
}
