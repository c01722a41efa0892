/* The audit trail: one line for every submit that was paid for, whoever asked, for which host, and why. */
#ifndef SOLVEGATE_GATE_AUDIT_H
#define SOLVEGATE_GATE_AUDIT_H

struct gate;
struct paid;

void audit_paid(const struct gate *gate, const struct paid *paid);

#endif
