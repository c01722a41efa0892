#include "cli/ask_flags.h"

#include "proto/json_out.h"

#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdlib.h>
#include <sysexits.h>
#include <unistd.h>

/* The gateway has its own limit; this one stops the command from reading a huge file by mistake. */
#define IMAGE_MAX_BYTES ((size_t)16 * 1024 * 1024)
#define IDEMPOTENCY_KEY_MAX 255

static bool take_param(const struct command *command, struct ask_order *order, const char *name,
                       size_t name_len, const char *value)
{
    if (order->count == ASK_PARAMS_MAX) {
        cli_wrong(command, "more than %d parameters", ASK_PARAMS_MAX);
        return false;
    }
    order->names[order->count] = name;
    order->name_lens[order->count] = name_len;
    order->values[order->count++] = value;
    return true;
}

static bool take_named(const struct command *command, struct ask_order *order, const char *text)
{
    const char *const equals = strchr(text, '=');
    if (equals == NULL || equals == text) {
        cli_wrong(command, "--param: expected NAME=VALUE, found \"%s\"", text);
        return false;
    }
    return take_param(command, order, text, (size_t)(equals - text), equals + 1);
}

static bool take_idempotency_key(const struct command *command, struct ask_order *order,
                                 const char *text)
{
    order->idempotency_key = text;
    for (const char *at = text; *at != '\0'; at++)
        if (*at < '!' || *at > '~')
            text = "";
    if (*text != '\0' && strlen(text) <= IDEMPOTENCY_KEY_MAX)
        return true;
    cli_wrong(command, "--idempotency-key: expected 1 to %d visible characters",
              IDEMPOTENCY_KEY_MAX);
    return false;
}

/* Takes a flag that has the name of a parameter. The method may be one that we do not know. */
static bool take_own(const struct command *command, struct ask_order *order,
                     const struct cli_arg *arg)
{
    const char *const name = arg->flag->name;
    if (cli_is_flag(arg, "reuse") && !cli_has_word(arg->flag->words, arg->value))
        return cli_wrong_word(command, "policy", arg->value, arg->flag->words) != CLI_WRONG;
    return take_param(command, order, name, strlen(name), arg->value);
}

bool ask_take_flag(const struct command *command, struct ask_order *order,
                   const struct cli_arg *arg, enum cli_result *result)
{
    bool is_right = true;
    if (cli_is_flag(arg, "param"))
        is_right = take_named(command, order, arg->value);
    else if (cli_is_flag(arg, "image"))
        order->image = arg->value;
    else if (cli_is_flag(arg, "idempotency-key"))
        is_right = take_idempotency_key(command, order, arg->value);
    else if (cli_has_word("method sitekey pageurl reuse", arg->flag->name))
        is_right = take_own(command, order, arg);
    else
        return false;
    if (!is_right)
        *result = CLI_WRONG;
    return true;
}

static bool has_param(const struct ask_order *order, const char *name)
{
    for (size_t i = 0; i < order->count; i++)
        if (slice_equals((struct slice){.data = order->names[i], .len = order->name_lens[i]},
                         slice_from(name)))
            return true;
    return false;
}

bool ask_is_sensible(const struct command *command, const struct ask_order *order)
{
    if (order->image != NULL || has_param(order, "method"))
        return true;
    cli_wrong(command, "say what to solve: --method NAME, or --image FILE");
    return false;
}

/* Returns 0 or an errno. */
static int read_image(const char *file, struct buf *image)
{
    const bool is_standard = strcmp(file, "-") == 0;
    const int fd = is_standard ? STDIN_FILENO : open(file, O_RDONLY | O_CLOEXEC);
    int code = fd < 0 ? errno : 0;
    while (code == 0) {
        char *const place = buf_reserve(image, 65536);
        const ssize_t count = place == NULL ? -1 : read(fd, place, 65536);
        if (count == 0)
            break;
        if (count > 0)
            buf_commit(image, (size_t)count);
        else if (place == NULL || errno != EINTR)
            code = place == NULL ? EFBIG : errno;
    }
    if (fd >= 0 && !is_standard)
        (void)close(fd);
    return code;
}

static void add_image(struct buf *body, struct slice image)
{
    const size_t room = sodium_base64_encoded_len(image.len, sodium_base64_VARIANT_ORIGINAL);
    char *const text = malloc(room);
    if (text == NULL)
        abort();
    (void)sodium_bin2base64(text, room, (const unsigned char *)image.data, image.len,
                            sodium_base64_VARIANT_ORIGINAL);
    json_string(body, "body", text);
    free(text);
}

static int write_image(const struct command *command, const struct ask_order *order,
                       struct buf *body)
{
    struct buf image;
    buf_init(&image, IMAGE_MAX_BYTES);
    const int code = read_image(order->image, &image);
    const bool is_standard = strcmp(order->image, "-") == 0;
    if (code != 0)
        (void)fprintf(stderr, "solvegate %s: %s: cannot be read: %s\n", command->name,
                      is_standard ? "standard input" : order->image, strerror(code));
    else
        add_image(body, buf_slice(&image));
    buf_close(&image);
    return code == 0 ? EX_OK : EX_NOINPUT;
}

int ask_write(const struct command *command, const struct ask_order *order, struct buf *body)
{
    int code = EX_OK;
    json_open(body, '{');
    for (size_t i = 0; i < order->count; i++) {
        json_item(body);
        json_add_string(body, (struct slice){.data = order->names[i], .len = order->name_lens[i]});
        buf_add_char(body, ':');
        json_add_string(body, slice_from(order->values[i]));
    }
    if (order->image != NULL) {
        if (!has_param(order, "method"))
            json_string(body, "method", "base64");
        code = write_image(command, order, body);
    }
    json_close(body, '}');
    buf_add_char(body, '\0');
    return code;
}
