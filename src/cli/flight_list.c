#include "cli/flight_list.h"

#include "cli/grid.h"
#include "cli/show.h"

#include <stdlib.h>
#include <yyjson.h>

#define PAGE 100
#define KEY_SHOWN 12

void flight_list_close(struct flight_list *list)
{
    free(list->rows);
    *list = (struct flight_list){.count = 0};
}

static struct flight_row *add_row(struct flight_list *list)
{
    if (list->count == list->room) {
        const size_t room = list->room == 0 ? PAGE : 2 * list->room;
        struct flight_row *rows = realloc(list->rows, room * sizeof *rows);
        if (rows == NULL)
            abort();
        list->rows = rows;
        list->room = room;
    }
    return &list->rows[list->count++];
}

#define COPY(field, name) \
    (void)snprintf(row->field, sizeof row->field, "%s", show_text(flight, name))

static void read_row(struct flight_list *list, yyjson_val *flight)
{
    struct flight_row *row = add_row(list);
    *row = (struct flight_row){
        .requests = show_number(flight, "requests"),
        .attempts = show_number(flight, "attempts"),
        .age = show_real(flight, "age"),
        .left = show_real(flight, "deadline_in"),
    };
    /* The first digits tell flights apart; --json has the whole key. */
    (void)snprintf(row->key, sizeof row->key, "%.*s", KEY_SHOWN, show_text(flight, "key"));
    COPY(state, "state");
    COPY(client, "client");
    COPY(type, "type");
    COPY(task, "upstream_id");
    COPY(error, "last_error");
}

/* Fills next with the cursor of the page after this one, or makes it empty. */
static void read_page(struct flight_list *list, const struct buf *body, size_t most, char *next,
                      size_t next_room)
{
    yyjson_doc *doc = yyjson_read(buf_slice(body).data, body->len, 0);
    yyjson_val *const root = yyjson_doc_get_root(doc);
    const char *const cursor = yyjson_get_str(yyjson_obj_get(root, "next"));
    yyjson_arr_iter iter;
    (void)yyjson_arr_iter_init(yyjson_obj_get(root, "flights"), &iter);
    for (yyjson_val *flight; (flight = yyjson_arr_iter_next(&iter)) != NULL && list->count < most;)
        read_row(list, flight);
    list->total = show_number(root, "total");
    list->is_read = yyjson_is_arr(yyjson_obj_get(root, "flights"));
    (void)snprintf(next, next_room, "%s", cursor == NULL ? "" : cursor);
    yyjson_doc_free(doc);
}

static int compare(const void *left, const void *right)
{
    const struct flight_row *const a = left;
    const struct flight_row *const b = right;
    return a->age < b->age ? 1 : a->age > b->age ? -1 : strcmp(a->key, b->key);
}

enum remote_end flight_list_fetch(struct flight_list *list, struct remote *remote,
                                  struct remote_reply *reply, size_t most)
{
    char path[96] = "/v1/flights?limit=100";
    char next[32] = "";
    const struct remote_request request = {.method = "GET", .path = path};
    enum remote_end end;
    list->count = 0;
    do {
        end = remote_send(remote, &request, reply);
        if (end != REMOTE_ANSWERED || reply->status / 100 != 2)
            return end;
        read_page(list, &reply->body, most, next, sizeof next);
        (void)snprintf(path, sizeof path, "/v1/flights?limit=%d&after=%s", PAGE, next);
    } while (next[0] != '\0' && list->count < most);
    if (list->count > 0)
        qsort(list->rows, list->count, sizeof list->rows[0], compare);
    return end;
}

void flight_list_write(const struct flight_list *list, struct buf *out, unsigned width, size_t rows)
{
    static const struct grid_column columns[] = {
        {.title = "AGE", .is_right = true},
        {.title = "STATE"},
        {.title = "CLIENT", .cut = 16, .is_shrinking = true},
        {.title = "TYPE", .is_shrinking = true},
        {.title = "REQS", .is_right = true},
        {.title = "TRY", .is_right = true},
        {.title = "LEFT", .is_right = true, .drop = 1},
        {.title = "KEY", .drop = 2},
        {.title = "TASK", .cut = 14, .drop = 3},
        {.title = "LAST ERROR", .is_shrinking = true},
    };
    struct grid grid;
    grid_init(&grid, columns, sizeof columns / sizeof columns[0]);
    for (size_t i = 0; i < list->count && i < rows; i++) {
        const struct flight_row *const row = &list->rows[i];
        grid_add_seconds(&grid, row->age);
        grid_add(&grid, row->state);
        grid_add(&grid, row->client);
        grid_add(&grid, row->type);
        grid_add_number(&grid, row->requests);
        grid_add_number(&grid, row->attempts);
        grid_add_seconds(&grid, row->left);
        grid_add(&grid, row->key);
        grid_add(&grid, row->task);
        grid_add(&grid, row->error);
    }
    grid_write(&grid, out, width, rows + 1);
    grid_close(&grid);
}
