#include "event_name.h"

#include <stddef.h>

const char *event_name(enum event_kind kind)
{
    static const char *const names[] = {
        [EVENT_TICK] = "tick",
        [EVENT_ASK] = "ask",
        [EVENT_LOOK] = "look",
        [EVENT_GONE] = "gone",
        [EVENT_DETACH] = "detach",
        [EVENT_UNTOLD] = "untold",
        [EVENT_REPORT] = "report",
        [EVENT_ACCOUNT] = "account",
        [EVENT_SUBMITTED] = "submitted",
        [EVENT_POLLED] = "polled",
        [EVENT_PROBED] = "probed",
        [EVENT_CALLBACK] = "callback",
        [EVENT_FORGED] = "forged",
        [EVENT_LETTERS] = "letters",
        [EVENT_SHOW] = "show",
        [EVENT_DURABLE] = "durable",
        [EVENT_STORE_STATE] = "store",
        [EVENT_STORE_LOST] = "store lost",
        [EVENT_STANDSTILL] = "stood still",
        [EVENT_DRAIN] = "drain",
        [EVENT_NOTIFIED] = "notified",
    };
    const char *name = (size_t)kind < sizeof names / sizeof names[0] ? names[kind] : NULL;
    return name == NULL ? "something" : name;
}
