/* A reload: takes over options that only matter from now on, and keeps everything that memory was
 * reserved for. */
#include "engine/account.h"
#include "engine/letters_retry.h"
#include "engine/slots.h"
#include "engine/state.h"

#include <stddef.h>

void engine_configure(struct engine *engine, const struct engine_options *options)
{
    const struct engine_options built = engine->options;
    engine->options = *options;
    /* The members before `slots` are fixed at start and are restored here. */
    memcpy(&engine->options, &built, offsetof(struct engine_options, slots));
    engine->options.clients = NULL;
    const bool is_switched = built.slots_are_auto != options->slots_are_auto;
    /* With `slots: "auto"`, the vendor's own number of threads stays in force whatever the
     * configured number is. */
    if (is_switched || (!options->slots_are_auto && built.slots != options->slots))
        slots_set_plan(engine);
    if (is_switched)
        account_watch_plan(engine);
    letters_watch(engine);
    slots_configure(engine, options->clients, options->client_count);
}
