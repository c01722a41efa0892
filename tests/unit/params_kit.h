/* One set of parameters that the tests of bodies fill, and what they expect of it. */
#ifndef SOLVEGATE_TESTS_PARAMS_KIT_H
#define SOLVEGATE_TESTS_PARAMS_KIT_H

#include "encode.h"

#define PARAMS_CAP ((size_t)1024 * 1024)
#define MUTATIONS 30000

/* Empty at the beginning of each test. */
extern struct params params;

/* A test of a group. */
#define PARAMS_TEST(function) \
    cmocka_unit_test_setup_teardown(function, params_setup, params_teardown)
int params_setup(void **state);
int params_teardown(void **state);

void assert_value(const char *name, const char *value);

#endif
