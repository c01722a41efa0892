#include "sys/clocks.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <uv.h>

#define BOOT_FILE "/proc/sys/kernel/random/boot_id"
/* Holds the boot id if that file is hidden from the service; the systemd unit sets it. */
#define BOOT_VARIABLE "SOLVEGATE_BOOT_ID"
#define BOOT_ROOM 64

#define READ_TRIES 8

/* The kernel slews a clock by at most 0.05 %, and a second of error does no harm. */
#define DRIFT_PART 1000
#define LEAP_MIN_MS 1000

static int64_t read_ms(clockid_t clock)
{
    struct timespec now;
    (void)clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* The boot id does not change while we run; found once, by whichever thread reads the clocks first. */
static char boot[BOOT_ROOM];
static uv_once_t boot_once = UV_ONCE_INIT;

static void find_boot(void)
{
    const char *const variable = getenv(BOOT_VARIABLE);
    if (variable != NULL && strlen(variable) < BOOT_ROOM) {
        memcpy(boot, variable, strlen(variable) + 1);
        return;
    }
    FILE *const file = fopen(BOOT_FILE, "re");
    if (file == NULL)
        return;
    if (fgets(boot, BOOT_ROOM, file) == NULL)
        boot[0] = '\0';
    boot[strcspn(boot, "\n")] = '\0';
    (void)fclose(file);
}

/* Reads both clocks one after the other; reads again if the process was stopped in between, which
 * must not look like sleep of the machine. */
static int64_t read_slept_ms(int64_t *even_ms)
{
    int64_t before_ms;
    unsigned tries = 0;
    do {
        before_ms = read_ms(CLOCK_MONOTONIC);
        *even_ms = read_ms(CLOCK_BOOTTIME);
    } while (read_ms(CLOCK_MONOTONIC) - before_ms > 1 && ++tries < READ_TRIES);
    return *even_ms - before_ms;
}

/* The server's wall time when this machine booted; 0: no server is followed. All threads read it. */
static _Atomic int64_t followed_ms;

void clocks_follow(int64_t server_wall_ms, int64_t sent_ms)
{
    const int64_t came_ms = read_ms(CLOCK_BOOTTIME);
    const int64_t least_ms = server_wall_ms - came_ms;
    const int64_t most_ms = server_wall_ms - sent_ms;
    const int64_t now_ms = atomic_load(&followed_ms);
    /* Within what is possible it stays, so that a slow answer does not make the time jump. */
    if (now_ms == 0)
        atomic_store(&followed_ms, least_ms + (most_ms - least_ms) / 2);
    else if (now_ms < least_ms || now_ms > most_ms)
        atomic_store(&followed_ms, now_ms < least_ms ? least_ms : most_ms);
}

struct clocks clocks_read(void)
{
    uv_once(&boot_once, find_boot);
    struct clocks clocks = {.boot = boot};
    clocks.slept_ms = read_slept_ms(&clocks.even_ms);
    const int64_t followed = atomic_load(&followed_ms);
    clocks.wall_ms = followed == 0 ? read_ms(CLOCK_REALTIME) : followed + clocks.even_ms;
    return clocks;
}

int64_t clocks_even_ms(void)
{
    return read_ms(CLOCK_BOOTTIME);
}

int64_t clocks_leap_ms(const struct clocks *before, const struct clocks *now)
{
    const int64_t passed_ms = now->even_ms - before->even_ms;
    const int64_t drift_ms = passed_ms / DRIFT_PART;
    const int64_t most_ms = drift_ms > LEAP_MIN_MS ? drift_ms : LEAP_MIN_MS;
    const int64_t leap_ms = now->wall_ms - before->wall_ms - passed_ms;
    return leap_ms > most_ms || leap_ms < -most_ms ? leap_ms : 0;
}
