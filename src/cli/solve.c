#include "cli/ask_flags.h"
#include "cli/cli.h"
#include "cli/progress.h"
#include "cli/remote_key.h"
#include "cli/show.h"
#include "cli/term.h"
#include "config/config_values.h"
#include "proto/base64.h"

#include <inttypes.h>
#include <stdlib.h>
#include <sysexits.h>
#include <unistd.h>
#include <yyjson.h>

#define BODY_MAX_BYTES ((size_t)24 * 1024 * 1024)
#define WAIT_DEFAULT_MS (180 * 1000)
#define WAIT_MAX_MS (3600 * 1000)
/* The gateway holds a call for at most 50 s. On a terminal, shorter calls keep the shown state
 * fresh. */
#define HOLD_S 50
#define HOLD_SEEN_S 3
/* How much longer than HOLD_S a held call may take. */
#define HOLD_GRACE_S 15
#define DETACH_TIMEOUT_S 5
#define EXIT_NOT_SOLVED 1
#define ID_MAX 24

struct solve {
    const struct command *command;
    struct remote remote;
    struct ask_order order;
    uint64_t wait_ms;
    uint64_t started_ms;
    struct progress progress;
    struct remote_reply reply;
    char id[ID_MAX]; /* empty until the gateway has returned it */
};

static bool on_wait(void *context)
{
    struct solve *solve = context;
    progress_tick(&solve->progress);
    return term_signal() == 0;
}

/* ---- how it ends ------------------------------------------------------------------------- */

/* Solutions that are not UTF-8 come as base64 beside the text. */
static void add_bytes(struct buf *out, struct slice base64)
{
    struct base64 reader;
    uint8_t bytes[768];
    base64_open(&reader, base64);
    for (size_t len; (len = base64_read(&reader, bytes, sizeof bytes)) > 0;)
        buf_add(out, (struct slice){.data = (const char *)bytes, .len = len});
}

static struct slice member_text(yyjson_val *root, const char *name)
{
    yyjson_val *const value = yyjson_obj_get(root, name);
    return (struct slice){.data = yyjson_get_str(value), .len = yyjson_get_len(value)};
}

/* Prints the solution alone, so that a script can use it as it is; a terminal gets no control
 * characters. */
static void print_text(yyjson_val *root)
{
    const struct slice bytes = member_text(root, "solution_base64");
    const struct slice text = member_text(root, "solution");
    struct buf out;
    buf_init(&out, REMOTE_REPLY_MAX);
    if (isatty(STDOUT_FILENO) == 1)
        show_add_clean(&out, show_text(root, "solution"));
    else if (slice_is_given(bytes))
        add_bytes(&out, bytes);
    else
        buf_add(&out, text);
    buf_add_char(&out, '\n');
    show_print(&out);
    buf_close(&out);
}

static void print_json(FILE *file, const char *name, const yyjson_val *value)
{
    char *const text = yyjson_val_write(value, 0, NULL);
    (void)fprintf(file, "%s%s\n", name, text == NULL ? "-" : text);
    free(text);
}

static void print_solution(const struct solve *solve, yyjson_val *root)
{
    const yyjson_val *const extra = yyjson_obj_get(root, "extra");
    yyjson_val *const solution = yyjson_obj_get(root, "solution");
    const bool has_bytes = isatty(STDOUT_FILENO) != 1 && show_has(root, "solution_base64");
    if (yyjson_is_ctn(solution) && !has_bytes)
        print_json(stdout, "", solution);
    else
        print_text(root);
    if (extra != NULL)
        print_json(stderr, "extra: ", extra);
    if (isatty(STDERR_FILENO) == 1)
        (void)fprintf(stderr, "solved in %.1f s, source %s, good for %.0f s\n",
                      (double)(progress_now_ms() - solve->started_ms) / 1000,
                      show_text(root, "source"), show_real(root, "expires_in"));
}

/* Tells the gateway that nobody waits any more; a task that is already paid for is finished and
 * kept there. */
