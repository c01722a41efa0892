#include "io/foreign.h"

#include "io/reply.h"

static bool is_numeric(struct slice host)
{
    for (size_t i = 0; i < host.len; i++) {
        if (host.data[i] != '.' && (host.data[i] < '0' || host.data[i] > '9'))
            return false;
    }
    return true;
}

/* A host and port as the Host field has it, or what follows the scheme of an Origin. */
static bool is_loopback(struct slice authority)
{
    size_t len = authority.len;
    const char *const colon = memrchr(authority.data, ':', authority.len);
    const char *const bracket = memrchr(authority.data, ']', authority.len);
    if (colon != NULL && (bracket == NULL || colon > bracket))
        len = (size_t)(colon - authority.data);
    const struct slice host = {.data = authority.data, .len = len};
    return slice_equals_nocase(host, SLICE_OF("localhost")) ||
           slice_equals(host, SLICE_OF("[::1]")) ||
           (slice_starts_with(host, SLICE_OF("127.")) && is_numeric(host));
}

static bool is_own_origin(struct slice origin)
{
    const char *const slashes = memmem(origin.data, origin.len, "//", 2);
    if (slashes == NULL)
        return false;
    const size_t skipped = (size_t)(slashes + 2 - origin.data);
    return is_loopback((struct slice){.data = slashes + 2, .len = origin.len - skipped});
}

bool foreign_may_enter(const struct gate *gate, const struct http_request *request)
{
    if (gate->config->client_count > 0)
        return true;
    if (slice_equals_nocase(request->sec_fetch_site, SLICE_OF("cross-site")))
        return false;
    if (slice_is_given(request->origin) && !is_own_origin(request->origin))
        return false;
    /* A name that somebody made to point here (DNS rebinding); HTTP/1.0 may leave it out. */
    return !slice_is_given(request->host) || request->host.len == 0 || is_loopback(request->host);
}

void foreign_refuse(struct gate *gate, const struct http_request *request,
                    const struct visit *visit, bool is_dialect)
{
    const struct problem problem = {
        .status = 403,
        .code = "foreign_origin",
        .detail =
            SLICE_OF("without configured clients only programs on this machine may ask, under "
                     "a loopback address; configure clients to let others in"),
    };
    if (is_dialect)
        reply_dialect_word(gate, request->caller, visit, SLICE_OF("ERROR_IP_NOT_ALLOWED"));
    else
        reply_problem(gate, request->caller, visit, &problem);
}
