/* The vendor's methods: their required parameters and the form of their answers. */
#ifndef SOLVEGATE_SIM_METHODS_H
#define SOLVEGATE_SIM_METHODS_H

#include "sim/options.h"
#include "sim/params.h"
#include "sim/tasks.h"

/* The method of a submit; a file without a method is an image upload. SLICE_NONE if there is none. */
struct slice methods_name(const struct params *params);

/* NULL if the vendor would accept the submit, else the vendor's error. */
const char *methods_check(const struct params *params, const struct options *options);

enum answer_kind methods_answer_kind(const struct params *params);

/* True for images, which can be solved while the caller waits (solve.php). */
bool methods_is_image(const struct params *params);

#endif
