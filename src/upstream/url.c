#include "upstream/url.h"

#include "base/ascii.h"

#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>

/* Longer than any page address that a browser would send. */
#define URL_MAX 8192
/* Dot segments stay, since only the site can say whether two spellings of a path are one page. */
#define FLAGS (CURLU_NON_SUPPORT_SCHEME | CURLU_PATH_AS_IS)

static CURLU *parse(struct slice url)
{
    char text[URL_MAX];
    if (url.len == 0 || url.len >= sizeof text || memchr(url.data, '\0', url.len) != NULL)
        return NULL;
    memcpy(text, url.data, url.len);
    text[url.len] = '\0';
    CURLU *handle = curl_url();
    if (handle == NULL)
        return NULL;
    if (curl_url_set(handle, CURLUPART_URL, text, FLAGS) == CURLUE_OK)
        return handle;
    curl_url_cleanup(handle);
    return NULL;
}

static void lower(char *text)
{
    for (; *text != '\0'; text++)
        *text = ascii_lower(*text);
}

static bool is_web(CURLU *handle)
{
    char *scheme = NULL;
    if (curl_url_get(handle, CURLUPART_SCHEME, &scheme, 0) != CURLUE_OK)
        return false;
    lower(scheme);
    const bool is_web = strcmp(scheme, "http") == 0 || strcmp(scheme, "https") == 0;
    curl_free(scheme);
    return is_web;
}

/* The host in lower case, owned by libcurl, or NULL. */
static char *host_of(CURLU *handle)
{
    char *host = NULL;
    if (!is_web(handle) || curl_url_get(handle, CURLUPART_HOST, &host, 0) != CURLUE_OK)
        return NULL;
    lower(host);
    return host;
}

static long copy_out(const char *text, char *out, size_t room)
{
    const size_t len = strlen(text);
    if (len > room)
        return -1;
    memcpy(out, text, len);
    return (long)len;
}

static long write_normal(CURLU *handle, char *out, size_t room)
{
    char *host = host_of(handle);
    if (host == NULL)
        return -1;
    long len = -1;
    char *whole = NULL;
    /* libcurl lower-cases the scheme itself; NO_DEFAULT_PORT drops :80 and :443. */
    if (curl_url_set(handle, CURLUPART_HOST, host, 0) == CURLUE_OK &&
        curl_url_set(handle, CURLUPART_FRAGMENT, NULL, 0) == CURLUE_OK &&
        curl_url_get(handle, CURLUPART_URL, &whole, CURLU_NO_DEFAULT_PORT) == CURLUE_OK)
        len = copy_out(whole, out, room);
    curl_free(whole);
    curl_free(host);
    return len;
}

long url_normalize(struct slice url, char *out, size_t room)
{
    CURLU *handle = parse(url);
    if (handle == NULL)
        return -1;
    const long len = write_normal(handle, out, room);
    curl_url_cleanup(handle);
    return len;
}

/* A browser takes a backslash for a slash, which ends the host; libcurl may take it for part of a
 * user name. */
static bool has_backslash(struct slice url)
{
    for (size_t i = 0; i < url.len && url.data[i] != '?' && url.data[i] != '#'; i++) {
        if (url.data[i] == '\\')
            return true;
    }
    return false;
}

long url_host(struct slice url, char *out, size_t room)
{
    CURLU *handle = has_backslash(url) ? NULL : parse(url);
    if (handle == NULL)
        return -1;
    char *host = host_of(handle);
    long len = -1;
    if (host != NULL) {
        len = copy_out(host, out, room);
        /* "example.com." is the same host as "example.com"; a host with several trailing dots is
         * invalid. */
        if (len > 0 && out[len - 1] == '.')
            len--;
        if (len == 0 || (len > 0 && out[len - 1] == '.'))
            len = -1;
        curl_free(host);
    }
    curl_url_cleanup(handle);
    return len;
}
