"""Tests that are written for Node.js: their packages, and running their main.js with its lines of TAP."""
import fcntl
import os
import re
import shutil
import subprocess
import sys

from harness import Skip


def program(group, *names):
    """Where the first of these programs is that there is; ./dev setup GROUP would bring it."""
    found = next(filter(None, map(shutil.which, names)), None)
    if found is None:
        raise Skip(f"{names[0]} is not installed (./dev setup {group})")
    return found


def lock_file(folder):
    return os.path.join(folder, "package-lock.json")


def is_installed(folder):
    installed = os.path.join(folder, "node_modules", ".package-lock.json")  # npm writes it last
    return os.path.exists(installed) and os.path.getmtime(installed) >= os.path.getmtime(lock_file(folder))


def install(folder, group):
    """Brings the packages of the folder; only the first run needs npm and a network. Returns what went wrong."""
    with open(lock_file(folder), encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # two builds may be tested at once
        if is_installed(folder):
            return []
        done = subprocess.run([program(group, "npm"), "ci"], cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False)
        return [done.stdout] if done.returncode else []


def run_main(report, folder, arguments=None, **variables):
    """Relays the cases that the folder's main.js prints, and counts them. Returns what went wrong."""
    arguments = sys.argv[1:] if arguments is None else arguments
    # Some packages would send even calls to this machine through a proxy.
    env = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
    node = subprocess.Popen(["node", os.path.join(folder, "main.js"), str(report.count + 1), *arguments],
                            env={**env, **variables}, text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
    for line in node.stdout:
        print(line, end="", flush=True)
        report.count += bool(re.match(r"(not )?ok\b", line))
        report.failed += line.startswith("not ok")
    return [f"node ended with {node.returncode}"] if node.wait() else []
