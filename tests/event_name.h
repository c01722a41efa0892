/* Names of events for traces. */
#ifndef SOLVEGATE_TESTS_EVENT_NAME_H
#define SOLVEGATE_TESTS_EVENT_NAME_H

#include <solvegate/event.h>

const char *event_name(enum event_kind kind);

#endif
