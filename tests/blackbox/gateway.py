"""A gateway with the simulator behind it, and short words for talking to both doors."""
import json
import os
import signal
import socket
import threading

from harness import KEY, Gate, Sim, check, equal, get, http_request, post_form, wait_until

PAGE = "https://example.com/login"
ADMIN = "admin-admin-admin-admin-admin-32"
ALICE = "alice-alice-alice-alice-alice-32"
BOB = "bob-bob-bob-bob-bob-bob-bob-bo32"

# Fast enough for tests; everything else as by default.
QUICK = {
    "poll": {"first": "100ms", "interval": "100ms"},
    "drain_timeout": "200ms",
    "retry": {"base": "100ms", "jitter": "10ms", "cap": "1s", "budget": 0},
}


def merge(base, more):
    """more over base, objects merged member by member."""
    result = dict(base)
    for name, value in more.items():
        both = isinstance(value, dict) and isinstance(result.get(name), dict)
        result[name] = merge(result[name], value) if both else value
    return result


class World:
    """Simulator and gateway together; config is merged over QUICK, sim is the simulator's options.

    With callbacks the gateway has a public_url that the simulator can reach.
    """

    def __init__(self, config=None, sim=("--solve-time", "200ms"), env=None, callbacks=False):
        self.config = merge(QUICK, config or {})
        if callbacks:
            # The vendor must know our address before we have one.
            port = free_port()
            self.config.update(listen=[f"127.0.0.1:{port}"], public_url=f"http://127.0.0.1:{port}")
        self.sim = Sim(*sim)
        self.env = env

    def make_gate(self, config):
        return Gate(config, env=self.env)

    def __enter__(self):
        self.sim.__enter__()
        upstream = {"url": self.sim.url, "key": KEY, "slots": 1000}
        self.gate = self.make_gate(merge({"upstream": upstream}, self.config))
        try:
            self.gate.__enter__()
        except BaseException:
            self.sim.__exit__(AssertionError)
            raise
        self.url = self.gate.url
        self.port = self.gate.port
        return self

    def __exit__(self, *error):
        try:
            self.gate.__exit__(*error)
        finally:
            self.sim.__exit__(*error)

    # --- the dialect ------------------------------------------------------------------------------

    def submit(self, /, **params):
        """in.php as a form; a Turnstile unless told otherwise. None leaves a parameter out."""
        return post_form(self.url + "/in.php", with_defaults(params))

    def submit_id(self, /, **params):
        reply = self.submit(**params).text
        check(reply.startswith("OK|"), f"in.php said {reply!r}")
        return reply[3:]

    def result(self, task, /, **params):
        return get(self.url + "/res.php", **{"key": KEY, "action": "get", "id": task, **params})

    def result_text(self, task, /, **params):
        """Polls as a client of the vendor does, until there is an answer."""
        def answer():
            text = self.result(task, **params).text
            return None if text == "CAPCHA_NOT_READY" else text

        return wait_until(answer, f"the answer of {task}")

    # --- the JSON API -----------------------------------------------------------------------------

    def call(self, method, path, body=None, key=None, headers=None, **query):
        headers = dict(headers or {})
        if key is not None:
            headers["Authorization"] = "Bearer " + key
        return http_request(self.url + path, method, body, headers, query)

    def solve(self, params=None, key=None, headers=None, **more):
        """POST /v1/solves; waits for the end unless told otherwise."""
        body = {"method": "turnstile", "sitekey": "0xSITE", "pageurl": PAGE, "wait": 15, **(params or {}), **more}
        body = {name: value for name, value in body.items() if value is not None}
        return self.call("POST", "/v1/solves", body, key, headers)

    def solved(self, params=None, **more):
        reply = self.solve(params, **more)
        equal(reply.status, 200, f"solve said {reply.text}, status")
        return reply.json()

    def stats(self, key=None):
        return self.call("GET", "/v1/stats", key=key).json()

    def counter(self, name, key=None):
        return self.stats(key)["total"][name]

    def paid(self):
        """How many submits the vendor accepted."""
        return self.sim.totals()["accepted"]

    def await_accepted(self, count, key=None):
        """Until the gateway has heard that so many were accepted, which it does later than the vendor says so."""
        wait_until(lambda: self.counter("submits_accepted", key) >= count, f"{count} accepted submits")

    def await_waiting(self, count, key=None):
        """Until so many requests wait for a solution."""
        wait_until(lambda: self.stats(key)["now"]["waiting"] == count, f"{count} requests that wait")


_reserved = []  # sockets that keep ports for this process


def free_port():
    """A port where nobody listens, and which nobody else is given while this process lives: a socket that is bound to it
    but does not listen lets those in who ask for this very port, and keeps away all who take any."""
    reserved = socket.socket()
    reserved.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    reserved.bind(("127.0.0.1", 0))
    _reserved.append(reserved)
    return reserved.getsockname()[1]


def rewrite(world, change):
    """Changes the file of the running gateway and tells it."""
    path = os.path.join(world.gate.folder.name, "config.json")
    if callable(change):
        with open(path, encoding="utf-8") as file:
            config = json.load(file)
        change(config)
        text = json.dumps(config)
    else:
        text = change
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    before = world.gate.stderr().count("\n")
    world.gate.process.send_signal(signal.SIGHUP)
    return lambda event: wait_until(
        lambda: next((line for line in world.gate.stderr().splitlines()[before:] if f"event={event}" in line), None), event)


def with_defaults(params):
    defaults = {"key": KEY, "method": "turnstile"}
    if params.get("method", "turnstile") == "turnstile":
        defaults.update(sitekey="0xSITE", pageurl=PAGE)
    return {name: value for name, value in {**defaults, **params}.items() if value is not None}


def together(count, function, meanwhile=lambda: None):
    """Runs function(i) in count threads at once and returns the results in order; meanwhile() is called while they run."""
    results = [None] * count

    def work(i):
        try:
            results[i] = function(i)
        except BaseException as problem:  # handed to the test
            results[i] = problem

    threads = [threading.Thread(target=work, args=(i,), daemon=True) for i in range(count)]
    for thread in threads:
        thread.start()
    meanwhile()
    for thread in threads:
        thread.join()
    for result in results:
        if isinstance(result, BaseException):
            raise result
    return results


def clients(**options):
    """A configuration with three clients: alice and bob may solve, admin may look."""
    def client(name, key, **more):
        return {"name": name, "key": key, **more, **options.get(name, {})}

    return {"clients": [client("alice", ALICE, scopes=["solve"]), client("bob", BOB, scopes=["solve"]),
                        client("admin", ADMIN, scopes=["admin"])]}
