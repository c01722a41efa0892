#include "upstream/sessions.h"

#include "base/assert.h"
#include "upstream/trust.h"
#include "upstream/wire.h"

#include <curl/curl.h>
#include <stdlib.h>

/* docs/reliability.md threat 16: as long as a connection may live. */
#define LIFETIME_MS (UINT64_C(600) * 1000)

/* libcurl cannot empty a cache, so there is a new one instead, and each goes with its last user. */
struct session_cache {
    CURLSH *share;
    unsigned users;
};

struct sessions {
    const struct trust *trust;
    struct session_cache *cache; /* the one for whoever comes; counts as a user */
    uint64_t born_ms;
    unsigned trust_version;
};

/* Only the loop's thread uses it, so it needs no locks. */
static struct session_cache *cache_new(void)
{
    struct session_cache *cache = calloc(1, sizeof *cache);
    ASSERT(cache != NULL);
    cache->share = curl_share_init();
    ASSERT(cache->share != NULL);
    const CURLSHcode failed =
        curl_share_setopt(cache->share, CURLSHOPT_SHARE, CURL_LOCK_DATA_SSL_SESSION);
    ASSERT(failed == CURLSHE_OK);
    cache->users = 1;
    return cache;
}

static void cache_unref(struct session_cache *cache)
{
    if (--cache->users > 0)
        return;
    const CURLSHcode failed = curl_share_cleanup(cache->share);
    ASSERT(failed == CURLSHE_OK);
    free(cache);
}

struct sessions *sessions_new(const struct trust *trust)
{
    struct sessions *sessions = calloc(1, sizeof *sessions);
    ASSERT(sessions != NULL);
    *sessions = (struct sessions){
        .trust = trust, .cache = cache_new(), .trust_version = trust_version(trust)};
    return sessions;
}

void sessions_free(struct sessions *sessions)
{
    if (sessions == NULL)
        return;
    ASSERT(sessions->cache->users == 1);
    cache_unref(sessions->cache);
    free(sessions);
}

static void renew(struct sessions *sessions, uint64_t now_ms)
{
    const unsigned version = trust_version(sessions->trust);
    if (sessions->born_ms == 0)
        sessions->born_ms = now_ms;
    if (version == sessions->trust_version && now_ms - sessions->born_ms < LIFETIME_MS)
        return;
    cache_unref(sessions->cache);
    sessions->cache = cache_new();
    sessions->born_ms = now_ms;
    sessions->trust_version = version;
}

void sessions_apply(struct sessions *sessions, struct sessions_user *user, void *easy,
                    uint64_t now_ms)
{
    renew(sessions, now_ms);
    if (user->cache == sessions->cache)
        return;
    sessions_leave(user, easy);
    user->cache = sessions->cache;
    user->cache->users++;
    WIRE_SET(easy, CURLOPT_SHARE, user->cache->share);
}

void sessions_leave(struct sessions_user *user, void *easy)
{
    if (user->cache == NULL)
        return;
    WIRE_SET(easy, CURLOPT_SHARE, NULL);
    cache_unref(user->cache);
    user->cache = NULL;
}
