#include "cli/bench_out.h"

#include "cli/bench_compare.h"
#include "cli/bench_html.h"
#include "cli/bench_json.h"
#include "cli/bench_print.h"
#include "cli/show.h"
#include "cli/term.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sysexits.h>
#include <unistd.h>

#define TRACE_MAX_BYTES ((size_t)128 * 1024 * 1024)
#define REPORT_MAX_BYTES ((size_t)4 * 1024 * 1024)

/* Returns 0 or an errno. */
static int read_file(const char *file, struct buf *text)
{
    const int fd = open(file, O_RDONLY | O_CLOEXEC);
    int code = fd < 0 ? errno : 0;
    while (code == 0) {
        char *const place = buf_reserve(text, 65536);
        const ssize_t count = place == NULL ? -1 : read(fd, place, 65536);
        if (count == 0)
            break;
        if (count > 0)
            buf_commit(text, (size_t)count);
        else if (place == NULL || errno != EINTR)
            code = place == NULL ? EFBIG : errno;
    }
    if (fd >= 0)
        (void)close(fd);
    return code;
}

static int read_old(const char *file, struct bench_report **old)
{
    struct buf text;
    buf_init(&text, REPORT_MAX_BYTES);
    const int failed = read_file(file, &text);
    int code = EX_OK;
    if (failed == 0)
        *old = bench_json_read(buf_slice(&text));
    buf_close(&text);
    if (failed != 0) {
        (void)fprintf(stderr, "solvegate bench: %s: cannot be read: %s\n", file, strerror(failed));
        code = EX_NOINPUT;
    } else if (*old == NULL) {
        (void)fprintf(
            stderr,
            "solvegate bench: %s: is no report of this version's `solvegate bench --json`\n", file);
        code = EX_DATAERR;
    }
    return code;
}

int bench_out_load_trace(struct bench_order *order, struct bench_trace *trace)
{
    struct bench_plan *const plan = &order->plan;
    struct buf text;
    *trace = (struct bench_trace){.lines = NULL};
    if (order->replay == NULL)
        return EX_OK;
    buf_init(&text, TRACE_MAX_BYTES);
    const int failed = read_file(order->replay, &text);
    const char *why = NULL;
    const size_t wrong = failed == 0 ? bench_trace_read(trace, buf_slice(&text), &why) : 0;
    buf_close(&text);
    if (failed != 0) {
        (void)fprintf(stderr, "solvegate bench: %s: cannot be read: %s\n", order->replay,
                      strerror(failed));
        return EX_NOINPUT;
    }
    if (wrong != 0) {
        (void)fprintf(stderr, "solvegate bench: %s:%zu: %s\n", order->replay, wrong, why);
        return EX_DATAERR;
    }
    plan->trace = trace;
    plan->method = trace->method_count == 1 ? trace->methods[0] : "several methods";
    plan->repeat = 1 - (double)bench_trace_targets(trace) / (double)trace->count;
    if (plan->requests == 0 || plan->requests > trace->count)
        plan->requests = trace->count;
    return EX_OK;
}

static int tell_unwritable(const char *file, int reason)
{
    (void)fprintf(stderr, "solvegate bench: %s: cannot be written: %s\n", file, strerror(reason));
    return EX_CANTCREAT;
}

/* Where the page is written first: beside it, so that an older page stays until the new one is whole. What is no plain
 * file, like /dev/stdout, cannot be replaced and is written itself. */
static void place_page(const char *path, struct buf *place)
{
    struct stat about;
    const bool is_plain = lstat(path, &about) != 0 || S_ISREG(about.st_mode);
    buf_addf(place, "%s%s", path, is_plain ? ".tmp" : "");
    buf_add_char(place, '\0');
}

/* Returns 0 or an errno. */
static int write_place(const char *place, struct slice text)
{
    FILE *const file = fopen(place, "we");
    if (file == NULL)
        return errno;
    const bool is_whole = text.len == 0 || fwrite(text.data, 1, text.len, file) == text.len;
    const bool is_written = is_whole && fflush(file) == 0;
    const int failed = is_written ? 0 : errno;
    const bool is_closed = fclose(file) == 0;
    return failed != 0 || is_closed ? failed : errno;
}

/* With SLICE_NONE it only tries whether the page can be written, and leaves nothing. */
static int write_page(const char *path, struct slice text)
{
    struct buf place;
    buf_init(&place, 8192);
    place_page(path, &place);
    const bool is_beside = strcmp(place.data, path) != 0;
    const bool is_trial = text.len == 0;
    int failed = access(path, W_OK) != 0 && errno != ENOENT ? errno : 0;
    if (failed == 0 && (is_beside || !is_trial))
        failed = write_place(place.data, text);
    if (failed == 0 && is_beside && !is_trial && rename(place.data, path) != 0)
        failed = errno;
    if (is_beside && (failed != 0 || is_trial))
        (void)unlink(place.data);
    buf_close(&place);
    return failed == 0 ? EX_OK : tell_unwritable(path, failed);
}

int bench_out_check(const struct bench_order *order, struct bench_report **old)
{
    *old = NULL;
    const int code = order->html == NULL ? EX_OK : write_page(order->html, SLICE_NONE);
    if (code != EX_OK || order->compare == NULL)
        return code;
    return read_old(order->compare, old);
}

static int write_html(const char *path, const struct bench_report *report,
                      const struct bench_report *old)
{
    struct buf page;
    buf_init(&page, REPORT_MAX_BYTES);
    bench_html_write(report, old, &page);
    const int code = write_page(path, buf_slice(&page));
    buf_close(&page);
    return code;
}

int bench_out_write(const struct bench_order *order, const struct bench_report *report,
                    const struct bench_report *old)
{
    struct buf out;
    buf_init(&out, REPORT_MAX_BYTES);
    if (order->remote.is_json) {
        bench_json_write(report, &out);
        buf_add_char(&out, '\n');
    } else if (order->is_csv) {
        bench_csv_write(report, &out);
    } else {
        bench_print_write(report, term_is_utf8(), &out);
        if (old != NULL)
            bench_compare_write(old, report, &out);
    }
    show_print(&out);
    buf_close(&out);
    return order->html == NULL ? EX_OK : write_html(order->html, report, old);
}
