/* The vendor's URL: checks whether we may use it, and builds the two addresses that we call. */
#ifndef SOLVEGATE_UPSTREAM_UPSTREAM_URL_H
#define SOLVEGATE_UPSTREAM_UPSTREAM_URL_H

#include "base/buf.h"
#include "base/err.h"

struct vendor_protocol;

struct upstream_url {
    void *submit,
        *query; /* each a CURLU, owned by the caller afterwards: for submits and for queries */
    const char *scheme;    /* "http" or "https" */
    bool must_be_loopback; /* plain HTTP, allowed only because the host is loopback */
};

/* 0, or ERR_INVALID with a sentence in mistake. */
int upstream_url_read(struct upstream_url *url, const char *text,
                      const struct vendor_protocol *protocol, bool allow_plain_http,
                      struct buf *mistake) MUST_CHECK;

#endif
