/* Builds the body of a solve request from the flags that `solve` and `explain` share. */
#ifndef SOLVEGATE_CLI_ASK_FLAGS_H
#define SOLVEGATE_CLI_ASK_FLAGS_H

#include "cli/remote.h"

#define ASK_PARAMS_MAX 64

#define ASK_FLAGS                                                                          \
    {.letter = 'm',                                                                        \
     .name = "method",                                                                     \
     .value_name = "NAME",                                                                 \
     .words = "turnstile userrecaptcha hcaptcha geetest geetest_v4 cloudflare_challenge "  \
              "base64 bls audio",                                                          \
     .help = "the vendor's name for the type of captcha (base64 with --image)"},           \
        {.letter = 's',                                                                    \
         .name = "sitekey",                                                                \
         .value_name = "KEY",                                                              \
         .help = "the page's public captcha key; for reCAPTCHA its googlekey"},            \
        {.letter = 'p',                                                                    \
         .name = "pageurl",                                                                \
         .value_name = "URL",                                                              \
         .help = "the page that shows the captcha"},                                       \
        {.name = "param",                                                                  \
         .value_name = "NAME=VALUE",                                                       \
         .help = "any other parameter, by the vendor's name; may be repeated"},            \
        {.letter = 'i',                                                                    \
         .name = "image",                                                                  \
         .value_name = "FILE",                                                             \
         .help = "the image to read, or - for standard input"},                            \
        {.name = "reuse",                                                                  \
         .value_name = "POLICY",                                                           \
         .words = "shared single none",                                                    \
         .help = "who may get the same solution: shared, single or none (as configured)"}, \
        {.name = "idempotency-key",                                                        \
         .value_name = "TEXT",                                                             \
         .help = "a repeated call with the same text gets the solve that the first one started"}

struct ask_order {
    const char *names[ASK_PARAMS_MAX]; /* borrowed; a parameter's name ends at name_lens */
    size_t name_lens[ASK_PARAMS_MAX];
    const char *values[ASK_PARAMS_MAX];
    size_t count;
    const char *image; /* borrowed, or NULL */
    const char *idempotency_key;
};

/* True if the flag is one of ours; *result is CLI_WRONG if its value is invalid. */
bool ask_take_flag(const struct command *command, struct ask_order *order,
                   const struct cli_arg *arg, enum cli_result *result);

/* False, after telling so on stderr, if there is nothing to ask for. */
bool ask_is_sensible(const struct command *command, const struct ask_order *order);

/* Writes the order as JSON, ended by a NUL. Returns EX_OK, or an exit code after telling why the
 * image cannot be read. */
int ask_write(const struct command *command, const struct ask_order *order, struct buf *body);

#endif
