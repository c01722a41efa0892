/* What the server does when units of a client's budget are drawn. */
#ifndef SOLVEGATE_STORE_REDIS_REDIS_BUDGET_H
#define SOLVEGATE_STORE_REDIS_REDIS_BUDGET_H

/* A part of the script that writes a batch; budgets.h has the rule. */
extern const char redis_draw_source[];

#endif
