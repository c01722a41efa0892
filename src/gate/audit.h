/* The audit trail: one line for every paid submit, with its client, host and reason. */
#ifndef SOLVEGATE_GATE_AUDIT_H
#define SOLVEGATE_GATE_AUDIT_H

struct gate;
struct paid;

void audit_paid(const struct gate *gate, const struct paid *paid);

#endif
