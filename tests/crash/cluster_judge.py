"""Compares the vendor's ledger, what was done to the gateways and what their callers were told."""
import collections
import re

from cluster_chaos import LEASE, WINDOW
from harness import check
from judge import DURABLE_WITHIN, LOST_REPLIES, Judge

# What is learned gets to the others this much after a trouble's end, on a busy machine.
SLACK = 2.0
# What is abandoned takes two seconds.
SOLVED_WITHIN = 4.0


class ClusterJudge(Judge):
    """The rules of the base for what several gateways share; the excuses are told apart.

    `unheard`: the submit's reply was lost (by the vendor's fault, or with a gateway that was killed before it can have been
    in the store) and so was every callback. `late`: whoever submitted was stopped or cut off for longer than lease and window
    together, so that the others had to take it for lost."""

    def __init__(self, world, needs):
        self.submits = world.sim.submits()
        self.troubles = world.troubles
        self.needs = needs
        self.complaints = []
        self.again = collections.Counter()

    def submitter(self, submit):
        return re.search(r"/from-([a-z])/", submit["pingback"])[1]

    def troubles_of(self, submit):
        """Those of its gateway, and the store's."""
        node = self.submitter(submit)
        return [trouble for trouble in self.troubles if trouble.node in (node, None)]

    def durable_at(self, submit):
        """When the vendor's reply must have been in the store: later if either of them was in trouble."""
        due = submit["at"] + DURABLE_WITHIN
        for trouble in sorted(self.troubles_of(submit), key=lambda one: one.since):
            if trouble.kind not in ("kill", "leave") and trouble.since < due and trouble.until > submit["at"]:
                due = max(due, trouble.until + DURABLE_WITHIN)
        return due

    def is_reply_lost(self, submit):
        if submit.get("submit_fault") in LOST_REPLIES:
            return True
        return any(trouble.kind == "kill" and submit["at"] - 0.1 <= trouble.since < self.durable_at(submit)
                   for trouble in self.troubles_of(submit))

    def is_late(self, submit):
        """Others could not hear of it before they had to send it again."""
        return any(trouble.kind not in ("kill", "leave") and trouble.until - trouble.since + SLACK > LEASE + WINDOW
                   and trouble.since - DURABLE_WITHIN < submit["at"] < trouble.until + SLACK for trouble in self.troubles_of(submit))

    def excuse(self, submit):
        if self.is_reply_lost(submit) and self.is_callback_lost(submit):
            return "unheard"
        return "late" if self.is_late(submit) else None

    def is_excused(self, submit):
        return self.excuse(submit) is not None

    def describe(self, submit):
        return f"{super().describe(submit)} by {self.submitter(submit)}"

    def handed_in_vain(self):
        """Targets that somebody abandoned under single reuse, where a gateway, or its way to the store, was in trouble: it may have
        seen too late that the caller had hung up, and nobody else may get what was handed out."""
        return [need.sitekey for need in self.needs if need.is_abandoned and need.reuse == "single" and self.is_troubled(need.left_at)]

    def is_troubled(self, moment):
        """At this moment, or while what was asked for then was solved."""
        return moment is not None and any(trouble.since < moment + SOLVED_WITHIN and moment - SLACK < trouble.until + LEASE + SLACK
                                          for trouble in self.troubles)

    def cut_off(self):
        return super().cut_off() + collections.Counter(self.handed_in_vain())

    def needs_by_sitekey(self):
        """Whoever wants again what was handed out in vain needs another one."""
        return super().needs_by_sitekey() + collections.Counter(self.handed_in_vain())

    def note_excuses(self):
        for submit in self.submits:
            if self.excuse(submit):
                self.again[self.excuse(submit)] += 1

    def judge(self):
        self.everybody_is_answered()
        self.single_ones_go_to_one()
        self.nothing_is_lost()
        again = self.paid_once()
        self.note_excuses()
        check(not self.complaints, f"{len(self.complaints)} complaints:\n" + "\n".join(self.complaints[:40]))
        return (f"{len(self.troubles)} faults, {len(self.needs)} needs, {len(self.submits)} accepted submits, {again} paid again with a reason "
                f"({', '.join(f'{count} {why}' for why, count in sorted(self.again.items())) or 'nothing unheard or late'}), 0 lost, 0 needless")
