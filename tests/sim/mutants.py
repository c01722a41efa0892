#!/usr/bin/env python3
"""usage: mutants.py ROOT [WORD...]   (TAP: every seeded bug of mutants_list.py must be noticed within 60 s)

Copies the sources to a temporary folder, compiles there once whatever has to notice (the simulation, stories of the
engine, unit tests), and then each mutant from a changed copy of one file; the tree is not touched. With words only the
mutants whose name contains one of them. CC chooses the compiler (default: cc).
"""
import concurrent.futures
import glob
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True

from mutants_list import MUTANTS

SECONDS = 60
FLAGS = ["-std=c17", "-D_GNU_SOURCE", "-O1", "-w", "-Isrc", "-Iinclude", "-Itests/sim", "-Itests/sim/cluster", "-Itests/unit"]
PARTS = ["src", "include", "tests/sim", "tests/story", "tests/unit"]
# Always the same seeds: a mutant that is caught today is caught tomorrow.
FIRST_SEED = 1
TAP = {**os.environ, "CMOCKA_MESSAGE_OUTPUT": "TAP"}
LIBRARIES = {"unit": ["cmocka", "libsodium", "yyjson"], "story": ["cmocka"], "sim": [], "cluster": []}
# Besides base and the test itself, by kind; test_* and audit* are programs of their own.
FOLDERS = {"unit": ["src/proto"], "story": ["src/engine", "tests/story"], "sim": ["src/engine", "tests/sim"],
           "cluster": ["src/engine", "tests/sim/cluster"]}
# The seeds that once showed a bug.
SEEDS = {"sim": "tests/sim/seeds.txt", "cluster": "tests/sim/cluster/seeds.txt"}


def sources(who):
    """The .c files that make up the program which has to notice."""
    kind, _, name = who.partition(" ")
    found = [path for folder in ["src/base", *FOLDERS[kind]] for path in sorted(glob.glob(folder + "/*.c"))]
    parts = [path for path in found if not os.path.basename(path).startswith(("test_", "audit"))]
    # The worlds of the engine start from the program's defaults, and share what is in tests itself.
    parts += [] if kind == "unit" else ["src/config/config_table.c", "src/config/config_fields.c", *sorted(glob.glob("tests/*.c"))]
    parts += ["src/proto/books.c"] if kind == "cluster" else []
    own = {"unit": [f"tests/unit/test_{name}.c", "tests/unit/seed.c"], "story": [f"tests/story/test_{name}.c"], "sim": [], "cluster": []}
    return parts + own[kind]


def run(command, seconds, environment=None):
    """(exit code, output); a timeout counts as noticed, since a healthy program ends."""
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=seconds, text=True,
                              errors="replace", check=False, env=environment)
        return done.returncode, done.stdout
    except subprocess.TimeoutExpired:
        return -1, "does not end"


def object_of(folder, path):
    return os.path.join(folder, path.replace("/", "_") + ".o")


def compile_one(compiler, source, target):
    # Errors only: a mutant may well leave something unused.
    code, out = run([*compiler, *FLAGS, "-c", source, "-o", target], 300)
    if code != 0:
        raise RuntimeError(f"{source} does not compile:\n{out}")


def link_flags(who):
    names = LIBRARIES[who.split(" ")[0]]
    return shlex.split(subprocess.check_output(["pkg-config", "--libs", *names], text=True)) if names else []


def link(compiler, objects, program, who):
    code, out = run([*compiler, *objects, "-o", program, *link_flags(who)], 300)
    if code != 0:
        raise RuntimeError(f"does not link:\n{out}")
    return program


def check_healthy(compiler, folder, who):
    """Whoever complains about anything notices nothing."""
    program = link(compiler, [object_of(folder, source) for source in sources(who)], os.path.join(folder, f"healthy {who}"), who)
    seeds = SEEDS.get(who.split(" ")[0])
    code, out = run([program] + (["--seeds", seeds] if seeds else []), 600, TAP)
    os.remove(program)
    if code != 0:
        raise RuntimeError(f"{who} complains without any seeded bug: {first_complaint(out)}")


