/* The vendor's methods: what each demands, and what its answer looks like. */
#ifndef SOLVEGATE_SIM_METHODS_H
#define SOLVEGATE_SIM_METHODS_H

#include "sim/options.h"
#include "sim/params.h"
#include "sim/tasks.h"

/* The method that was asked for; a file without a method is an image upload. SLICE_NONE: none. */
struct slice methods_name(const struct params *params);

/* NULL when the vendor would accept it, else the vendor's word for what is wrong. */
const char *methods_check(const struct params *params, const struct options *options);

enum answer_kind methods_answer_kind(const struct params *params);

/* Images can be solved while the caller waits (solve.php). */
bool methods_is_image(const struct params *params);

#endif
