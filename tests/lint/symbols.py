"""What the pure libraries link against: the engine has no clock, no file, no socket, not even a print."""
import re
import subprocess

# What the compiler may call by itself, whatever the source says.
COMPILER = re.compile(r"^(_GLOBAL_OFFSET_TABLE_|__stack_chk_fail|_?_(asan|ubsan|sanitizer|lsan|gcov|llvm)_\w*|__start_\w+|__stop_\w+)$")
FORTIFIED = re.compile(r"^__(\w+)_chk$")

MEMORY = set("memcpy memmove memset memcmp bcmp memchr memrchr strlen strcmp strncmp strchr strrchr".split())
HEAP = set("malloc calloc realloc free abort".split())
ALLOWED = MEMORY | HEAP | set("qsort bsearch".split())

# Only these files of base may do more, and say so here.
EXCEPTIONS = {
    "assert.c": set("fprintf fputs fputc fwrite fflush stderr".split()),
    "buf.c": {"vsnprintf"},
}


def parse(output):
    """(object, symbol) pairs of `nm -A` lines: "lib.a:assert.c.o:                 U abort"."""
    for line in output.splitlines():
        match = re.match(r"^(?:.*[:/\[])?([\w.+-]+\.o)\]?:\s*[0-9a-f]*\s+(\w)\s+(\S+)$", line)
        if match:
            yield match.group(1), match.group(2), match.group(3)


def nm(archive):
    output = subprocess.run(["nm", "-A", archive], check=True, capture_output=True, text=True).stdout
    return list(parse(output))


def plain(symbol):
    """Without the version and without the clothes that _FORTIFY_SOURCE puts on it."""
    symbol = symbol.split("@")[0]
    match = FORTIFIED.match(symbol)
    return match.group(1) if match else symbol


def foreign(symbols, below=()):
    """Problems of one library, given its symbols and those of the libraries it may use."""
    own = {name for _, kind, name in list(symbols) + list(below) if kind not in "Uw"}
    problems = []
    for member, kind, name in symbols:
        source = re.sub(r"\.o$", "", member).split("_")[-1]
        allowed = ALLOWED | EXCEPTIONS.get(source, set())
        if kind in "Uw" and name not in own and plain(name) not in allowed and not COMPILER.match(name):
            problems.append(f"{member} uses {name}")
    return problems
