#include "params_kit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

struct params params;

int params_setup(void **state)
{
    (void)state;
    params_init(&params, PARAMS_CAP);
    return 0;
}

int params_teardown(void **state)
{
    (void)state;
    params_close(&params);
    return add_exactly(NULL, SLICE_NONE, SLICE_NONE);
}

void assert_value(const char *name, const char *value)
{
    const struct slice found = params_value(&params, slice_from(name));
    assert_true(slice_is_given(found));
    assert_int_equal(found.len, strlen(value));
    assert_memory_equal(found.data, value, found.len);
}
