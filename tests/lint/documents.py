"""Documents and citations: what documents, code and comments name exists, the README stays short, and every event of the log is described."""
import os
import re

README_MAX_LINES = 130

TOP = r"(?:src|include|tests|bench|contrib|subprojects|docs|man)"
DOC_PATH = re.compile(rf"`({TOP}/[\w./*-]*|\./dev|\.ci/run)`")
# A link's target, and perhaps the heading in it; the target is empty for a heading of the same document.
DOC_LINK = re.compile(r"\]\(([^)#:\s]*)(?:#([^)\s]*))?\)")
MAP_LINE = re.compile(rf"^({TOP}/[\w./-]*)[ \t]{{2,}}", re.MULTILINE)
HEADING = re.compile(r"^#+ (.*?)[ \t]*$", re.MULTILINE)
FENCED = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
# A document, and perhaps the number of a section behind it.
CITATION = re.compile(r"((?:[\w.-]+/)*[A-Za-z]\w*\.md)\b(?: (?:section )?(\d+(?:\.\d+|[a-z])?)\b)?")
# A path that starts at the root: what stands before it does not belong to a longer path.
CODE_PATH = re.compile(rf"(?<![\w/.~$}}{{\"'*-])({TOP}/[\w./*-]*\w)(?![\w*{{-])")
# Inputs of fuzz targets, lists of packages, builds of other projects: written by others, or naming their own files.
NOT_OURS = re.compile(r"^tests/fuzz/corpus/|package-lock\.json$|^subprojects/packagefiles/")
# The lint's own examples name files that do not exist, the changelog names files that are gone.
EXAMPLES = {"tests/lint/check_rules.py", "tests/lint/check_tools.py"}
HISTORY = "CHANGELOG.md"
# An event of the log, at the calls that name one.
EVENT = re.compile(r'\b(?:LOG\(\w+,|log_each\(\w+,|emit\(\w+,|fail_start\(|report\()\s*"(\w+)"')
EVENTS_ARE_IN = "docs/operations.md"
# Made by the build or by a run, so that a fresh checkout does not have it.
MADE = re.compile(r"^bench/report\b|^src/(?:sim/)?solvegate(?:-sim)?$|^tests/sim/sim-engine$")


def ours(tree):
    return [path for path in tree.files if not NOT_OURS.search(path)]


def line_of(text, position):
    return text.count("\n", 0, position) + 1


def is_example(name):
    """A pattern, or a word in capitals that stands for one: bench/NAME, door_NAME.c, tests/*.c."""
    return "*" in name or "NAME" in name or re.search(r"/[A-Z]+(/|$)", name) is not None


def slug(heading):
    """The anchor that a heading gets where documents are shown."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def anchors(tree, path):
    return {slug(heading) for heading in HEADING.findall(FENCED.sub("", tree.text(path)))}


def links(tree, path):
    """(target relative to the root, heading) of every link that stays within the project."""
    for target, heading in DOC_LINK.findall(tree.text(path)):
        if target or heading:
            yield os.path.normpath(os.path.join(os.path.dirname(path), target)) if target else path, heading


def documents(tree):
    """the paths and headings that the documents name exist"""
    problems = []
    for path in ours(tree):
        if not path.endswith(".md"):
            continue
        text = tree.text(path)
        for target, heading in links(tree, path):
            if not tree.exists(target):
                problems.append(f"{path}: links to {target}, which does not exist")
            elif heading and heading not in anchors(tree, target):
                problems.append(f"{path}: links to #{heading} of {target}, which has no such heading")
        if path != HISTORY:
            problems += [f"{path}: names {name}, which does not exist" for name in DOC_PATH.findall(text) + MAP_LINE.findall(text)
                         if not is_example(name) and not MADE.search(name) and not tree.exists(name)]
    return problems


def cited(tree, path, name):
    """The document that a citation means, relative to the root: from there, in docs/, or beside the file. None: gone."""
    for folder in ("", "docs", os.path.dirname(path)):
        found = os.path.normpath(os.path.join(folder, name))
        if tree.exists(found):
            return found
    return None


def citations(tree):
    """the documents and sections that code, comments and documents cite exist"""
    problems = []
    for path in ours(tree):
        text = tree.text(path)
        for match in CITATION.finditer(text):
            name, section = match.groups()
            place = f"{path}:{line_of(text, match.start())}"
            document = cited(tree, path, name)
            if document is None:
                problems.append(f"{place}: cites {name}, which is neither in the root nor in docs/")
            elif section and not re.search(rf"^#+ {re.escape(section)}[. ]", tree.text(document), re.MULTILINE):
                problems.append(f"{place}: cites section {section} of {document}, which has none")
    return problems


def code_paths(tree):
    """the files and folders that code and comments name exist"""
    problems = []
    for path in ours(tree):
        if path.endswith(".md") or path in EXAMPLES:
            continue
        text = tree.text(path)
        for match in CODE_PATH.finditer(text):
            name = match.group(1)
            if not (is_example(name) or MADE.search(name) or tree.exists(name)):
                problems.append(f"{path}:{line_of(text, match.start())}: names {name}, which does not exist")
    return problems


def readme(tree):
    """the README has at most 130 lines; everything else is in docs/"""
    lines = tree.text("README.md").count("\n") if tree.exists("README.md") else 0
    return [f"README.md: {lines} lines, more than {README_MAX_LINES}"] if lines > README_MAX_LINES else []


def events(tree):
    """docs/operations.md names every event of the log"""
    problems = []
    known = tree.text(EVENTS_ARE_IN) if tree.exists(EVENTS_ARE_IN) else ""
    for path in tree.files:
        if not re.match(r"src/(?!sim/).*\.c$", path):
            continue
        text = tree.text(path)
        for match in EVENT.finditer(text):
            if f"`{match.group(1)}`" not in known:
                problems.append(f"{path}:{line_of(text, match.start())}: logs {match.group(1)}, which {EVENTS_ARE_IN} does not name")
    return problems


def versions(tree):
    """the version of meson.build is that of the API document and of both changelogs"""
    if not tree.exists("meson.build"):
        return []
    version = re.search(r"^ *version: '([^']+)'", tree.text("meson.build"), re.MULTILINE).group(1)
    wanted = {"CHANGELOG.md": f"\n## {version} - ", "debian/changelog": f"\0solvegate ({version}-",
              "src/doors/openapi.json": f'"version": "{version}"'}
    # \0 stands for the beginning: the newest entry of Debian's changelog comes first.
    return [f"{path}: is not about {version}, the version of meson.build" for path, text in wanted.items()
            if tree.exists(path) and text not in "\0" + tree.text(path)]


RULES = [documents, citations, code_paths, readme, events, versions]
