"""The servers that can hold a journal, as the tests start them, on the benchmark's disk; those that are not there are left out."""
import contextlib
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tests" / "blackbox"))

import stores  # noqa: E402
from harness import Skip  # noqa: E402
from programs import threads_ns, threads_of  # noqa: E402


class PostgresStore(stores.PostgresStore):
    """With the memory that PostgreSQL takes by itself; tests give it less."""

    settings = ("-c", "shared_buffers=128MB")


class RedisStore(stores.RedisStore):
    """Whose log is not written anew in the midst of a round, by a process that it makes for it."""

    settings = "auto-aof-rewrite-percentage 0\n"


KINDS = {"PostgreSQL": PostgresStore, "Redis": RedisStore}


def cpu_ns(store):
    """CPU time of the server and its processes."""
    return threads_ns(threads_of([store.process.pid]))


@contextlib.contextmanager
def started(folder, say):
    """Name to store, of every kind that this machine and this build have."""
    tempfile.tempdir = str(folder)
    with contextlib.ExitStack() as stack:
        found = {}
        for name, kind in KINDS.items():
            try:
                store = kind()
                stores.need_driver(store.url)
                found[name] = stack.enter_context(store)
            except Skip as why:
                say(f"without {name}: {why}")
        yield found
