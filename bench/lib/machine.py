"""Where and with what a report was measured: machine, versions, commit."""
import hashlib
import os
import pathlib
import platform
import re
import subprocess
import time

# How each program says its version.
PROGRAMS = {
    "gcc": ["gcc", "-dumpfullversion"],
    "wrk": ["wrk", "-v"],
    "nginx": ["nginx", "-v"],
    "HAProxy": ["haproxy", "-v"],
    "Varnish": ["varnishd", "-V"],
    "Node": ["node", "--version"],
    "Redis": ["redis-server", "--version"],
    "gunicorn": ["gunicorn", "--version"],
    "Flask": ["/usr/bin/python3", "-c", "from importlib.metadata import version; print(version('flask'))"],
    "Python": ["/usr/bin/python3", "--version"],
    "libuv": ["pkg-config", "--modversion", "libuv"],
    "libcurl": ["pkg-config", "--modversion", "libcurl"],
    "SQLite": ["pkg-config", "--modversion", "sqlite3"],
    "valgrind": ["valgrind", "--version"],
}


def version_of(command):
    """The first thing it prints that looks like a version; None when it is not there."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=20)
    except (OSError, subprocess.TimeoutExpired):
        return None
    found = re.search(r"\d+\.\d+[\w.+~-]*", done.stdout + done.stderr)
    return found.group() if found else None


def field(path, pattern):
    try:
        found = re.search(pattern, pathlib.Path(path).read_text(encoding="utf-8"), re.MULTILINE)
    except OSError:
        return None
    return found.group(1).strip('"') if found else None


def commit():
    """./dev tells it (SOLVEGATE_BENCH_COMMIT); without ./dev it is what HEAD names, whatever was changed since."""
    told = os.environ.get("SOLVEGATE_BENCH_COMMIT")
    if told:
        return told
    git = pathlib.Path(__file__).resolve().parents[2] / ".git"
    try:
        head = (git / "HEAD").read_text().strip()
        return (git / head[5:]).read_text().strip()[:12] if head.startswith("ref: ") else head[:12]
    except OSError:
        return "unknown"


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16] if path.exists() else None


def record(build):
    return {
        "when": time.strftime("%Y-%m-%d %H:%M:%S %z"),
        "commit": commit(),
        "binary_sha256": digest(build / "src" / "solvegate"),
        "machine": {
            "processor": field("/proc/cpuinfo", r"^model name\s*: (.*)$"),
            "cores": os.cpu_count(),
            "memory_mb": int(field("/proc/meminfo", r"^MemTotal:\s+(\d+)") or 0) // 1024,
            "system": field("/etc/os-release", r"^PRETTY_NAME=(.*)$"),
            "kernel": platform.release(),
            "load_before": os.getloadavg()[0],
        },
        "versions": {name: version_of(command) for name, command in PROGRAMS.items()},
    }
