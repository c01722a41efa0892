"""Sizes and forms: how long functions and files are, how headers begin, how tests are registered."""
import re
import statistics

MAX_FUNCTION_LINES = 70
MAX_FILE_LINES = 600
# clang-format holds code to 100; it leaves comments alone, and a sentence may run a little over.
MAX_COLUMNS = 120

# Flat dispatchers that read better in one piece, with the reason: "path:function": "why".
LONG_FUNCTIONS = {}

GUARD = re.compile(r"^#ifndef (\w+)\n#define (\w+)\n", re.MULTILINE)
SIGNATURE_NAME = re.compile(r"\b(\w+)\s*\(")
TEST_CALL = re.compile(r"^[ \t]*test\((.*?)\n?\)[ \t]*$", re.MULTILINE | re.DOTALL)


def c_files(tree, suffixes=(".c", ".h")):
    return tree.under("src/", "include/", "bench/", "tests/", suffixes=suffixes)


def functions(tree, path):
    """(name, first line, lines between the braces): a function's braces stand alone in the first column."""
    lines = tree.code(path).split("\n")
    start = None
    for number, line in enumerate(lines):
        if line.rstrip() == "{":
            start = number
        elif line.rstrip() == "}" and start is not None:
            yield name_before(lines, start), start + 1, number - start - 1
            start = None


def name_before(lines, brace):
    """The function's name: the first called-looking word of the lines that belong to its signature."""
    first = brace
    while first > 0 and lines[first - 1].strip() and lines[first - 1].rstrip()[-1] not in ";}":
        first -= 1
    match = SIGNATURE_NAME.search(" ".join(lines[first:brace]))
    return match.group(1) if match else "?"


def all_functions(tree, *prefixes):
    return [(length, path, name, line) for path in tree.under(*prefixes) for name, line, length in functions(tree, path)]


def function_length(tree):
    """no function is longer than 70 lines"""
    return [f"{path}:{line}: {name} has {length} lines, more than {MAX_FUNCTION_LINES}"
            for length, path, name, line in all_functions(tree, "src/", "include/", "bench/", "tests/")
            if length > MAX_FUNCTION_LINES and f"{path}:{name}" not in LONG_FUNCTIONS
            # main() of a test is a list of its cases.
            and not (path.startswith("tests/") and name == "main")]


def function_report(tree):
    """Lines for a person: the median and the five longest functions of the gateway and its simulator."""
    found = sorted(all_functions(tree, "src/", "include/", "bench/"), reverse=True)
    if not found:
        return []
    median = statistics.median(length for length, *_ in found)
    return [f"{len(found)} functions, median {median:g} lines, the longest:"] + [
        f"{length:4} lines  {path}:{line} {name}" for length, path, name, line in found[:5]]


def file_length(tree):
    """no source file is longer than 600 lines"""
    return [f"{path}: {lines} lines, more than {MAX_FILE_LINES}" for path in c_files(tree) + tree.under(
                "src/", "bench/", "tests/", suffixes=(".py", ".js"))
            for lines in [tree.text(path).count("\n")] if lines > MAX_FILE_LINES]


def line_length(tree):
    """no line of C is wider than 120 columns, comments included"""
    return [f"{path}:{number}: {len(line)} columns" for path in c_files(tree)
            for number, line in enumerate(tree.text(path).split("\n"), 1) if len(line) > MAX_COLUMNS]


def guard_of(path):
    inner = re.sub(r"^(src/|include/solvegate/|bench/|tests/)", "", path)
    return "SOLVEGATE_" + re.sub(r"\W", "_", inner).upper()


def headers(tree):
    """a header begins with a sentence of purpose and a guard named after its path"""
    problems = []
    for path in c_files(tree, suffixes=(".h",)):
        text = tree.text(path)
        if not re.match(r"/\* \S.*", text):
            problems.append(f"{path}:1: the first line says in one comment what the header is for")
        guard = GUARD.search(text)
        if not guard or guard.group(1) != guard.group(2):
            problems.append(f"{path}: no include guard")
        elif path.startswith(("src/", "include/")) and guard.group(1) != guard_of(path):
            problems.append(f"{path}: the guard is {guard.group(1)}, not {guard_of(path)}")
    return problems


def registration(tree):
    """every test is registered with its folder as suite and speaks TAP"""
    problems = []
    for path in tree.files:
        folder = re.match(r"tests/(\w+)/meson\.build$", path)
        if not folder:
            continue
        for call in TEST_CALL.findall(tree.text(path)):
            for wanted in (f"suite: '{folder.group(1)}'", "protocol: 'tap'"):
                if wanted not in call:
                    problems.append(f"{path}: test({call.split(',')[0].strip()}, …) lacks {wanted}")
    return problems


RULES = [function_length, file_length, line_length, headers, registration]
