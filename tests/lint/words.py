"""Words that must not appear: dangerous functions, promises to do it later, this or that machine."""
import re
from tree import find

# Each has a bounded, checked or reentrant replacement in base or in the C library.
UNBOUNDED = "strcpy|strncpy|strcat|strncat|sprintf|vsprintf|gets|atoi|atol|atoll|atof|alloca|strtok|rand|srand|tmpnam|mktemp"
# Fine in a test, not in a server.
BANNED = UNBOUNDED + "|scanf|sscanf|fscanf|system|popen|setjmp|longjmp|localtime|gmtime|ctime|asctime"
# Recursive in yyjson: a document of a stranger decides how deep our stack grows.
RECURSIVE = "yyjson_equals|yyjson_mut_equals|yyjson_merge_patch|yyjson_mut_merge_patch|yyjson_mut_val_mut_copy"
# Taken apart, so that these files do not find themselves.
LATER = "TO" "DO|FIX" "ME|XX" "X"
HOSTS = r"deb\.debian" r"\.org|security\.debian" r"\.org|registry\.npmjs" r"\.org|pypi" r"\.org|wrapdb\.mesonbuild" r"\.com"
MACHINE = r"(?<![\w.~-])/(?:wor" r"k|roo" r"t|home/\w+)/"


def calls(names, tree, *folders):
    return [problem for path in tree.under(*folders)
            for problem in find(rf"(?<![\w.>])(?:{names})[ \t]*\(", tree.code(path), path, "{0}…) is banned")]


def banned(tree):
    """no function that writes without a bound or keeps hidden state"""
    return calls(BANNED, tree, "src/", "include/", "bench/") + calls(UNBOUNDED, tree, "tests/")


def recursive_json(tree):
    """no function of yyjson that recurses over a stranger's document"""
    return [problem for path in tree.under("src/", "include/")
            for problem in find(rf"\b(?:{RECURSIVE})\b", tree.code(path), path, "{0} recurses over its input")]


def lenient(tree):
    """llhttp stays strict"""
    return [problem for path in tree.under("src/", "include/")
            for problem in find(r"\w*set_lenient\w*", tree.code(path), path, "{0} opens the door to request smuggling")]


def secret_compare(tree):
    """secrets are compared in constant time"""
    return [problem for path in tree.under("src/")
            for problem in find(r"\b(?:memcmp|strcmp|strncmp)[ \t]*\([^;]*\b\w*(?:mac|nonce|secret|key_hash|password)\b",
                                tree.code(path), path, "{0}: use sodium_memcmp")]


def vendor_words(tree):
    """the engine knows classes and facts, and none of the vendor's codes"""
    return [f"{path}:{number}: the protocol maps codes; ours stand in include/solvegate/words.h"
            for path in tree.under("src/engine/")
            for number, line in enumerate(tree.uncommented(path).splitlines(), 1)
            if re.search(r'"(?:ERROR_|CAPCHA_)', line)]


def later(tree):
    """nothing is left for later in a comment"""
    return [problem for path in tree.files
            for problem in find(rf"\b(?:{LATER})\b", tree.text(path), path, "do it or write an issue: {0}")]


def hosts(tree):
    """no package registry is named: machines have their own mirrors"""
    return [problem for path in tree.files
            for problem in find(HOSTS, tree.text(path), path, "{0} is somebody's choice of mirror")]


def machine_paths(tree):
    """no path of one person's machine"""
    return [problem for path in tree.files
            for problem in find(MACHINE, tree.text(path), path, "{0} exists on one machine only")]


def function_statics(tree):
    """no function keeps state of its own: what lasts is in a struct, or stands at the top of its file"""
    return [problem for path in tree.under("src/", "include/")
            for problem in find(r"^[ \t]+static (?!inline\b)(?!.*\bconst\b)[^(\n]*[;=\[]", tree.statements(path), path, "{0}")]


RULES = [vendor_words, function_statics, banned, recursive_json, lenient, secret_compare, later, hosts, machine_paths]
