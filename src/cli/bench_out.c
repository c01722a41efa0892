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
        (void)fprintf(stderr, "solvegate bench: %s: is no report of `solvegate bench --json`\n",
                      file);
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
    const size_t wrong = failed == 0 ? bench_trace_read(trace, buf_slice(&text)) : 0;
    buf_close(&text);
    if (failed != 0) {
        (void)fprintf(stderr, "solvegate bench: %s: cannot be read: %s\n", order->replay,
                      strerror(failed));
        return EX_NOINPUT;
    }
    if (wrong != 0) {
        (void)fprintf(stderr, "solvegate bench: %s:%zu: is no line of a trace\n", order->replay,
                      wrong);
        return EX_DATAERR;
    }
    plan->trace = trace;
    plan->method = trace->method_count == 1 ? trace->methods[0] : "several methods";
    plan->repeat = 1 - (double)bench_trace_targets(trace) / (double)trace->count;
    if (plan->requests == 0 || plan->requests > trace->count)
        plan->requests = trace->count;
    return EX_OK;
}

static int tell_unwritable(const char *file)
{
    (void)fprintf(stderr, "solvegate bench: %s: cannot be written: %s\n", file, strerror(errno));
    return EX_CANTCREAT;
}

int bench_out_check(const struct bench_order *order, struct bench_report **old)
{
    *old = NULL;
    if (order->html != NULL) {
        /* An older page stays until the new one is there. */
        FILE *const file = fopen(order->html, "ae");
        if (file == NULL)
            return tell_unwritable(order->html);
        (void)fclose(file);
    }
    return order->compare == NULL ? EX_OK : read_old(order->compare, old);
}

static int write_page(const char *path, const struct bench_report *report)
{
    struct buf page;
    buf_init(&page, REPORT_MAX_BYTES);
    bench_html_write(report, &page);
    FILE *const file = fopen(path, "we");
    bool is_written = file != NULL && fwrite(page.data, 1, page.len, file) == page.len;
    if (file != NULL && fclose(file) != 0)
        is_written = false;
    buf_close(&page);
    return is_written ? EX_OK : tell_unwritable(path);
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
    return order->html == NULL ? EX_OK : write_page(order->html, report);
}