static void detach(struct solve *solve)
{
    char path[64];
    const struct remote_request request = {
        .method = "DELETE", .path = path, .timeout_s = DETACH_TIMEOUT_S};
    (void)snprintf(path, sizeof path, "/v1/solves/%s", solve->id);
    solve->remote.on_wait = NULL;
    const enum remote_end end = remote_send(&solve->remote, &request, &solve->reply);
    if (end == REMOTE_ANSWERED && solve->reply.status / 100 == 2)
        (void)fprintf(stderr,
                      "solvegate solve: gave up request %s; what was paid for is finished "
                      "and kept by the gateway, and asking again finds it\n",
                      solve->id);
    else
        (void)fprintf(stderr, "solvegate solve: left request %s; the gateway could not be told\n",
                      solve->id);
}

static int give_up(struct solve *solve)
{
    const int number = term_signal();
    progress_stop(&solve->progress);
    if (solve->id[0] != '\0')
        detach(solve);
    else
        (void)fputs("solvegate solve: interrupted before the gateway answered\n", stderr);
    return number == 0 ? EX_TEMPFAIL : term_exit_code(number);
}

/* A problem with an id is about an accepted request that failed; one without was refused. */
static int fail(struct solve *solve, enum remote_end end)
{
    const struct slice text = buf_slice(&solve->reply.body);
    int code = remote_tell(solve->command, &solve->remote, end, &solve->reply);
    if (end != REMOTE_ANSWERED)
        return code;
    if (solve->remote.is_json)
        remote_print_json(&solve->reply.body);
    yyjson_doc *doc = yyjson_read(text.data, text.len, 0);
    if (solve->reply.status >= 500 && show_has(yyjson_doc_get_root(doc), "id"))
        code = EXIT_NOT_SOLVED;
    yyjson_doc_free(doc);
    return code;
}

/* ---- asking ------------------------------------------------------------------------------ */

enum step { STEP_ON, STEP_SOLVED, STEP_WRONG };

static const char *progress_words(const char *status)
{
    return strcmp(status, "queued") == 0 ? "waiting for a slot" : "solving";
}

/* Reads the state of the request; prints the solution if there is one. */
static enum step read_state(struct solve *solve)
{
    const struct slice text = buf_slice(&solve->reply.body);
    enum step step = STEP_WRONG;
    yyjson_doc *doc = yyjson_read(text.data, text.len, 0);
    yyjson_val *const root = yyjson_doc_get_root(doc);
    const char *const status = show_text(root, "status");
    if (strcmp(status, "solved") == 0) {
        step = STEP_SOLVED;
        progress_stop(&solve->progress);
        if (solve->remote.is_json)
            remote_print_json(&solve->reply.body);
        else
            print_solution(solve, root);
    } else if (show_has(root, "id")) {
        step = STEP_ON;
        (void)snprintf(solve->id, sizeof solve->id, "%s", show_text(root, "id"));
        if (solve->progress.what != NULL)
            solve->progress.what = progress_words(status);
    }
    yyjson_doc_free(doc);
    return step;
}

static enum remote_end look(struct solve *solve, uint64_t left_ms)
{
    char path[96];
    const unsigned most = solve->progress.what != NULL ? HOLD_SEEN_S : HOLD_S;
    const unsigned left = (unsigned)((left_ms + 999) / 1000);
    const unsigned hold = left < most ? left : most;
    const struct remote_request request = {
        .method = "GET", .path = path, .timeout_s = hold + HOLD_GRACE_S};
    (void)snprintf(path, sizeof path, "/v1/solves/%s?wait=%u", solve->id, hold);
    return remote_send(&solve->remote, &request, &solve->reply);
}

static int run_out(struct solve *solve)
{
    progress_stop(&solve->progress);
    (void)fprintf(stderr, "solvegate solve: not solved within %" PRIu64 " s\n",
                  (solve->wait_ms + 999) / 1000);
    return give_up(solve);
}

static int pursue(struct solve *solve, const char *body)
{
    const struct remote_request request = {.method = "POST",
                                           .path = "/v1/solves",
                                           .body = body,
                                           .idempotency_key = solve->order.idempotency_key};
    enum remote_end end = remote_send(&solve->remote, &request, &solve->reply);
    for (;;) {
        if (end == REMOTE_GIVEN_UP)
            return give_up(solve);
        if (end != REMOTE_ANSWERED || solve->reply.status / 100 != 2) {
            progress_stop(&solve->progress);
            return fail(solve, end);
        }
        const enum step step = read_state(solve);
        if (step == STEP_SOLVED)
            return EX_OK;
        if (step == STEP_WRONG)
            return remote_tell_not_json(solve->command);
        const uint64_t spent = progress_now_ms() - solve->started_ms;
        if (spent >= solve->wait_ms)
            return run_out(solve);
        end = look(solve, solve->wait_ms - spent);
    }
}

