#include "doors/foreign.h"

#include "doors/intake.h"

static bool is_numeric(struct slice host)
{
    for (size_t i = 0; i < host.len; i++) {
        if (host.data[i] != '.' && (host.data[i] < '0' || host.data[i] > '9'))
            return false;
    }
    return true;
}

/* The length of the host in "host:port". */
static size_t host_length(struct slice authority)
{
    const char *const colon = memrchr(authority.data, ':', authority.len);
    const char *const bracket = memrchr(authority.data, ']', authority.len);
    if (colon != NULL && (bracket == NULL || colon > bracket))
        return (size_t)(colon - authority.data);
    return authority.len;
}

/* authority is the Host field, or an Origin without its scheme. */
static bool is_loopback(struct slice authority)
{
    const struct slice host = {.data = authority.data, .len = host_length(authority)};
    return slice_equals_nocase(host, SLICE_OF("localhost")) ||
           slice_equals(host, SLICE_OF("[::1]")) ||
           (slice_starts_with(host, SLICE_OF("127.")) && is_numeric(host));
}

static struct slice port_of(struct slice authority)
{
    return slice_skip(authority, host_length(authority));
}

/* True for a page of this server, under any name of this machine. Another port belongs to another
 * program, whose pages may contain anything. */
static bool is_own_origin(struct slice origin, struct slice host)
{
    const char *const slashes = memmem(origin.data, origin.len, "//", 2);
    if (slashes == NULL || !slice_is_given(host))
        return false;
    const size_t skipped = (size_t)(slashes + 2 - origin.data);
    const struct slice authority = {.data = slashes + 2, .len = origin.len - skipped};
    return is_loopback(authority) && slice_equals(port_of(authority), port_of(host));
}

/* Browsers count all ports of one host as the same site, so only "same-origin" is accepted, and
 * "none", which is an address that the user typed. */
static bool is_own_fetch(struct slice site)
{
    return !slice_is_given(site) || slice_equals_nocase(site, SLICE_OF("same-origin")) ||
           slice_equals_nocase(site, SLICE_OF("none"));
}

bool foreign_is(const struct http_request *request)
{
    if (!is_own_fetch(request->sec_fetch_site))
        return true;
    if (slice_is_given(request->origin) && !is_own_origin(request->origin, request->host))
        return true;
    /* A foreign name that resolves to this machine is DNS rebinding; HTTP/1.0 may omit Host. */
    return slice_is_given(request->host) && request->host.len > 0 && !is_loopback(request->host);
}

bool foreign_may_enter(const struct gate *gate, const struct http_request *request)
{
    return gate->config->client_count > 0 || !foreign_is(request);
}

void foreign_refuse(struct gate *gate, const struct http_request *request,
                    const struct visit *visit)
{
    static const struct mistake foreign = {
        .status = 403,
        .code = "foreign_origin",
        .word = "ERROR_IP_NOT_ALLOWED",
        .detail = "without configured clients only programs on this machine may ask, under "
                  "a loopback address; configure clients to let others in",
    };
    visit->dialect->complain(gate, request->caller, visit, &foreign);
}
