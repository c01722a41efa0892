/* Finds the gateway's address and the client's key. */
#include "cli/remote_key.h"

#include "cli/remote.h"
#include "config/config_values.h"

#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdlib.h>
#include <sysexits.h>
#include <unistd.h>

#define DEFAULT_URL "http://127.0.0.1:8430"

void remote_init(struct remote *remote)
{
    const char *url = getenv("SOLVEGATE_URL");
    *remote = (struct remote){.url = url == NULL || *url == '\0' ? DEFAULT_URL : url};
}

bool remote_take_flag(struct remote *remote, const struct cli_arg *arg)
{
    if (cli_is_flag(arg, "url")) {
        remote->url = arg->value;
    } else if (cli_is_flag(arg, "key-file")) {
        remote->key_file = arg->value;
    } else if (cli_is_flag(arg, "key")) {
        (void)snprintf(remote->key, sizeof remote->key, "%s", arg->value);
        /* Hides the key from listings of processes from now on. */
        sodium_memzero(arg->value, strlen(arg->value));
    } else if (cli_is_flag(arg, "json")) {
        remote->is_json = true;
    } else {
        return false;
    }
    return true;
}

/* The first line of the file; returns 0 or an errno. */
static int read_key(const char *file, char *key, size_t room)
{
    const bool is_standard = strcmp(file, "-") == 0;
    const int fd = is_standard ? STDIN_FILENO : open(file, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return errno;
    int code = 0;
    size_t len = 0;
    while (len + 1 < room) {
        const ssize_t count = read(fd, key + len, 1);
        if (count < 0 && errno == EINTR)
            continue;
        code = count < 0 ? errno : 0;
        if (count <= 0 || key[len] == '\n')
            break;
        len++;
    }
    len -= len > 0 && key[len - 1] == '\r' ? 1 : 0;
    key[len] = '\0';
    if (!is_standard)
        (void)close(fd);
    return code;
}

static int find_key(const struct command *command, struct remote *remote)
{
    const char *const variable = getenv("SOLVEGATE_KEY");
    if (remote->key_file != NULL) {
        const int code = read_key(remote->key_file, remote->key, sizeof remote->key);
        if (code != 0) {
            (void)fprintf(stderr, "solvegate %s: %s: cannot be read: %s\n", command->name,
                          remote->key_file, strerror(code));
            return EX_NOINPUT;
        }
    } else if (remote->key[0] == '\0' && variable != NULL) {
        (void)snprintf(remote->key, sizeof remote->key, "%s", variable);
    }
    const bool is_wrong = remote->key_file != NULL && remote->key[0] == '\0';
    if (is_wrong || (remote->key[0] != '\0' && !value_is_visible(slice_from(remote->key)))) {
        (void)fprintf(stderr, "solvegate %s: the key must be visible characters in one line\n",
                      command->name);
        return EX_DATAERR;
    }
    return EX_OK;
}

bool remote_open(const struct command *command, struct remote *remote, enum cli_result result,
                 int *code)
{
    *code = result == CLI_END ? find_key(command, remote) : cli_exit_code(result);
    return result == CLI_END && *code == EX_OK;
}
