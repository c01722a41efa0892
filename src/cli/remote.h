/* Calls from the command line to a running gateway. */
#ifndef SOLVEGATE_CLI_REMOTE_H
#define SOLVEGATE_CLI_REMOTE_H

#include "base/buf.h"
#include "cli/cli.h"

#define REMOTE_REPLY_MAX ((size_t)16 * 1024 * 1024)
#define REMOTE_KEY_MAX 256
#define REMOTE_PATH_MAX 4096

/* For the flag tables of commands that talk to a gateway; remote_take_flag understands them. */
#define REMOTE_FLAGS                                                                           \
    {.letter = 'u',                                                                            \
     .name = "url",                                                                            \
     .value_name = "URL",                                                                      \
     .help = "the gateway: http://HOST:PORT or unix:PATH (SOLVEGATE_URL, else "                \
             "http://127.0.0.1:8430)"},                                                        \
        {.name = "key-file",                                                                   \
         .value_name = "FILE",                                                                 \
         .help = "the client's key is the first line of this file, or of standard input (-)"}, \
        {.name = "key",                                                                        \
         .value_name = "KEY",                                                                  \
         .help = "the client's key itself; everybody on this machine can read arguments, so "  \
                 "better give it in SOLVEGATE_KEY or with --key-file"},                        \
        CLI_FLAG_JSON
/* For the details of commands that talk to a gateway. */
#define REMOTE_KEY_HELP "The client's key is taken from SOLVEGATE_KEY or --key-file.\n"

struct remote_link;
struct sockaddr;
struct yyjson_val;

/* Prints a reply for people. */
typedef void (*remote_print)(struct yyjson_val *root);

struct remote {
    const char *url;      /* borrowed */
    const char *key_file; /* borrowed, or NULL */
    bool is_json;
    char key[REMOTE_KEY_MAX];
    bool shows_progress; /* show a progress line once a call takes longer than a second */
    /* Called a few times a second while a reply is pending; false gives up. May be NULL. */
    bool (*on_wait)(void *context);
    void *context;
    /* Whether this address may be connected to; NULL: every one. */
    bool (*allows)(const struct sockaddr *address);
    struct remote_link *link; /* owned */
};

struct remote_request {
    const char *method;
    const char *path;            /* begins with a slash */
    const char *body;            /* JSON, or NULL */
    const char *idempotency_key; /* or NULL */
    unsigned timeout_s;          /* 0: the default */
};

enum remote_end { REMOTE_ANSWERED, REMOTE_UNREACHABLE, REMOTE_GIVEN_UP };

struct remote_reply {
    long status;
    struct buf body;
    char trouble[256]; /* why it was unreachable */
};

void remote_close(struct remote *remote);
void remote_reply_init(struct remote_reply *reply);

/* Makes one call and prints nothing. Empties the reply first; keeps connections open. */
enum remote_end remote_send(struct remote *remote, const struct remote_request *request,
                            struct remote_reply *reply);

/* Makes one call and shows its progress on the terminal. On 2xx fills body and returns EX_OK; else
 * prints the gateway's message on stderr and returns the matching exit code. */
int remote_call(const struct command *command, struct remote *remote, const char *method,
                const char *path, const char *body, struct buf *reply);

/* Tells on stderr why a call failed and returns the exit code for it. */
int remote_tell(const struct command *command, const struct remote *remote, enum remote_end end,
                const struct remote_reply *reply);

/* Prints a reply on standard output: unchanged for --json, else through print. Returns the exit
 * code. */
int remote_show(const struct command *command, const struct remote *remote, const struct buf *reply,
                remote_print print);

/* Fetches one document and shows it. */
int remote_get(const struct command *command, struct remote *remote, const char *path,
               remote_print print);
/* All of a command that has no flags of its own and shows one page. */
int remote_run_get(struct cli_args *args, const char *path, remote_print print);

/* Prints the body unchanged, with a newline. */
void remote_print_json(const struct buf *body);
/* Tells that a body is not the expected JSON; returns the exit code. */
int remote_tell_not_json(const struct command *command);

/* Adds "&name=value" to a query, with the value escaped. */
void remote_add_query(struct buf *path, const char *name, const char *value);

#endif
