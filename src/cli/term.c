#include "cli/term.h"

#include "base/buf.h"

#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

/* Enters and leaves the alternate screen; inside there is no cursor, and lines do not wrap when the
 * window shrinks. */
#define ENTER "\x1b[?1049h\x1b[?25l\x1b[?7l"
#define LEAVE "\x1b[?7h\x1b[?25h\x1b[?1049l"
#define HOME "\x1b[H"
#define CLEAR_LINE "\x1b[K\r\n"
#define CLEAR_REST "\x1b[J"
#define DRAWN_MAX_BYTES ((size_t)1024 * 1024)

static volatile sig_atomic_t ending_signal;
static volatile sig_atomic_t stop_signal;
static volatile sig_atomic_t window_signal;
static volatile sig_atomic_t is_screen_open;
static volatile sig_atomic_t has_saved;
static struct termios saved;
static bool is_input_gone;
static bool has_locale;    /* setlocale was called */
static bool is_registered; /* give_back runs at exit */

bool term_is_output(void)
{
    return isatty(STDOUT_FILENO) == 1;
}

struct term_size term_size(void)
{
    struct winsize window;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) != 0 || window.ws_col == 0 || window.ws_row == 0)
        return (struct term_size){.columns = 80, .lines = 24};
    return (struct term_size){.columns = window.ws_col, .lines = window.ws_row};
}

unsigned term_width(void)
{
    return term_is_output() ? term_size().columns : 0;
}

bool term_is_utf8(void)
{
    if (!has_locale)
        (void)setlocale(LC_CTYPE, "");
    has_locale = true;
    return strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
}

bool term_has_color(void)
{
    const char *const refused = getenv("NO_COLOR");
    const char *const kind = getenv("TERM");
    return term_is_output() && (refused == NULL || *refused == '\0') && kind != NULL &&
           strcmp(kind, "dumb") != 0;
}

/* ---- signals ----------------------------------------------------------------------------- */

static void on_ending(int number)
{
    ending_signal = number;
}

static void on_stop(int number)
{
    stop_signal = number;
}

static void on_window(int number)
{
    window_signal = number;
}

static void handle(int number, void (*handler)(int))
{
    struct sigaction action = {.sa_handler = handler};
    (void)sigemptyset(&action.sa_mask);
    (void)sigaction(number, &action, NULL);
}

void term_catch_signals(void)
{
    const int endings[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        struct sigaction before;
        /* Signals that nohup made us ignore stay ignored. */
        if (sigaction(endings[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
            handle(endings[i], on_ending);
    }
}

int term_signal(void)
{
    return ending_signal;
}

int term_exit_code(int signal_number)
{
    return 128 + signal_number;
}

/* ---- the alternate screen ---------------------------------------------------------------- */

/* Makes only async-signal-safe calls. */
static void give_back(void)
{
    const int before = errno;
    if (is_screen_open != 0) {
        const ssize_t written = write(STDOUT_FILENO, LEAVE, sizeof(LEAVE) - 1);
        (void)written;
    }
    if (has_saved != 0)
        (void)tcsetattr(STDIN_FILENO, TCSANOW, &saved);
    is_screen_open = 0;
    errno = before;
}

/* A crash must not leave a terminal without cursor and echo. */
static void on_crash(int number)
{
    give_back();
    (void)signal(number, SIG_DFL);
    (void)raise(number);
}

static void enter(void)
{
    if (has_saved != 0) {
        struct termios keys = saved;
        keys.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
        keys.c_cc[VMIN] = 0;
        keys.c_cc[VTIME] = 0;
        (void)tcsetattr(STDIN_FILENO, TCSANOW, &keys);
    }
    is_screen_open = 1;
    const ssize_t written = write(STDOUT_FILENO, ENTER, sizeof(ENTER) - 1);
    (void)written;
}

void term_open_screen(void)
{
    if (!is_registered)
        (void)atexit(give_back);
    is_registered = true;
    has_saved = tcgetattr(STDIN_FILENO, &saved) == 0;
    term_catch_signals();
    handle(SIGWINCH, on_window);
    handle(SIGTSTP, on_stop);
    handle(SIGABRT, on_crash);
    handle(SIGSEGV, on_crash);
    handle(SIGBUS, on_crash);
    enter();
}

void term_close_screen(void)
{
    give_back();
}

/* Ctrl-Z: gives the terminal back to the shell, and takes it again when the process continues. */
static void pause_if_asked(void)
{
    if (stop_signal == 0)
        return;
    stop_signal = 0;
    give_back();
    (void)raise(SIGSTOP);
    enter();
}

static void write_all(struct slice bytes)
{
    while (bytes.len > 0) {
        const ssize_t count = write(STDOUT_FILENO, bytes.data, bytes.len);
        if (count < 0 && errno != EINTR)
            return;
        if (count > 0)
            bytes = slice_skip(bytes, (size_t)count);
    }
}

void term_draw(const char *text, unsigned long len)
{
    struct buf out;
    struct slice rest = {.data = text, .len = len};
    const unsigned lines = term_size().lines;
    buf_init(&out, DRAWN_MAX_BYTES);
    buf_add(&out, SLICE_OF(HOME));
    for (unsigned line = 0; rest.len > 0 && line < lines; line++) {
        buf_add(&out, slice_take(&rest, '\n'));
        /* A newline in the last line would scroll the first line away. */
        buf_add(&out, line + 1 < lines ? SLICE_OF(CLEAR_LINE) : SLICE_OF("\x1b[K"));
    }
    buf_add(&out, SLICE_OF(CLEAR_REST));
    write_all(buf_slice(&out));
    buf_close(&out);
}

/* Unblocks the signals only while it waits: one that arrives just before the wait must not be
 * missed. */
static int poll_or_signal(struct pollfd *input, nfds_t count, int milliseconds)
{
    sigset_t all;
    sigset_t before;
    (void)sigfillset(&all);
    (void)sigprocmask(SIG_BLOCK, &all, &before);
    const bool has_come = ending_signal != 0 || stop_signal != 0 || window_signal != 0;
    const int wait_ms = has_come ? 0 : milliseconds;
    const struct timespec wait = {.tv_sec = wait_ms / 1000,
                                  .tv_nsec = (long)(wait_ms % 1000) * 1000000};
    const int ready = ppoll(input, count, &wait, &before);
    window_signal = 0;
    (void)sigprocmask(SIG_SETMASK, &before, NULL);
    return ready;
}

int term_wait(int milliseconds)
{
    pause_if_asked();
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
    const bool has_keys = is_screen_open != 0 && has_saved != 0 && !is_input_gone;
    const int ready = poll_or_signal(&input, has_keys ? 1 : 0, milliseconds);
    pause_if_asked();
    if (ready <= 0)
        return 0;
    char key = 0;
    const ssize_t count = read(STDIN_FILENO, &key, 1);
    /* At end of file standard input stays readable for ever. */
    if (count == 0)
        is_input_gone = true;
    return count == 1 ? (unsigned char)key : 0;
}
