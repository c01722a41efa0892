/* Is a file of certificates any good? libcurl would tell only with the first connection. */
#ifndef SOLVEGATE_IO_CA_FILE_H
#define SOLVEGATE_IO_CA_FILE_H

#include <stdbool.h>

/* It can be read and holds at least one certificate in PEM form. */
bool ca_file_is_good(const char *path);

#endif
