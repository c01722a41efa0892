#!/usr/bin/env python3
"""usage: check_tools.py format|tidy|scripts ROOT BUILD   (TAP; what other people's checkers say of our sources)"""
import concurrent.futures
import json
import os
import shutil
import subprocess
import sys
import tempfile

import tap
from tree import Tree

# One version for everybody: clang-format's taste changes between releases.
CLANG_FORMAT = "clang-format-19"
CLANG_TIDY = "clang-tidy-19"


def run(*command, **options):
    done = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    return done.returncode, (done.stdout + done.stderr).strip()


def unformatted(tree, paths):
    """What is wrong with each of them, by path. Most are right: many are asked about at once, and one by one if that fails."""
    command = [CLANG_FORMAT, "--dry-run", "-Werror", "--ferror-limit=3"]
    if run(*command, *paths, cwd=tree.root)[0] == 0:
        return {}
    said = {path: run(*command, path, cwd=tree.root) for path in paths}
    return {path: output for path, (code, output) in said.items() if code}


def check_format(report, tree, _build):
    paths = list(tree.under("src/", "include/", "bench/", "tests/"))
    wrong = {}
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        for some in pool.map(lambda first: unformatted(tree, paths[first:first + 32]), range(0, len(paths), 32)):
            wrong |= some
    for path in paths:
        report.case(f"{path} is formatted", [wrong[path], "./dev lint --fix formats it"] if path in wrong else [])
    code, _ = run(CLANG_FORMAT, "--dry-run", "-Werror", "--assume-filename=src/a.c", input="int  x ;\n", cwd=tree.root)
    report.case("an unformatted file would be noticed", [] if code else ["it is not"])


# One function at a time: ten times faster, and the analyzer stops guessing what happens behind calls it cannot follow;
# memory and uninitialised values across functions are the sanitizers' work.
SHALLOW = [f"--extra-arg={word}" for word in ("-Xclang", "-analyzer-config", "-Xclang", "mode=shallow")]


def tidy_one(tree, build, path):
    # The commands are the compiler's of that build; what clang does not know of them is not our concern.
    return run(CLANG_TIDY, "-p", build, "--quiet", "--warnings-as-errors=*", *SHALLOW,
               "--extra-arg=-Wno-unknown-warning-option", "--extra-arg=-Wno-ignored-optimization-argument", path, cwd=tree.root)


def check_tidy(report, tree, build):
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as file:
        compiled = {os.path.relpath(os.path.join(entry["directory"], entry["file"]), tree.root) for entry in json.load(file)}
    paths = [path for path in tree.under("src/", "bench/", suffixes=(".c",)) if path in compiled]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        for path, (code, output) in zip(paths, pool.map(lambda path: tidy_one(tree, build, path), paths)):
            report.case(f"clang-tidy has nothing to say about {path}", [output] if code else [])
    with tempfile.TemporaryDirectory() as folder:
        bad = os.path.join(folder, "bad.c")
        with open(bad, "w", encoding="utf-8") as file:
            file.write("int f(int *p);\nint f(int *p)\n{\n    if (p)\n        return 1;\n    return *p;\n}\n")
        code, _ = run(CLANG_TIDY, f"--config-file={tree.root}/.clang-tidy", "--warnings-as-errors=*", "--quiet", *SHALLOW, bad, "--")
        report.case("a null dereference would be noticed", [] if code else ["it is not"])


def first_line(tree, path):
    return tree.text(path).split("\n", 1)[0]


def check_scripts(report, tree, _build):
    for path in tree.files:
        start = first_line(tree, path)
        if start.startswith("#!") and start.endswith(("sh", "bash")):
            code, output = run("shellcheck", path, cwd=tree.root)
            report.case(f"shellcheck has nothing to say about {path}", [output] if code else [])
        if start == "#!/bin/sh":
            code, output = run("sh", "-n", path, cwd=tree.root)
            report.case(f"{path} is plain shell", [output] if code else [])
        if path.endswith(".py") or start.startswith("#!/usr/bin/env python3"):
            report.case(f"{path} compiles", python_mistakes(tree, path))


def python_mistakes(tree, path):
    try:
        compile(tree.text(path), path, "exec")
    except SyntaxError as error:
        return [str(error)]
    return []


CHECKS = {"format": (check_format, CLANG_FORMAT), "tidy": (check_tidy, CLANG_TIDY), "scripts": (check_scripts, "shellcheck")}


def main(name, root, build):
    check, tool = CHECKS[name]
    report = tap.Tap()
    if shutil.which(tool) is None:
        report.case(name, skip=f"{tool} is not installed (./dev setup lint)")
    else:
        check(report, Tree(os.path.realpath(root)), os.path.realpath(build))
    report.finish()


main(*sys.argv[1:])
