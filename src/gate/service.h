/* The service manager's side: telling systemd how we are, and taking the sockets it opened for us. */
#ifndef SOLVEGATE_GATE_SERVICE_H
#define SOLVEGATE_GATE_SERVICE_H

#include "base/err.h"
#include "base/slice.h"

#include <stdint.h>

struct config;
struct uv_loop_s;

/* The protocols of sd_notify(3), sd_watchdog_enabled(3) and sd_listen_fds(3), spoken without libsystemd. There is
 * one manager per process and it talks through the environment, so the state is the process's: what follows does
 * nothing when nobody asked for it. */

/* Reads NOTIFY_SOCKET, WATCHDOG_* and LISTEN_* and takes them out of the environment, before any thread starts. */
void service_init(void);

/* The sockets that were passed take the place of config->listen, as "fd:3" and so on; without any it stays as it is.
 * What is wrong with them is logged. May be called again for another configuration. */
int service_use_sockets(struct config *config) MUST_CHECK;

/* After listening: "ready", the first line of status for the operator, and from now on signs of life off the loop. */
void service_ready(struct uv_loop_s *loop, struct slice status);

/* Around a reload; the second says "ready" and the status again, whether or not the new configuration was taken. */
void service_reloading(void);
void service_reloaded(void);

/* The end has begun and takes up to drain_ms. */
void service_stopping(uint64_t drain_ms);

/* The last handle on the loop goes. */
void service_close(void);

#endif
