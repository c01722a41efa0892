#include "store/store_private.h"

#include <sqlite3.h>

/* Reading the whole file takes as long as the file is large, and callers wait meanwhile: so it is done beside the
 * writer, by a connection of its own, and damage that is found late is that of a broken store. */

/* Long enough for whoever looks at the database. */
#define BUSY_MS 2000
#define MISTAKE_MAX 8192

/* One that was cut short, or kept from looking, found nothing. */
static bool has_looked(struct store *store)
{
    const int rc = sqlite3_errcode(store->checked) & 0xff;
    uv_mutex_lock(&store->mutex);
    const bool was_stopped = store->must_stop_check;
    uv_mutex_unlock(&store->mutex);
    return !was_stopped && rc != SQLITE_INTERRUPT && rc != SQLITE_BUSY;
}

static void check(void *context)
{
    struct store *const store = context;
    struct buf mistake;
    buf_init(&mistake, MISTAKE_MAX);
    if (!db_is_sound(store->checked, store->db.path, &mistake) && has_looked(store)) {
        buf_add_char(&mistake, '\0');
        store_tell(store, STORE_BROKEN, mistake.data);
    }
    buf_close(&mistake);
}

/* Without a descriptor or a thread to spare the database is as good as it was when its rows were read. */
void store_check_start(struct store *store)
{
    const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
    if (sqlite3_open_v2(store->db.path, &store->checked, flags, NULL) != SQLITE_OK)
        return;
    (void)sqlite3_busy_timeout(store->checked, BUSY_MS);
    (void)sqlite3_db_config(store->checked, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    store->is_checking = uv_thread_create(&store->checker, check, store) == 0;
}

void store_check_stop(struct store *store)
{
    if (!store->is_checking)
        return;
    uv_mutex_lock(&store->mutex);
    store->must_stop_check = true;
    uv_mutex_unlock(&store->mutex);
    sqlite3_interrupt(store->checked);
}

void store_check_join(struct store *store)
{
    if (store->is_checking)
        (void)uv_thread_join(&store->checker);
    store->is_checking = false;
    (void)sqlite3_close(store->checked);
    store->checked = NULL;
}
