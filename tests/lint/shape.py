"""Sizes and forms: how long functions and files are, how headers begin, how tests are registered."""
import re
import statistics

MAX_FUNCTION_LINES = 70
MAX_FILE_LINES = 600
# Whoever opens a header should see at a glance what it offers; static inline helpers do not count.
MAX_HEADER_FUNCTIONS = 20
# clang-format holds code to 100; it leaves comments alone, and a sentence may run a little over.
MAX_COLUMNS = 120

# Flat dispatchers that read better in one piece, with the reason: "path:function": "why".
LONG_FUNCTIONS = {}

# Headers whose functions are not defined in the .c file of their name, with the reason.
SHARED_HEADERS = {
    "src/engine/state.h": "the engine's inside; what others see of engine.c is <solvegate/engine.h>",
    "src/gate/gate_state.h": "the gate and its doors share one struct; gate.h hides it from the rest",
    "src/http/http.h": "the room's only public header",
    "src/store/store_driver.h": "store_lock_with() takes a driver, which store.h hides from the gate",
    "src/upstream/trust_store.h": "two implementations, of which one is built",
    "src/upstream/valve.h": "two implementations, of which one is built",
}

# Names that files of several rooms share because they mean the same thing there. The simulator is a program of its own,
# and a file of a subcommand is named after it.
SHARED_NAMES = {
    "idempotency": "a caller's own key: how it is read, and what it stands for",
    "rest": "an answer that is more than a text: which ones, and how the rest comes",
    "stats": "the books: their list, and how they are kept",
    "view": "the engine's views: contract and implementation",
    "timeline": "what is known of one key: contract and implementation",
    "engine": "the engine: contract and implementation",
}

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


BRACES = re.compile(r"\{[^{}]*\}")
FUNCTION_LIST = re.compile(r"\w+_fn\s+(\w+(?:\s*,\s*\w+)*)")  # door_fn door_in, door_res;
NO_FUNCTION = ("typedef", "static", "extern", "_Static_assert")


def declared(tree, path):
    """The functions that a header offers; static inline ones have bodies and do not count."""
    code = tree.statements(path)
    while BRACES.search(code):
        code = BRACES.sub(";", code)
    for statement in map(str.strip, code.split(";")):
        several = FUNCTION_LIST.fullmatch(statement)
        if several:
            yield from re.split(r"\s*,\s*", several.group(1))
        elif "(" in statement and not statement.startswith(NO_FUNCTION):
            yield SIGNATURE_NAME.search(statement).group(1)


def header_functions(tree):
    """no header offers more than 20 functions"""
    return [f"{path}: {count} functions, more than {MAX_HEADER_FUNCTIONS}"
            for path in tree.under("src/", "include/", suffixes=(".h",))
            for count in [len(list(declared(tree, path)))] if count > MAX_HEADER_FUNCTIONS]


def is_of_simulator(path):
    return path.startswith("src/sim/")


def own_header(tree):
    """a function is declared in the header of the file that defines it, or in the engine's contract"""
    defined = {}
    for path in tree.under("src/", suffixes=(".c",)):
        for name, _, _ in functions(tree, path):
            defined.setdefault((is_of_simulator(path), name), set()).add(path)
    return [f"{path}: {name} is defined in {', '.join(sorted(homes))}"
            for path in tree.under("src/", suffixes=(".h",)) if path not in SHARED_HEADERS
            for name in declared(tree, path)
            for homes in [defined.get((is_of_simulator(path), name), set())]
            if homes and re.sub(r"(_private)?\.h$", ".c", path) not in homes]


def names(tree):
    """no two files of different rooms have one name, unless it means the same in both"""
    rooms = {}
    for path in tree.under("src/", "include/"):
        room, name = path.rsplit("/", 1)
        is_subcommand = room == "src/cli" and "const struct command command_" in tree.text(path)
        if not is_of_simulator(path) and not is_subcommand:
            rooms.setdefault(name.rsplit(".", 1)[0], set()).add(path)
    return [f"{' and '.join(sorted(paths))}: one name for different things?"
            for name, paths in rooms.items() if name not in SHARED_NAMES
            if len({path.rsplit("/", 1)[0] for path in paths}) > 1]


def registration(tree):
    """every test is registered with its folder as suite and speaks TAP"""
    problems = []
    for path in tree.files:
        folder = re.match(r"tests/(\w+)/meson\.build$", path)
        if not folder:
            continue
        for call in TEST_CALL.findall(tree.text(path)):
            # It may belong to a second suite.
            for wanted, more in ((f"suite: '{folder.group(1)}'", f"suite: ['{folder.group(1)}'"), ("protocol: 'tap'",) * 2):
                if wanted not in call and more not in call:
                    problems.append(f"{path}: test({call.split(',')[0].strip()}, …) lacks {wanted}")
    return problems


RULES = [function_length, file_length, line_length, headers, header_functions, own_header, names, registration]