def build_mutant(compiler, folder, number, mutant):
    _, path, old, new, who = mutant
    with open(path, encoding="utf-8") as file:
        text = file.read()
    if text.count(old) != 1:
        raise RuntimeError(f"its text occurs {text.count(old)} times in {path}; the list must follow the code")
    changed = os.path.join(folder, f"mutant{number}.c")
    with open(changed, "w", encoding="utf-8") as file:
        file.write(text.replace(old, new))
    compile_one(compiler, changed, changed + ".o")
    objects = [changed + ".o" if source == path else object_of(folder, source) for source in sources(who)]
    return link(compiler, objects, os.path.join(folder, f"mutant{number}"), who)


def hunt(program, who):
    """(noticed, seconds, last line). Some bugs show in one world of ten thousand: those that once did come first."""
    start = time.monotonic()
    seeds = SEEDS.get(who.split(" ")[0])
    if seeds:
        code, out = run([program, "--seeds", seeds], SECONDS)
        if code != 0:
            return True, time.monotonic() - start, first_complaint(out)
    command = [program]
    if seeds:
        command += ["--time", str(SECONDS), "--seed", str(FIRST_SEED)]
    if who.startswith("sim"):
        command += ["--jobs", "1"]
    # Worlds that may have everything have less of each.
    if who == "sim":
        command += ["--without", "extras"]
    code, out = run(command, SECONDS + 60, TAP)
    return code != 0, time.monotonic() - start, first_complaint(out)


def first_complaint(out):
    # cmocka's verdict may stand behind what its test printed last.
    said = [line[max(line.find("not ok"), 0):] for line in out.splitlines()
            if "breaks" in line or "assertion" in line or "not ok" in line]
    return said[0][:160] if said else ""


def examine(compiler, folder, number, mutant):
    try:
        program = build_mutant(compiler, folder, number, mutant)
    except RuntimeError as problem:
        return [str(problem)], 0, ""
    noticed, seconds, said = hunt(program, mutant[4])
    os.remove(program)
    return [] if noticed and seconds <= SECONDS else ["nobody noticed"], seconds, said


def main():
    chosen = [mutant for mutant in MUTANTS if not sys.argv[2:] or any(word in mutant[0] for word in sys.argv[2:])]
    compiler = shlex.split(os.environ.get("CC", "cc"))
    cores = os.cpu_count() or 1
    print(f"1..{len(chosen)}", flush=True)
    failed = 0
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(cores) as pool:
        os.makedirs(os.path.join(folder, "tree", "tests"))
        for name in glob.glob(os.path.join(sys.argv[1], "tests", "*.[ch]")):
            shutil.copy(name, os.path.join(folder, "tree", "tests"))
        for part in PARTS:
            shutil.copytree(os.path.join(sys.argv[1], part), os.path.join(folder, "tree", part))
        os.chdir(os.path.join(folder, "tree"))
        wanted = sorted({source for mutant in chosen for source in sources(mutant[4])})
        list(pool.map(lambda source: compile_one(compiler, source, object_of(folder, source)), wanted))
        watchers = sorted({mutant[4].replace(" extras", "") for mutant in chosen})
        list(pool.map(lambda who: check_healthy(compiler, folder, who), watchers))
        jobs = [pool.submit(examine, compiler, folder, number, mutant) for number, mutant in enumerate(chosen)]
        for number, (mutant, job) in enumerate(zip(chosen, jobs), 1):
            problems, seconds, said = job.result()
            failed += bool(problems)
            print(f"{'not ' if problems else ''}ok {number} - noticed: {mutant[0]} ({seconds:.1f} s)")
            for line in problems + ([said] if said else []):
                print("# " + line.replace("\n", "\n# "))
            sys.stdout.flush()
        os.chdir("/")
    print(f"{len(chosen) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
