/* Proves that a call aborts, by making it in a child process. */
#ifndef SOLVEGATE_TESTS_DIES_H
#define SOLVEGATE_TESTS_DIES_H

#include <stdbool.h>

/* Whether action(context) ends in abort(); what it prints goes nowhere. */
bool dies(void (*action)(void *context), void *context);

#endif
