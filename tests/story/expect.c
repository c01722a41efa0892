/* Comparing what was logged with what a story expects; the first wrong line is shown where it stands. */
#include "world.h"

#include <stdlib.h>

#define CONTEXT_LINES 3

struct line {
    struct slice text;
    bool is_there;
};

static struct line next_line(struct slice *rest)
{
    if (rest->len == 0)
        return (struct line){.is_there = false};
    const char *end = memchr(rest->data, '\n', rest->len);
    const size_t len = end == NULL ? rest->len : (size_t)(end - rest->data);
    const size_t taken = end == NULL ? len : len + 1;
    const struct line line = {.text = {.data = rest->data, .len = len}, .is_there = true};
    rest->data += taken;
    rest->len -= taken;
    return line;
}

/* Takes "[  5000] " or "[5000..6000] " off the front. */
static bool take_times(struct slice *text, unsigned long *from, unsigned long *to)
{
    const char *close = text->len == 0 ? NULL : memchr(text->data, ']', text->len);
    if (close == NULL || text->data[0] != '[')
        return false;
    char *end;
    *from = strtoul(text->data + 1, &end, 10);
    *to = *from;
    if (end[0] == '.' && end[1] == '.')
        *to = strtoul(end + 2, &end, 10);
    if (end != close)
        return false;
    const size_t taken = (size_t)(close + 1 - text->data);
    *text = (struct slice){.data = text->data + taken, .len = text->len - taken};
    return true;
}

static bool line_fits(struct slice wanted, struct slice got)
{
    unsigned long from, to, at, same;
    if (!take_times(&wanted, &from, &to) || !take_times(&got, &at, &same))
        return slice_equals(wanted, got);
    return at >= from && at <= to && slice_equals(wanted, got);
}

static void show(const char *mark, struct line line)
{
    if (line.is_there)
        print_error("%s%.*s\n", mark, (int)line.text.len, line.text.data);
    else
        print_error("%s(nothing)\n", mark);
}

/* The lines before it are equal, so they are shown once. */
static void show_before(struct slice all, unsigned wrong)
{
    for (unsigned number = 0; number < wrong; number++) {
        const struct line line = next_line(&all);
        if (number + CONTEXT_LINES >= wrong)
            show("            ", line);
    }
}

static void show_after(struct slice rest)
{
    for (unsigned number = 0; number < CONTEXT_LINES && rest.len > 0; number++)
        show("  then      ", next_line(&rest));
}

void world_expect(struct world *world, const char *lines, const char *file, int line)
{
    struct slice wanted_rest = slice_from(lines);
    const struct slice all = buf_slice(&world->log);
    struct slice rest = all;
    for (unsigned number = 0; wanted_rest.len > 0 || rest.len > 0; number++) {
        const struct line wanted = next_line(&wanted_rest);
        const struct line got = next_line(&rest);
        if (wanted.is_there && got.is_there && line_fits(wanted.text, got.text))
            continue;
        print_error("%s:%d: line %u of what was expected:\n", file, line, number + 1);
        show_before(all, number);
        show("  expected  ", wanted);
        show("  got       ", got);
        show_after(rest);
        buf_reset(&world->log);
        _fail(file, line);
    }
    buf_reset(&world->log);
}

void skip_lines(struct world *world)
{
    buf_reset(&world->log);
}
