#include "sim/profile.h"

#include <stddef.h>
#include <string.h>

/* Times and shares are assumptions of the usual order of magnitude, not measurements. The busy code
 * of threads is documented (docs/protocol.md section 3). */
static const struct profile profiles[] = {
    {.name = "captchaai", /* a plan of threads, images read by machines */
     .slots = 50,
     .price = "0",
     .busy_code = "ERROR_ZERO_BALANCE",
     .solve_times = {"tail:15s", "post=uniform:300ms-1s", "base64=uniform:300ms-1s",
                     "turnstile=tail:10s", "userrecaptcha=tail:20s", "geetest=tail:10s",
                     "geetest_v4=tail:10s"},
     .faults = {"task-error=0.02,ERROR_CAPTCHA_UNSOLVABLE"}},
    {.name = "2captcha", /* paid by the solve, people read */
     .price = "0.001",
     .solve_times = {"tail:20s", "post=tail:8s", "base64=tail:8s", "turnstile=tail:12s",
                     "userrecaptcha=tail:25s", "geetest=tail:20s"},
     .faults = {"task-error=0.05,ERROR_CAPTCHA_UNSOLVABLE",
                "submit-error=0.01,ERROR_NO_SLOT_AVAILABLE"}},
    {.name = "slow", .price = "0", .solve_times = {"tail:60s"}},
    {.name = "flaky",
     .price = "0.001",
     .solve_times = {"exp:5s"},
     .faults = {"submit-5xx=0.02", "submit-lost=0.01", "submit-delay=0.05,2s", "poll-5xx=0.05",
                "poll-reset=0.02", "task-error=0.05,ERROR_CAPTCHA_UNSOLVABLE",
                "callback-drop=0.1"}},
};

const struct profile *profile_find(const char *name)
{
    for (size_t i = 0; i < sizeof profiles / sizeof profiles[0]; i++)
        if (strcmp(profiles[i].name, name) == 0)
            return &profiles[i];
    return NULL;
}
