"""What all benchmarks share: medians with their spread, targets, one table, one JSON file.

A figure is ours beside a peer's (or a limit's) of the same run. Rounds alternate between the two, the ratio is the
median of the per-round ratios, and the spread beside it is that of the middle half of the rounds. Differences
under 5 % do not exist on a shared machine: a target missed by less is called near.
"""
import argparse
import json
import os
import pathlib
import statistics
import sys
import time

NEAR = 0.05
BUSY = 0.10


def quartiles(values):
    if len(values) < 4:
        return min(values), max(values)
    cuts = statistics.quantiles(values, n=4)
    return cuts[0], cuts[2]


def median_of(rounds, figure):
    return statistics.median(one[figure] for one in rounds)


def ratios_of(ours, theirs, figure):
    return [a[figure] / b[figure] for a, b in zip(ours, theirs)]


def parser(doc, rounds, quick_rounds=5):
    """The arguments that every benchmark understands. --quick is what `./dev bench` gives when it runs all of them."""
    result = argparse.ArgumentParser(description=doc.splitlines()[0])
    result.add_argument("build", nargs="?", type=pathlib.Path, default=os.environ.get("BUILD", "build-release"))
    result.add_argument("--rounds", type=int, help=f"{rounds} unless told otherwise, {quick_rounds} with --quick")
    result.add_argument("--quick", action="store_true", help="fewer and shorter rounds, as in a run of all")
    result.add_argument("--smoke", action="store_true", help="does it run at all? The figures mean nothing")
    result.add_argument("--json", type=pathlib.Path, metavar="FILE", help="figures go there, and no table is printed")
    result.set_defaults(all_rounds=(rounds, quick_rounds))
    return result


def parse(arguments):
    options = arguments.parse_args()
    if options.rounds is None:
        options.rounds = options.all_rounds[1 if options.quick else 0]
    if options.smoke:
        options.quick, options.rounds = True, 2
    options.build = pathlib.Path(options.build)
    return options


class Report:
    """Rows of figures, and plots of them."""

    def __init__(self, bench):
        self.bench = bench
        self.rows = []
        self.plots = []
        self.notes = []
        self.others = []  # the share of the processors that each round lost to other programs
        self.started = time.monotonic()

    def say(self, text):
        print(f"{self.bench}: {text}", file=sys.stderr, flush=True)

    def note(self, text):
        """Something a reader of the figures must know."""
        self.notes.append(text)
        self.say(text)

    def add(self, name, ours, peer=None, ratios=None, least=None, most=None, best=None, digits=0, versus=None,
            spread=None, rounds=None, why=None):
        """least and most bound the ratio where there is one, else our own figure; versus names the peer.

        A figure without a peer shows the spread of its own rounds: give spread=(low, high). why is known to keep it from its
        target, should that be missed."""
        value = statistics.median(ratios) if ratios else ours
        verdict = ""
        if least is not None:
            verdict = "met" if value >= least else "near" if value >= least * (1 - NEAR) else "MISSED"
        elif most is not None:
            verdict = "met" if value <= most else "near" if value <= most * (1 + NEAR) else "MISSED"
        self.rows.append({"name": name, "ours": ours, "versus": versus, "peer": peer, "ratio": value if ratios else None,
                          "spread": quartiles(ratios) if ratios else spread, "least": least, "most": most, "best": best,
                          "verdict": verdict, "digits": digits, "rounds": len(ratios) if ratios else rounds, "why": why})

    def add_rounds(self, name, ours, figure, digits=0, scale=1, **bounds):
        """The median of our own rounds, with their spread."""
        values = [one[figure] * scale for one in ours]
        self.add(name, statistics.median(values), spread=quartiles(values), rounds=len(values), digits=digits, **bounds)

    def plot(self, **plot):
        """kind (bars or lines), group, title, x, y, series {name: [[x, y], …]}, is_log_x, is_log_y; page.py draws it."""
        self.plots.append(plot)

    def warn(self):
        share = statistics.median(self.others) if self.others else 0
        if share > BUSY:
            self.note(f"others took {share:.0%} of both processors meanwhile: requests/s, p99 and storm say little then, "
                      "CPU time says more")

    def explain(self):
        """By how much each target was missed, and why, as far as the run itself can tell."""
        heading = ""
        for row in self.rows:
            heading = heading if row["name"].startswith(" ") else row["name"]
            if row["verdict"] in ("", "met"):
                continue
            bound = row["least"] if row["least"] is not None else row["most"]
            value = row["ours"] if row["ratio"] is None else row["ratio"]
            low, high = row["spread"] or (value, value)
            reasons = [row["why"]] if row["why"] else []
            if min(low, high) <= bound <= max(low, high):
                reasons.append("the target lies within the middle half of the rounds, so this run cannot tell")
            name = full_name(row) if row["name"] == heading else f"{heading}, {full_name(row).strip()}"
            self.note(f"{name}: {abs(value / bound - 1):.0%} {'below' if value < bound else 'above'} the target"
                      + "".join(f"; {reason}" for reason in reasons))

    def finish(self, options):
        """Prints the table or writes the file; returns the exit code."""
        self.warn()
        self.explain()
        if options.json:
            options.json.write_text(json.dumps(self.as_json(options), indent=1), encoding="utf-8")
        else:
            print_table(self.rows)
        return 1 if self.has_missed() and os.environ.get("SOLVEGATE_BENCH_STRICT") else 0

    def has_missed(self):
        return any(row["verdict"] == "MISSED" for row in self.rows)

    def as_json(self, options):
        return {"bench": self.bench, "seconds": time.monotonic() - self.started, "is_quick": options.quick,
                "is_smoke": options.smoke, "others": statistics.median(self.others) if self.others else None,
                "rows": self.rows, "plots": self.plots, "notes": self.notes}


# --- the table ------------------------------------------------------------------------------------

HEAD = ("", "solvegate", "peer", "ratio", "middle half", "must / best", "")


def print_table(rows):
    """A row with a name alone is a heading."""
    lines = [HEAD] + [cells(row) for row in rows]
    widths = [max(len(line[i]) for line in lines) for i in range(len(HEAD))]
    for line in lines:
        aligned = [line[0].ljust(widths[0])] + [cell.rjust(width) for cell, width in zip(line[1:6], widths[1:6])]
        print("  ".join(aligned + [line[6]]).rstrip())


def cells(row):
    """What the table says in each column."""
    bound = row.get("least") if row.get("least") is not None else row.get("most")
    sign = ">=" if row.get("least") is not None else "<="
    target = "" if bound is None else f"{sign} {bound:g}" + ("" if row["best"] is None else f" / {row['best']:g}")
    return (full_name(row), figure(row.get("ours"), row.get("digits")), figure(row.get("peer"), row.get("digits")),
            figure(row.get("ratio"), 2), spread(row), target, row.get("verdict", ""))


def full_name(row):
    return row["name"] + (f", against {row['versus']}" if row.get("versus") else "")


def spaced(value, digits=0):
    """With a gap between thousands."""
    return f"{value:,.{digits}f}".replace(",", " ")


def figure(value, digits):
    return "" if value is None else spaced(value, digits)


def spread(row):
    if row.get("spread") is None:
        return ""
    digits = 2 if row["ratio"] is not None else row["digits"]
    return " to ".join(figure(value, digits) for value in row["spread"])
