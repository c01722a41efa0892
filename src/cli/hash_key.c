#include "cli/cli.h"
#include "config/config.h"
#include "config/config_clients.h"
#include "config/config_values.h"

#include <errno.h>
#include <signal.h>
#include <sodium.h>
#include <sysexits.h>
#include <termios.h>
#include <unistd.h>

/* Room for input longer than any key, so that the message can tell its length. */
#define INPUT_MAX 128

static struct termios saved_terminal;

/* Restores the terminal's echo when ^C is typed at the prompt. */
static void on_signal(int number)
{
    (void)tcsetattr(STDIN_FILENO, TCSANOW, &saved_terminal);
    (void)signal(number, SIG_DFL);
    (void)raise(number);
}

/* Reads one line without its newline; returns its length, or a negative number. */
static long read_line(char *out, size_t room)
{
    size_t len = 0;
    while (len < room) {
        const ssize_t count = read(STDIN_FILENO, out + len, 1);
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            return -1;
        if (count == 0 || out[len] == '\n')
            break;
        len++;
    }
    if (len > 0 && out[len - 1] == '\r')
        len--;
    return (long)len;
}

static long read_silently(char *out, size_t room)
{
    if (tcgetattr(STDIN_FILENO, &saved_terminal) != 0)
        return read_line(out, room); /* no terminal */
    struct termios silent = saved_terminal;
    silent.c_lflag &= ~(tcflag_t)ECHO;
    const int signals[] = {SIGINT, SIGTERM, SIGQUIT, SIGHUP};
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++)
        (void)signal(signals[i], on_signal);
    (void)tcsetattr(STDIN_FILENO, TCSAFLUSH, &silent);
    (void)fputs("Key: ", stderr);
    const long len = read_line(out, room);
    (void)tcsetattr(STDIN_FILENO, TCSANOW, &saved_terminal);
    (void)fputs("\n", stderr);
    return len;
}

static int print_hash(const char *key, long len, bool is_json)
{
    if (len < 0) {
        (void)fputs("solvegate hash-key: standard input cannot be read\n", stderr);
        return EX_IOERR;
    }
    const struct slice text = {.data = key, .len = (size_t)len};
    if (!value_is_client_key(text)) {
        (void)fprintf(stderr,
                      "solvegate hash-key: expected %d or %d visible characters, found %s%ld%s\n",
                      CLIENT_KEY_CHARS, CLIENT_KEY_LONG_CHARS, len >= INPUT_MAX ? "at least " : "",
                      len, value_is_client_key_length(text.len) ? ", some of another kind" : "");
        return EX_DATAERR;
    }
    uint8_t hash[CLIENT_KEY_HASH_BYTES];
    char hex[2 * CLIENT_KEY_HASH_BYTES + 1];
    config_hash_key(text, hash);
    (void)sodium_bin2hex(hex, sizeof hex, hash, sizeof hash);
    (void)printf(is_json ? "{\"key_hash\":\"%s\"}\n" : "%s\n", hex);
    return EX_OK;
}

static int run(struct cli_args *args)
{
    struct cli_arg arg;
    bool is_json = false;
    enum cli_result result = cli_next(args, &arg);
    if (result == CLI_ARG && arg.flag != NULL) {
        is_json = true;
        result = cli_next(args, &arg);
    }
    if (result == CLI_ARG) {
        /* The argument is not repeated in the message: it is probably the key. */
        cli_wrong(args->command, "takes no arguments, since everybody on the machine can see them; "
                                 "give the key on standard input");
        return EX_USAGE;
    }
    if (result != CLI_END)
        return cli_exit_code(result);
    char key[INPUT_MAX];
    const long len = read_silently(key, sizeof key);
    const int code = print_hash(key, len, is_json);
    sodium_memzero(key, sizeof key);
    return code;
}

static const struct cli_flag flags[] = {CLI_FLAG_JSON, {.name = NULL}};

static const struct cli_example examples[] = {
    {"a new key in a file of its own, and its hash for the configuration",
     "(umask 077 && openssl rand -hex 16 >crawler.key) && solvegate hash-key <crawler.key"},
    {NULL, NULL},
};

const struct command command_hash_key = {
    .name = "hash-key",
    .group = GROUP_RUN,
    .summary = "Print the key_hash of a client's key on standard input",
    .usage = "< FILE",
    .details = "On a terminal it asks for the key and does not show it. Keys have 32 or 36 "
               "visible characters; `openssl rand -hex 16` makes one.\n",
    .flags = flags,
    .examples = examples,
    .run = run,
};
