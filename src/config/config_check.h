/* Checks of options together, after all were read. */
#ifndef SOLVEGATE_CONFIG_CONFIG_CHECK_H
#define SOLVEGATE_CONFIG_CONFIG_CHECK_H

#include "config/config_loader.h"

/* Tells mistakes in combinations of options. */
void check_together(struct loader *loader);

#endif
