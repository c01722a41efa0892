#include "config_world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define ENVIRONMENT_MAX 64

static const char *environment[ENVIRONMENT_MAX + 1]; /* names and values, ended by NULL */

/* Copies the pointers: a test that fails leaves its own list behind on a dead stack. */
void world_set_environment(const char *const *pairs)
{
    size_t count = 0;
    for (; pairs != NULL && pairs[count] != NULL; count++) {
        assert_true(count < ENVIRONMENT_MAX);
        environment[count] = pairs[count];
    }
    environment[count] = NULL;
}

static const char *find_variable(const char *name)
{
    for (const char *const *pair = environment; *pair != NULL; pair += 2)
        if (strcmp(pair[0], name) == 0)
            return pair[1];
    return NULL;
}

static void load(struct world *world, struct slice text, const struct config_flag *flags,
                 size_t count)
{
    buf_init(&world->mistakes, 1 << 20);
    world->code = config_load(&world->config, text, text.len == 0 ? NULL : "gate.json",
                              find_variable, flags, count, &world->mistakes);
    /* Mistakes and only mistakes make it fail. */
    assert_int_equal(world->code == 0, world->mistakes.len == 0);
}

void world_load(struct world *world, const char *text)
{
    load(world, slice_from(text), NULL, 0);
}

void world_load_bytes(struct world *world, struct slice text)
{
    load(world, text, NULL, 0);
}

void world_load_flags(struct world *world, const char *text, const struct config_flag *flags,
                      size_t count)
{
    load(world, slice_from(text), flags, count);
}

void world_close(struct world *world)
{
    config_close(&world->config);
    buf_close(&world->mistakes);
}

const char *world_mistakes(struct world *world)
{
    buf_add_char(&world->mistakes, '\0');
    world->mistakes.len--;
    return world->mistakes.data;
}

void world_expect(const char *text, const char *mistakes)
{
    struct world world;
    world_load(&world, text);
    assert_string_equal(world_mistakes(&world), mistakes);
    world_close(&world);
}
