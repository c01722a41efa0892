/* The service manager: tells systemd our state and takes the sockets that it opened for us. */
#ifndef SOLVEGATE_GATE_SERVICE_H
#define SOLVEGATE_GATE_SERVICE_H

#include "base/err.h"
#include "base/slice.h"

#include <stdint.h>

struct config;
struct uv_loop_s;

/* The protocols of sd_notify(3), sd_watchdog_enabled(3) and sd_listen_fds(3), without libsystemd. A
 * process has one manager, which talks through the environment, so the state is global. Without a
 * manager these functions do nothing. */

/* Reads NOTIFY_SOCKET, WATCHDOG_* and LISTEN_* and removes them from the environment; call it
 * before any thread starts. */
void service_init(void);

/* The sockets that were passed replace config->listen, as "fd:3" and so on; without any it stays
 * unchanged. Mistakes are logged. May be called again for another configuration. */
int service_use_sockets(struct config *config) MUST_CHECK;

/* After listening: tells "ready" and the first line of status, and starts the watchdog's signs of
 * life on the loop. */
void service_ready(struct uv_loop_s *loop, struct slice status);

/* Call them around a reload; the second tells "ready" and the status again, whether or not the new
 * configuration was adopted. */
void service_reloading(void);
void service_reloaded(void);

/* The drain begins and takes up to drain_ms. */
void service_stopping(uint64_t drain_ms);

/* Closes the last handle on the loop. */
void service_close(void);

#endif
