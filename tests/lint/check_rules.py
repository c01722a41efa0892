#!/usr/bin/env python3
"""Feeds every rule a small tree that breaks it and one that does not: a rule that cannot fail is worthless. (TAP)"""
import os
import tempfile

import documents
import layers
import shape
import tap
import words
from tree import Tree

LONG_BODY = "    x++;\n" * 71
MANY = "".join(f"{{0}} f{i}(void)" + ";\n" for i in range(21))
FEW = "".join(f"void f{i}(int (*g)(void),\n        int x) __attribute__((format(printf, 1, 2)));\n" for i in range(20))
HEADER = "/* A list. */\n#ifndef SOLVEGATE_BASE_LIST_H\n#define SOLVEGATE_BASE_LIST_H\n#endif\n"

# rule, files that break it, files that do not
CASES = [
    (layers.direction, {"src/base/a.c": '#include "engine/flight.h"\n'}, {"src/base/a.c": '#include "base/list.h"\n'}),
    (layers.direction, {"src/base/a.c": "#include <unistd.h>\n"}, {"src/base/a.c": "#include <stdio.h>\n"}),
    (layers.direction, {"src/engine/a.c": "#include <stdio.h>\n"}, {"src/engine/a.c": "#include <solvegate/event.h>\n"}),
    (layers.direction, {"src/engine/a.c": '#include "proto/key.h"\n'}, {"src/engine/a.c": '/* #include "proto/key.h" */\n'}),
    (layers.direction, {"src/proto/a.c": '#include "engine/flight.h"\n'}, {"src/proto/a.c": "#include <yyjson.h>\n"}),
    (layers.direction, {"src/proto/a.h": "#include <uv.h>\n"}, {"src/gate/a.c": "#include <uv.h>\n"}),
    (layers.direction, {"src/gate/a.c": '#include "cli/solve.h"\n'}, {"src/gate/a.c": '#include "proto/key.h"\n'}),
    (layers.direction, {"src/gate/a.c": '#include "doors/reply.h"\n'}, {"src/doors/a.c": '#include "gate/gate.h"\n'}),
    (layers.direction, {"src/store/a.c": '#include "doors/reply.h"\n'}, {"src/store/a.c": '#include "proto/json_out.h"\n'}),
    (layers.direction, {"src/http/a.c": "#include <solvegate/engine.h>\n"}, {"src/http/a.c": "#include <solvegate/types.h>\n"}),
    (layers.direction, {"include/solvegate/a.h": '#include "engine/flight.h"\n'},
     {"include/solvegate/a.h": '#include "base/table.h"\n'}),
    (layers.direction, {"src/sim/a.c": '#include "proto/key.h"\n'}, {"src/sim/a.c": '#include "base/list.h"\n'}),
    (layers.third_party, {"src/gate/a.h": "#include <curl/curl.h>\n"}, {"src/gate/a.c": "#include <curl/curl.h>\n"}),
    (layers.third_party, {"src/gate/gate.h": "#include <uv.h>\n"}, {"src/gate/gate_state.h": "#include <uv.h>\n"}),
    (layers.drivers, {"src/store/a.c": "#include <libpq-fe.h>\n"}, {"src/store/postgres/a.c": "#include <libpq-fe.h>\n"}),
    (layers.own_assert, {"src/gate/a.c": "#include <assert.h>\n"}, {"src/gate/a.c": '#include "base/assert.h"\n'}),
    (layers.third_party, {"src/store/redis/a.h": "#include <hiredis/hiredis.h>\n"}, {"src/store/redis/a.c": "#include <hiredis/hiredis.h>\n"}),
    (layers.drivers, {"src/gate/a.c": "#include <hiredis/hiredis.h>\n"}, {"src/store/redis/a.c": "#include <hiredis/hiredis.h>\n"}),
    (layers.drivers, {"src/store/a.c": "#include <curl/curl.h>\n"}, {"src/store/redis/a.c": "#include <curl/curl.h>\n"}),
    (layers.drivers, {"src/store/redis/a.c": "#include <sqlite3.h>\n"}, {"src/upstream/a.c": "#include <curl/curl.h>\n"}),
    (words.banned, {"src/a.c": "    strcpy(a, b);\n"}, {"src/a.c": '/* strcpy(a) */ s = "gets("; my_strcpy(a);\n'}),
    (words.banned, {"bench/a.c": "    system(a);\n"}, {"tests/a.c": "    system(a);\n"}),
    (words.banned, {"tests/a.c": "    strcat (a, b);\n"}, {"src/a.c": "    ecosystem(a); x->system(a);\n"}),
    (words.recursive_json, {"src/a.c": "yyjson_equals(a, b);\n"}, {"src/a.c": "yyjson_get_str(a);\n"}),
    (words.vendor_words, {"src/engine/a.c": 'f("ERROR_ZERO_BALANCE");\n'}, {"src/engine/a.c": "/* ERROR_ZERO_BALANCE */\n"}),
    (words.function_statics, {"src/a.c": "void f(void)\n{\n    static int x;\n}\n"},
     {"src/a.c": "static int x;\nvoid f(void)\n{\n    static const int y = 1;\n    static const char *const z[] = {};\n}\n#define F(x) \\\n    static int x;\n"}),
    (words.function_statics, {"src/a.h": "    static struct a x[8] = {0};\n"}, {"src/a.h": "    int x[8] = {0};\n"}),
    (words.lenient, {"src/gate/a.c": "llhttp_set_lenient_headers(p, 1);\n"}, {"src/gate/a.c": "llhttp_init(p);\n"}),
    (words.secret_compare, {"src/a.c": "if (memcmp(mac, given, 16) == 0)\n"}, {"src/a.c": "memcmp(a, b, 4); x = mac;\n"}),
    (words.later, {"src/a.c": "/* TO" "DO: more */\n"}, {"src/a.c": "/* To do more is wrong. */\n"}),
    (words.hosts, {"a.txt": "http://deb.debian" ".org/debian\n"}, {"a.txt": "http://example.com/debian\n"}),
    (words.machine_paths, {"a.txt": "see /wor" "k/main\n"}, {"a.txt": "see net/wor" "k/main and ./wor" "k/main\n"}),
    (shape.function_length, {"src/a.c": "int f(void)\n{\n" + LONG_BODY + "}\n"},
     {"src/a.c": "int f(void)\n{\n" + LONG_BODY[: 70 * 9] + "}\n"}),
    (shape.file_length, {"src/a.c": "\n" * 601}, {"src/a.c": "\n" * 600}),
    (shape.line_length, {"src/a.c": "x" * 121}, {"src/a.c": "ä" * 120}),
    (shape.headers, {"src/base/list.h": HEADER.replace("/* A list. */\n", "")}, {"src/base/list.h": HEADER}),
    (shape.headers, {"src/base/list.h": "/* A list. */\nint x;\n"}, {}),
    (shape.headers, {"src/base/slab.h": HEADER}, {}),
    (shape.header_functions, {"src/a/b.h": MANY.format("void")}, {"src/a/b.h": MANY.format("static inline void")}),
    (shape.header_functions, {"include/solvegate/a.h": MANY.format("void") + "struct a {\n    void (*f)(void);\n};\n"},
     {"src/a/b.h": FEW + "struct a {\n    void (*f)(void);\n};\ntypedef void (*f)(void);\n#define F(x) \\\n    g(x);\n"}),
    (shape.header_functions, {"src/a/b.h": "door_fn " + ", ".join(f"f{i}" for i in range(21)) + ";\n"}, {"src/a/b.h": "door_fn f, g;\n"}),
    (shape.own_header, {"src/a/b.h": "void f(int x);\n", "src/a/c.c": "void f(int x)\n{\n}\n"},
     {"src/a/b.h": "void f(int x);\n", "src/a/b.c": "void f(int x)\n{\n}\n", "include/solvegate/a.h": "void g(void);\n",
      "src/a/b_private.h": "void h(void);\n", "src/sim/b.c": "void f(int x)\n{\n}\n"}),
    (shape.own_header, {"src/a/b_private.h": "void f(void);\n", "src/a/c.c": "void f(void)\n{\n}\n"},
     {"src/a/b_private.h": "void f(void);\n", "src/a/b.c": "void f(void)\n{\n}\n"}),
    (shape.names, {"src/a/notice.h": "", "src/b/notice.c": ""}, {"src/a/notice.h": "", "src/a/notice.c": "", "src/sim/notice.c": "",
     "src/cli/notice.c": "const struct command command_notice = {};\n"}),
    (shape.registration, {"tests/unit/meson.build": "test('a', exe, suite: 'unit')\n"},
     {"tests/unit/meson.build": "test('a', exe, suite: 'unit', protocol: 'tap')\n"}),
    (shape.registration, {"tests/unit/meson.build": "test('a', exe,\n  protocol: 'tap')\n"}, {}),
    (documents.documents, {"README.md": "see `src/gone.c`\n"}, {"README.md": "see `src/a.c`, `bench/NAME`\n", "src/a.c": ""}),
    (documents.documents, {"README.md": "see [it](gone" ".md)\n"}, {"README.md": "see [it](https://example.com/x)\n"}),
    (documents.documents, {"README.md": "see [it](gone" ".md#part)\n"}, {"README.md": "see [it](docs/a" ".md#part)\n", "docs/a" ".md": "# Part\n"}),
    (documents.documents, {"docs/a" ".md": "see [it](docs/a" ".md)\n"}, {"docs/a" ".md": "see [it](a" ".md), [that](../src/a.c)\n", "src/a.c": ""}),
    (documents.documents, {"docs/a" ".md": "see `tests/gone.c`\n"}, {"docs/a" ".md": "see `src/a.c`\n", "src/a.c": ""}),
    (documents.documents, {"README.md": "src/gone/   the room that was\n"}, {}),
    (documents.documents, {"bench/peers/a" ".md": "see [it](gone.js)\n"}, {"bench/peers/a" ".md": "see [it](b.js)\n", "bench/peers/b.js": ""}),
    (documents.documents, {"README.md": "see [it](docs/a" ".md#gone)\n", "docs/a" ".md": "# One\n"},
     {"README.md": "see [it](docs/a" ".md#one-2s), [here](#in-short)\n## In short\n", "docs/a" ".md": "## One: `2s`\n"}),
    (documents.documents, {"README.md": "see [it](#gone)\n```\n# gone\n```\n"}, {}),
    (documents.code_paths, {"src/a.c": "/* As src/gone/b.c does. */\n"}, {"src/a.c": "/* As src/a.c and tests/*.c do; build/src/b.c. */\n"}),
    (documents.code_paths, {"tests/a.py": "# What bench/gone does.\n"}, {"tests/a.py": "# bench/NAME, bench/report/x\n"}),
    (documents.events, {"src/a.c": 'LOG(LOG_LEVEL_INFO, "gone", 1);\n', "docs/operations" ".md": "`came`\n"},
     {"src/a.c": 'LOG(LOG_LEVEL_INFO,\n    "came", 1);\n', "src/sim/b.c": 'LOG(LOG_LEVEL_INFO, "gone", 1);\n', "docs/operations" ".md": "`came`\n"}),
    (documents.events, {"src/a.c": 'return fail_start("gone", what);\n'}, {"src/a.c": 'return fail_start(event, what);\n'}),
    (documents.versions, {"meson.build": " version: '2.0'\n", "CHANGELOG" ".md": "\n## 1.0 - a day\n"},
     {"meson.build": " version: '2.0'\n", "CHANGELOG" ".md": "\n## 2.0 - a day\n\n## 1.0 - a day\n"}),
    (documents.versions, {"meson.build": " version: '2.0'\n", "debian/changelog": "solvegate (1.0-1) x\n\nsolvegate (2.0-1) x\n"},
     {"meson.build": " version: '2.0'\n", "debian/changelog": "solvegate (2.0-1) x\n\nsolvegate (1.0-1) x\n"}),
    (documents.versions, {"meson.build": " version: '2.0'\n", "src/doors/openapi.json": '"version": "1.0"'},
     {"meson.build": " version: '2.0'\n", "src/doors/openapi.json": '"version": "2.0"'}),
    (documents.readme, {"README.md": "\n" * 131}, {"README.md": "\n" * 130}),
    (documents.citations, {"src/a.c": "/* GONE" ".md says so. */\n"}, {"src/a.c": "/* README.md says so. */\n", "README.md": ""}),
    (documents.citations, {"dev": "# docs/gone" ".md\n"}, {"dev": "# docs/a" ".md\n", "docs/a" ".md": ""}),
    (documents.citations, {"docs/b" ".md": "see a" ".md 2\n", "docs/a" ".md": "# 1 One\n"}, {"docs/b" ".md": "see a" ".md 1\n", "docs/a" ".md": "# 1 One\n"}),
    (documents.citations, {"tests/a.py": "# docs/gone" ".md\n"}, {"tests/a.py": "# docs/a" ".md, a" ".md\n", "docs/a" ".md": ""}),
    (documents.citations, {"bench/a.h": "/* docs/a" ".md 5.2 */\n", "docs/a" ".md": "### 5.1 One\n"},
     {"bench/a.h": "/* docs/a" ".md 5.1, docs/a" ".md threat 12 */\n", "docs/a" ".md": "### 5.1 One\n"}),
]


def problems_of(rule, files):
    with tempfile.TemporaryDirectory() as root:
        for path, text in files.items():
            os.makedirs(os.path.dirname(os.path.join(root, path)), exist_ok=True)
            with open(os.path.join(root, path), "w", encoding="utf-8") as file:
                file.write(text)
        return rule(Tree(root))


def main():
    report = tap.Tap()
    for rule, bad, good in CASES:
        complaints = problems_of(rule, good)
        if not problems_of(rule, bad):
            complaints.append(f"did not notice {bad}")
        report.case(f"{rule.__module__}.{rule.__name__} notices {next(iter(bad))}: {next(iter(bad.values()))[:40]!r}", complaints)
    untested = [rule.__doc__ for rule in layers.RULES + words.RULES + shape.RULES + documents.RULES if rule not in {case[0] for case in CASES}]
    report.case("every rule is tried here", untested)
    report.finish()


main()
