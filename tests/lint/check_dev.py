#!/usr/bin/env python3
"""usage: check_dev.py ROOT   (TAP; the parts of ./dev and tests/tally.py that can be tried without a machine to spoil)"""
import json
import os
import re
import subprocess
import sys
import tempfile

import tap

ROOT = sys.argv[1]
VERBS = "setup build run test bench lint fuzz soak package image release".split()

DEB822 = """\
# somebody's comment
Types: deb deb-src
URIs: http://vendor.example/apt
Suites: bookworm
Components: main

Types: deb
# another
URIs: http://mirror.example/debian
Suites: bookworm
 bookworm-updates
Components: main contrib
Signed-By:
 -----BEGIN PGP PUBLIC KEY BLOCK-----
 .
 abc
 -----END PGP PUBLIC KEY BLOCK-----

Types: deb
URIs: http://mirror.example/debian-security
Suites: bookworm-security
Components: main
"""
DEB822_TRIXIE = """\
Types: deb
URIs: http://mirror.example/debian
Suites: trixie
Components: main
Signed-By:
 -----BEGIN PGP PUBLIC KEY BLOCK-----
 .
 abc
 -----END PGP PUBLIC KEY BLOCK-----
"""
CLASSIC = """\
# deb http://mirror.example/debian bookworm main
deb-src http://mirror.example/debian bookworm main
deb http://vendor.example/apt bookworm main
deb [ arch=amd64 signed-by=/usr/share/keyrings/k.gpg ] http://mirror.example/debian/ bookworm main contrib # ours
deb http://mirror.example/debian bookworm-updates main
"""
CLASSIC_TRIXIE = "deb [ arch=amd64 signed-by=/usr/share/keyrings/k.gpg ] http://mirror.example/debian/ trixie main\n"
MESON_LIST = """\
solvegate:unit / nonce
solvegate:unit / notice_tls
solvegate:story / story ambiguity
solvegate:story / story callbacks
solvegate:story / story notices
solvegate:story / story recovery
solvegate:story / story retry
solvegate:blackbox / callbacks
solvegate:blackbox / notices
solvegate:blackbox / crash recovery
solvegate:crash / crash recovery in full
solvegate:lint / lint tree
"""


