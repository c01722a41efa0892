/* How a process ends that has simulated a world for another one: not without saying what has leaked. */
#ifndef SOLVEGATE_TESTS_SIM_ENDING_H
#define SOLVEGATE_TESTS_SIM_ENDING_H

#include <stdbool.h>
#include <unistd.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HAS_LEAK_CHECK
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define HAS_LEAK_CHECK
#endif

#ifdef HAS_LEAK_CHECK
#include <sanitizer/lsan_interface.h>
#endif

/* What leaks is told on the standard error. */
static inline bool has_leaked(void)
{
#ifdef HAS_LEAK_CHECK
    return __lsan_do_recoverable_leak_check() != 0;
#else
    return false;
#endif
}

/* exit() would not only look for leaks, but also put a file that is being read back to where this process has read it,
 * for the parent, too. */
static inline _Noreturn void end_in_order(void)
{
    _exit(has_leaked());
}

#endif
