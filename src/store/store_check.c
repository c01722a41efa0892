#include "store/store_check.h"

#include "store/store_private.h"
#include "store/store_writer.h"

#define MISTAKE_MAX 8192

static void check(void *context)
{
    struct store *const store = context;
    struct buf mistake;
    buf_init(&mistake, MISTAKE_MAX);
    if (!store->backend->driver->check(store->backend, &mistake)) {
        buf_add_char(&mistake, '\0');
        store_report(store, STORE_BROKEN, mistake.data);
    }
    buf_close(&mistake);
}

/* Without a free thread the database counts as sound, as it did when its rows were read. */
void store_check_start(struct store *store)
{
    store->is_checking = store->backend->driver->check != NULL &&
                         uv_thread_create(&store->checker, check, store) == 0;
}

void store_check_stop(struct store *store)
{
    if (store->is_checking)
        store->backend->driver->stop_check(store->backend);
}

void store_check_join(struct store *store)
{
    if (store->is_checking)
        (void)uv_thread_join(&store->checker);
    store->is_checking = false;
}
