#include "doors/doors.h"

#include "base/assert.h"
#include "doors/ask_memo.h"
#include "doors/door_cluster_letters.h"
#include "doors/door_cluster_stats.h"
#include "doors/door_flight.h"
#include "doors/door_letters.h"
#include "doors/door_pingback.h"
#include "doors/door_task.h"
#include "doors/render.h"
#include "doors/routes.h"

#include <stdlib.h>

static void doors_open(struct gate *gate)
{
    gate->ask_memo = malloc(sizeof *gate->ask_memo);
    ASSERT(gate->ask_memo != NULL);
    ask_memo_init(gate->ask_memo);
    render_open(gate);
}

static void doors_close(struct gate *gate)
{
    render_close(gate);
    ask_memo_close(gate->ask_memo);
    free(gate->ask_memo);
}

/* The memo holds requests as they were understood under the old configuration. */
static void doors_reload(struct gate *gate)
{
    ask_memo_close(gate->ask_memo);
    ask_memo_init(gate->ask_memo);
}

static void doors_answer(struct gate *gate, const struct answer *answer)
{
    struct visit visit;
    if (visit_load(gate, answer->caller, &visit))
        visit.dialect->answer(gate, &visit, answer);
}

static void doors_account(struct gate *gate, const struct account_answer *account)
{
    struct visit visit;
    if (visit_load(gate, account->caller, &visit))
        visit.dialect->account(gate, &visit, account);
}

static void doors_letters(struct gate *gate, const struct letters_answer *letters)
{
    struct visit visit;
    if (visit_load(gate, letters->caller, &visit))
        door_letters_answer(gate, &visit, letters);
}

static void doors_shown(struct gate *gate, const struct shown_answer *answer)
{
    struct visit visit;
    if (visit_load(gate, answer->show.caller, &visit))
        door_flight_shown(gate, &visit, answer);
}

const struct gate_doors doors = {
    .open = doors_open,
    .close = doors_close,
    .reload = doors_reload,
    .request = routes_dispatch,
    .refuse = routes_refuse,
    .answer = doors_answer,
    .account = doors_account,
    .letters = doors_letters,
    .show = door_flight_show,
    .shown = doors_shown,
    .books = door_cluster_stats_end,
    .found_letters = door_letters_found,
    .notice = door_task_notice,
    .callback = door_pingback_end,
    .work = render_work,
    .has_work = render_has_work,
};
