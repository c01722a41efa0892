/* The dashboard, put into the binary at build time from the folder dashboard beside this file. */
#ifndef SOLVEGATE_DOORS_DASHBOARD_H
#define SOLVEGATE_DOORS_DASHBOARD_H

#include "base/slice.h"

/* One page that contains everything it needs. */
struct slice dashboard(void);

/* The script-src and style-src that allow the page's own content and nothing else. */
struct slice dashboard_policy(void);

#endif
