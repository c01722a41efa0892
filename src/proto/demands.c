/* A caller's mistakes that the gateway can detect itself, reported in the vendor's words
 * (docs/protocol.md 3a). */
#include "proto/demands.h"

#include "proto/identity_private.h"
#include "proto/params_private.h"

#include <stdarg.h>
#include <stdio.h>

/* The vendor's older reference says below 100 bytes, the newer below 1 KB: only the first is certain. */
#define IMAGE_MIN_BYTES 100
/* The newer reference says above 1024 KB, and the older limit of 100 kB is no longer certain. */
#define IMAGE_MAX_BYTES ((size_t)1024 * 1024)

int identity_fail(struct identity *identity, const char *word, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    (void)vsnprintf(identity->mistake_detail, sizeof identity->mistake_detail, format, args);
    va_end(args);
    identity->mistake = word;
    return ERR_INVALID;
}

bool identity_has(const struct identity_work *work, enum name_role role)
{
    return work->given[role] != NULL && work->given[role]->value.len > 0;
}

/* True if the parameter is given and not blank. */
static bool is_said(const struct identity_work *work, enum name_role role)
{
    return work->given[role] != NULL && params_trim(work->given[role]->value).len > 0;
}

static bool holds_nul(const struct param *param)
{
    return param != NULL && memchr(param->value.data, '\0', param->value.len) != NULL;
}

/* A name with a NUL, or one that the vendor reads as `key` or `pingback`, would let a caller speak
 * to the vendor in our place (docs/reliability.md threat 14); one read as `pageurl` would bypass
 * the list of hosts. */
static int check_names(const struct identity_work *work)
{
    char quoted[PARAMS_QUOTE_MAX];
    for (size_t i = 0; i < work->params->count; i++) {
        const struct slice name = work->params->items[i].name;
        if (work->roles[i] != NAME_OTHER)
            continue;
        if (memchr(name.data, '\0', name.len) != NULL || name_is_disguised(name))
            return identity_fail(work->identity, "ERROR_BAD_PARAMETERS",
                                 "the parameter name '%s' is not allowed",
                                 params_quote(name, quoted));
    }
    return 0;
}

static int check_nuls(const struct identity_work *work)
{
    static const enum name_role roles[] = {NAME_METHOD, NAME_PAGEURL, NAME_SITEKEY, NAME_GOOGLEKEY};
    for (size_t i = 0; i < sizeof roles / sizeof roles[0]; i++)
        if (holds_nul(work->given[roles[i]]))
            return identity_fail(work->identity, "ERROR_BAD_PARAMETERS", "%.*s holds a NUL byte",
                                 (int)work->given[roles[i]]->name.len,
                                 work->given[roles[i]]->name.data);
    return 0;
}

static int check_also(const struct identity_work *work)
{
    for (size_t i = 0; i < METHOD_ALSO_MAX; i++) {
        const struct slice name = work->method->also[i];
        if (slice_is_given(name) && params_value(work->params, name).len == 0)
            return identity_fail(work->identity, "ERROR_BAD_PARAMETERS",
                                 "%s is required by method %s", name.data, work->method->name.data);
    }
    return 0;
}

static bool ends_host(char c)
{
    return c == '/' || c == '?' || c == '#';
}

static size_t host_length(struct slice url)
{
    size_t len = 0;
    while (len < url.len && !ends_host(url.data[len]))
        len++;
    return len;
}

static size_t scheme_length(struct slice url)
{
    size_t len = 0;
    while (len < url.len && url.data[len] != ':' && url.data[len] != '.' &&
           !ends_host(url.data[len]))
        len++;
    return len;
}

/* Skips the scheme: none, http:// or https://; false for another one. A digit after the colon makes
 * it a port. */
static bool skip_scheme(struct slice *url)
{
    const size_t len = scheme_length(*url);
    const struct slice rest = slice_skip(*url, len);
    if (rest.len == 0 || rest.data[0] != ':' ||
        (rest.len > 1 && rest.data[1] >= '0' && rest.data[1] <= '9'))
        return true;
    const struct slice scheme = {.data = url->data, .len = len};
    if (!slice_starts_with(rest, SLICE_OF("://")) ||
        (!slice_equals_nocase(scheme, SLICE_OF("http")) &&
         !slice_equals_nocase(scheme, SLICE_OF("https"))))
        return false;
    *url = slice_skip(rest, 3);
    return true;
}

