/* GET /v1/stats: the books of today, of past days and since the start, written in pieces
 * (docs/design.md 6.2). */
#include "doors/door_stats.h"

#include "base/assert.h"
#include "config/config_clients.h"
#include "doors/door_cluster_stats.h"
#include "doors/intake.h"
#include "doors/render.h"
#include "gate/client_names.h"
#include "proto/api.h"
#include "proto/api_shadow.h"
#include "proto/api_stats.h"

#include <solvegate/view.h>

#include <stdio.h>

/* Cost limit of one piece, counted in clients, which take 1.5 us each: 0.4 ms. */
#define PIECE 256
/* The cost of a page without its clients, and how many clients can be summed for the cost of
 * writing one. */
#define PAGE_COST 16
#define SUM_SHARE 4
/* Most keys that repeat, and most targets, that are shown. */
#define SHADOW_SHOWN 100

static const char *store_word(const struct persist *persist)
{
    if (persist->store == NULL)
        return "memory";
    switch (persist->state) {
    case STORE_WRITABLE:
        return "writable";
    case STORE_AWAY:
        return "away";
    case STORE_FULL:
        return "full";
    case STORE_BROKEN:
        return "broken";
    case STORE_FENCED:
        return "fenced";
    }
    UNREACHABLE();
}

/* Figures that the engine does not have. */
static struct stats_service service_of(struct gate *gate)
{
    const struct store *const store = gate->persist.store;
    const struct store_about about =
        store == NULL ? (struct store_about){.kind = "", .server = ""} : store_about(store);
    return (struct stats_service){
        .version = SOLVEGATE_VERSION,
        .store_kind = about.kind,
        .store_server = about.server,
        .store_is_async = about.is_async,
        .uptime_ms = gate_now_ms(gate) - gate->started_ms,
        .is_draining = gate->is_draining,
        .store = store_word(&gate->persist),
        .has_callbacks = gate->config->public_url != NULL,
    };
}

static bool is_shadow(void *context, client_id client)
{
    return config_client_is_shadow(context, client);
}

/* Keys and targets with their hosts: what is shown here is for admins only, as all of /v1/stats. */
static void close_stats(struct gate *gate, struct buf *out, const struct stats_scope *scope)
{
    struct repeat_view repeats[SHADOW_SHOWN];
    struct target_view targets[SHADOW_SHOWN];
    const struct stats_service service = service_of(gate);
    const struct shadow_report shadow = {
        .is_shadow = is_shadow,
        .context = gate->config,
        .day = engine_shadow_day(gate->engine, gate_wall_ms()),
        .repeats = repeats,
        .repeat_count = engine_list_repeats(gate->engine, repeats, SHADOW_SHOWN),
        .targets = targets,
        .target_count = engine_list_targets(gate->engine, targets, SHADOW_SHOWN),
    };
    api_stats_close(out, &service, &shadow, scope);
}

static struct stats_page page_since_start(const struct stats_render *stats)
{
    return (struct stats_page){.stats = &stats->total_stats};
}

static struct stats_page page_of_today(const struct stats_render *stats)
{
    return (struct stats_page){.is_day = true, .day = stats->days[0], .stats = &stats->today_stats};
}

/* Finds the day by its number: since the text was begun, midnight may have dropped the oldest day. */
static bool find_past(struct gate *gate, struct stats_render *stats, struct stats_page *page)
{
    for (unsigned ago = 0; ago <= STATS_DAYS; ago++) {
        *page = (struct stats_page){.is_day = true};
        page->stats = engine_stats_of_day(gate->engine, ago, &page->day);
        if (page->stats == NULL || page->day != stats->days[stats->page - 1])
            continue;
        books_sum(&stats->past, engine_tally(gate->engine, ago, 0, (enum type)0),
                  stats->total.client_count);
        return true;
    }
    return false;
}

static bool open_page(struct gate *gate, struct stats_render *stats, struct buf *out)
{
    struct stats_page page = stats->page == 0 ? page_since_start(stats) : page_of_today(stats);
    if (stats->page > 1 && !find_past(gate, stats, &page))
        return false;
    api_stats_open_page(out, stats->page == 0 ? "total" : stats->page == 1 ? "today" : NULL, &page);
    stats->client = 0;
    return true;
}

static const struct books *books_of(const struct stats_render *stats)
{
    return stats->page == 0 ? &stats->total : stats->page == 1 ? &stats->today : &stats->past;
}

static void close_page(struct stats_render *stats, struct buf *out, const struct stats_scope *scope)
{
    api_stats_close_page(out, books_of(stats), stats->page == 0 ? &stats->unknown_errors : NULL,
                         scope);
    if (stats->page == 1)
        api_stats_open_days(out);
}

