/* Checks files of certificates in advance; libcurl would report a bad one only with the first
 * connection. */
#ifndef SOLVEGATE_UPSTREAM_CA_FILE_H
#define SOLVEGATE_UPSTREAM_CA_FILE_H

#include <stdbool.h>

/* True if the file can be read and holds at least one certificate in PEM form. */
bool ca_file_is_good(const char *path);

/* True if the directory has hashed names, by which OpenSSL finds a certificate without reading all
 * others, at least as many as the bundle has certificates. Both may be NULL. */
bool ca_directory_is_complete(const char *directory, const char *bundle);

#endif
