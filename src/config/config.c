#include "config/config.h"

#include "base/assert.h"
#include "config/config_check.h"
#include "config/config_clients.h"
#include "config/config_fields.h"
#include "config/config_file.h"
#include "config/config_read.h"

#include <sodium.h>
#include <stdlib.h>

/* The longest path shown in a message; unknown names may be longer. */
#define PATH_MAX_BYTES 255

/* An empty variable counts as unset: that is what `VAR= command` and compose files mean by it. */
static void read_variable(struct loader *loader, const struct option *option, const char *type)
{
    char name[VARIABLE_MAX];
    loader_variable_name(option->path, type == NULL ? "" : type, name);
    const char *const text = loader->env(name);
    if (text == NULL || *text == '\0')
        return;
    loader_enter(loader, ORIGIN_ENVIRONMENT, name);
    read_plain(loader, option, type, text, true);
}

static void read_environment(struct loader *loader)
{
    for (const struct option *option = option_table; option < option_table + option_count;
         option++) {
        const bool is_per_type = option->shape == SHAPE_PER_TYPE;
        if (loader->env == NULL || option->home != HOME_CONFIG || option->shape == SHAPE_MAP)
            continue;
        if (!is_per_type || option->kind != OPTION_WORD)
            read_variable(loader, option, NULL);
        for (size_t type = 0; is_per_type && type < TYPE_COUNT; type++)
            read_variable(loader, option, option_type_name(type));
    }
}

/* The usual variable for the vendor's key; every other source takes precedence. */
static void read_fallback_key(struct loader *loader)
{
    static const char name[] = "CAPTCHAAI_API_KEY";
    const struct option *const option = option_find(SLICE_OF("upstream."), SLICE_OF("key"));
    const char *const text = loader->env == NULL ? NULL : loader->env(name);
    if (loader->seen[option - option_table].origin != ORIGIN_PRESET || text == NULL ||
        *text == '\0')
        return;
    loader_enter(loader, ORIGIN_ENVIRONMENT, name);
    read_plain(loader, option, NULL, text, true);
}

static void read_flags(struct loader *loader, const struct config_flag *flags, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct option *const option = option_find(SLICE_OF(""), slice_from(flags[i].path));
        ASSERT(option != NULL && option->home == HOME_CONFIG);
        loader_enter(loader, ORIGIN_COMMAND_LINE, flags[i].flag);
        read_plain(loader, option, NULL, flags[i].value, false);
    }
}

/* Types with a default of their own ignore "default". */
static void preset(struct loader *loader)
{
    options_preset(HOME_CONFIG, loader->config);
    for (size_t i = 0; i < option_count; i++) {
        const struct option_type *own = option_table[i].types;
        for (; own != NULL && own->type < TYPE_COUNT; own++)
            loader->seen[i].named |= UINT32_C(1) << own->type;
    }
}

int config_load(struct config *config, struct slice text, const char *file_name, config_env_fn env,
                const struct config_flag *flags, size_t flag_count, struct buf *mistakes)
{
    *config = (struct config){.listen_count = 0};
    struct loader loader = {
        .config = config, .file_name = file_name, .env = env, .mistakes = mistakes};
    buf_init(&loader.path, PATH_MAX_BYTES);
    preset(&loader);
    const bool is_readable = text.len == 0 || file_read(&loader, text);
    read_environment(&loader);
    read_flags(&loader, flags, flag_count);
    read_fallback_key(&loader);
    read_finish(&loader);
    /* An option that seems missing may be in the part of the file that could not be read. */
    if (is_readable)
        check_together(&loader);
    clients_index(config);
    buf_close(&loader.path);
    return loader.mistake_count == 0 ? 0 : ERR_INVALID;
}

void config_close(struct config *config)
{
    for (size_t i = 0; i < config->client_count; i++)
        options_close(HOME_CLIENT, &config->clients[i]);
    for (size_t i = 0; i < config->pool_count; i++) {
        options_close(HOME_POOL, &config->pools[i]);
        blob_unref(config->pools[i].params);
    }
    options_close(HOME_CONFIG, config);
    free(config->clients);
    free(config->client_order);
    free(config->pools);
    sodium_memzero(config, sizeof *config);
}
