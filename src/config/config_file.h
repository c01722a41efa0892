/* Walks the configuration file and hands each value to its option. */
#ifndef SOLVEGATE_CONFIG_CONFIG_FILE_H
#define SOLVEGATE_CONFIG_CONFIG_FILE_H

#include "config/config_loader.h"

/* Gives every option of the prefix ("", CLIENT_OPTION_PREFIX or POOL_OPTION_PREFIX) its default. */
void file_read_presets(struct loader *loader, struct slice prefix, void *base);

/* false when the text is no JSON at all, so that nothing in it could be read. */
bool file_read(struct loader *loader, struct slice text);

#endif