static int ask(struct solve *solve)
{
    struct buf body;
    buf_init(&body, BODY_MAX_BYTES);
    remote_reply_init(&solve->reply);
    int code = ask_write(solve->command, &solve->order, &body);
    if (code == EX_OK) {
        term_catch_signals();
        solve->started_ms = progress_now_ms();
        solve->remote.on_wait = on_wait;
        solve->remote.context = solve;
        progress_start(&solve->progress, "waiting for the gateway");
        code = pursue(solve, body.data);
    }
    buf_close(&body);
    buf_close(&solve->reply.body);
    return code;
}

/* ---- arguments --------------------------------------------------------------------------- */

static const struct cli_flag flags[] = {
    ASK_FLAGS,
    {.letter = 'w',
     .name = "wait",
     .value_name = "DURATION",
     .help = "how long to wait for the solution, as 90s or 2m (180s)"},
    REMOTE_FLAGS,
    {.name = NULL},
};

static enum cli_result take_wait(struct solve *solve, const char *text)
{
    if (value_parse_duration(slice_from(text), &solve->wait_ms) && solve->wait_ms >= 1000 &&
        solve->wait_ms <= WAIT_MAX_MS)
        return CLI_ARG;
    cli_wrong(solve->command, "--wait: expected a duration of 1s to 1h, like \"90s\", found \"%s\"",
              text);
    return CLI_WRONG;
}

static enum cli_result read_args(struct cli_args *args, struct solve *solve)
{
    struct cli_arg arg;
    enum cli_result result;
    while ((result = cli_next(args, &arg)) == CLI_ARG) {
        if (arg.flag == NULL)
            return cli_wrong_argument(args->command, arg.value);
        if (cli_is_flag(&arg, "wait"))
            result = take_wait(solve, arg.value);
        else if (!remote_take_flag(&solve->remote, &arg))
            (void)ask_take_flag(args->command, &solve->order, &arg, &result);
        if (result != CLI_ARG)
            return result;
    }
    return result == CLI_END && !ask_is_sensible(args->command, &solve->order) ? CLI_WRONG : result;
}

static int run(struct cli_args *args)
{
    struct solve solve = {.command = args->command, .wait_ms = WAIT_DEFAULT_MS};
    remote_init(&solve.remote);
    int code;
    if (remote_open(args->command, &solve.remote, read_args(args, &solve), &code))
        code = ask(&solve);
    remote_close(&solve.remote);
    return code;
}

static const struct cli_example examples[] = {
    {"a Turnstile; the key is in SOLVEGATE_KEY",
     "solvegate solve -m turnstile -s 0x4AAA -p https://example.com/login"},
    {"an image from a pipe", "solvegate solve --image - <captcha.png"},
    {"reCAPTCHA v3, its token in a variable",
     "token=$(solvegate solve -m userrecaptcha -s 6Lc... -p https://example.com/ \\\n"
     "    --param version=v3 --param action=login)"},
    {NULL, NULL},
};

const struct command command_solve = {
    .name = "solve",
    .group = GROUP_ASK,
    .summary = "Ask for one captcha and print its solution",
    .usage = "-m NAME [-s KEY] [-p URL] [--param NAME=VALUE]... [-i FILE] [--wait DURATION] "
             "[FLAGS]",
    .details =
        "Prints the solution alone on standard output, words on standard error. Ctrl-C and "
        "the end of --wait give the request up; what was paid for by then is finished and "
        "kept by the gateway, and asking again finds it.\n"
        "Parameters of the API that have no flag here, such as min_ttl, max_age, "
        "priority, max_retries and retry_delay, can be given with --param.\n" REMOTE_KEY_HELP,
    .flags = flags,
    .examples = examples,
    .run = run,
};
