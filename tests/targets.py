#!/usr/bin/env python3
"""usage: targets.py BUILD SUITE...   (prints what ninja has to make so that the tests of these suites can run)"""
import json
import os
import subprocess
import sys


def introspect(build, what):
    return json.loads(subprocess.run(["meson", "introspect", what, build], capture_output=True, check=True).stdout)


def main(build, *suites):
    wanted = set()
    for test in introspect(build, "--tests"):
        if any(suite.rpartition(":")[2] in suites for suite in test["suite"]):
            wanted.update(test["depends"])
    for target in introspect(build, "--targets"):
        if target["id"] in wanted:
            print(*(os.path.relpath(path, build) for path in target["filename"]))


main(*sys.argv[1:])
