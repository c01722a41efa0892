/* Keeps a benchmark from becoming a weapon: whom it may send to, and how fast. */
#ifndef SOLVEGATE_CLI_BENCH_GUARD_H
#define SOLVEGATE_CLI_BENCH_GUARD_H

#include <stdbool.h>

struct sockaddr;

/* Requests a second to other machines, unless the caller says that they are his. */
#define BENCH_REMOTE_RATE_MAX 100.0

/* From near to far; a name counts as the farthest of its addresses. */
enum bench_host {
    BENCH_HOST_LOOPBACK, /* this machine */
    BENCH_HOST_PRIVATE,  /* a private, shared or link-local address */
    BENCH_HOST_PUBLIC,   /* any other address */
    BENCH_HOST_UNKNOWN   /* the name has no address, or the URL is wrong */
};

/* Looks the name up. */
enum bench_host bench_guard_host(const char *url);

/* Whether this address may be connected to. */
typedef bool bench_guard_rule(const struct sockaddr *address);

/* The rule for each connection to that host, NULL if every address is fine: a name may resolve differently from one
 * second to the next, and what holds for this machine alone must not hold for another. */
bench_guard_rule *bench_guard_rule_for(enum bench_host host, bool is_owned);

/* True if both name the same scheme, host and port. */
bool bench_guard_same(const char *url, const char *other);

/* Why it may not be done, as words that follow the URL, or NULL. rate is the highest one, 0 for a closed loop, which is
 * slowed down instead (bench_guard_pace). is_configured: it is the gateway, or the vendor, of this machine. */
const char *bench_guard_refusal(enum bench_host host, bool is_configured, bool is_owned,
                                double rate);

/* The most calls a second, looks included; 0: no limit. */
double bench_guard_pace(enum bench_host host, bool is_owned);

#endif
