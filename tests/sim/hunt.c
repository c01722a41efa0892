#include "hunt.h"

#include "ending.h"
#include "watched.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define JOBS_MAX 64
/* No world takes this long, even with sanitizers on a slow machine. */
#define WORLD_SECONDS 300

/* What a worker has done so far; the hunter still sees it when the worker has aborted. */
struct board {
    struct hunt_result done;
    uint64_t seed;
};

static uint64_t clock_ms(clockid_t clock)
{
    struct timespec now;
    (void)clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

void narrow(struct plan *plan, const struct narrowing *narrowing)
{
    if (narrowing->needs != 0 && narrowing->needs < plan->needs)
        plan->needs = narrowing->needs;
    if (narrowing->keys != 0 && narrowing->keys < plan->keys)
        plan->keys = narrowing->keys;
    for (int fault = 0; fault < FAULT_COUNT; fault++) {
        if (narrowing->without[fault])
            plan->strength[fault] = 0;
    }
    if (plan->strength[FAULT_CRASH] == 0)
        plan->crash_every = 0;
    if (plan->strength[FAULT_SHADOW] == 0)
        watched_remove(plan);
}

static void be_silent(void)
{
    const int nowhere = open("/dev/null", O_WRONLY);
    if (nowhere >= 0) {
        (void)dup2(nowhere, STDERR_FILENO);
        (void)dup2(nowhere, STDOUT_FILENO);
    }
}

bool hunt_fails(uint64_t seed, const struct narrowing *narrowing)
{
    (void)fflush(NULL);
    const pid_t child = fork();
    ASSERT(child >= 0);
    if (child == 0) {
        static struct sim sim;
        struct plan plan;
        be_silent();
        (void)alarm(WORLD_SECONDS);
        plan_draw(&plan, seed);
        narrow(&plan, narrowing);
        sim_run(&sim, &plan);
        sim_close(&sim);
        end_in_order();
    }
    int status = 0;
    return waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status) != 0;
}

static void work(const struct hunt *hunt, struct board *board, uint64_t seed, uint64_t until_ms)
{
    static struct sim sim;
    for (; clock_ms(CLOCK_MONOTONIC) < until_ms; seed += hunt->jobs) {
        struct plan plan;
        board->seed = seed;
        (void)alarm(WORLD_SECONDS);
        plan_draw(&plan, seed);
        narrow(&plan, &hunt->narrowing);
        sim_run(&sim, &plan);
        board->done.worlds++;
        board->done.solves += sim.solved;
        board->done.answers += sim.answered;
        board->done.crashes += sim.crashes;
        board->done.steps += sim.steps;
        board->done.cpu_ms = clock_ms(CLOCK_PROCESS_CPUTIME_ID);
    }
    sim_close(&sim);
}

static void gather(struct hunt_result *result, const struct board *board)
{
    result->worlds += board->done.worlds;
    result->solves += board->done.solves;
    result->answers += board->done.answers;
    result->crashes += board->done.crashes;
    result->steps += board->done.steps;
    result->cpu_ms += board->done.cpu_ms;
}

static void await(struct hunt_result *result, const struct board *boards, const pid_t *workers,
                  unsigned jobs)
{
    for (unsigned left = jobs; left > 0; left--) {
        int status = 0;
        const pid_t ended = wait(&status);
        unsigned place = 0;
        while (place < jobs && workers[place] != ended)
            place++;
        ASSERT(place < jobs);
        if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
            continue;
        if (result->has_failed)
            continue;
        result->has_failed = true;
        result->failed_seed = boards[place].seed;
        for (unsigned i = 0; i < jobs; i++) {
            if (i != place)
                (void)kill(workers[i], SIGTERM);
        }
    }
}

void hunt_run(const struct hunt *hunt, struct hunt_result *result)
{
    const unsigned jobs = hunt->jobs < JOBS_MAX ? hunt->jobs : JOBS_MAX;
    struct board *boards = mmap(NULL, JOBS_MAX * sizeof *boards, PROT_READ | PROT_WRITE,
                                MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ASSERT(boards != MAP_FAILED);
    const uint64_t start_ms = clock_ms(CLOCK_MONOTONIC);
    pid_t workers[JOBS_MAX];
    *result = (struct hunt_result){.worlds = 0};
    (void)fflush(NULL);
    for (unsigned i = 0; i < jobs; i++) {
        workers[i] = fork();
        ASSERT(workers[i] >= 0);
        if (workers[i] == 0) {
            work(hunt, &boards[i], hunt->first_seed + i, start_ms + (uint64_t)hunt->seconds * 1000);
            end_in_order();
        }
    }
    await(result, boards, workers, jobs);
    result->milliseconds = clock_ms(CLOCK_MONOTONIC) - start_ms;
    for (unsigned i = 0; i < jobs; i++)
        gather(result, &boards[i]);
    (void)munmap(boards, JOBS_MAX * sizeof *boards);
}