/* Writes as many clients of the page as the piece still allows. */
static void write_clients(struct stats_render *stats, struct buf *out, size_t *left,
                          const struct stats_scope *scope)
{
    const uint16_t count = stats->total.client_count;
    const size_t share =
        *left < (size_t)(count - stats->client) ? *left : (size_t)(count - stats->client);
    const uint16_t to = (uint16_t)(stats->client + share);
    api_stats_clients(out, books_of(stats), stats->client, to, scope);
    stats->client = to;
    *left -= share;
}

/* As many clients as the piece still allows; true after the last. */
static bool write_budgets(struct gate *gate, struct buf *out, size_t left)
{
    struct stats_render *stats = &gate->render->stats;
    struct budget_view budget;
    if (!stats->has_budgets)
        api_stats_open_budgets(out);
    stats->has_budgets = true;
    for (; stats->budget_client < stats->total.client_count && left > 0;
         stats->budget_client++, left--)
        if (engine_budget(gate->engine, stats->budget_client, &budget))
            api_stats_budget(out, client_name(gate, stats->budget_client), &budget);
    return stats->budget_client == stats->total.client_count;
}

static void take_days(struct gate *gate, struct stats_render *stats)
{
    stats->page_count = 1;
    for (unsigned ago = 0; ago <= STATS_DAYS; ago++)
        stats->page_count +=
            engine_stats_of_day(gate->engine, ago, &stats->days[stats->page_count - 1]) != NULL;
}

void door_stats_begin(struct gate *gate, struct buf *out)
{
    struct gauges gauges;
    struct stats_render *stats = &gate->render->stats;
    const struct api_names names = client_names(gate);
    const struct stats_scope scope = client_scope(gate, &names);
    books_sum(&stats->total, engine_tally(gate->engine, ENGINE_SINCE_START, 0, (enum type)0),
              scope.client_count);
    books_sum(&stats->today, engine_tally(gate->engine, 0, 0, (enum type)0), scope.client_count);
    stats->total_stats = *engine_stats(gate->engine);
    stats->today_stats = *engine_stats_of_day(gate->engine, 0, &stats->days[0]);
    stats->unknown_errors = *engine_unknown_errors(gate->engine);
    take_days(gate, stats);
    stats->page = 0;
    stats->is_open = stats->has_budgets = false;
    stats->budget_client = 0;
    engine_gauges(gate->engine, &gauges);
    api_stats_open(out, &gauges);
}

bool door_stats_go_on(struct gate *gate, struct buf *out)
{
    struct stats_render *stats = &gate->render->stats;
    const struct api_names names = client_names(gate);
    const struct stats_scope scope = client_scope(gate, &names);
    const size_t page_cost = PAGE_COST + stats->total.client_count / SUM_SHARE;
    size_t left = PIECE;
    for (; stats->page < stats->page_count; stats->page++) {
        if (!stats->is_open) {
            stats->is_open = open_page(gate, stats, out);
            left = left > page_cost ? left - page_cost : 0;
            if (!stats->is_open)
                continue;
        }
        write_clients(stats, out, &left, &scope);
        if (stats->client < stats->total.client_count)
            return true;
        close_page(stats, out, &scope);
        stats->is_open = false;
    }
    if (!write_budgets(gate, out, left))
        return true;
    close_stats(gate, out, &scope);
    return false;
}

static bool is_sound(const struct gate *gate, struct slice scope, struct mistake *mistake)
{
    static const char words[] = "scope: expected node (the gateway that answers) or cluster";
    static const char alone[] = "scope: this gateway shares its store with no other "
                                "(cluster.enabled is off), so there is no cluster to sum up";
    const bool is_cluster = slice_equals(scope, SLICE_OF("cluster"));
    if (scope.len == 0 || slice_equals(scope, SLICE_OF("node")) ||
        (is_cluster && gate->cluster.is_on))
        return true;
    *mistake = (struct mistake){.status = is_cluster ? 404 : 422,
                                .code = is_cluster ? "no_cluster" : "bad_parameter"};
    (void)snprintf(mistake->detail, sizeof mistake->detail, "%s", is_cluster ? alone : words);
    return false;
}

void door_stats(struct gate *gate, const struct http_request *request, struct visit *visit,
                uint64_t number)
{
    (void)number;
    const struct slice scope = params_value(&gate->params, SLICE_OF("scope"));
    struct mistake mistake;
    if (!is_sound(gate, scope, &mistake))
        visit->dialect->complain(gate, request->caller, visit, &mistake);
    else if (slice_equals(scope, SLICE_OF("cluster")))
        door_cluster_stats(gate, request, visit);
    else
        render_ask(gate, request, visit, RENDER_STATS);
}
