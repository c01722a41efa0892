/* The dashboard, put into the binary at build time from the folder dashboard beside this file. */
#ifndef SOLVEGATE_DOORS_DASHBOARD_H
#define SOLVEGATE_DOORS_DASHBOARD_H

#include "base/slice.h"

/* One page with everything it needs inside. */
struct slice dashboard(void);

/* The script-src and style-src that allow what is in the page and nothing else. */
struct slice dashboard_policy(void);

#endif
