/* The certificates that our connections believe: those of a file, or the system's. A bundle is parsed once and shared,
 * since libcurl would parse it on the loop, once for each lane. */
#ifndef SOLVEGATE_UPSTREAM_TRUST_H
#define SOLVEGATE_UPSTREAM_TRUST_H

struct trust;
struct trust_news;

/* ca_file NULL for the system's. Whoever asks for the same file gets the same trust. NULL when a given file holds no
 * certificate that can be read. Needs curl_global_init, as everything here. */
struct trust *trust_open(const char *ca_file);
/* NULL is fine. Connections that are open keep what they were made with. */
void trust_close(struct trust *trust);

/* From now on a CURL handle believes these. The trust must outlive it. */
void trust_apply(struct trust *trust, void *easy);

/* ---- reading the files again, on SIGHUP ---------------------------------------------------- */

/* What is to be read: on the loop. */
struct trust_news *trust_news_new(void);
/* In any thread. */
void trust_news_read(struct trust_news *news);
/* On the loop: new connections believe what was read. A file that is no good any more is logged and changes nothing. */
void trust_news_adopt(struct trust_news *take_news);

#endif
