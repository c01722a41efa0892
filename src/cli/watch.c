#include "cli/watch.h"

#include "cli/progress.h"
#include "cli/show.h"
#include "config/config_values.h"

#include <signal.h>
#include <sysexits.h>

#define SCREEN_MAX_BYTES ((size_t)4 * 1024 * 1024)
#define KEY_ESCAPE 27
#define INTERVAL_MIN_MS 100
#define INTERVAL_MAX_MS (3600 * 1000)

enum cli_result watch_take_flag(const struct command *command, struct watch *watch,
                                const struct cli_arg *arg)
{
    unsigned long long count;
    if (cli_is_flag(arg, "interval")) {
        if (value_parse_duration(slice_from(arg->value), &watch->interval_ms) &&
            watch->interval_ms >= INTERVAL_MIN_MS && watch->interval_ms <= INTERVAL_MAX_MS)
            return CLI_ARG;
        cli_wrong(command, "--interval: expected a duration of 100ms to 1h, found \"%s\"",
                  arg->value);
        return CLI_WRONG;
    }
    if (!cli_is_flag(arg, "count"))
        return CLI_END;
    if (slice_to_u64(slice_from(arg->value), &count) && count > 0) {
        watch->count = count;
        return CLI_ARG;
    }
    cli_wrong(command, "--count: expected a number above 0, found \"%s\"", arg->value);
    return CLI_WRONG;
}

static bool is_last(struct watch *watch)
{
    return watch->count > 0 && --watch->count == 0;
}

/* Ctrl-C is the usual way to leave such a view, so it is not a failure. */
static int exit_code(void)
{
    const int number = term_signal();
    return number == 0 || number == SIGINT ? EX_OK : term_exit_code(number);
}

/* ---- one snapshot per interval ----------------------------------------------------------- */

static bool on_wait_plain(void *context)
{
    (void)context;
    return term_signal() == 0;
}

static int run_plain(struct watch *watch, struct buf *out)
{
    watch->remote->on_wait = on_wait_plain;
    for (bool is_first = true;; is_first = false) {
        const uint64_t next = progress_now_ms() + watch->interval_ms;
        const int code = watch->update(watch->context, is_first);
        if (code != EX_OK)
            return code;
        buf_reset(out);
        watch->write(watch->context, out, (struct term_size){.columns = 0, .lines = 0});
        show_print(out);
        /* A reader of a pipe wants each snapshot at once; a closed pipe ends the command. */
        if (fflush(stdout) != 0)
            return EX_IOERR;
        if (is_last(watch))
            return EX_OK;
        for (uint64_t now; term_signal() == 0 && (now = progress_now_ms()) < next;)
            (void)term_wait((int)(next - now));
        if (term_signal() != 0)
            return exit_code();
    }
}

/* ---- the screen -------------------------------------------------------------------------- */

static bool is_quit(int key)
{
    return key == 'q' || key == 'Q' || key == KEY_ESCAPE;
}

/* The q key must work while a slow gateway has not replied yet; another key waits until then. */
static bool has_quit;
static int pressed;

static bool on_wait_screen(void *context)
{
    (void)context;
    const int key = term_wait(0);
    has_quit = has_quit || is_quit(key);
    pressed = key != 0 ? key : pressed;
    return !has_quit && term_signal() == 0;
}

static void draw(struct watch *watch, struct buf *out)
{
    buf_reset(out);
    watch->write(watch->context, out, term_size());
    term_draw(buf_slice(out).data, out->len);
}

static bool wants_update(const struct watch *watch, int key)
{
    return key == ' ' || (key != 0 && watch->press != NULL && watch->press(watch->context, key));
}

/* Waits for the next update and redraws when the window changes; false to leave. */
static bool linger(struct watch *watch, struct buf *out, uint64_t next)
{
    for (uint64_t now; (now = progress_now_ms()) < next;) {
        const int key = pressed != 0 ? pressed : term_wait((int)(next - now));
        pressed = 0;
        if (is_quit(key) || has_quit || term_signal() != 0)
            return false;
        if (wants_update(watch, key))
            return true;
        if (progress_now_ms() < next)
            draw(watch, out);
    }
    return !has_quit && term_signal() == 0;
}

static int run_screen(struct watch *watch, struct buf *out)
{
    /* The first update runs before the screen opens, so that an error message stays visible. */
    watch->remote->on_wait = on_wait_plain;
    watch->remote->shows_progress = true;
    int code = watch->update(watch->context, true);
    if (code != EX_OK)
        return code;
    watch->remote->on_wait = on_wait_screen;
    watch->remote->shows_progress = false;
    term_open_screen();
    uint64_t next = progress_now_ms() + watch->interval_ms;
    draw(watch, out);
    while (!is_last(watch) && linger(watch, out, next)) {
        next = progress_now_ms() + watch->interval_ms;
        code = watch->update(watch->context, false);
        draw(watch, out);
    }
    term_close_screen();
    return code == EX_OK ? exit_code() : code;
}

int watch_run(struct watch *watch)
{
    struct buf out;
    buf_init(&out, SCREEN_MAX_BYTES);
    term_catch_signals();
    const bool is_screen = term_is_output() && !watch->remote->is_json;
    const int code = is_screen ? run_screen(watch, &out) : run_plain(watch, &out);
    watch->remote->on_wait = NULL;
    buf_close(&out);
    return code;
}
