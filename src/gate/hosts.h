/* Which hosts a client may ask for. */
#ifndef SOLVEGATE_GATE_HOSTS_H
#define SOLVEGATE_GATE_HOSTS_H

#include "gate/gate_state.h"

enum hosts_verdict {
    HOSTS_ALLOWED,
    HOSTS_FOREIGN, /* a page of a host that its client may not ask for */
    HOSTS_UNKNOWN, /* a page that is no URL, or none where one is needed */
};

/* By the client's allow_hosts, which may be none: then it may ask for every host. */
enum hosts_verdict hosts_judge(const struct config_client *client, const struct params *params);

/* The same of parameters that the engine keeps. The context is the gate. */
bool hosts_allow(const void *context, client_id client, const struct blob *packed);

#endif
