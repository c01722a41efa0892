/* Memory that runs out at every single allocation of the parsers, once and for good.
 *
 * The rule is that running out of memory ends the process by an assertion of ours, or that the parser returns an
 * error. It must never crash otherwise, nor read something else, nor lose what it had allocated. So every story is
 * told once undisturbed, then in a child for every allocation of it that may fail: that one alone, or it and all after
 * it. */
#include "oom.h"

#include "base/assert.h"

#include <sodium.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <yyjson.h>

#define TEXT_MAX 16384

/* What a child's exit codes begin at, far from those of a sanitizer that ends it. */
#define FIRST_CODE 40

/* How a child ends; any other end is a failure. */
enum end {
    END_SAME,     /* it did without, and read the same */
    END_ERROR,    /* an error was returned */
    END_ASSERTED, /* an assertion of ours */
    END_OTHER,    /* it read something else */
    END_LEAK,
    END_COUNT
};

static long allocations; /* since the story began */
static long alive;       /* of them and not freed yet */
static long fail_at;     /* which one is refused; 0: none */
static bool fails_on;    /* and all after it */
static bool is_child;

/* ---- what the linker puts in place of the real ones (--wrap) ------------------------------- */

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t bytes);
void *__real_realloc(void *old, size_t bytes);
char *__real_strdup(const char *text);
void __real_free(void *memory);
yyjson_doc *__real_yyjson_read_opts(char *text, size_t len, yyjson_read_flag flags,
                                    const yyjson_alc *memory, yyjson_read_err *problem);
char *__real_yyjson_val_write_opts(const yyjson_val *value, yyjson_write_flag flags,
                                   const yyjson_alc *memory, size_t *len,
                                   yyjson_write_err *problem);

void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_realloc(void *old, size_t bytes);
char *__wrap_strdup(const char *text);
void __wrap_free(void *memory);
yyjson_doc *__wrap_yyjson_read_opts(char *text, size_t len, yyjson_read_flag flags,
                                    const yyjson_alc *memory, yyjson_read_err *problem);
char *__wrap_yyjson_val_write_opts(const yyjson_val *value, yyjson_write_flag flags,
                                   const yyjson_alc *memory, size_t *len,
                                   yyjson_write_err *problem);
_Noreturn void __wrap_assert_fail(const char *expression, const char *file, int line);

static bool is_refused(void)
{
    allocations++;
    return fail_at != 0 && (allocations == fail_at || (fails_on && allocations > fail_at));
}

static void *count_alive(void *memory)
{
    alive += memory != NULL;
    return memory;
}

void *__wrap_malloc(size_t bytes)
{
    return is_refused() ? NULL : count_alive(__real_malloc(bytes));
}

void *__wrap_calloc(size_t count, size_t bytes)
{
    return is_refused() ? NULL : count_alive(__real_calloc(count, bytes));
}

void *__wrap_realloc(void *old, size_t bytes)
{
    if (is_refused())
        return NULL;
    return old == NULL ? count_alive(__real_malloc(bytes)) : __real_realloc(old, bytes);
}

char *__wrap_strdup(const char *text)
{
    return is_refused() ? NULL : count_alive(__real_strdup(text));
}

void __wrap_free(void *memory)
{
    alive -= memory != NULL;
    __real_free(memory);
}

/* yyjson is a shared library, which the linker does not reach into; but it takes an allocator. */
static void *json_malloc(void *context, size_t bytes)
{
    (void)context;
    return __wrap_malloc(bytes);
}

static void *json_realloc(void *context, void *old, size_t old_bytes, size_t bytes)
{
    (void)context;
    (void)old_bytes;
    return __wrap_realloc(old, bytes);
}

static void json_free(void *context, void *memory)
{
    (void)context;
    __wrap_free(memory);
}

static const yyjson_alc counting = {
    .malloc = json_malloc, .realloc = json_realloc, .free = json_free};

yyjson_doc *__wrap_yyjson_read_opts(char *text, size_t len, yyjson_read_flag flags,
                                    const yyjson_alc *memory, yyjson_read_err *problem)
{
    return __real_yyjson_read_opts(text, len, flags, memory == NULL ? &counting : memory, problem);
}

char *__wrap_yyjson_val_write_opts(const yyjson_val *value, yyjson_write_flag flags,
                                   const yyjson_alc *memory, size_t *len, yyjson_write_err *problem)
{
    return __real_yyjson_val_write_opts(value, flags, memory == NULL ? &counting : memory, len,
                                        problem);
}

