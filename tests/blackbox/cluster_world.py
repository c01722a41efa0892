"""Several gateways on one store, in front of one simulator."""
import threading
import time

from gateway import PAGE, QUICK, merge
from harness import KEY, Gate, Sim, check, get, http_request, wait_until
from harness import test as add_test
from stores import KINDS, metric, need_driver

SHARED = ("postgres", "redis")
# Stores whose gateways adopt the dead.
ADOPTERS = ("PostgreSQL", "Redis")


def on_servers(names):
    """A test for each of these kinds of store; the function gets one that runs."""
    def decorate(function):
        for name in names:
            def one(kind=KINDS[name]):
                store = kind()
                need_driver(store.url)
                with store:
                    function(store)

            one.__name__ = f"{KINDS[name].kind}_{function.__name__}"
            one.__doc__ = function.__doc__
            add_test(one)
        return function
    return decorate


# A test for every kind of store that gateways can share.
on_each_server = on_servers(SHARED)
on_each_adopter = on_servers([name for name in SHARED if KINDS[name].kind in ADOPTERS])


class Node(Gate):
    """One of the gateways."""

    def solve(self, headers=None, **more):
        """POST /v1/solves of a key that everybody may have; waits for the end."""
        body = {"method": "turnstile", "sitekey": "0xSITE", "pageurl": PAGE, "reuse": "shared", "wait": 30, **more}
        return http_request(self.url + "/v1/solves", "POST", body, headers or {}, {}, timeout=60)

    def submit_id(self, **more):
        """The same without waiting: the request's id."""
        reply = self.solve(wait=0, **more)
        check(reply.status in (200, 202), f"POST /v1/solves said {reply.text}")
        return reply.json()["id"]

    def text_of(self, request):
        """The solution of a request, or None."""
        return get(self.url + "/v1/solves/" + request).json().get("solution")

    def counter(self, name):
        return get(self.url + "/v1/stats").json()["total"][name]

    def await_accepted(self, count):
        """The vendor took so many submits, and the store has their task ids: the loop hears of a reply before its row is durable."""
        wait_until(lambda: self.counter("submits_accepted") == count, "the submits' replies")
        wait_until(lambda: metric(self, "store_records_waiting") == 0, "their rows")

    def nodes(self):
        return get(self.url + "/v1/nodes").json()

    def node(self, name):
        """A gateway as this one sees it."""
        return next(node for node in self.nodes()["nodes"] if node["name"] == name)

    def states(self):
        return {node["name"]: node["state"] for node in self.nodes()["nodes"]}

    def waiting(self):
        return get(self.url + "/v1/stats").json()["now"]["waiting"]


class Cluster:
    """The simulator and gateways a, b, ...; config is merged over QUICK, sim is the simulator's options."""

    def __init__(self, store, count=2, config=None, sim=("--solve-time", "300ms")):
        self.sim = Sim(*sim)
        self.store = store
        self.config = config or {}
        self.count = count
        self.nodes = []

    def make(self, name, config=None):
        upstream = {"url": self.sim.url, "key": KEY, "slots": 1000}
        own = {"upstream": upstream, "store": self.store.url, "cluster": {"node": name}}
        return Node(merge(merge(merge(own, QUICK), self.config), config or {}))

    def __enter__(self):
        self.sim.__enter__()
        try:
            for i in range(self.count):
                self.add(chr(ord("a") + i))
        except BaseException:
            self.__exit__(AssertionError)
            raise
        return self

    def __exit__(self, *error):
        try:
            for node in self.nodes:
                node.__exit__(*error)
        finally:
            self.sim.__exit__(*error)

    def add(self, name, config=None):
        """One more gateway, which ends with the others."""
        node = self.make(name, config)
        node.__enter__()
        self.nodes.append(node)
        return node

    def __getitem__(self, place):
        return self.nodes[place]

    def paid(self):
        return self.sim.totals()["accepted"]


class Caller(threading.Thread):
    """Somebody who waits at a gateway; .reply is None until it was answered."""

    def __init__(self, node, **ask):
        super().__init__(daemon=True)
        self.node = node
        self.ask = ask
        self.reply = None
        self.start()

    def run(self):
        self.reply = self.node.solve(**self.ask)

    def answer(self):
        """What it was told, at the latest by now."""
        self.join(60)
        check(self.reply is not None, "nobody answers")
        return self.reply


def at_once(calls):
    """The results of functions that begin at the same moment, each with the time at which it ended."""
    results = [None] * len(calls)
    gate = threading.Barrier(len(calls))

    def run(place):
        gate.wait()
        try:
            results[place] = (calls[place](), time.monotonic())
        except BaseException as error:  # told by whoever looks at the result
            results[place] = (error, time.monotonic())

    threads = [threading.Thread(target=run, args=(i,)) for i in range(len(calls))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for result, _ in results:
        if isinstance(result, BaseException):
            raise result
    return results
