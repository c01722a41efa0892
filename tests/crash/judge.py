"""Compares the vendor's ledger, the disks that dead gateways left and what the callers were told."""
import bisect
import collections

from harness import check

LOST_REPLIES = ("submit-lost", "submit-lost-reset", "submit-hang")
# The vendor replies at once, so that its task id is on disk this much later; a busy machine may stand still meanwhile.
DURABLE_WITHIN = 1.5
LATE_AT_MOST = 0.25
LATE_FEW = 2  # of one moment
# The vendor notes the end of a callback, and the port is looked at every millisecond; a machine may be busy.
SLACK = 0.1


class Judge:
    def __init__(self, world, needs):
        self.submits = world.sim.submits()
        self.deaths = world.deaths
        self.listening = world.watch.spans()
        self.outages = world.outages
        self.needs = needs
        self.complaints = []

    def complain(self, text):
        self.complaints.append(text)

    # --- evidence ---------------------------------------------------------------------------------

    def disk_after(self, submit):
        """What the first death after it left, or None if there was none."""
        place = bisect.bisect_left([at for at, _ in self.deaths], submit["at"])
        return self.deaths[place][1] if place < len(self.deaths) else None

    def is_reply_lost(self, submit):
        disk = self.disk_after(submit)
        return submit.get("submit_fault") in LOST_REPLIES or (disk is not None and submit["id"] not in disk.tasks)

    def is_callback_lost(self, submit):
        return not any(call["status"] == 200 for call in submit["callbacks"])

    def is_callback_in_time(self, submit):
        """Did one come while somebody listened: neither with a death nor before the next gateway's port?"""
        return any(since + SLACK < call["at"] < until - SLACK
                   for call in submit["callbacks"] for since, until in self.listening)

    def is_excused(self, submit):
        """Nobody could know that it was accepted."""
        return self.is_reply_lost(submit) and self.is_callback_lost(submit)

    # --- rules ------------------------------------------------------------------------------------

    def intents_come_first(self):
        """What the vendor got was on disk before: its nonce is in the journal that the next death left."""
        for submit in self.submits:
            disk = self.disk_after(submit)
            if disk is None or not submit["pingback"]:
                continue
            name = int(submit["pingback"].rpartition("/")[2][:16], 16)
            if name not in disk.intents:
                self.complain(f"task {submit['id']} was submitted before its intent was on disk")

    def outcomes_come_soon(self):
        """Otherwise every death would be an excuse."""
        due, late_ones = 0, []
        for submit in self.submits:
            place = bisect.bisect_left([at for at, _ in self.deaths], submit["at"])
            if place == len(self.deaths) or submit.get("submit_fault") in LOST_REPLIES:
                continue
            late = self.deaths[place][0] - submit["at"]
            if any(since < submit["at"] + DURABLE_WITHIN and submit["at"] < until for since, until in self.outages):
                continue  # the store itself was dead
            due += late > DURABLE_WITHIN
            if late > DURABLE_WITHIN and submit["id"] not in self.deaths[place][1].tasks:
                late_ones.append(f"task {submit['id']} was not on disk {late:.1f} s after it was accepted")
        if len(late_ones) > max(LATE_FEW, LATE_AT_MOST * due):
            self.complain(f"{len(late_ones)} of {due} were late: " + "; ".join(late_ones))

    def everybody_is_answered(self):
        for need in self.needs:
            for problem in need.problems:
                self.complain(f"{need}: {problem}")
            if not (need.is_abandoned or need.is_uncertain or need.problems) and len(need.tokens) != 1:
                self.complain(f"{need} was told {len(need.tokens)} different solutions")

    def needs_by_sitekey(self):
        """How many solutions each target needs: one if they are shared, else one for each need."""
        count = collections.Counter()
        for need in self.needs:
            count[need.sitekey] = 1 if need.reuse == "shared" else count[need.sitekey] + 1
        return count

    def paid_once(self):
        """Returns how many were paid again with an excuse."""
        wanted = self.needs_by_sitekey()
        accepted = collections.defaultdict(list)
        for submit in self.submits:
            accepted[submit["params"]["sitekey"]].append(submit)
        again = 0
        for sitekey, submits in accepted.items():
            surplus = len(submits) - wanted[sitekey]
            excused = sum(self.is_excused(submit) for submit in submits)
            if surplus > excused:
                self.complain(f"{sitekey}: {len(submits)} submits for {wanted[sitekey]} needs, {excused} excused: "
                              + ", ".join(self.describe(submit) for submit in submits))
            again += max(surplus, 0)
        return again

    def callbacks_are_missed_only_without_a_port(self):
        """Whatever was not taken came between a death and the next gateway's listening, or died with one."""
        missed = [submit for submit in self.submits if submit["callbacks"] and self.is_callback_lost(submit)]
        for submit in missed:
            if self.is_callback_in_time(submit):
                self.complain(f"a callback was missed although somebody listened: {self.describe(submit)} {submit['callbacks']}")
        return len(missed)

    def describe(self, submit):
        calls = [call["status"] for call in submit["callbacks"]]
        return (f"{submit['id']} at {submit['at']:.3f} {submit['state']} fault {submit.get('submit_fault')} reply lost "
                f"{self.is_reply_lost(submit)} callbacks {calls} {submit.get('callback_fault')}")

    def cut_off(self):
        """How many of each target may have been handed out in vain."""
        return collections.Counter(need.sitekey for need in self.needs if need.is_uncertain)

    def nothing_is_lost(self):
        """Every paid solution was told to somebody; the callers asked again for what they had abandoned.

        One that was handed to a caller who is cut off at that moment, and who has nothing to ask again by, is gone: under
        single reuse nobody else may get it."""
        told = {token for need in self.needs for token in need.tokens}
        cut_off = self.cut_off()
        for submit in self.submits:
            if submit.get("answer") in told or self.is_excused(submit):
                continue
            sitekey = submit["params"]["sitekey"]
            cut_off[sitekey] -= 1
            if cut_off[sitekey] < 0:
                self.complain(f"nobody got {sitekey} {self.describe(submit)}")

    def single_ones_go_to_one(self):
        owners = collections.defaultdict(set)
        for need in self.needs:
            for token in need.tokens:
                if need.reuse == "single":
                    owners[token].add(id(need))
        for token, all_of_them in owners.items():
            if len(all_of_them) > 1:
                self.complain(f"a single solution went to {len(all_of_them)} needs: {token[:40]}")

    def judge(self):
        """Fails with all complaints; returns a line about what happened."""
        self.intents_come_first()
        self.outcomes_come_soon()
        self.everybody_is_answered()
        self.single_ones_go_to_one()
        self.nothing_is_lost()
        again = self.paid_once()
        check(not self.complaints, f"{len(self.complaints)} complaints:\n" + "\n".join(self.complaints[:40]))
        excused = sum(self.is_excused(submit) for submit in self.submits)
        return (f"{len(self.deaths)} kills, {len(self.needs)} needs, {len(self.submits)} accepted submits, "
                f"{excused} of them unheard of, {again} paid again for that reason, 0 lost")
