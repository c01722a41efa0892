#include "doors/process.h"

#include "proto/metrics.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <uv.h>

#define FILES "/proc/self/fd"

static uint64_t ms_of(struct timeval time)
{
    return (uint64_t)time.tv_sec * 1000 + (uint64_t)time.tv_usec / 1000;
}

static void write_cpu(struct buf *out)
{
    struct rusage usage;
    if (getrusage(RUSAGE_SELF, &usage) != 0)
        return;
    metrics_head(out, "process_cpu_seconds_total", "counter", "CPU time, of user and system");
    metrics_sample_ms(out, "process_cpu_seconds_total", "",
                      ms_of(usage.ru_utime) + ms_of(usage.ru_stime));
}

/* proc(5): the first number is the program's total pages, the second its resident pages. */
static void write_memory(struct buf *out)
{
    char text[256];
    char *rest = text;
    const uint64_t page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
    FILE *file = fopen("/proc/self/statm", "re");
    if (file == NULL)
        return;
    const bool is_read = fgets(text, sizeof text, file) != NULL;
    (void)fclose(file);
    if (!is_read)
        return;
    const uint64_t whole = strtoull(rest, &rest, 10);
    const uint64_t resident = strtoull(rest, &rest, 10);
    metrics_head(out, "process_resident_memory_bytes", "gauge", "Memory that is really there");
    metrics_sample(out, "process_resident_memory_bytes", "", resident * page_bytes);
    metrics_head(out, "process_virtual_memory_bytes", "gauge", "Memory that is mapped");
    metrics_sample(out, "process_virtual_memory_bytes", "", whole * page_bytes);
}

/* ---- descriptors ------------------------------------------------------------------------- */

/* Listing ten thousand descriptors takes tens of milliseconds. Linux 6.2 and later report their
 * number as the size of the directory; on older kernels another thread counts, and the next call
 * reports its result. */
static struct {
    uv_work_t work;
    bool is_counting;
    uint64_t count; /* the last result; 0: none yet */
    uint64_t found; /* written by the thread while it counts */
} files;

static void count_files(uv_work_t *work)
{
    (void)work;
    DIR *directory = opendir(FILES);
    files.found = 0;
    if (directory == NULL)
        return;
    while (readdir(directory) != NULL)
        files.found++;
    (void)closedir(directory);
    /* Subtracts ".", ".." and the directory's own descriptor. */
    files.found -= 3;
}

static void on_counted(uv_work_t *work, int status)
{
    (void)work;
    files.is_counting = false;
    if (status == 0)
        files.count = files.found;
}

static uint64_t open_files(uv_loop_t *loop)
{
    struct stat info;
    if (stat(FILES, &info) == 0 && info.st_size > 0)
        return (uint64_t)info.st_size;
    if (!files.is_counting)
        files.is_counting = uv_queue_work(loop, &files.work, count_files, on_counted) == 0;
    return files.count;
}

static void write_descriptors(struct buf *out, uv_loop_t *loop)
{
    struct rlimit limit;
    const uint64_t count = open_files(loop);
    if (count > 0) {
        metrics_head(out, "process_open_fds", "gauge", "Open file descriptors");
        metrics_sample(out, "process_open_fds", "", count);
    }
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        metrics_head(out, "process_max_fds", "gauge", "File descriptors that may be open");
        metrics_sample(out, "process_max_fds", "", limit.rlim_cur);
    }
}

void process_write_metrics(struct buf *out, uv_loop_t *loop, int64_t started_wall_ms)
{
    write_cpu(out);
    write_memory(out);
    write_descriptors(out, loop);
    metrics_head(out, "process_start_time_seconds", "gauge", "When it began, since 1970");
    metrics_sample_ms(out, "process_start_time_seconds", "", (uint64_t)started_wall_ms);
}
