/* The certificates that our connections trust: those of a file, or the system's. A bundle is parsed
 * once and shared, since libcurl would parse it on the loop, once for each lane. */
#ifndef SOLVEGATE_UPSTREAM_TRUST_H
#define SOLVEGATE_UPSTREAM_TRUST_H

struct trust;
struct trust_news;

/* A ca_file of NULL means the system's certificates. Calls with the same file share one trust. NULL
 * if a given file holds no readable certificate. All functions here need curl_global_init. */
struct trust *trust_open(const char *ca_file);
/* trust may be NULL. Open connections keep the certificates they were made with. */
void trust_close(struct trust *trust);

/* Makes a CURL handle trust these certificates. The trust must outlive the handle. */
void trust_apply(struct trust *trust, void *easy);

/* Another number whenever the certificates were read anew. */
unsigned trust_version(const struct trust *trust);

/* ---- reading the files again, on SIGHUP ---------------------------------------------------- */

/* Collects the files to read; call it on the loop. */
struct trust_news *trust_news_new(void);
/* Reads them; may run in any thread. */
void trust_news_read(struct trust_news *news);
/* Makes new connections trust the new certificates; call it on the loop. A file that has become
 * unusable is logged and changes nothing. */
void trust_news_adopt(struct trust_news *take_news);

#endif
