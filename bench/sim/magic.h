/* Magic sitekeys: a sitekey that starts with SIM- forces what happens to its task. */
#ifndef SIM_MAGIC_H
#define SIM_MAGIC_H

#include "base/err.h"

#include "fault.h"
#include "params.h"

struct magic {
    struct fault faults[PLACE_COUNT];
    bool is_given[PLACE_COUNT];
};

/* Reads the magic out of whichever parameter can hold it; nothing magic is no error.
 * ERR_INVALID for a word that starts like magic and is none. */
int magic_read(struct magic *magic, const struct params *params) MUST_CHECK;

#endif
