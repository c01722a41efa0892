#include "proto/api_money.h"

#include "proto/json_out.h"

static uint64_t permille(uint64_t part, uint64_t whole)
{
    return whole == 0 ? 0 : part * 1000 / whole;
}

void json_percent(struct buf *out, const char *name, uint64_t part, uint64_t whole)
{
    const uint64_t share = permille(part, whole);
    json_member(out, name);
    buf_addf(out, "%llu.%llu", (unsigned long long)(share / 10), (unsigned long long)(share % 10));
}

void json_money(struct buf *out, const char *name, uint64_t micro)
{
    json_member(out, name);
    buf_addf(out, "%llu.%06u", (unsigned long long)(micro / 1000000), (unsigned)(micro % 1000000));
}
