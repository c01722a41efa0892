/* The TLS sessions that new connections to the vendor resume: by itself libcurl keeps them for each
 * handle alone, so a burst would shake hands in full for every connection. */
#ifndef SOLVEGATE_UPSTREAM_SESSIONS_H
#define SOLVEGATE_UPSTREAM_SESSIONS_H

#include <stdint.h>

struct sessions;
struct trust;

/* A resumed session is not checked against the certificates again, so all of them are forgotten
 * after a while and when the certificates were read anew. trust is borrowed. */
struct sessions *sessions_new(const struct trust *trust);
/* All handles must have left. sessions may be NULL. */
void sessions_free(struct sessions *sessions);

/* A handle's part in them; zeros before the first call. */
struct sessions_user {
    struct session_cache *cache;
};

/* Makes a CURL handle that is not in use resume the sessions known now. */
void sessions_apply(struct sessions *sessions, struct sessions_user *user, void *easy,
                    uint64_t now_ms);
void sessions_leave(struct sessions_user *user, void *easy);

#endif
