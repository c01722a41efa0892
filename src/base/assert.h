/* Assertions that stay on in every build: a broken invariant must stop us before money moves. */
#ifndef SOLVEGATE_BASE_ASSERT_H
#define SOLVEGATE_BASE_ASSERT_H

#include <stddef.h>

/* Prints the failed expression with its place and aborts; a restart replays the journal. */
_Noreturn void assert_fail(const char *expression, const char *file, int line);

#define ASSERT(expression) ((expression) ? (void)0 : assert_fail(#expression, __FILE__, __LINE__))

/* For switches over enums, which have no default: reached only when memory is corrupt. */
#define UNREACHABLE() assert_fail("unreachable", __FILE__, __LINE__)

/* From a member back to the struct that embeds it. */
#define CONTAINER_OF(pointer, type, member) \
    ((type *)(void *)((char *)(pointer) - offsetof(type, member)))

#endif
