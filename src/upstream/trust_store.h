/* A parsed bundle of certificates that TLS connections of libcurl can share. */
#ifndef SOLVEGATE_UPSTREAM_TRUST_STORE_H
#define SOLVEGATE_UPSTREAM_TRUST_STORE_H

#include <stdbool.h>

/* True if libcurl uses the TLS library that we were built with. Otherwise it has to read bundles
 * itself. */
bool trust_store_is_usable(void);

/* NULL if the file is no regular one, or holds no certificate or a damaged one. */
void *trust_store_read(const char *path);
/* store may be NULL. */
void trust_store_free(void *store);

/* For CURLOPT_SSL_CTX_FUNCTION: makes the new connection trust the store. */
void trust_store_use(void *store, void *ssl_context);

#endif
