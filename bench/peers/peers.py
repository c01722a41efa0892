"""Starts the peers, each on cpu 0 with its configuration from this folder, and says where it listens."""
import os
import pathlib
import shutil
import string
import subprocess
import tempfile

from programs import PEERS, VENDOR_KEY, Server, free_port

# The packages' Python, whatever else comes first in PATH.
PYTHON = "/usr/bin/python3"


def fill(name, folder, **words):
    """A configuration of this folder with its dollar signs filled in."""
    path = pathlib.Path(folder) / name
    path.write_text(string.Template((PEERS / name).read_text(encoding="utf-8")).substitute(folder=folder, **words),
                    encoding="utf-8")
    return path


def folder_for(parent, name):
    """Some peers drop privileges and must still reach their files."""
    folder = pathlib.Path(parent) / name
    folder.mkdir(mode=0o755)
    return folder


class Nginx(Server):
    """`return 200` with these bodies; at cache_port the first of them as a hit of its cache; origin_port feeds caches."""

    def __init__(self, parent, result, solve, task, vendor_port):
        folder = folder_for(parent, "nginx")
        port, self.cache_port, self.origin_port = free_port(), free_port(), free_port()
        path = fill("nginx.conf", folder, port=port, cache_port=self.cache_port, result=result, solve=solve, task=task,
                    origin_port=self.origin_port, vendor_port=vendor_port)
        super().__init__(["nginx", "-p", folder, "-c", path], port, stderr=subprocess.DEVNULL)
        self.wait_for_port()


class Haproxy(Server):
    """Answers by itself, and at cache_port out of its cache."""

    def __init__(self, parent, result, origin_port):
        port, self.cache_port = free_port(), free_port()
        path = fill("haproxy.cfg", folder_for(parent, "haproxy"), port=port, cache_port=self.cache_port, result=result,
                    origin_port=origin_port)
        super().__init__(["haproxy", "-q", "-db", "-f", path], port)
        self.wait_for_port()


# Nobody else writes a line per request either. Newer versions take the word none.
VARNISH_SILENCE = ",".join("-" + tag for tag in (
    "Begin End Link Timestamp SessOpen SessClose ReqStart ReqMethod ReqURL ReqProtocol ReqHeader ReqUnset ReqAcct "
    "RespProtocol RespStatus RespReason RespHeader RespUnset Hit VCL_call VCL_return").split())


def set_params(**params):
    return [word for name, value in params.items() for word in ("-p", f"{name}={value}")]


class Varnish(Server):
    """Answers by itself, and at cache_port out of its cache. Its log lies in memory, and nobody reads it."""

    has_passing_threads = True

    def __init__(self, result, origin_port, vendor_port):
        # Its shared memory log is a file, so it had better lie in memory.
        self.folder = tempfile.mkdtemp(dir="/dev/shm" if pathlib.Path("/dev/shm").is_dir() else None)
        os.chmod(self.folder, 0o755)
        port, self.cache_port = free_port(), free_port()
        path = fill("varnish.vcl", self.folder, result=result, origin_port=origin_port, vendor_port=vendor_port)
        # Two pools of threads are for many cores; a thread for each busy connection is made beforehand; a crowd may queue.
        command = ["varnishd", "-F", "-n", pathlib.Path(self.folder) / "state", "-f", path, "-s", "malloc,64m",
                   "-a", f"answer=127.0.0.1:{port}", "-a", f"cache=127.0.0.1:{self.cache_port}",
                   *set_params(thread_pools=1, thread_pool_min=600, thread_queue_limit=20000, timeout_idle=300,
                               listen_depth=4096, vsl_mask=VARNISH_SILENCE)]
        super().__init__(command, port, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.wait_for_port()

    def stop(self):
        super().stop()
        shutil.rmtree(self.folder, ignore_errors=True)


class NodeMap(Server):
    """One known answer in a Map: what the front of a Node service costs at least."""

    def __init__(self, key, task, answer):
        port = free_port()
        super().__init__(["node", PEERS / "node_map.js", port, key, task, answer], port)
        self.wait_for_port()


class Solver(Server):
    """A seed as a service: POST /v1/solves is held until the vendor has solved it."""

    has_passing_threads = True

    def __init__(self, command, port, vendor_url, **environment):
        environment = {**os.environ, "VENDOR_URL": vendor_url, "VENDOR_KEY": VENDOR_KEY, "PYTHONDONTWRITEBYTECODE": "1",
                       "CALLBACK_URL": f"http://127.0.0.1:{port}/callback", **environment}
        super().__init__(command, port, env=environment, cwd=PEERS, stderr=subprocess.DEVNULL)
        self.wait_for_port(30)


def gunicorn(module, port):
    return [PYTHON, "-m", "gunicorn", "-c", PEERS / "gunicorn.conf.py", "-b", f"127.0.0.1:{port}", f"{module}:app"]


class FlaskRedis(Solver):
    """The first seed; Redis is part of it and of its costs."""

    def __init__(self, parent, vendor_url, **environment):
        folder = folder_for(parent, f"flask-{id(self)}")
        self.redis = Server(["redis-server", fill("redis.conf", folder)], stdout=subprocess.DEVNULL)
        port = free_port()
        super().__init__(gunicorn("flask_redis", port), port, vendor_url, REDIS_SOCKET=str(folder / "redis.sock"),
                         **environment)

    def cpu_seconds(self):
        return tuple(a + b for a, b in zip(super().cpu_seconds(), self.redis.cpu_seconds()))

    def rss_bytes(self):
        return super().rss_bytes() + self.redis.rss_bytes()

    def stop(self):
        super().stop()
        self.redis.stop()


class NodePromises(Solver):
    """The second seed."""

    def __init__(self, _parent, vendor_url, **environment):
        port = free_port()
        super().__init__(["node", PEERS / "node_promises.js", port], port, vendor_url, **environment)


class CallbackFlask(Solver):
    """The callback seed in Python."""

    def __init__(self, _parent, vendor_url, **environment):
        port = free_port()
        super().__init__(gunicorn("callback_flask", port), port, vendor_url, **environment)


class CallbackNode(Solver):
    """The callback seed in JavaScript."""

    def __init__(self, _parent, vendor_url, **environment):
        port = free_port()
        super().__init__(["node", PEERS / "callback_node.js", port], port, vendor_url, **environment)
