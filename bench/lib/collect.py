#!/usr/bin/env python3
"""Runs all benchmarks in a row, prints one table and writes bench/report: report.json and report.html.

    bench/lib/collect.py BUILD [NAME...] [--smoke]

`./dev bench` calls it. Each benchmark is bench/NAME/run and is given --quick and --json; one that does not know --json
is run all the same, and what it prints is kept as text.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True

import figures  # noqa: E402
import machine  # noqa: E402
import page  # noqa: E402
import programs  # noqa: E402, F401  (completes PATH)

BENCH = pathlib.Path(__file__).resolve().parents[1]
REPORT = BENCH / "report"


def say(text):
    print(f"bench: {text}", file=sys.stderr, flush=True)


def commands(name, build):
    """bench/NAME/run if there is such a script, else every bench_*.c (built as bench-*) and bench_*.py there."""
    folder = BENCH / name
    if (folder / "run").exists():
        return [[folder / "run", build]]
    return ([[build / "bench" / name / path.stem.replace("_", "-")] for path in sorted(folder.glob("bench_*.c"))]
            + [[sys.executable, path] for path in sorted(folder.glob("bench_*.py"))])


def run_plain(name, command):
    """A program that only prints."""
    started = time.monotonic()
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, text=True, check=False)
    return done.returncode, {"bench": name, "seconds": time.monotonic() - started, "rows": [], "plots": [], "notes": [],
                             "others": None, "text": done.stdout}


def run_one(name, command, is_smoke):
    """Exit code and figures."""
    script = pathlib.Path(command[0])
    if script.name != "run" or "--json" not in script.read_text(encoding="utf-8") + sources_beside(script):
        return run_plain(name, command)
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "figures.json"
        words = [*command, "--smoke" if is_smoke else "--quick", "--json", path]
        code = subprocess.run([str(word) for word in words], stdout=sys.stderr, check=False).returncode
        if not path.exists():
            return code or 1, None
        return code, json.loads(path.read_text(encoding="utf-8"))


def sources_beside(script):
    """Ours get their arguments from lib."""
    return "--json" if "figures.parser(" in script.read_text(encoding="utf-8") else ""


def run_all(names, build, is_smoke):
    benches, failed, started = [], [], time.monotonic()
    for place, name in enumerate(names, 1):
        say(f"{name}, {place} of {len(names)}, after {time.monotonic() - started:.0f} s")
        for command in commands(name, build):
            code, bench = run_one(name, command, is_smoke)
            if bench:
                benches.append(bench)
            if code:
                failed.append(name)
    return benches, failed


def print_tables(report):
    rows = []
    for bench in report["benches"]:
        rows += [{"name": ""}, {"name": bench["bench"].upper()}] + bench["rows"]
    figures.print_table(rows)
    for bench in report["benches"]:
        if bench.get("text"):
            print(f"\n{bench['bench'].upper()}\n{bench['text']}", end="")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("names", nargs="+")
    parser.add_argument("--smoke", action="store_true", help="does it run at all? The figures mean nothing")
    options = parser.parse_args()
    started = time.monotonic()
    report = machine.record(options.build)
    report["benches"], failed = run_all(options.names, options.build, options.smoke)
    report["seconds"] = time.monotonic() - started
    report["failed"] = failed
    REPORT.mkdir(exist_ok=True)
    (REPORT / "report.json").write_text(json.dumps(report, indent=1), encoding="utf-8")
    (REPORT / "report.html").write_text(page.page(report), encoding="utf-8")
    print_tables(report)
    say(f"{report['seconds'] / 60:.1f} minutes; the report is in bench/report/report.html and report.json")
    if failed:
        say(f"failed, or missed a target with SOLVEGATE_BENCH_STRICT set: {' '.join(failed)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
