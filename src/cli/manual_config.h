/* The manual page of the configuration file. */
#ifndef SOLVEGATE_CLI_MANUAL_CONFIG_H
#define SOLVEGATE_CLI_MANUAL_CONFIG_H

#include "base/buf.h"

void manual_write_config(struct buf *out);

#endif
