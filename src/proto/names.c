#include "proto/names.h"

/* With compile-time lengths each comparison is one or two machine words. */
#define MATCH(literal, role)                                  \
    if (memcmp(name.data, literal, sizeof(literal) - 1) == 0) \
    return role

static enum name_role role_of_1_to_6(struct slice name)
{
    switch (name.len) {
    case 1:
        MATCH("_", NAME_TRANSPORT); /* jQuery's cache buster, different in each call */
        break;
    case 2:
        MATCH("iv", NAME_ONCE);
        break;
    case 3:
        MATCH("key", NAME_TRANSPORT);
        MATCH("ext", NAME_BOOKKEEPING);
        break;
    case 4:
        MATCH("json", NAME_TRANSPORT);
        MATCH("wait", NAME_TRANSPORT);
        MATCH("body", NAME_BODY);
        MATCH("file", NAME_FILE);
        MATCH("calc", NAME_OPTION);
        MATCH("data", NAME_ONCE);
        break;
    case 5:
        MATCH("reuse", NAME_TRANSPORT);
        MATCH("debug", NAME_TRANSPORT);
        MATCH("proxy", NAME_PROXY);
        MATCH("image", NAME_IMAGE);
        break;
    case 6:
        MATCH("method", NAME_METHOD);
        MATCH("data-s", NAME_ONCE);
        MATCH("rqdata", NAME_ONCE);
        MATCH("phrase", NAME_OPTION);
        break;
    }
    return NAME_OTHER;
}

static enum name_role role_of_7_to_8(struct slice name)
{
    switch (name.len) {
    case 7:
        MATCH("sitekey", NAME_SITEKEY);
        MATCH("pageurl", NAME_PAGEURL);
        MATCH("soft_id", NAME_TRANSPORT);
        MATCH("min_ttl", NAME_TRANSPORT);
        MATCH("max_age", NAME_TRANSPORT);
        MATCH("version", NAME_VERSION);
        MATCH("context", NAME_ONCE);
        MATCH("numeric", NAME_OPTION);
        MATCH("min_len", NAME_OPTION);
        MATCH("max_len", NAME_OPTION);
        break;
    case 8:
        MATCH("pingback", NAME_TRANSPORT);
        MATCH("callback", NAME_TRANSPORT);
        MATCH("priority", NAME_TRANSPORT);
        MATCH("regsense", NAME_OPTION);
        MATCH("language", NAME_OPTION);
        MATCH("pagedata", NAME_ONCE);
        MATCH("filename", NAME_BOOKKEEPING);
        break;
    }
    return NAME_OTHER;
}

static enum name_role role_of_9_to_16(struct slice name)
{
    switch (name.len) {
    case 9:
        MATCH("googlekey", NAME_GOOGLEKEY);
        MATCH("userAgent", NAME_USER_AGENT);
        MATCH("useragent", NAME_USERAGENT);
        MATCH("proxytype", NAME_PROXYTYPE);
        MATCH("invisible", NAME_FLAG);
        MATCH("challenge", NAME_ONCE);
        break;
    case 10:
        MATCH("enterprise", NAME_FLAG);
        MATCH("is_russian", NAME_OPTION); /* the former name of `language` */
        MATCH("data[blob]", NAME_ONCE);
        break;
    case 11:
        MATCH("header_acao", NAME_TRANSPORT);
        MATCH("max_retries", NAME_TRANSPORT);
        MATCH("retry_delay", NAME_TRANSPORT);
        MATCH("textcaptcha", NAME_TEXTCAPTCHA);
        MATCH("validate_id", NAME_ONCE);
        break;
    case 14:
        MATCH("challenge_json", NAME_ONCE);
        if (name.data[13] >= '1' && name.data[13] <= '9')
            MATCH("image_base64_", NAME_PICTURE);
        break;
    case 15:
        MATCH("idempotency_key", NAME_TRANSPORT);
        MATCH("imginstructions", NAME_PICTURE);
        break;
    case 16:
        MATCH("s_s_c_session_id", NAME_ONCE);
        break;
    }
    return NAME_OTHER;
}

enum name_role name_role(struct slice name)
{
    if (name.len <= 6)
        return role_of_1_to_6(name);
    return name.len <= 8 ? role_of_7_to_8(name) : role_of_9_to_16(name);
}

/* PHP drops leading blanks, turns names with a bracket into arrays, and dots and blanks into
 * underscores. Case is folded for servers that are not PHP. */
static size_t fold_name(struct slice name, char *out, size_t room)
{
    size_t from = 0;
    while (from < name.len &&
           (name.data[from] == ' ' || (name.data[from] >= '\t' && name.data[from] <= '\r')))
        from++;
    size_t len = 0;
    for (; from < name.len && len < room; from++) {
        const char c = name.data[from];
        if (c == '[')
            break;
        if (c == '.' || c == ' ')
            out[len++] = '_';
        else
            out[len++] = c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c;
    }
    return len;
}

bool name_is_disguised(struct slice name)
{
    static const struct slice guarded[] = {
        SLICE_INIT("key"),         SLICE_INIT("json"),    SLICE_INIT("method"),
        SLICE_INIT("soft_id"),     SLICE_INIT("pageurl"), SLICE_INIT("pingback"),
        SLICE_INIT("header_acao"),
    };
    char folded[16];
    const struct slice plain = {.data = folded, .len = fold_name(name, folded, sizeof folded)};
    for (size_t i = 0; i < sizeof guarded / sizeof guarded[0]; i++)
        if (slice_equals(plain, guarded[i]))
            return !slice_equals(name, guarded[i]);
    return false;
}
