/* Walks the configuration file and hands each value to its option. */
#ifndef SOLVEGATE_CONFIG_CONFIG_FILE_H
#define SOLVEGATE_CONFIG_CONFIG_FILE_H

#include "config/config_loader.h"

/* False if the text is not JSON at all, so that nothing in it could be read. */
bool file_read(struct loader *loader, struct slice text);

#endif
