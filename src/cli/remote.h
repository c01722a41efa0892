/* Calls from the command line to a running gateway. */
#ifndef SOLVEGATE_CLI_REMOTE_H
#define SOLVEGATE_CLI_REMOTE_H

#include "base/buf.h"
#include "cli/cli.h"

/* For the flag tables of commands that talk to a gateway; remote_take_flag understands them. The key
 * has no flag: everybody on the machine can read arguments. */
#define REMOTE_FLAG_URL                                               \
    {'u', "url", "URL",                                               \
     "the gateway: http://HOST:PORT or unix:PATH (or SOLVEGATE_URL; " \
     "http://127.0.0.1:8430)"}
#define REMOTE_FLAG_JSON {0, "json", NULL, "print the gateway's JSON as it is"}
/* Said in the details of such commands. */
#define REMOTE_KEY_HELP "The client's key is taken from SOLVEGATE_KEY.\n"

struct remote {
    const char *url; /* borrowed */
    bool is_json;
};

void remote_init(struct remote *remote);

/* True when the flag was one of ours. */
bool remote_take_flag(struct remote *remote, const struct cli_arg *arg);

/* One call; path begins with a slash, body may be NULL. On 2xx the reply is in *reply and EX_OK is
 * returned; else the gateway's own words go to stderr and the exit code says what kind it was. */
int remote_call(const struct command *command, const struct remote *remote, const char *method,
                const char *path, const char *body, struct buf *reply);

/* "&name=value" with the value escaped, for a query. */
void remote_add_query(struct buf *path, const char *name, const char *value);

#endif
