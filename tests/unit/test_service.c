#include "gate/service.h"

#include "seed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>
#include <uv.h>

/* The manager's end. The black-box tests start the real program under one; here is what only a reload or the inside
 * of the process shows. */
static int manager = -1;

static int listen_as_manager(void **state)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    char text[64];
    const int len = snprintf(text, sizeof(text), "@solvegate-unit-%ld", (long)getpid());
    memcpy(name.sun_path + 1, text + 1, (size_t)len - 1);
    manager = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    const socklen_t bytes = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + (size_t)len);
    if (manager < 0 || bind(manager, (const struct sockaddr *)&name, bytes) != 0)
        return -1;
    (void)setenv("NOTIFY_SOCKET", text, 1);
    (void)setenv("LISTEN_PID", "1", 1);
    (void)setenv("LISTEN_FDS", "1", 1);
    (void)setenv("LISTEN_FDNAMES", "web", 1);
    (void)setenv("WATCHDOG_USEC", "1000000", 1);
    (void)setenv("WATCHDOG_PID", "1", 1);
    service_init();
    return seed_announce(state);
}

/* What the manager hears next. */
static const char *heard(void)
{
    static char text[1024];
    const ssize_t len = recv(manager, text, sizeof(text) - 1, 0);
    assert_true(len > 0);
    text[len] = '\0';
    return text;
}

static void variables_of_the_manager_are_taken_out_of_the_environment(void **state)
{
    (void)state;
    static const char *const names[] = {"NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID",
                                        "LISTEN_PID",    "LISTEN_FDS",    "LISTEN_FDNAMES"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        assert_null(getenv(names[i]));
}

static void a_reload_is_announced_with_its_time_and_ends_as_ready(void **state)
{
    (void)state;
    uv_loop_t loop;
    assert_int_equal(uv_loop_init(&loop), 0);
    service_ready(&loop, SLICE_OF("ready on here\nready on there\n"));
    assert_string_equal(heard(), "READY=1\nSTATUS=ready on here");
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    service_reloading();
    long long us = 0;
    const char *text = heard();
    const char *const start = "RELOADING=1\nMONOTONIC_USEC=";
    assert_memory_equal(text, start, strlen(start));
    char *end;
    us = strtoll(text + strlen(start), &end, 10);
    assert_string_equal(end, "\nSTATUS=reloading");
    const long long before = (long long)now.tv_sec * 1000000 + now.tv_nsec / 1000;
    assert_in_range(us, before, before + 10000000);
    service_reloaded();
    assert_string_equal(heard(), "READY=1\nSTATUS=ready on here");
    service_close();
    /* The watchdog was another process's: nothing was put on the loop. */
    assert_int_equal(uv_run(&loop, UV_RUN_DEFAULT), 0);
    assert_int_equal(uv_loop_close(&loop), 0);
}

static void a_status_longer_than_its_room_is_cut(void **state)
{
    (void)state;
    uv_loop_t loop;
    char status[4000];
    memset(status, 's', sizeof(status));
    assert_int_equal(uv_loop_init(&loop), 0);
    service_ready(&loop, (struct slice){.data = status, .len = sizeof(status)});
    const char *text = heard();
    assert_memory_equal(text, "READY=1\nSTATUS=sss", 18);
    assert_in_range(strlen(text), 100, 300);
    assert_int_equal(uv_loop_close(&loop), 0);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(variables_of_the_manager_are_taken_out_of_the_environment),
        cmocka_unit_test(a_reload_is_announced_with_its_time_and_ends_as_ready),
        cmocka_unit_test(a_status_longer_than_its_room_is_cut),
    };
    seed_init(argc, argv);
    return cmocka_run_group_tests(tests, listen_as_manager, NULL);
}
