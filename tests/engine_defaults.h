/* The program's defaults for worlds that consist of the engine alone. */
#ifndef SOLVEGATE_TESTS_ENGINE_DEFAULTS_H
#define SOLVEGATE_TESTS_ENGINE_DEFAULTS_H

#include <solvegate/engine.h>

/* Those of the table, a plan of 50 slots instead of asking the vendor, and one unlimited client. */
void engine_options_init(struct engine_options *engine);

#endif
