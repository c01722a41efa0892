/* Parts of the auditor (engine_check) that have files of their own. */
#ifndef SOLVEGATE_ENGINE_CHECK_H
#define SOLVEGATE_ENGINE_CHECK_H

#include "engine/state.h"

void check_shares(const struct engine *engine);

#endif