def dev(*arguments):
    done = subprocess.run([os.path.join(ROOT, "dev"), *arguments], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


def expect(wanted, got):
    return [] if wanted == got else [f"wanted {wanted!r}", f"got    {got!r}"]


def function_body(name):
    with open(os.path.join(ROOT, "dev"), encoding="utf-8") as file:
        return re.search(rf"^{name}\(\) {{.*?^}}$", file.read(), re.MULTILINE | re.DOTALL).group()


def call_function(name, files, *arguments, prelude=""):
    """Runs one function of ./dev with /etc/apt being a temporary folder."""
    with tempfile.TemporaryDirectory() as etc:
        os.mkdir(os.path.join(etc, "sources.list.d"))
        for path, text in files.items():
            with open(os.path.join(etc, path), "w", encoding="utf-8") as file:
                file.write(text)
        script = prelude + function_body(name).replace("/etc/apt", etc) + f'\n{name} "$@"\n'
        return subprocess.run(["sh", "-euc", script, "sh", *arguments], capture_output=True, text=True, check=True).stdout


def check_words(report):
    code, out, _ = dev()
    listed = [line.split()[0] for line in out.splitlines() if line[:2] == "  " and line[2:3].strip()]
    report.case("./dev alone lists its verbs", expect((0, VERBS), (code, listed)))
    report.case("the list fits a terminal of 80 columns", [line for line in out.splitlines() if len(line) > 80])
    code, _, err = dev("tset")
    report.case("a mistyped verb is a usage error with a suggestion",
                expect((64, True), (code, 'did you mean "test"?' in err)))
    code, _, err = dev("frobnicate")
    report.case("a verb like no other gets the list and no guess",
                expect((64, False, True), (code, "mean" in err, "soak" in err)))
    code, _, err = dev("build", "relese")
    report.case("a mistyped kind is a usage error with a suggestion",
                expect((64, True), (code, 'did you mean "release"?' in err)))
    code, _, err = dev("run", "--store", "rediss")
    report.case("a mistyped store is a usage error with a suggestion",
                expect((64, True), (code, 'did you mean "redis"?' in err)))
    code, _, err = dev("run", "--nodes", "2", "--store", "sqlite")
    report.case("several gateways on a store that they cannot share are a usage error",
                expect((64, True), (code, "--store redis" in err)))
    code, _, err = dev("setup", "tests")
    report.case("a mistyped group is a usage error with a suggestion",
                expect((64, True), (code, 'did you mean "test"?' in err)))


def check_sources(report):
    mirror = "http://mirror.example/debian/"
    deb822 = {"sources.list.d/debian.sources": DEB822}
    classic = {"sources.list": CLASSIC}
    report.case("the deb822 stanza of the machine's mirror becomes one for trixie, key and all",
                expect(DEB822_TRIXIE, call_function("deb822_stanza", deb822, mirror)))
    report.case("a switched-off stanza is not used",
                expect("", call_function("deb822_stanza", {"sources.list.d/debian.sources":
                                         DEB822.replace("# another", "Enabled: no")}, mirror)))
    report.case("two files with the mirror make one stanza",
                expect(DEB822_TRIXIE, call_function("deb822_stanza", {**deb822, "sources.list.d/e.sources": DEB822}, mirror)))
    report.case("the classic line of the machine's mirror becomes one for trixie, options and all",
                expect(CLASSIC_TRIXIE, call_function("classic_line", classic, mirror)))
    report.case("an unknown mirror is not guessed",
                expect(("", ""), (call_function("deb822_stanza", deb822, "http://other.example/"),
                                  call_function("classic_line", classic, "http://other.example/"))))


def tests_named(word):
    """Which tests ./dev chooses for a word, of those that Meson lists here."""
    prelude = f"meson() {{ cat <<'LIST'\n{MESON_LIST}LIST\n}}\n" + "".join(
        function_body(name) + "\n" for name in ("topic", "list_tests"))
    return call_function("tests_named", {}, word, prelude=prelude).splitlines()


def check_names(report):
    for name, word, wanted in (
            ("a test is found by its name", "nonce", ["nonce"]),
            ("a test is found by the last word of its name", "retry", ["story retry"]),
            ("one word may name tests of several suites", "notices", ["notices", "story notices"]),
            ("a whole name with a space is a name", "story retry", ["story retry"]),
            ("part of a word is no name", "not", []),
            ("suites that run as a whole are not searched", "tree", []),
            ("what takes hours is not chosen by name", "full", []),
            ("callbacks are a topic", "callbacks", ["callbacks", "nonce", "notice_tls", "notices", "story ambiguity",
                                                    "story callbacks", "story notices", "story recovery"])):
        report.case(f"./dev test WORD: {name}", expect(wanted, tests_named(word)))


def check_groups(report):
    """What ./dev test installs for the words it is given."""
    def groups(*words):
        return call_function("test_groups", {}, *words, prelude=f"cd '{os.path.abspath(ROOT)}'\n").split()

    plain = "build test lint clients browser".split()
    report.case("./dev test installs what everything needs, but no languages for the examples", expect(plain, groups()))
    report.case("./dev test examples installs their languages", expect(["build", "test", "examples"], groups("examples")))
    report.case("./dev test unit installs none of that", expect(["build", "test"], groups("unit")))
    table = [line.split()[0] for line in call_function("requirements", {}, prelude="is_debian_13() { false; }\n").splitlines()]
    listed = re.search(r"groups: (.*?)\n  build", dev()[1], re.DOTALL).group(1)
    known = re.search(r"known: (.*)", dev("setup", "frobnicate")[2]).group(1).split()
    wanted = sorted(set(table) - {"run"})
    report.case("./dev lists every group of its table", expect(wanted, sorted(set(re.findall(r"\w+", listed)) & set(table))))
    report.case("./dev setup knows every group of its table", expect(wanted, sorted(known)))


def run_tally(logs, *options):
    """tests/tally.py for {label: log}; a log has (name, result, stdout) for each test, None is one that is missing."""
    with tempfile.TemporaryDirectory() as folder:
        arguments = []
        for number, (label, log) in enumerate(logs.items()):
            path = os.path.join(folder, f"{number}.json")
            arguments.append(f"{label}={path}")
            if log is not None:
                with open(path, "w", encoding="utf-8") as file:
                    for name, result, stdout in log:
                        file.write(json.dumps({"name": name, "result": result, "stdout": stdout}) + "\n")
        done = subprocess.run([sys.executable, os.path.join(ROOT, "tests", "tally.py"), *options, *arguments],
                              capture_output=True, text=True, check=False)
        return done.returncode, done.stdout.splitlines()


def tally(logs):
    """Exit code and last line for a list of logs of (result, stdout)."""
    code, lines = run_tally({f"log{number}": log and [("t", *test) for test in log] for number, log in enumerate(logs)})
    return code, lines[-1]


def check_tally(report):
    good = ("OK", "1..2\nok 1 - a\nok 2 - b\n")
    for name, logs, wanted in (
            ("cases are added up over logs", [[good], [good, good]], (0, "6 passed, 0 failed")),
            ("each failed case counts", [[good, ("FAIL", "1..3\nok 1\nnot ok 2\nnot ok 3\n")]], (1, "3 passed, 2 failed")),
            ("a crash counts once besides what went well", [[("ERROR", "1..3\nok 1\n")]], (1, "1 passed, 1 failed")),
            ("a timeout counts", [[("TIMEOUT", "")]], (1, "0 passed, 1 failed")),
            ("a skipped case is neither", [[("OK", "1..2\nok 1 - a # SKIP no tool\nok 2\n")]], (0, "1 passed, 0 failed")),
            ("a test without TAP is one case", [[("OK", "hello\n"), ("FAIL", "bye\n")]], (1, "1 passed, 1 failed")),
            ("a build that failed counts", [[good], None], (1, "2 passed, 1 failed")),
            ("nothing tested is a failure", [], (1, "0 passed, 1 failed"))):
        report.case(f"the last line is the sum: {name}", expect(wanted, tally(logs)))


def check_choice(report):
    good, bad = ("OK", "1..1\nok 1 - a\n"), ("ERROR", "1..1\nnot ok 1 - a\n")

    def chosen(*tests):
        return run_tally({"debug-all": [(f"solvegate:{name}", *result) for name, result in tests]}, "--choose-again")

    timed = [("blackbox / vendor", bad), ("browser / browser", bad), ("chaos / chaos bombs", bad), ("clients / python", bad)]
    names = ["debug-all blackbox vendor", "debug-all browser browser", "debug-all chaos chaos bombs", "debug-all clients python"]
    report.case("failed tests that depend on time are run again", expect((0, names), chosen(*timed)))
    servers = [(f"unit+servers / store_{name}", bad) for name in ("conformance", "postgres_open", "redis")]
    report.case("failed unit tests that start servers are run again", expect(3, len(chosen(*servers)[1])))
    report.case("what passed is not run again", expect((0, []), chosen(("blackbox / vendor", good))))
    never = [(f"{suite} / {suite} x", bad) for suite in ("unit", "story", "fuzz", "sim", "lint", "guard", "crash")]
    report.case("failures of the other suites are never run again", expect((0, []), chosen(*never)))
    report.case("a test that ran out of time is run again",
                expect((0, ["debug-all chaos slow"]), chosen(("chaos / slow", ("TIMEOUT", "")))))
    for word in ("==7==ERROR: AddressSanitizer: heap-use-after-free", "src/a.c:1:2: runtime error: overflow",
                 "solvegate: assertion failed: x (a.c:1)", "solvegate ended with -6: ", "solvegate ended with -11: "):
        report.case(f"a crash is never run again: {word}",
                    expect((0, []), chosen(("blackbox / vendor", (bad[0], bad[1] + "# " + word)))))
    six = [(f"blackbox / t{number}", bad) for number in range(6)]
    report.case("six failures are run again", expect(6, len(chosen(*six)[1])))
    report.case("more than six failures are no accident: none is run again", expect((0, []), chosen(*six, timed[0])))


def check_second_results(report):
    name = "solvegate:blackbox / t"
    bad = (name, "ERROR", "1..2\nnot ok 1 - a\n# the first reason\nok 2 - b\n")
    good = (name, "OK", "1..2\nok 1 - a\nok 2 - b\n")
    worse = (name, "ERROR", "1..2\nok 1 - a\nnot ok 2 - b\n# the second reason\n")
    other = ("solvegate:blackbox / u", *good[1:])

    code, lines = run_tally({"x": [bad], "again:x": [good]})
    report.case("the second result counts", expect((0, "2 passed, 0 failed"), (code, lines[-1])))
    text = "\n".join(lines)
    report.case("who passed only when run again is named, with the first failure and not as a failed case",
                expect((True, True, False), (f"=== passed only when run again alone: x: {name}" in text,
                                             "failed at first: - a\n    # the first reason" in text, "not ok" in text)))
    code, lines = run_tally({"x": [bad], "again:x": [worse]})
    text = "\n".join(lines)
    report.case("who fails twice has failed, for the second reason",
                expect((1, "1 passed, 1 failed", True, True),
                       (code, lines[-1], "failed again" in text, "# the second reason" in text)))
    for what, logs, wanted in (
            ("of another test", {"x": [bad], "again:x": [other]}, (1, "1 passed, 1 failed")),
            ("of another build", {"x": [bad], "y": [good], "again:y": [good]}, (1, "3 passed, 1 failed")),
            ("that is missing", {"x": [bad], "again:x": None}, (1, "1 passed, 1 failed")),
            ("of what passed at first", {"x": [good], "again:x": [worse]}, (0, "2 passed, 0 failed"))):
        code, lines = run_tally(logs)
        report.case(f"a second result {what} does not count", expect(wanted, (code, lines[-1])))


FLAKY_PROJECT = """\
project('solvegate', meson_version: '>=1.0')
sh = find_program('sh')
test('vendor', sh, args: ['-c', 'test -e again'], suite: 'unit', workdir: meson.current_source_dir())
test('vendor', sh, args: ['-c', 'test -e again || { touch again; false; }'], suite: 'blackbox', is_parallel: false,
  priority: -1, workdir: meson.current_source_dir())
test('chaos two words', sh, args: ['-c', 'false'], suite: 'chaos')
test('well', sh, args: ['-c', 'true'], suite: 'blackbox')
test('example left out', sh, args: ['-c', 'false'], suite: 'examples')
"""


def check_run_again(report):
    """The real functions with the real Meson, for tests that fail always, or only at first."""
    script = "\n".join((
        "say() { :; }; build() { :; }; logs='' again='' calm='' PURE='' RELEASED=''",
        "test_built() { echo $2 >>built; }; compute_beside() { echo beside >>built; false; }",  # the only build that is there is debug
        function_body("run_tests"), function_body("note_log"), function_body("run_built"), function_body("run_again"), function_body("test_everything"),
        "test_everything 2>runs", "python3 tests/tally.py $logs $again"))
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "meson.build"), "w", encoding="utf-8") as file:
            file.write(FLAKY_PROJECT)
        os.symlink(os.path.abspath(os.path.join(ROOT, "tests")), os.path.join(folder, "tests"))
        subprocess.run(["meson", "setup", "build-debug"], cwd=folder, capture_output=True, check=True)
        done = subprocess.run(["sh", "-euc", script], cwd=folder, capture_output=True, text=True, check=False)
        with open(os.path.join(folder, "runs"), encoding="utf-8") as file:
            runs = re.findall(r"^1/1 (?:solvegate:)?(\S+ / .*?) +(OK|FAIL)", file.read(), re.MULTILINE)
        with open(os.path.join(folder, "built"), encoding="utf-8") as file:
            built = file.read().split()
    titles = [line for line in done.stdout.splitlines() if line.startswith("===")]
    report.case("./dev test: failed tests of blackbox and chaos are run again one by one, others are not",
                expect([("blackbox / vendor", "OK"), ("chaos / chaos two words", "FAIL")], sorted(runs)))
    report.case("./dev test: what did not succeed beside the tests is done after them",
                expect(["beside", "pure", "blackbox", "guard", "lint"], built))
    report.case("./dev test: the report says which result counts",
                expect(([True] * 3, "2 passed, 2 failed"),
                       ([any(re.search(pattern, title) for title in titles) for pattern in (
                           "^=== debug-all: solvegate:unit / vendor: FAIL$",
                           "^=== passed only when run again alone: debug-all: solvegate:blackbox / vendor",
                           "chaos two words: FAIL .run again alone, and failed again")], done.stdout.splitlines()[-1])))


def main():
    report = tap.Tap()
    check_words(report)
    check_sources(report)
    check_names(report)
    check_groups(report)
    check_tally(report)
    check_choice(report)
    check_second_results(report)
    check_run_again(report)
    report.finish()


main()
