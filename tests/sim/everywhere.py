#!/usr/bin/env python3
"""usage: everywhere.py ROOT SIM-ENGINE   (TAP: the same seeds make the same traces with every compiler and level)

Builds the simulation with gcc and clang, unoptimised and optimised, and compares the trace hashes of some seeds, small
and large, with those of the given program, which has the sanitizers of its build.
"""
import concurrent.futures
import glob
import os
import shutil
import subprocess
import sys
import tempfile

SEEDS = ["--seed", "1", "--count", "40"]
FLAGS = ["-std=c17", "-D_GNU_SOURCE", "-w", "-Isrc", "-Iinclude", "-Itests/sim"]
KINDS = [(compiler, level) for compiler in ("gcc", "clang") for level in ("-O0", "-O2")]


def hashes(program):
    """{seed: trace hash}, and whether the program ended well: sanitizers find leaks only then."""
    ran = subprocess.run([program, *SEEDS], stdout=subprocess.PIPE, text=True, check=False)
    lines = map(str.split, ran.stdout.splitlines())
    return {words[0]: words[1] for words in lines if len(words) == 4}, ran.returncode == 0


def build(folder, compiler, level):
    program = os.path.join(folder, compiler + level)
    # The simulation starts from the program's defaults, which are in the table of options.
    patterns = ["src/base/*.c", "src/engine/*.c", "src/config/config_table.c", "src/config/config_fields.c",
                "tests/*.c", "tests/sim/*.c"]
    sources = sorted(path for pattern in patterns for path in glob.glob(pattern))
    subprocess.run([compiler, level, *FLAGS, *sources, "-o", program], check=True)
    return program


def compare(folder, kind, wanted):
    """What is wrong with this kind, line by line; None when its compiler is not here."""
    if shutil.which(kind[0]) is None:
        return None
    try:
        got, _ = hashes(build(folder, *kind))
    except subprocess.CalledProcessError as problem:
        return [str(problem)]
    return [f"seed {seed}: {wanted.get(seed)} and {got.get(seed)}" for seed in sorted({*wanted, *got}, key=int)
            if wanted.get(seed) != got.get(seed)]


def main():
    program = os.path.abspath(sys.argv[2])
    os.chdir(sys.argv[1])
    print(f"1..{len(KINDS) + 1}", flush=True)
    wanted, is_sound = hashes(program)
    count = int(SEEDS[-1])
    failed = len(wanted) != count or not is_sound
    print(f"{'not ' if failed else ''}ok 1 - {count} seeds run and leak nothing")
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = pool.map(lambda kind: compare(folder, kind, wanted), KINDS)
        for number, (kind, problems) in enumerate(zip(KINDS, results), 2):
            name = f"{kind[0]} {kind[1]} makes the same traces"
            if problems is None:
                print(f"ok {number} - {name} # SKIP no {kind[0]}")
                continue
            failed |= bool(problems)
            print(f"{'not ' if problems else ''}ok {number} - {name}")
            for line in problems[:5]:
                print("# " + line)
            sys.stdout.flush()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
