#include "gate/persist_place.h"

#include "base/assert.h"
#include "config/config_store.h"
#include "gate/client_names.h"
#include "gate/gate_state.h"
#include "gate/gone.h"
#include "store/store_ahead.h"

#include <sodium.h>

/* ---- names ------------------------------------------------------------------------------- */

static const char *name_of(void *context, client_id client)
{
    return client_name(context, client);
}

static bool find_client(void *context, struct slice name, client_id *client)
{
    return client_by_name(context, name, client);
}

static bool find_gone(void *context, struct slice name, client_id *client)
{
    return gone_meet(context, name, client);
}

struct store_names persist_names(struct gate *gate)
{
    return (struct store_names){
        .context = gate, .name_of = name_of, .find = find_client, .find_gone = find_gone};
}

/* ---- the place --------------------------------------------------------------------------- */

static void copy_text(struct buf *copy, const char *text, const char **place)
{
    buf_init(copy, PLACE_URL_MAX + PLACE_NODE_MAX);
    *place = NULL;
    if (text == NULL)
        return;
    buf_add(copy, slice_from(text));
    buf_add_char(copy, '\0');
    ASSERT(!copy->is_full);
    *place = copy->data;
}

void persist_place_init(struct gate *gate, struct persist_place *place)
{
    struct buf url;
    struct buf name;
    struct store_place from;
    buf_init(&url, PLACE_URL_MAX);
    buf_init(&name, PLACE_NODE_MAX);
    ASSERT(config_place(gate->config, &url, &from));
    cluster_place(gate, &from, &name);
    place->place = from;
    copy_text(&place->url, from.url, &place->place.url);
    copy_text(&place->prefix, from.prefix, &place->place.prefix);
    copy_text(&place->ca_file, from.ca_file, &place->place.ca_file);
    copy_text(&place->node, from.node, &place->place.node);
    buf_close(&url);
    buf_close(&name);
}

void persist_place_close(struct persist_place *place)
{
    buf_close(&place->url);
    buf_close(&place->prefix);
    buf_close(&place->ca_file);
    buf_close(&place->node);
}

enum store_opening persist_place_open(struct gate *gate, const struct persist_place *place,
                                      struct store **store, struct buf *mistake)
{
    const struct store_names names = persist_names(gate);
    enum store_opening opening = store_lock(&place->place, store, mistake);
    if (opening == STORE_OPENED)
        opening = store_open(*store, &names, mistake);
    if (opening != STORE_OPENED) {
        store_free(*store);
        *store = NULL;
    }
    return opening;
}

bool persist_place_read(struct store *store, struct buf *mistake)
{
    uint8_t identity[IDENTITY_SECRET_BYTES];
    uint8_t nonce[NONCE_SECRET_BYTES];
    uint8_t old_nonce[NONCE_SECRET_BYTES];
    const struct clocks now = clocks_read();
    int err = store_read_ahead(store, &now);
    if (err == 0)
        err = store_secret(store, STORE_SECRET_IDENTITY, identity, sizeof identity);
    if (err == 0)
        err = store_rotating_secret(store, STORE_SECRET_NONCE, PERSIST_NONCE_MAX_AGE_MS, nonce,
                                    old_nonce, sizeof nonce);
    sodium_memzero(identity, sizeof identity);
    sodium_memzero(nonce, sizeof nonce);
    sodium_memzero(old_nonce, sizeof old_nonce);
    if (err != 0)
        store_explain(store, mistake);
    return err == 0;
}
