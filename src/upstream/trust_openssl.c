#include "upstream/trust_store.h"

#include "base/assert.h"
#include "sys/files.h"

#include <curl/curl.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <string.h>

#define TEXT_OF(number) #number
#define VERSION_TEXT(major) "OpenSSL/" TEXT_OF(major) "."

/* A libcurl built with several TLS libraries names the unused ones in parentheses. */
bool trust_store_is_usable(void)
{
    const char *tls = curl_version_info(CURLVERSION_NOW)->ssl_version;
    static const char ours[] = VERSION_TEXT(OPENSSL_VERSION_MAJOR);
    return tls != NULL && strncmp(tls, ours, sizeof ours - 1) == 0;
}

void *trust_store_read(const char *path)
{
    /* OpenSSL would wait at a pipe for its writer. */
    if (!file_is_regular(path))
        return NULL;
    X509_STORE *store = X509_STORE_new();
    ASSERT(store != NULL);
    if (X509_STORE_load_file(store, path) != 1) {
        ERR_clear_error(); /* leaves no error behind that later code could mistake for its own */
        X509_STORE_free(store);
        return NULL;
    }
    /* The flags that libcurl sets: our own certificates are preferred to those that a server sends,
     * and a trusted certificate need not be a root. */
    (void)X509_STORE_set_flags(store, X509_V_FLAG_TRUSTED_FIRST | X509_V_FLAG_PARTIAL_CHAIN);
    return store;
}

void trust_store_free(void *store)
{
    X509_STORE_free(store);
}

void trust_store_use(void *store, void *ssl_context)
{
    const int is_counted = X509_STORE_up_ref(store);
    ASSERT(is_counted == 1);
    SSL_CTX_set_cert_store(ssl_context, store); /* takes over the reference */
}
