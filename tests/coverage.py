#!/usr/bin/env python3
"""Lines and branches per layer that unit, story, fuzz and black-box tests reach: `./dev test coverage`.

Fails when a test fails or the engine is covered below its floor.
"""
import json
import pathlib
import subprocess
import sys

BUILD = pathlib.Path("build-coverage")
SUITES = ("unit", "story", "fuzz", "sim", "blackbox")
FLOOR = {"engine": 95.0}


def sh(*command, **options):
    return subprocess.run([str(word) for word in command], check=True, **options)


def build():
    if not (BUILD / "build.ninja").exists():
        sh("meson", "setup", BUILD, "-Db_coverage=true", "--buildtype=debug", "-Doptimization=1", stdout=sys.stderr)
    sh("ninja", "-C", BUILD, stdout=sys.stderr)
    for stale in BUILD.rglob("*.gcda"):
        stale.unlink()


def run_tests():
    arguments = [word for suite in SUITES for word in ("--suite", suite)]
    done = subprocess.run(["meson", "test", "-C", str(BUILD), "--no-rebuild", "-t", "3", *arguments], stdout=sys.stderr, check=False)
    return done.returncode == 0


def covered_files():
    """What gcovr counted, file by file."""
    command = ["gcovr", "--root", ".", "--filter", "src/", "--gcov-ignore-parse-errors", "--json-summary", "-", BUILD]
    return json.loads(sh(*command, stdout=subprocess.PIPE).stdout)["files"]


def percent(part, whole):
    return 100.0 * part / whole if whole else 100.0


def layers(files):
    """Per layer, the sums of lines and branches, covered and in all."""
    sums = {}
    for file in files:
        layer = file["filename"].split("/")[1] if file["filename"].count("/") > 1 else "main"
        total = sums.setdefault(layer, [0, 0, 0, 0])
        for place, name in enumerate(("line_covered", "line_total", "branch_covered", "branch_total")):
            total[place] += file[name]
    return sums


def report(files):
    print(f"{'layer':10}{'lines':>16}{'':8}{'branches':>16}")
    low = []
    for layer, (lines, all_lines, branches, all_branches) in sorted(layers(files).items()):
        share = percent(lines, all_lines)
        print(f"{layer:10}{lines:>8}/{all_lines:<7}{share:6.1f} %{branches:>8}/{all_branches:<7}{percent(branches, all_branches):6.1f} %")
        if share < FLOOR.get(layer, 0):
            low.append(f"{layer} is covered to {share:.1f} %, which is below {FLOOR[layer]:.0f} %")
    worst = sorted(files, key=lambda file: file["line_covered"] - file["line_total"])[:10]
    print("\nmost lines that no test reached:")
    for file in worst:
        print(f"  {file['line_total'] - file['line_covered']:5}  {file['filename']}")
    return low


def main():
    build()
    is_good = run_tests()
    low = report(covered_files())
    for line in low:
        print(line)
    if not is_good:
        print("some tests failed, see above")
    return 0 if is_good and not low else 1


sys.exit(main())
