#include "proto/vendor_text.h"

#include "base/ascii.h"
#include "proto/vendor_reply.h"

struct slice vendor_trim(struct slice body)
{
    if (slice_starts_with(body, SLICE_OF("\xEF\xBB\xBF")))
        body = slice_skip(body, 3);
    while (body.len > 0 && ascii_is_space(body.data[0]))
        body = slice_skip(body, 1);
    while (body.len > 0 && ascii_is_space(body.data[body.len - 1]))
        body.len--;
    return body;
}

bool vendor_is_task_id(struct slice text)
{
    if (text.len == 0 || text.len >= TASK_ID_MAX)
        return false;
    for (size_t i = 0; i < text.len; i++) {
        const char c = text.data[i];
        if (!((c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
              c == '_' || c == '-'))
            return false;
    }
    return true;
}

bool vendor_is_solution(struct slice text)
{
    return text.len > 0 && text.len <= SOLUTION_MAX_BYTES;
}
