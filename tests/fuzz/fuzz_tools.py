"""What the modes of tests/fuzz/run share: the targets, their builds, and libFuzzer processes with a progress line."""
import os
import re
import shlex
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.realpath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
BUILD = os.environ.get("SOLVEGATE_FUZZ_BUILD", "build-fuzz")
EX_UNAVAILABLE = 69
WORKERS = 2
# One input that takes this long is a finding, too.
INPUT_TIMEOUT_SECONDS = 10
MEMORY_MB = 2048
SANITIZERS = {
    "ASAN_OPTIONS": "detect_leaks=1:strict_string_checks=1:allocator_may_return_null=0",
    "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1",
}
# The engine's inputs have thousands of features, and weighing them would take longer than running them.
EXTRA_FLAGS = {"engine": ["-entropic=0"]}
PULSE = re.compile(r"^#(\d+)\s+\w+\s+cov: (\d+) ft: \d+ corp: (\d+)/\S+ .*?exec/s: (\d+)")
STATISTIC = re.compile(r"^stat::(\w+):\s+(\d+)")


def say(*words):
    print("fuzz:", *words, file=sys.stderr, flush=True)


def target_names():
    """The names in the table of tests/fuzz/meson.build."""
    with open(os.path.join(HERE, "meson.build"), encoding="utf-8") as file:
        table = file.read().split("fuzz_targets = {", 1)[1].split("}", 1)[0]
    return re.findall(r"^\s*'(\w+)':", table, re.MULTILINE)


def distance(one, other):
    row = list(range(len(other) + 1))
    for i, a in enumerate(one, 1):
        before, row[0] = row[0], i
        for j, b in enumerate(other, 1):
            before, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, before + (a != b))
    return row[-1]


def closest(word, known):
    """What a typo most likely meant, as in ./dev: the smallest edit distance, if at most two."""
    best = min(known, key=lambda candidate: distance(word, candidate))
    return best if distance(word, best) <= 2 else None


def corpus(target):
    return os.path.join(HERE, "corpus", target)


def work(target):
    folder = os.path.join(BUILD, "work", target)
    os.makedirs(folder, exist_ok=True)
    return folder


def crashes(target):
    folder = os.path.join(BUILD, "crashes", target)
    os.makedirs(folder, exist_ok=True)
    return folder


def dictionary(target):
    path = os.path.join(HERE, target + ".dict")
    return [f"-dict={path}"] if os.path.exists(path) else []


def program(target):
    return os.path.join(BUILD, "tests", "fuzz", "fuzz-" + target)


# --- building -----------------------------------------------------------------------------------

def build(folder, options, programs):
    """Configures the folder, anew when its options have changed, and builds the programs."""
    stamp = os.path.join(folder, ".fuzz-options")
    wanted = f"{ROOT} {' '.join(options)}\n"
    known = open(stamp, encoding="utf-8").read() if os.path.exists(stamp) else None
    if known != wanted or not os.path.exists(os.path.join(folder, "build.ninja")):
        command = ["meson", "setup", folder, ROOT, *options]
        if os.path.exists(os.path.join(folder, "build.ninja")):
            command.append("--wipe")
        call(command, {"CC": "clang"})
        with open(stamp, "w", encoding="utf-8") as file:
            file.write(wanted)
    call(["ninja", "-C", folder, *programs])


