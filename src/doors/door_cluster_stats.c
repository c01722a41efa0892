#include "doors/door_cluster_stats.h"

#include "base/assert.h"
#include "doors/render.h"
#include "doors/reply.h"
#include "gate/client_names.h"
#include "proto/api_cluster_stats.h"
#include "store/store_find.h"

#include <stdio.h>
#include <stdlib.h>

#define WITH_PRICE 1u
#define WITH_SHADOW 2u

/* ---- on the reader's thread -------------------------------------------------------------- */

static const char *name_of(void *context, client_id client)
{
    const struct store_books *const books = context;
    return books->clients[client];
}

static void write_page(struct buf *out, const char *name, const struct store_page *page,
                       const int64_t *day, const struct stats_scope *scope)
{
    const struct stats_page shown = {
        .is_day = day != NULL, .day = day == NULL ? 0 : *day, .stats = &page->stats};
    api_stats_open_page(out, name, &shown);
    api_stats_clients(out, &page->books, 0, scope->client_count, scope);
    api_stats_close_page(out, &page->books, NULL, scope);
}

static void write_nodes(struct buf *out, const struct store_books *books)
{
    for (uint32_t i = 0; i < books->node_count; i++) {
        const struct store_books_node *const node = &books->nodes[i];
        const struct cluster_stats_node view = {
            .name = node->name, .is_adopted = node->is_gone, .stats = &node->stats};
        api_cluster_stats_node(out, &view);
    }
}

/* Days on which nobody was asked are left out, as in the books of one gateway. */
static bool is_blank(const struct store_page *page)
{
    static const struct stats nothing;
    return memcmp(&page->stats, &nothing, sizeof nothing) == 0;
}

/* What is reserved was drawn by some gateway: for requests that wait, in advance, or by one that died. The books may be
 * ahead of the draws by a moment. */
static void write_budgets(struct buf *out, const struct store_books *books)
{
    api_stats_open_budgets(out);
    for (uint32_t i = 0; i < books->budget_count; i++) {
        const struct store_budget *const budget = &books->budgets[i];
        const uint64_t drawn = budget->drawn > budget->used ? budget->drawn : budget->used;
        const struct budget_view view = {
            .limit = budget->limit,
            .used = budget->used,
            .reserved = drawn - budget->used,
            .left = budget->limit > drawn ? budget->limit - drawn : 0,
        };
        api_stats_budget(out, budget->client, &view);
    }
}

static void write_books(struct buf *out, const struct store_books *books, unsigned flags)
{
    const struct api_names names = {.client_name = name_of, .context = (void *)(uintptr_t)books};
    const struct stats_scope scope = {
        .names = &names,
        .client_count = (uint16_t)books->client_count,
        .has_price = (flags & WITH_PRICE) != 0,
        .has_shadow = (flags & WITH_SHADOW) != 0,
    };
    api_cluster_stats_open(out);
    write_nodes(out, books);
    api_cluster_stats_now(out, (uint64_t)books->waiting);
    write_page(out, "total", &books->all, NULL, &scope);
    write_page(out, "today", &books->days[0], &books->day, &scope);
    api_stats_open_days(out);
    for (int64_t ago = 1; ago <= STATS_DAYS; ago++) {
        const int64_t day = books->day - ago;
        if (!is_blank(&books->days[ago]))
            write_page(out, NULL, &books->days[ago], &day, &scope);
    }
    write_budgets(out, books);
    api_cluster_stats_close(out);
}

/* ---- on the loop ------------------------------------------------------------------------- */

static void refuse(struct gate *gate, caller_id caller, const struct visit *visit)
{
    const struct problem problem = {
        .status = 503,
        .code = "store_away",
        .is_retryable = true,
        .retry_after_ms = 1000,
        .detail = SLICE_OF("the store, which has the books of the other gateways, cannot be read"),
    };
    reply_problem(gate, caller, visit, &problem);
}

/* Limits are those of the gateway that answers. */
static void wish_for_budgets(const struct gate *gate, const struct stats_scope *scope,
                             struct store_books_wish *wish)
{
    struct budget_view view;
    wish->budgets = calloc((size_t)scope->client_count + 1, sizeof *wish->budgets);
    ASSERT(wish->budgets != NULL);
    for (uint16_t client = 0; client < scope->client_count; client++) {
        struct store_budget *const budget = &wish->budgets[wish->budget_count];
        if (!engine_budget(gate->engine, client, &view))
            continue;
        (void)snprintf(budget->client, sizeof budget->client, "%s", client_name(gate, client));
        budget->limit = view.limit;
        wish->budget_count++;
    }
}

void door_cluster_stats(struct gate *gate, const struct http_request *request,
                        const struct visit *visit)
{
    struct cluster_render *const render = &gate->render->cluster;
    const struct api_names names = client_names(gate);
    const struct stats_scope scope = client_scope(gate, &names);
    if (!cluster_has_joined(gate)) {
        refuse(gate, request->caller, visit);
        return;
    }
    visit_store(request, visit);
    buf_add(&render->callers,
            (struct slice){.data = (const char *)&request->caller, .len = sizeof request->caller});
    http_expect_long(gate->server, request->caller);
    if (render->is_asked)
        return;
    render->is_asked = true;
    struct store_books_wish wish = {.write = write_books,
                                    .flags = (scope.has_price ? WITH_PRICE : 0) |
                                             (scope.has_shadow ? WITH_SHADOW : 0)};
    wish_for_budgets(gate, &scope, &wish);
    store_read_books(gate->persist.store, &wish);
}

static void refuse_all(struct gate *gate, const struct buf *callers)
{
    for (size_t at = 0; at < callers->len; at += sizeof(caller_id)) {
        caller_id caller;
        struct visit visit;
        memcpy(&caller, callers->data + at, sizeof caller);
        if (visit_load(gate, caller, &visit))
            refuse(gate, caller, &visit);
    }
}

void door_cluster_stats_end(struct gate *gate, struct slice text)
{
    struct cluster_render *const render = &gate->render->cluster;
    render->is_asked = false;
    if (slice_is_given(text)) {
        buf_reset(&render->text);
        buf_add(&render->text, text);
        render_give(gate, RENDER_CLUSTER, &render->callers);
    } else {
        refuse_all(gate, &render->callers);
    }
    buf_reset(&render->callers);
}

void door_cluster_stats_begin(struct gate *gate, struct buf *out)
{
    (void)gate;
    (void)out;
}

bool door_cluster_stats_go_on(struct gate *gate, struct buf *out)
{
    buf_add(out, buf_slice(&gate->render->cluster.text));
    return false;
}
