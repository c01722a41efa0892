/* Mistakes that show only when options are seen together. */
#ifndef SOLVEGATE_PROTO_CONFIG_CHECK_H
#define SOLVEGATE_PROTO_CONFIG_CHECK_H

#include "proto/config_loader.h"

void check_together(struct loader *loader);

#endif