def call(command, environment=None):
    """Quiet unless it fails."""
    done = subprocess.run(command, env={**os.environ, **(environment or {})}, text=True, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode != 0:
        sys.stderr.write(done.stdout)
        say(f"failed: {shlex.join(command)}")
        sys.exit(EX_UNAVAILABLE)
    return done.stdout


def build_fuzzers(targets):
    say(f"building {len(targets)} targets in {BUILD}")
    build(BUILD, ["-Dfuzz=true", "-Dbench=false", "-Dbuildtype=debug", "-Doptimization=1", "-Db_lundef=false",
                  "-Db_sanitize=address,undefined", "-Dc_args=-fsanitize=fuzzer-no-link"],
          [f"tests/fuzz/fuzz-{target}" for target in targets])


# --- running ------------------------------------------------------------------------------------

class Run:
    """One target under libFuzzer: its process, and what it said so far."""

    def __init__(self, target, seconds):
        self.target = target
        self.seconds = seconds
        self.process = None
        self.log = None
        self.place = 0
        self.started = 0.0
        self.executions = 0
        self.per_second = 0
        self.corpus_size = 0
        self.coverage = 0
        self.before = set(os.listdir(work(target)))
        self.broken_before = set(os.listdir(crashes(target)))

    def start(self):
        self.started = time.monotonic()
        command = [program(self.target), f"-max_total_time={self.seconds}", f"-timeout={INPUT_TIMEOUT_SECONDS}",
                   f"-rss_limit_mb={MEMORY_MB}", "-print_final_stats=1", f"-artifact_prefix={crashes(self.target)}/",
                   *EXTRA_FLAGS.get(self.target, []), *dictionary(self.target), work(self.target), corpus(self.target)]
        self.log = open(os.path.join(BUILD, self.target + ".log"), "w+", encoding="utf-8", errors="replace")
        self.process = subprocess.Popen(command, env={**os.environ, **SANITIZERS}, stdout=self.log, stderr=self.log)

    def listen(self):
        """Reads what is new in the log; true while the process runs."""
        is_running = self.process.poll() is None
        with open(self.log.name, encoding="utf-8", errors="replace") as log:
            log.seek(self.place)
            for line in log:
                self.hear(line)
            self.place = log.tell()
        return is_running

    def hear(self, line):
        pulse, statistic = PULSE.match(line), STATISTIC.match(line)
        if pulse:
            self.executions, self.coverage, self.corpus_size, self.per_second = map(int, pulse.groups())
        elif statistic and statistic.group(1) == "number_of_executed_units":
            self.executions = int(statistic.group(2))
        elif statistic and statistic.group(1) == "average_exec_per_sec":
            self.per_second = int(statistic.group(2))

    def is_broken(self):
        return self.process.returncode != 0

    def finds(self):
        return len(set(os.listdir(work(self.target))) - self.before)

    def broken_inputs(self):
        return sorted(set(os.listdir(crashes(self.target))) - self.broken_before)


def run_all(runs):
    waiting, active, done = list(runs), [], []
    progress = Progress(len(runs))
    try:
        while waiting or active:
            while waiting and len(active) < WORKERS:
                active.append(waiting.pop(0))
                active[-1].start()
            time.sleep(0.2)
            for run in [run for run in active if not run.listen()]:
                active.remove(run)
                done.append(run)
                progress.finished(run)
            progress.show(active, done)
    finally:
        for run in active:
            run.process.terminate()
            run.process.wait()
        progress.clear()


class Progress:
    """One line rewritten on a terminal; elsewhere a plain line whenever a target is done."""

    def __init__(self, total):
        self.total = total
        self.is_terminal = sys.stderr.isatty()

    def show(self, active, done):
        if not self.is_terminal:
            return
        parts = [f"{run.target} {time.monotonic() - run.started:.0f}/{run.seconds} s {run.executions} runs" for run in active]
        broken = sum(run.is_broken() for run in done)
        line = f"fuzz: {len(done)}/{self.total} done" + (f", {broken} broken" if broken else "") + " | " + " | ".join(parts)
        width = os.get_terminal_size(sys.stderr.fileno()).columns
        sys.stderr.write("\r\x1b[K" + line[:width - 1])
        sys.stderr.flush()

    def finished(self, run):
        if not self.is_terminal:
            say(f"{run.target}: {'BROKEN' if run.is_broken() else 'ok'}, {run.executions} runs, {run.finds()} new finds")

    def clear(self):
        if self.is_terminal:
            sys.stderr.write("\r\x1b[K")


def print_summary(runs):
    """The table; returns the exit code."""
    print(f"{'target':<12} {'executions':>11} {'exec/s':>8} {'coverage':>9} {'corpus':>7} {'new':>5} {'crashes':>8}")
    for run in runs:
        broken = max(len(run.broken_inputs()), int(run.is_broken()))
        print(f"{run.target:<12} {run.executions:>11} {run.per_second:>8} {run.coverage:>9} {run.corpus_size:>7} "
              f"{run.finds():>5} {broken:>8}")
    broken_runs = [run for run in runs if run.is_broken()]
    for run in broken_runs:
        print_broken(run)
    if broken_runs:
        print(f"\n{len(broken_runs)} of {len(runs)} targets found an input that breaks a property")
        return 1
    print(f"\nno crash; new finds are in {BUILD}/work (./dev fuzz --merge takes the best into the repository)")
    return 0


def print_broken(run):
    with open(run.log.name, encoding="utf-8", errors="replace") as log:
        lines = log.read().splitlines()
    telling = [line.strip() for line in lines
               if re.search(r"assertion failed|runtime error|ERROR: |SUMMARY: |^\s+#\d+ .* in check_", line)]
    print(f"\n{run.target}:")
    for line in telling[:8] or lines[-5:]:
        print(f"    {line}")
    for name in run.broken_inputs():
        path = os.path.join(crashes(run.target), name)
        print(f"    again: {program(run.target)} {path}")
