#include "dies.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static void run_quietly(void (*action)(void *context), void *context)
{
    const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (nowhere < 0 || dup2(nowhere, STDOUT_FILENO) < 0 || dup2(nowhere, STDERR_FILENO) < 0)
        _exit(1);
    /* No core file for a death that is wanted. */
    (void)setrlimit(RLIMIT_CORE, &(struct rlimit){.rlim_cur = 0, .rlim_max = 0});
    action(context);
    _exit(0);
}

bool dies(void (*action)(void *context), void *context)
{
    /* Else the child would inherit, and perhaps print, what is still buffered. */
    (void)fflush(NULL);
    const pid_t child = fork();
    if (child < 0)
        abort();
    if (child == 0)
        run_quietly(action, context);
    int status = 0;
    if (waitpid(child, &status, 0) != child)
        abort();
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
}
