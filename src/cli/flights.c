#include "cli/cli.h"
#include "cli/flight_list.h"
#include "cli/flight_show.h"
#include "cli/remote_key.h"
#include "cli/show.h"
#include "cli/watch.h"

#include <inttypes.h>
#include <sysexits.h>

#define LIMIT_DEFAULT 50

struct flights {
    struct remote remote;
    struct watch watch;
    struct flight_list list;
    struct remote_reply reply;
    size_t limit;
    bool is_watching;
    bool is_show;
    const char *key; /* borrowed, or NULL: of the flight to show */
    bool is_stale;   /* the last call failed; the flights before it are shown */
};

static int update(void *context, bool is_first)
{
    struct flights *flights = context;
    const size_t most = flights->limit > 1000 ? flights->limit : 1000;
    struct flight_list fresh = {.count = 0};
    enum remote_end end;
    if (flights->remote.is_json) {
        char path[64];
        (void)snprintf(path, sizeof path, "/v1/flights?limit=%zu", flights->limit);
        const struct remote_request request = {.method = "GET", .path = path};
        end = remote_send(&flights->remote, &request, &flights->reply);
    } else {
        end = flight_list_fetch(&fresh, &flights->remote, &flights->reply, most);
    }
    flights->is_stale = end != REMOTE_ANSWERED || flights->reply.status / 100 != 2 ||
                        (!flights->remote.is_json && !fresh.is_read);
    const bool is_kept = flights->is_stale && !is_first && !flights->remote.is_json;
    flight_list_close(is_kept ? &fresh : &flights->list);
    if (!is_kept)
        flights->list = fresh;
    const int code =
        is_kept ? EX_OK : remote_tell(&command_flights, &flights->remote, end, &flights->reply);
    if (code == EX_OK && !is_kept && !flights->remote.is_json && !flights->list.is_read)
        return remote_tell_not_json(&command_flights);
    return code;
}

/* The line above the table; only the screen needs a title, since nothing else there names the view. */
static void add_head(const struct flights *flights, struct buf *out, bool is_screen)
{
    const struct flight_list *const list = &flights->list;
    if (flights->is_stale) {
        buf_add(out, SLICE_OF("no gateway answers at "));
        show_add_url(out, flights->remote.url);
        buf_add(out, SLICE_OF(": trying on\n"));
    } else if (is_screen) {
        buf_addf(out, "%" PRIu64 " flights, oldest first (q quits)\n", list->total);
    }
}

static void write_list(void *context, struct buf *out, struct term_size size)
{
    const struct flights *flights = context;
    const struct flight_list *const list = &flights->list;
    const bool is_screen = flights->is_watching && size.columns > 0;
    if (flights->remote.is_json) {
        buf_add(out, buf_slice(&flights->reply.body));
        buf_add_char(out, '\n');
        return;
    }
    add_head(flights, out, is_screen);
    const size_t room = is_screen && size.lines > 2 ? size.lines - 2 : flights->limit;
    if (list->count > 0)
        flight_list_write(list, out, size.columns, room < flights->limit ? room : flights->limit);
    if (flights->is_watching && !is_screen)
        buf_add_char(out, '\n');
}

static int print_once(struct flights *flights)
{
    struct buf out;
    flights->remote.shows_progress = true;
    const int code = update(flights, true);
    if (code != EX_OK)
        return code;
    buf_init(&out, REMOTE_REPLY_MAX);
    write_list(flights, &out, (struct term_size){.columns = term_width()});
    show_print(&out);
    buf_close(&out);
    if (flights->remote.is_json)
        return code;
    if (flights->list.count == 0)
        (void)fputs("nothing is in flight\n", stderr);
    else if (flights->list.total > flights->limit)
        (void)fprintf(stderr, "%zu of %" PRIu64 " shown, oldest first; --limit shows more\n",
                      flights->limit, flights->list.total);
    return code;
}

