/* Mistakes that show only when options are seen together. */
#ifndef SOLVEGATE_CONFIG_CONFIG_CHECK_H
#define SOLVEGATE_CONFIG_CONFIG_CHECK_H

#include "config/config_loader.h"

void check_together(struct loader *loader);

#endif
