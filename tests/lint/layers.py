"""Include direction: main, cli → doors → gate → config → upstream, store → http → sys → proto, engine → base."""
import re

INCLUDE = re.compile(r"^[ \t]*#[ \t]*include[ \t]*([<\"])([^>\"]+)[>\"]", re.MULTILINE)

ISO = {name + ".h" for name in (
    "assert complex ctype errno fenv float inttypes iso646 limits locale math setjmp signal stdalign stdarg "
    "stdatomic stdbool stddef stdint stdio stdlib stdnoreturn string tgmath time uchar wchar wctype").split()}
# The engine is told the time and never prints; base prints only where an assertion fails.
IMPURE = {"stdio.h", "time.h", "signal.h", "locale.h", "setjmp.h", "errno.h", "threads.h"}
THIRD_PARTY = re.compile(r"^(uv|llhttp|yyjson|sodium|sqlite3|libpq-fe|cmocka|uthash)\.h$|^(curl|hiredis|openssl|sodium|uv)/")
# A database's library is known to its driver only, and libcurl to nothing else of the store: where, except in.
DRIVERS = {
    "sqlite3.h": ("src/", "src/store/sqlite/"),
    "libpq-fe.h": ("src/", "src/store/postgres/"),
    "hiredis/": ("src/", "src/store/redis/"),
    "curl/": ("src/store/", "src/store/redis/"),
}

# Which quoted roots and which angled headers a folder may include. None: everything.
CONTRACT = {"solvegate/"}
ROOMS = {  # in the order of the arrows: a room may include those it names, and itself
    "proto": "base",
    "sys": "base",
    "http": "base proto sys",
    "upstream": "base proto sys http",
    "store": "base proto sys",
    "config": "base proto sys http upstream store",  # its table fills the settings of the parts below
    "gate": "base engine proto config sys http upstream store",
    "doors": "base engine proto config sys http upstream store gate",
    "cli": "base engine proto config sys http upstream store gate doors",
}
LAYERS = {
    "src/base/": ({"base"}, ISO),
    "src/engine/": ({"base", "engine"}, (ISO - IMPURE) | CONTRACT),
    "include/solvegate/": ({"base"}, (ISO - IMPURE) | CONTRACT),
    "src/sim/": ({"base", "sim"}, None),
} | {f"src/{room}/": ({*below.split(), room}, None) for room, below in ROOMS.items()}
LAYERS["src/proto/"] = (LAYERS["src/proto/"][0], ISO | CONTRACT | {"yyjson.h", "sodium.h"})
LAYERS["src/config/"] = (LAYERS["src/config/"][0], LAYERS["src/proto/"][1])


def includes(tree, path):
    """(line, "<" or '"', name) of every include."""
    text = tree.uncommented(path)
    for match in INCLUDE.finditer(text):
        yield text.count("\n", 0, match.start()) + 1, match.group(1), match.group(2)


def may_include(layer, bracket, name):
    roots, angled = LAYERS[layer]
    if bracket == '"':
        return name.split("/")[0] in roots and "/" in name
    if layer == "src/http/" and name.startswith("solvegate/"):
        return name == "solvegate/types.h"  # HTTP names exchanges; it knows no captcha, flight or solution
    return angled is None or name in angled or name.split("/")[0] + "/" in angled


def direction(tree):
    """a layer includes only itself and what lies below it"""
    return [f"{path}:{line}: {layer} may not include {name}"
            for layer in LAYERS for path in tree.under(layer)
            for line, bracket, name in includes(tree, path) if not may_include(layer, bracket, name)]


# Headers that belong to the inside of one module, where handles and parsers are embedded in its structs.
INSIDE = re.compile(r"^src/\w+/\w+_private\.h$")
INSIDE_TOO = {
    "src/http/http_parse.h",  # llhttp's parser is a member of the connection; only http_* files see it
    "src/gate/gate_state.h",  # the gate and its doors share one struct
}


def third_party(tree):
    """a header that other modules include does not include a library's"""
    return [f"{path}:{line}: include {name} in the .c file, or in a header of the module's inside"
            for path in tree.under("src/", "include/", suffixes=(".h",))
            if not INSIDE.match(path) and path not in INSIDE_TOO
            for line, _, name in includes(tree, path) if THIRD_PARTY.search(name)]


def drivers(tree):
    """a database's library is included by its driver alone"""
    return [f"{path}:{line}: only {home} may include {name}"
            for library, (room, home) in DRIVERS.items() for path in tree.under(room) if not path.startswith(home)
            for line, _, name in includes(tree, path) if name.startswith(library)]


def own_assert(tree):
    """the gateway asserts with base/assert.h, which no build turns off"""
    return [f"{path}:{line}: use base/assert.h"
            for path in tree.under("src/", "include/")
            for line, bracket, name in includes(tree, path) if bracket == "<" and name == "assert.h"]


RULES = [direction, third_party, drivers, own_assert]
