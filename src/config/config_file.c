#include "config/config_file.h"

#include "base/assert.h"
#include "config/config_read.h"

#include <stdlib.h>
#include <yyjson.h>

static void refuse_unknown(struct loader *loader, struct slice prefix, struct slice name)
{
    struct buf suggestion;
    buf_init(&suggestion, 256);
    option_write_suggestion(prefix, name, &suggestion);
    loader_mistake(loader, "unknown key%.*s", (int)suggestion.len, buf_slice(&suggestion).data);
    buf_close(&suggestion);
}

static const struct option any_value = {.kind = OPTION_TEXT};

static bool is_object(struct loader *loader, yyjson_val *value)
{
    return yyjson_is_obj(value) || loader_expected_text(loader, &any_value, "an object", value);
}

static void read_members(struct loader *loader, struct slice prefix, void *base,
                         yyjson_val *object);
static void read_clients(struct loader *loader, yyjson_val *list);

/* "upstream" means the group "upstream.", a client's "retry" "clients[].retry."; longer names are of no group. */
/* NOLINTNEXTLINE(misc-no-recursion): no deeper than the names in the table of options */
static void read_group(struct loader *loader, struct slice prefix, struct slice name, void *base,
                       yyjson_val *value)
{
    char path[64];
    const size_t len = prefix.len + name.len + 1;
    if (len <= sizeof(path)) {
        memcpy(path, prefix.data, prefix.len);
        memcpy(path + prefix.len, name.data, name.len);
        path[len - 1] = '.';
    }
    const struct slice group = {.data = path, .len = len};
    if (len > sizeof(path) || !option_has_below(group))
        refuse_unknown(loader, prefix, name);
    else if (is_object(loader, value))
        read_members(loader, group, base, value);
}

/* NOLINTNEXTLINE(misc-no-recursion): no deeper than the names in the table of options */
static void read_member(struct loader *loader, struct slice prefix, struct slice name, void *base,
                        yyjson_val *value)
{
    const struct option *const option = option_find(prefix, name);
    if (option != NULL)
        read_value(loader, option, base, value);
    else if (prefix.len == 0 && slice_equals(name, SLICE_OF("clients")))
        read_clients(loader, value);
    else if (prefix.len == 0 && slice_equals(name, SLICE_OF("pools")))
        pool_list_read(loader, value);
    else
        read_group(loader, prefix, name, base, value);
}

/* The members of the whole (""), of a group ("upstream.") or of one client, which may hold a further group. */
/* NOLINTNEXTLINE(misc-no-recursion): no deeper than the names in the table of options */
static void read_members(struct loader *loader, struct slice prefix, void *base, yyjson_val *object)
{
    yyjson_obj_iter iter = yyjson_obj_iter_with(object);
    yyjson_val *key;
    while ((key = yyjson_obj_iter_next(&iter)) != NULL) {
        const struct slice name = {.data = yyjson_get_str(key), .len = yyjson_get_len(key)};
        yyjson_val *const value = yyjson_obj_iter_get_val(key);
        const size_t mark = loader_push_key(loader, ".", name);
        /* Paths with dots are for messages; in the file they would be a second way to say the same. */
        if (memchr(name.data, '.', name.len) != NULL)
            refuse_unknown(loader, prefix, name);
        else if (!loader_is_repeated(loader, object, name, value))
            read_member(loader, prefix, name, base, value);
        loader_pop(loader, mark);
    }
}

/* What a client must have; a key that was given wrongly has been told already. */
static void require_of_client(struct loader *loader, yyjson_val *object)
{
    if (yyjson_obj_get(object, "name") == NULL)
        loader_mistake(loader, "expected a name, found none");
    const bool has_key = yyjson_obj_get(object, "key") != NULL;
    const bool has_hash = yyjson_obj_get(object, "key_hash") != NULL;
    if (has_key && has_hash)
        loader_mistake(loader, "expected key or key_hash, found both");
    else if (!has_key && !has_hash)
        loader_mistake(loader, "expected key or key_hash, found neither");
}

/* NOLINTNEXTLINE(misc-no-recursion): a client holds no clients */
static void read_client(struct loader *loader, void *client, yyjson_val *object)
{
    options_preset(HOME_CLIENT, client);
    if (!is_object(loader, object))
        return;
    read_members(loader, SLICE_OF(CLIENT_OPTION_PREFIX), client, object);
    require_of_client(loader, object);
}

/* NOLINTNEXTLINE(misc-no-recursion): a client holds no clients */
static void read_clients(struct loader *loader, yyjson_val *list)
{
    struct config *const config = loader->config;
    const size_t count = yyjson_arr_size(list);
    loader->has_bad_clients = true;
    if (!yyjson_is_arr(list)) {
        (void)loader_expected_text(loader, &any_value, "a list", list);
        return;
    }
    /* No clients means that everybody may come, which an empty list does not say clearly enough. */
    if (count == 0 || count > CONFIG_CLIENTS_MAX) {
        loader_mistake(loader, "expected 1 to %d clients, found %zu", CONFIG_CLIENTS_MAX, count);
        return;
    }
    loader->has_bad_clients = false;
    config->clients = calloc(count, sizeof(*config->clients));
    ASSERT(config->clients != NULL);
    config->client_count = count;
    yyjson_arr_iter iter = yyjson_arr_iter_with(list);
    for (size_t i = 0; i < count; i++) {
        const size_t mark = loader_push_index(loader, i);
        read_client(loader, &config->clients[i], yyjson_arr_iter_next(&iter));
        loader_pop(loader, mark);
    }
}

bool file_read(struct loader *loader, struct slice text)
{
    loader_enter(loader, ORIGIN_FILE, "");
    /* Editors of some systems begin files with a byte order mark, which yyjson would refuse. */
    const struct slice mark = SLICE_OF("\xef\xbb\xbf");
    if (slice_starts_with(text, mark)) {
        text.data += mark.len;
        text.len -= mark.len;
    }
    yyjson_read_err err;
    yyjson_doc *const doc = yyjson_read_opts(
        (char *)(uintptr_t)text.data, text.len,
        YYJSON_READ_ALLOW_COMMENTS | YYJSON_READ_ALLOW_TRAILING_COMMAS, NULL, &err);
    if (doc == NULL) {
        size_t line = 1, column = 1, character = 0;
        (void)yyjson_locate_pos(text.data, text.len, err.pos, &line, &column, &character);
        loader_mistake(loader, "line %zu, column %zu: %s", line, column, err.msg);
        return false;
    }
    yyjson_val *const root = yyjson_doc_get_root(doc);
    if (is_object(loader, root))
        read_members(loader, SLICE_OF(""), loader->config, root);
    yyjson_doc_free(doc);
    return true;
}
