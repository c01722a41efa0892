/* Are files of certificates any good? libcurl would tell only with the first connection. */
#ifndef SOLVEGATE_UPSTREAM_CA_FILE_H
#define SOLVEGATE_UPSTREAM_CA_FILE_H

#include <stdbool.h>

/* It can be read and holds at least one certificate in PEM form. */
bool ca_file_is_good(const char *path);

/* Does the directory have names by which OpenSSL finds a certificate without reading all the others, and at least
 * as many as the bundle has certificates? Both may be NULL. */
bool ca_directory_is_complete(const char *directory, const char *bundle);

#endif
