#include "engine_defaults.h"

#include "config/config_fields.h"
#include "config/config_options.h"

void engine_options_init(struct engine_options *engine)
{
    static const struct client_options everybody = {.weight = 1, .budget_per_day = UINT64_MAX};
    struct config config = {.listen_count = 0};
    options_preset(HOME_CONFIG, &config);
    *engine = config.engine;
    options_close(HOME_CONFIG, &config);
    engine->slots = 50;
    engine->wake_batch = engine->step_batch = ENGINE_BATCH;
    engine->client_count = 1;
    engine->clients = &everybody;
}
