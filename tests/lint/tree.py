"""The source tree as the rules see it: which files there are, their text, and their code without words."""
import functools
import os
import re

# What .gitignore keeps out, and what is not ours.
SKIPPED = re.compile(r"(^|/)(\.git|\.cache|__pycache__|node_modules|build[^/]*|bench/report)(/|$)|\.core$")

COMMENT_OR_LITERAL = re.compile(
    r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'", re.DOTALL)
PREPROCESSOR = re.compile(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", re.MULTILINE)
COMMENT = re.compile(r"(\"(?:\\.|[^\"\\\n])*\")|/\*.*?\*/|//[^\n]*", re.DOTALL)


def blank(text):
    """Spaces of the same shape, so that line numbers stay true."""
    return re.sub(r"[^\n]", " ", text)


class Tree:
    def __init__(self, root):
        self.root = root

    @functools.cached_property
    def files(self):
        """Every text file of the project, relative to its root."""
        found = []
        for folder, folders, names in os.walk(self.root):
            relative = os.path.relpath(folder, self.root)
            prefix = "" if relative == "." else relative + "/"
            folders[:] = sorted(name for name in folders if not SKIPPED.search(prefix + name))
            found += [prefix + name for name in sorted(names) if not SKIPPED.search(prefix + name)]
        return [path for path in found if self._is_text(path)]

    def _is_text(self, path):
        try:
            with open(os.path.join(self.root, path), "rb") as file:
                return b"\0" not in file.read(8192)
        except OSError:  # somebody's file that was there a moment ago
            return False

    def under(self, *prefixes, suffixes=(".c", ".h")):
        return [path for path in self.files if path.startswith(prefixes) and path.endswith(suffixes)]

    @functools.lru_cache(maxsize=None)
    def text(self, path):
        with open(os.path.join(self.root, path), encoding="utf-8", errors="replace") as file:
            return file.read()

    @functools.lru_cache(maxsize=None)
    def code(self, path):
        """C without comments and without what is inside strings and character constants."""
        return COMMENT_OR_LITERAL.sub(lambda match: blank(match.group()), self.text(path))

    @functools.lru_cache(maxsize=None)
    def uncommented(self, path):
        """C without comments; strings stay, since #include needs them."""
        return COMMENT.sub(lambda match: match.group(1) or blank(match.group()), self.text(path))

    def statements(self, path):
        """C as code(), without the preprocessor's lines."""
        return PREPROCESSOR.sub(lambda match: blank(match.group()), self.code(path))

    def exists(self, path):
        return os.path.exists(os.path.join(self.root, path))


def find(pattern, text, path, message):
    """A problem for every line on which the pattern begins; {0} in the message is what was found."""
    return [f"{path}:{text.count(chr(10), 0, match.start()) + 1}: {message.format(match.group().strip())}"
            for match in re.finditer(pattern, text, re.MULTILINE)]