static bool is_control(char c)
{
    return (unsigned char)c < ' ' || c == 0x7f;
}

/* Looks at eight bytes at a time. The high bits of a difference tell whether one of them is below its
 * bound; bytes with their own high bit set are not. */
static bool has_control(struct slice text)
{
    const uint64_t ones = UINT64_C(0x0101010101010101);
    size_t at = 0;
    for (uint64_t word; at + sizeof word <= text.len; at += sizeof word) {
        memcpy(&word, text.data + at, sizeof word);
        const uint64_t dels = word ^ ones * 0x7f;
        if ((((word - ones * ' ') & ~word) | ((dels - ones) & ~dels)) & ones << 7)
            return true;
    }
    while (at < text.len && !is_control(text.data[at]))
        at++;
    return at < text.len;
}

/* True if the URL can be a page at all; anything that a browser or the vendor may understand passes. */
static bool is_page(struct slice url)
{
    url = params_trim(url);
    if (has_control(url) || !skip_scheme(&url))
        return false;
    const size_t host = host_length(url);
    return host > 0 && memchr(url.data, ' ', host) == NULL;
}

static int check_pageurl(const struct identity_work *work)
{
    if (!is_said(work, NAME_PAGEURL) || is_page(work->given[NAME_PAGEURL]->value))
        return 0;
    return identity_fail(work->identity, "ERROR_PAGEURL", "pageurl is not an http or https URL");
}

static bool has_no_image(const struct identity_work *work)
{
    return !work->has_file && !identity_has(work, NAME_FILE) && !identity_has(work, NAME_BODY) &&
           !identity_has(work, NAME_IMAGE) && !identity_has(work, NAME_TEXTCAPTCHA);
}

int identity_check_demands(const struct identity_work *work)
{
    struct identity *const identity = work->identity;
    const unsigned needs = work->method == NULL ? 0 : work->method->needs;
    int code = check_names(work);
    if (code == 0)
        code = check_nuls(work);
    if (code == 0)
        code = check_pageurl(work);
    if (code != 0 || work->method == NULL)
        return code;
    const char *const method = work->method->name.data;
    if ((needs & METHOD_NEEDS_SITEKEY) != 0 && !is_said(work, NAME_SITEKEY) &&
        !is_said(work, NAME_GOOGLEKEY))
        return identity_fail(identity, "ERROR_GOOGLEKEY", "%s is required by method %s",
                             work->method->type == TYPE_RECAPTCHA_V2 ? "googlekey" : "sitekey",
                             method);
    if ((needs & METHOD_NEEDS_PAGEURL) != 0 && !is_said(work, NAME_PAGEURL))
        return identity_fail(identity, "ERROR_PAGEURL", "pageurl is required by method %s", method);
    if ((needs & METHOD_NEEDS_PROXY) != 0 && !identity_has(work, NAME_PROXY))
        return identity_fail(identity, "ERROR_BAD_PARAMETERS", "proxy is required by method %s",
                             method);
    if ((needs & METHOD_NEEDS_IMAGE) != 0 && has_no_image(work))
        return identity_fail(identity, "ERROR_ZERO_CAPTCHA_FILESIZE",
                             "method %s needs an image in file or body", method);
    return check_also(work);
}

int identity_check_image(const struct identity_work *work, bool is_decoded, size_t bytes)
{
    struct identity *const identity = work->identity;
    /* A text question needs no image, so an image that comes with it is not checked. */
    if (!work->is_upload || (work->method->needs & METHOD_NEEDS_IMAGE) == 0 ||
        identity_has(work, NAME_TEXTCAPTCHA))
        return 0;
    if (!is_decoded)
        return identity_fail(identity, "ERROR_UPLOAD", "body is not base64");
    if (bytes < IMAGE_MIN_BYTES)
        return identity_fail(identity, "ERROR_ZERO_CAPTCHA_FILESIZE",
                             "the image has %zu bytes, fewer than %d", bytes, IMAGE_MIN_BYTES);
    if (bytes > IMAGE_MAX_BYTES)
        return identity_fail(identity, "ERROR_TOO_BIG_CAPTCHA_FILESIZE",
                             "the image has more than %zu bytes", IMAGE_MAX_BYTES);
    return 0;
}
