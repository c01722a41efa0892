/* Measures a vendor itself, by in.php and res.php, within a budget. */
#ifndef SOLVEGATE_CLI_BENCH_VENDOR_H
#define SOLVEGATE_CLI_BENCH_VENDOR_H

#include "cli/bench_flags.h"
#include "cli/bench_guard.h"

struct bench_images;

/* Asks the person, measures and prints; returns the exit code. The order is one of a vendor, and its key was found.
 * host: what kind of address it has. */
int bench_vendor(const struct command *command, const struct bench_order *order,
                 const struct bench_images *images, enum bench_host host);

#endif