/* A sanitizer's complaint aborts, too; so our own end is told apart by its code. */
_Noreturn void __wrap_assert_fail(const char *expression, const char *file, int line)
{
    if (is_child)
        _exit(FIRST_CODE + END_ASSERTED);
    (void)fprintf(stderr, "assertion failed: %s (%s:%d)\n", expression, file, line);
    abort();
}

/* ---- running stories ----------------------------------------------------------------------- */

void tell(char *text, size_t room, const char *format, ...)
{
    const size_t used = strlen(text);
    va_list args;
    va_start(args, format);
    const int len = vsnprintf(text + used, room - used, format, args);
    va_end(args);
    ASSERT(len >= 0 && (size_t)len < room - used);
}

static bool run(const struct story *story, char text[TEXT_MAX])
{
    allocations = 0;
    alive = 0;
    text[0] = '\0';
    return story->run(text, TEXT_MAX);
}

static _Noreturn void run_refused(const struct story *story, const char *expected, long at, bool on)
{
    static char text[TEXT_MAX];
    (void)setrlimit(RLIMIT_CORE, &(struct rlimit){.rlim_cur = 0, .rlim_max = 0});
    is_child = true;
    fail_at = at;
    fails_on = on;
    const bool is_read = run(story, text);
    fail_at = 0;
    if (is_read && strcmp(text, expected) != 0) {
        (void)fprintf(stderr, "# instead of\n%.300s\n# it read\n%.300s\n", expected, text);
        _exit(FIRST_CODE + END_OTHER);
    }
    if (alive != 0)
        _exit(FIRST_CODE + END_LEAK);
    _exit(FIRST_CODE + (is_read ? END_SAME : END_ERROR));
}

/* Returns the child's end, or END_COUNT if it died, with how in *died. */
static enum end end_of(const struct story *story, const char *expected, long at, bool on, int *died)
{
    const pid_t child = fork();
    ASSERT(child >= 0);
    if (child == 0)
        run_refused(story, expected, at, on);
    int status = 0;
    ASSERT(waitpid(child, &status, 0) == child);
    *died = status;
    const int end = WIFEXITED(status) ? WEXITSTATUS(status) - FIRST_CODE : END_COUNT;
    return end >= 0 && end < END_COUNT ? (enum end)end : END_COUNT;
}

static bool check_end(const struct story *story, enum end end, long at, bool on, int died)
{
    const char *rest = on ? " and all after it" : "";
    if (end == END_OTHER)
        printf("# allocation %ld%s of '%s' failed: it read something else\n", at, rest,
               story->name);
    if (end == END_LEAK)
        printf("# allocation %ld%s of '%s' failed: memory was lost\n", at, rest, story->name);
    if (end == END_COUNT)
        printf("# allocation %ld%s of '%s' failed: it died, status 0x%x\n", at, rest, story->name,
               (unsigned)died);
    return end == END_SAME || end == END_ERROR || end == END_ASSERTED;
}

static bool survives(const struct story *story)
{
    static char expected[TEXT_MAX];
    static char again[TEXT_MAX];
    bool is_good = run(story, expected);
    const long count = allocations;
    if (!is_good)
        printf("# it fails with all the memory there is\n");
    /* The first time there may be something to set up. */
    is_good = run(story, again) && strcmp(expected, again) == 0 && alive == 0 && is_good;
    if (alive != 0)
        printf("# %ld allocations are not freed\n", alive);
    long ends[END_COUNT + 1] = {0};
    (void)fflush(NULL);
    for (long at = 1; at <= count; at++) {
        for (int on = 0; on < 2; on++) {
            int died = 0;
            const enum end end = end_of(story, expected, at, on == 1, &died);
            ends[end]++;
            is_good = check_end(story, end, at, on == 1, died) && is_good;
            (void)fflush(NULL);
        }
    }
    printf("# %ld allocations: %ld times it did without, %ld errors, %ld assertions\n", count,
           ends[END_SAME], ends[END_ERROR], ends[END_ASSERTED]);
    return is_good;
}

int main(void)
{
    bool is_good = true;
    if (sodium_init() < 0)
        return 1;
    printf("1..%zu\n", story_count);
    for (size_t i = 0; i < story_count; i++) {
        const bool survived = survives(&stories[i]);
        printf("%sok %zu - memory runs out anywhere in %s\n", survived ? "" : "not ", i + 1,
               stories[i].name);
        (void)fflush(stdout);
        is_good = is_good && survived;
    }
    return is_good ? 0 : 1;
}
