"""Three gateways on one store behind nginx, a proxy of our own between each of them and the store, and what can be done to them."""
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time

from crash_world import LASTING  # first: it knows where the harness is
from callers import PATIENCE, Caller, Crowd, Need
from cluster_world import Cluster, Node
from gateway import free_port, merge
from harness import KEY, Skip, check, get, http_request, wait_until
from node_world import install, program
from proxy_world import NginxOf
from store_world import WallClock

HERE = pathlib.Path(__file__).resolve().parent
CLIENTS = HERE.parent / "clients"

LEASE = 1.5
WINDOW = 8.0
CONFIG = merge(LASTING, {
    "cluster": {"lease": f"{int(LEASE * 1000)}ms", "heartbeat": "250ms"},
    "ambiguity_window": f"{int(WINDOW)}s",
    "drain_timeout": "3s",
    "log": {"level": "info"},
})

# Round robin over all of them. Whose callback it is, is in the path: the judge learns from it who submitted.
SITES = """
    upstream gateways {{
{servers}
    }}
    proxy_http_version 1.1;
    proxy_set_header Host $http_host;
    proxy_connect_timeout 2s;
    proxy_read_timeout 30s;
    server {{
        listen 127.0.0.1:{port};
        location / {{ proxy_pass http://gateways; }}
        location ~ ^/from-[a-z]/(pingback/.*)$ {{
            proxy_pass http://gateways/$1$is_args$args;
        }}
    }}
"""


class Balancer(NginxOf):
    """nginx before all gateways, without stickiness."""

    def __init__(self, ports):
        super().__init__(0)
        self.ports = ports

    def command(self):
        servers = "\n".join(f"        server 127.0.0.1:{port} max_fails=1 fail_timeout=1s;" for port in self.ports)
        self.sites = SITES.replace("{servers}", servers)
        return super().command()


