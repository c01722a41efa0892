#include "cli/guard.h"

#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>

/* True in builds with a sanitizer, whose leak check has to trace the process. */
#if defined(__SANITIZE_ADDRESS__)
#define IS_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define IS_SANITIZED 1
#endif
#endif
#ifndef IS_SANITIZED
#define IS_SANITIZED 0
#endif

void guard_secrets(void)
{
    (void)umask(077);
    (void)setrlimit(RLIMIT_CORE, &(const struct rlimit){.rlim_cur = 0, .rlim_max = 0});
    if (!IS_SANITIZED)
        (void)prctl(PR_SET_DUMPABLE, 0);
}
