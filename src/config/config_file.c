#include "config/config_file.h"

#include "base/assert.h"
#include "config/config_fields.h"
#include "config/config_pools.h"
#include "config/config_read.h"

#include <stdlib.h>
#include <yyjson.h>

/* For showing found values unchanged while no option is being read. */
static const struct option any_value = {.kind = OPTION_TEXT};

#define QUOTE(text) #text
#define TEXT_OF(number) QUOTE(number)

static bool is_object(struct loader *loader, yyjson_val *value)
{
    loader->option = &any_value;
    return yyjson_is_obj(value) || loader_expected(loader, "an object", value);
}

static void refuse_unknown(struct loader *loader, struct slice prefix, struct slice name)
{
    struct buf text;
    buf_init(&text, 256);
    option_write_suggestion(prefix, name, &text);
    (void)loader_mistake(loader, "unknown key%.*s", (int)text.len, buf_slice(&text).data);
    buf_close(&text);
}

static void read_members(struct loader *loader, struct slice prefix, void *base,
                         yyjson_val *object);

/* "upstream" names the group "upstream.", a client's "retry" the group "clients[].retry."; a longer
 * name is no group. */
/* NOLINTNEXTLINE(misc-no-recursion): no deeper than the names in the table of options */
static void read_group(struct loader *loader, struct slice prefix, struct slice name, void *base,
                       yyjson_val *value)
{
    char path[64];
    const size_t len = prefix.len + name.len + 1;
    if (len <= sizeof path) {
        memcpy(path, prefix.data, prefix.len);
        memcpy(path + prefix.len, name.data, name.len);
        path[len - 1] = '.';
    }
    const struct slice group = {.data = path, .len = len};
    if (len > sizeof path || !option_has_below(group))
        refuse_unknown(loader, prefix, name);
    else if (is_object(loader, value))
        read_members(loader, group, base, value);
}

/* Checks that a client has its required options; an invalid key has been told already. */
/* NOLINTNEXTLINE(misc-no-recursion): a client holds no clients */
static void read_client(struct loader *loader, struct config_client *client, yyjson_val *object)
{
    options_preset(HOME_CLIENT, client);
    if (!is_object(loader, object))
        return;
    read_members(loader, SLICE_OF(CLIENT_OPTION_PREFIX), client, object);
    const bool has_key = yyjson_obj_get(object, "key") != NULL;
    if (yyjson_obj_get(object, "name") == NULL)
        (void)loader_mistake(loader, "expected a name, found none");
    if (has_key == (yyjson_obj_get(object, "key_hash") != NULL))
        (void)loader_mistake(loader, "expected key or key_hash, found %s",
                             has_key ? "both" : "neither");
}

/* The number of objects in the list; 0 after telling a mistake. */
static size_t count_objects(struct loader *loader, yyjson_val *list, size_t most, const char *range)
{
    const size_t count = yyjson_arr_size(list);
    loader->option = &any_value;
    if (!yyjson_is_arr(list))
        return loader_expected(loader, "a list", list);
    /* No clients means that everybody may come, and an empty list does not say that clearly enough. */
    if (count > most || (count == 0 && range[0] == '1'))
        return loader_mistake(loader, "expected %s, found %zu", range, count);
    return count;
}

/* NOLINTNEXTLINE(misc-no-recursion): a client holds no clients */
static void read_clients(struct loader *loader, struct config *config, yyjson_val *list)
{
    config->client_count = count_objects(loader, list, CONFIG_CLIENTS_MAX,
                                         "1 to " TEXT_OF(CONFIG_CLIENTS_MAX) " clients");
    config->clients = calloc(config->client_count + 1, sizeof *config->clients);
    ASSERT(config->clients != NULL);
    loader->has_bad_clients = config->client_count == 0;
    for (size_t i = 0; i < config->client_count; i++) {
        const size_t mark = loader_push_index(loader, i);
        read_client(loader, &config->clients[i], yyjson_arr_get(list, i));
        loader_pop(loader, mark);
    }
}

static void read_pools(struct loader *loader, struct config *config, yyjson_val *list)
{
    config->pool_count = count_objects(loader, list, CONFIG_POOLS_MAX,
                                       "at most " TEXT_OF(CONFIG_POOLS_MAX) " pools");
    config->pools = calloc(config->pool_count + 1, sizeof *config->pools);
    ASSERT(config->pools != NULL);
    for (size_t i = 0; i < config->pool_count; i++) {
        const size_t mark = loader_push_index(loader, i);
        pool_read(loader, &config->pools[i], yyjson_arr_get(list, i));
        loader_pop(loader, mark);
    }
}

/* Reads a member of the whole file (""), of a group ("upstream.") or of one client, which may hold
 * a further group. */
/* NOLINTNEXTLINE(misc-no-recursion): no deeper than the names in the table of options */
static void read_member(struct loader *loader, struct slice prefix, struct slice name, void *base,
                        yyjson_val *value)
{
    const struct option *const option = option_find(prefix, name);
    /* Dotted paths are for messages only; in the file they would be a second spelling. */
    if (memchr(name.data, '.', name.len) != NULL)
        refuse_unknown(loader, prefix, name);
    else if (option != NULL)
        read_value(loader, option, base, value);
    else if (prefix.len == 0 && slice_equals(name, SLICE_OF("clients")))
        read_clients(loader, base, value);
    else if (prefix.len == 0 && slice_equals(name, SLICE_OF("pools")))
        read_pools(loader, base, value);
    else
        read_group(loader, prefix, name, base, value);
}

/* NOLINTNEXTLINE(misc-no-recursion): no deeper than the names in the table of options */
static void read_members(struct loader *loader, struct slice prefix, void *base, yyjson_val *object)
{
    yyjson_obj_iter iter = yyjson_obj_iter_with(object);
    yyjson_val *key;
    while ((key = yyjson_obj_iter_next(&iter)) != NULL) {
        const struct slice name = {.data = yyjson_get_str(key), .len = yyjson_get_len(key)};
        yyjson_val *const value = yyjson_obj_iter_get_val(key);
        const size_t mark = loader_push(loader, name);
        if (!loader_is_repeated(loader, object, name, value))
            read_member(loader, prefix, name, base, value);
        loader_pop(loader, mark);
    }
}

bool file_read(struct loader *loader, struct slice text)
{
    loader_enter(loader, ORIGIN_FILE, "");
    /* Some editors begin files with a byte order mark, which yyjson would refuse. */
    const struct slice mark = SLICE_OF("\xef\xbb\xbf");
    if (slice_starts_with(text, mark))
        text = slice_skip(text, mark.len);
    yyjson_read_err err;
    yyjson_doc *const doc = yyjson_read_opts(
        (char *)(uintptr_t)text.data, text.len,
        YYJSON_READ_ALLOW_COMMENTS | YYJSON_READ_ALLOW_TRAILING_COMMAS, NULL, &err);
    if (doc == NULL) {
        size_t line = 1, column = 1, character = 0;
        (void)yyjson_locate_pos(text.data, text.len, err.pos, &line, &column, &character);
        return loader_mistake(loader, "line %zu, column %zu: %s", line, column, err.msg);
    }
    yyjson_val *const root = yyjson_doc_get_root(doc);
    if (is_object(loader, root))
        read_members(loader, SLICE_OF(""), loader->config, root);
    yyjson_doc_free(doc);
    return true;
}
