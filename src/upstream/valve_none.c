/* Without OpenSSL: libcurl reads what it likes, and nothing can be proven. */
#include "upstream/valve.h"

#include "base/assert.h"

void valve_install(void *ssl_context, struct wire *wire)
{
    (void)ssl_context;
    (void)wire;
    UNREACHABLE();
}

void valve_credit(void *easy, size_t bytes)
{
    (void)easy;
    (void)bytes;
}

struct valve_mark valve_mark(void *easy)
{
    (void)easy;
    return (struct valve_mark){.connection = 0};
}

bool valve_cut_if_unwritten(void *easy, struct valve_mark since)
{
    (void)easy;
    (void)since;
    return false;
}