static const struct cli_flag flags[] = {
    {.letter = 'l',
     .name = "limit",
     .value_name = "N",
     .help = "show at most so many (50); with --json the gateway gives at most 100"},
    {.letter = 'W', .name = "watch", .help = "look again and again; q quits"},
    WATCH_FLAGS,
    REMOTE_FLAGS,
    {.name = NULL},
};

static enum cli_result take_limit(const struct command *command, struct flights *flights,
                                  const char *text)
{
    unsigned long long limit;
    if (slice_to_u64(slice_from(text), &limit) && limit > 0 && limit <= FLIGHT_LIST_MAX) {
        flights->limit = limit;
        return CLI_ARG;
    }
    cli_wrong(command, "--limit: expected a number of 1 to %d, found \"%s\"", FLIGHT_LIST_MAX,
              text);
    return CLI_WRONG;
}

static enum cli_result take_word(const struct command *command, struct flights *flights,
                                 const char *word)
{
    if (!flights->is_show) {
        flights->is_show = strcmp(word, "show") == 0;
        return flights->is_show ? CLI_ARG : cli_wrong_word(command, "word", word, command->words);
    }
    if (flights->key != NULL)
        return cli_wrong_argument(command, word);
    flights->key = word;
    return CLI_ARG;
}

static enum cli_result read_args(struct cli_args *args, struct flights *flights)
{
    struct cli_arg arg;
    enum cli_result result;
    while ((result = cli_next(args, &arg)) == CLI_ARG) {
        if (arg.flag == NULL)
            result = take_word(args->command, flights, arg.value);
        else if (cli_is_flag(&arg, "watch"))
            flights->is_watching = true;
        else if (cli_is_flag(&arg, "limit"))
            result = take_limit(args->command, flights, arg.value);
        else if (!remote_take_flag(&flights->remote, &arg))
            result = watch_take_flag(args->command, &flights->watch, &arg);
        if (result != CLI_ARG)
            return result;
    }
    if (result == CLI_END && flights->is_show && flights->key == NULL) {
        cli_wrong(args->command, "show needs the key of a flight, or its first digits");
        return CLI_WRONG;
    }
    return result;
}

static int list_or_show(struct flights *flights, const struct command *command)
{
    if (flights->is_show)
        return flight_show(command, &flights->remote, flights->key);
    return flights->is_watching ? watch_run(&flights->watch) : print_once(flights);
}

static int run(struct cli_args *args)
{
    struct flights flights = {.limit = LIMIT_DEFAULT};
    flights.watch = (struct watch){.interval_ms = 1000,
                                   .remote = &flights.remote,
                                   .context = &flights,
                                   .update = update,
                                   .write = write_list};
    remote_init(&flights.remote);
    remote_reply_init(&flights.reply);
    int code;
    if (remote_open(args->command, &flights.remote, read_args(args, &flights), &code))
        code = list_or_show(&flights, args->command);
    flight_list_close(&flights.list);
    buf_close(&flights.reply.body);
    remote_close(&flights.remote);
    return code;
}

static const struct cli_example examples[] = {
    {"the oldest, again and again", "solvegate flights --watch"},
    {"where is this one now", "solvegate flights show 80a611434861"},
    {NULL, NULL},
};

const struct command command_flights = {
    .name = "flights",
    .group = GROUP_WATCH,
    .summary = "Show the solves under way, or where one of them is now",
    .usage = "[show KEY] [--limit N] [--watch] [FLAGS]",
    .words = "show",
    .details = "REQS is how many requests wait for it, TRY the attempt it is in, LEFT what remains "
               "until its deadline, KEY the beginning of what `solvegate explain` calls the key. "
               "`show` tells where one of them is now: its requests, and its attempts with times "
               "and codes. 8 digits of the key are enough while it is in flight; what is solved "
               "or given up is found by the whole key. Needs a key with scope admin; `show` also "
               "works for the client whose flight it is.\n" REMOTE_KEY_HELP,
    .flags = flags,
    .examples = examples,
    .run = run,
};
