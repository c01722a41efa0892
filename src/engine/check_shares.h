/* The auditor's part about shares. */
#ifndef SOLVEGATE_ENGINE_CHECK_SHARES_H
#define SOLVEGATE_ENGINE_CHECK_SHARES_H

#include "engine/state.h"

void check_shares(const struct engine *engine);

#endif
