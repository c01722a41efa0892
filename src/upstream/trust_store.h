/* A parsed bundle of certificates that TLS connections of libcurl can share. */
#ifndef SOLVEGATE_UPSTREAM_TRUST_STORE_H
#define SOLVEGATE_UPSTREAM_TRUST_STORE_H

#include <stdbool.h>

/* Does libcurl speak TLS with the library that we were built with? Otherwise it has to read bundles itself. */
bool trust_store_is_usable(void);

/* NULL when it holds no certificate, or one that is damaged. */
void *trust_store_read(const char *path);
/* NULL is fine. */
void trust_store_free(void *store);

/* For CURLOPT_SSL_CTX_FUNCTION: the connection that is being made believes the store. */
void trust_store_use(void *store, void *ssl_context);

#endif