class Proxies:
    """store_proxy.py; tell(place, words) returns once it has obeyed."""

    def __init__(self, target, count):
        self.ports = [free_port() for _ in range(count)]
        self._lock = threading.Lock()
        self._process = subprocess.Popen([sys.executable, HERE / "store_proxy.py", str(target), *map(str, self.ports)],
                                         stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        check(self._process.stdout.readline() == "ready\n", "the proxies did not start")

    def tell(self, place, *words):
        line = " ".join(map(str, (place, *words))) + "\n"
        with self._lock:
            self._process.stdin.write(line)
            self._process.stdin.flush()
            check(self._process.stdout.readline() == line, "the proxies do not obey")

    def close(self):
        self._process.kill()
        self._process.communicate()


class Clients:
    """The packages of tests/clients, in a process of their own."""

    def __init__(self, url, sim_url):
        program("clients", "node")
        check(not install(str(CLIENTS), "clients"), "npm could not install the clients")
        env = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
        self._process = subprocess.Popen(["node", CLIENTS / "loop.js", str(PATIENCE)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                         env={**env, "GATE_URL": url, "SIM_URL": sim_url, "ALICE": KEY, "BOB": KEY})
        self._lines = []
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self):
        self._lines.extend(self._process.stdout)

    def stop(self):
        """Lets each finish what it began; returns what each wanted."""
        self._process.stdin.close()
        check(self._process.wait(PATIENCE + 30) == 0, "the clients ended badly")
        self._reader.join()
        return [self._need(json.loads(line)) for line in self._lines]

    def kill(self):
        self._process.kill()
        self._process.wait()

    @staticmethod
    def _need(line):
        need = Need(line["sitekey"], "shared")
        if "token" in line:
            need.tokens.add(line["token"])
        else:
            need.problems.append(f"{line['at']:.3f} {line['package']}: {line['problem']}")
        return need


class Guest(Caller):
    """Comes through nginx, whose own errors say nothing about the gateways."""

    def attempt(self, call):
        reply = super().attempt(call)
        return None if reply is not None and not isinstance(reply, bool) and reply.status in (500, 502, 504) and "nginx" in reply.text else reply

    def take(self, need, text, where):
        need.told.append(f"{time.time():.3f} {where} {(text or '')[:24]}")
        if text is not None and "ERROR_ADOPTED_TOO_OFTEN" in text:
            need.is_uncertain = need.is_given_up = True
        else:
            super().take(need, text, f"{time.time():.3f} {where}")

    def hold_once(self, need):
        """As the base's; one that is sent away meanwhile cannot know whether its solve goes on elsewhere."""
        reply = self.attempt(lambda: http_request(self.url + "/v1/solves", "POST", {**need.params(), "wait": 20}, timeout=PATIENCE))
        if reply is None or reply.status in (202, 429, 503):
            need.is_uncertain = True
        elif reply.status == 200:
            self.take(need, "OK|" + reply.json()["solution"], "POST /v1/solves")
        else:
            self.take(need, f"{reply.status} {reply.text}", "POST /v1/solves")


class Guests(Crowd):
    caller = Guest


class Trouble:
    """What was done to a gateway (None: to the store), and when, by the wall clock that the vendor's ledger has."""

    def __init__(self, node, kind):
        self.node, self.kind = node, kind
        self.since, self.until = time.time(), None

    def __repr__(self):
        return f"{self.since:.3f} +{(self.until or time.time()) - self.since:.3f} {self.kind} {self.node or 'store'}"


class ChaosNode(Node):
    """Keeps its port, and the words of all its lives."""

    def keep_log(self, folder):
        with open(os.path.join(folder, f"node-{self.config['cluster']['node']}.log"), "a", encoding="utf-8") as file:
            file.write("\n".join(self.output()) + "\n---- another life\n")


class ChaosCluster(Cluster):
    """The world of a run. `folder` keeps what everybody said."""

    def __init__(self, store, sim, folder, skew=0, count=3):
        """The last gateway's wall clock is ahead by `skew` seconds."""
        super().__init__(store, 0, CONFIG, sim)
        self.skew = skew
        self.folder = folder
        self.size = count
        self.troubles = []
        self.clock = WallClock()
        self._lock = threading.Lock()

    def __enter__(self):
        self.sim.__enter__()
        self.proxies = Proxies(self.store.port, self.size)
        ports = [free_port() for _ in range(self.size)]
        self.balancer = Balancer(ports)
        try:
            self.balancer.__enter__()
            self.url = f"http://127.0.0.1:{self.balancer.port}"
            for place, port in enumerate(ports):
                self.nodes.append(self.make_at(place, port))
                self.nodes[-1].start()
        except BaseException:
            self.__exit__(AssertionError)
            raise
        return self

    def make_at(self, place, port):
        name = "abcdefgh"[place]
        made = self.make(name, {"listen": [f"127.0.0.1:{port}"], "public_url": f"{self.url}/from-{name}",
                                "store": self.store.url.replace(f":{self.store.port}/", f":{self.proxies.ports[place]}/")})
        node = ChaosNode(made.config)
        if place == self.size - 1:
            self.clock.jump(self.skew)
            node.env.update(self.clock.env)
        return node

    def __exit__(self, *error):
        for node in self.nodes:
            if node.process is not None:
                node.process.send_signal(signal.SIGCONT)
                node.keep_log(self.folder)
        try:
            super().__exit__(*error)
        finally:
            self.proxies.close()
            self.balancer.__exit__(*error)

    def save(self, needs):
        """Whatever tells how it came about."""
        wants = [{"need": repr(need), "tokens": sorted(need.tokens), "told": need.told, "problems": need.problems} for need in needs]
        for name, content in (("ledger.json", self.sim.ledger()), ("troubles.txt", list(map(repr, self.troubles))), ("needs.json", wants)):
            with open(os.path.join(self.folder, name), "w", encoding="utf-8") as file:
                json.dump(content, file, indent=1)

    # --- faults -----------------------------------------------------------------------------------

    def begin(self, node, kind):
        trouble = Trouble(node and node.config["cluster"]["node"], kind)
        with self._lock:
            self.troubles.append(trouble)
        return trouble

    def await_ready(self, node, timeout=90):
        """A gateway that is through with its trouble is ready by itself."""
        def is_ready():
            check(node.process.poll() is None, f"a gateway ended by itself with {node.process.poll()}:\n{node.stderr()[-4000:]}")
            try:
                return get(node.url + "/readyz").text == "ready\n"
            except OSError:
                return False

        wait_until(is_ready, f"gateway {node.config['cluster']['node']} to be ready again", timeout)

    def check_alive(self, node):
        status = node.process.poll()
        check(status is None, f"a gateway had ended by itself with {status}:\n{node.stderr()[-4000:]}")

    def start(self, node):
        node.expect_exit = 0
        node.start()

    def kill(self, node, seconds, starting=0.0):
        """Sudden death; it is started again after so long, perhaps only to be killed while it starts."""
        self.check_alive(node)
        trouble = self.begin(node, "kill")
        node.kill()
        node.keep_log(self.folder)
        node.stop()
        time.sleep(seconds)
        if starting:
            process = subprocess.Popen(node.command(), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=node.env)
            time.sleep(starting)
            process.kill()
            process.wait()
        self.start(node)
        self.await_ready(node)
        trouble.until = time.time()

    def leave(self, node, seconds):
        """SIGTERM, and so long after its end the next one."""
        self.check_alive(node)
        trouble = self.begin(node, "leave")
        node.expect_exit = 0
        try:
            node.stop()
        finally:
            node.keep_log(self.folder)
        time.sleep(seconds)
        self.start(node)
        self.await_ready(node)
        trouble.until = time.time()

    def roll(self, seconds):
        """One after the other, as an upgrade does it."""
        for node in self.nodes:
            self.leave(node, seconds)

    def pause(self, node, seconds):
        self.check_alive(node)
        trouble = self.begin(node, "pause")
        node.process.send_signal(signal.SIGSTOP)
        time.sleep(seconds)
        node.process.send_signal(signal.SIGCONT)
        self.await_ready(node)
        trouble.until = time.time()

    def cut(self, node, mode, seconds, value=None):
        """Its way to the store is slow, closed, or a hole for a while."""
        trouble = self.begin(node, mode)
        place = self.nodes.index(node)
        self.proxies.tell(place, mode, *([] if value is None else [value]))
        time.sleep(seconds)
        self.proxies.tell(place, "ok")
        self.await_ready(node)
        trouble.until = time.time()

    def lose_store(self, seconds):
        trouble = self.begin(None, "store killed")
        self.store.away()
        time.sleep(seconds)
        self.store.back()
        self.all_ready()
        trouble.until = time.time()

    def freeze_store(self, seconds):
        trouble = self.begin(None, "store frozen")
        self.store.freeze()
        time.sleep(seconds)
        self.store.thaw()
        self.all_ready()
        trouble.until = time.time()

    def set_clock(self, seconds):
        """The last gateway's wall clock is set."""
        trouble = self.begin(self.nodes[-1], f"clock {seconds:+d}")
        self.clock.jump(seconds)
        trouble.until = time.time()

    def all_ready(self):
        for node in self.nodes:
            self.await_ready(node)

    def count_events(self, *names):
        """How often the gateways said each, in all their lives."""
        text = "".join(path.read_text(encoding="utf-8") for path in pathlib.Path(self.folder).glob("node-*.log"))
        text += "".join("\n".join(node.output()) for node in self.nodes)
        return {name: len(re.findall(rf"event={name}\b", text)) for name in names}


class Kept:
    """A folder that stays only if something goes wrong."""

    def __init__(self, name):
        self.path = tempfile.mkdtemp(prefix=f"solvegate-chaos-{name}-")

    def __enter__(self):
        return self.path

    def __exit__(self, kind, *_):
        if kind is None or issubclass(kind, Skip):
            for name in os.listdir(self.path):
                os.unlink(os.path.join(self.path, name))
            os.rmdir(self.path)
        else:
            print(f"# everything is kept in {self.path}")
