#!/usr/bin/env python3
"""Canaries: unique secrets go in everywhere, everything goes wrong at debug level, and no output may sing. (TAP)"""
import os
import re
import secrets
import subprocess
import threading
import urllib.parse

from gateway import ADMIN, ALICE, PAGE, World, clients
from harness import Receiver, binary, check, contains, equal, http_request, post_form, run, test, wait_until
from store_world import StoreWorld
from vendor_world import strike


def canary(name, length=32):
    """Unlike anything else in the world, and nothing that needs escaping."""
    return (name + secrets.token_hex(length))[:length]


class Cage:
    """Names of secrets to the secrets; what is caught in an output is told by name."""

    def __init__(self):
        self.birds = {}

    def add(self, name, value=None, length=32):
        value = value or canary("cn" + name.replace("_", ""), length)
        check(len(value) >= 12, f"{name} is too short to be found for certain: {value!r}")
        self.birds[name] = value
        return value

    def listen(self, where, text):
        """Nothing of it may be in there, neither as it is nor as a URL or JSON would have it."""
        if isinstance(text, bytes):
            text = text.decode("latin-1")
        for name, bird in self.birds.items():
            for form in {bird, urllib.parse.quote(bird, safe=""), bird.replace("/", "\\/")}:
                check(form not in text, f"{name} sings in {where}: …{text[max(0, text.find(form) - 200):text.find(form) + 80]}…")


class CanaryWorld(StoreWorld):
    """Clients, vendor, callbacks, alerts, all with keys of their own, at debug level."""

    def __init__(self, cage, alerts, hooks, log_format="auto"):
        self.cage = cage
        self.alice = cage.add("alices_key")
        self.admin = cage.add("admins_key")
        self.vendor_key = cage.add("vendor_key")
        super().__init__({
            "upstream": {"key": self.vendor_key, "price": {"turnstile": 0.001}},
            "clients": [{"name": "alice", "key": self.alice, "scopes": ["solve"], "allow_hosts": ["*.example.com", "example.com"]},
                        {"name": "admin", "key": self.admin, "scopes": ["solve", "admin"]}],
            "log": {"level": "debug", "format": log_format}, "ambiguity_window": "300ms", "solve_timeout": "8s",
            "letters": {"alert_above": 1}, "alerts": {"url": alerts.url + "/alert/" + cage.add("alert_address", length=24)},
            "callbacks": {"allow": [f"127.0.0.1:{hooks.port}"], "allow_private": True, "retries": 1, "retry_base": "50ms", "retry_cap": "50ms"},
            "breaker": {"probe": "200ms"}}, callbacks=True)
        self.heard = []  # what lives before this one said

    def end_life(self):
        """What this life of the gateway said is kept; a new one may begin."""
        self.heard.append(("\n".join(self.gate.output()), self.gate.stderr()))  # stdout is only in the former

    def collect_vendor(self):
        """Tokens and nonces are made underway: the vendor's ledger knows them."""
        for submit in self.sim.submits(limit=1000):
            if str(submit.get("answer")).startswith("SIM_"):
                self.cage.birds["token " + submit["id"]] = submit["answer"]
            if submit["pingback"]:
                self.cage.birds["nonce " + submit["id"]] = submit["pingback"].rsplit("/", 1)[1]

    def public_outputs(self):
        """Everything that people look at who are not meant to see secrets."""
        for path in ("/metrics", "/v1/stats", "/v1/series", "/v1/flights", "/v1/pools", "/v1/nodes", "/v1/letters", "/livez", "/readyz", "/openapi.json", "/"):
            reply = self.call("GET", path, key=self.admin)
            yield path, str(reply.headers) + reply.text


def ask_in_all_ways(world, cage, hooks):
    """Requests with secrets in every place that takes one; most go well."""
    alice = world.alice
    proxy = f"{cage.add('proxy_user', length=20)}:{cage.add('proxy_password')}@192.0.2.1:3128"
    rich = {"cookies": "session=" + cage.add("cookie"), "userAgent": "UA " + cage.add("user_agent"), "proxy": proxy, "proxytype": "HTTP",
            "data-s": cage.add("data_s"), "pagedata": cage.add("pagedata")}
    page = f"https://shop.example.com/{cage.add('page_path')}?t={cage.add('page_query')}"
    hook = f"{hooks.url}/hook/{cage.add('hook_path')}?s={cage.add('hook_query')}"
    world.solve({"sitekey": "plain"}, key=alice)
    world.solve({"sitekey": "rich", "pageurl": page, **rich}, key=alice, headers={"Idempotency-Key": cage.add("idempotency_key")})
    world.solve({"sitekey": "rich", "pageurl": page, **rich}, key=alice)
    task = world.submit(key=alice, sitekey="form", pageurl=page, pingback=hook, **rich).text[3:]
    world.result_text(task, key=alice)
    post_form(world.url + "/res.php", {"key": alice, "action": "reportbad", "id": task})
    world.submit(key=alice, method="post", sitekey=None, pageurl=None, body=cage.add("image_text", length=40), textinstructions=cage.add("instructions"))
    world.call("POST", "/v1/explain", {"method": "turnstile", "sitekey": "x", "pageurl": page, **rich}, key=alice)


def go_wrong_in_all_ways(world, cage, hooks):
    """Strangers, bad keys, bad bodies, a vendor out of its mind, letters, callbacks that nobody takes."""
    alice = world.alice
    stranger = cage.add("strangers_key")
    world.solve({"sitekey": "a"}, key=stranger)
    world.submit(key=stranger)
    world.call("GET", f"/v1/stats?key={stranger}")
    http_request(world.url + "/v1/solves", "POST", b'{"method": "' + cage.add("broken_json").encode(), {"Authorization": "Bearer " + alice})
    world.solve({"sitekey": "a", "pageurl": f"https://{cage.add('foreign_host', length=24)}.test/"}, key=alice)
    world.submit(key=alice, pingback=f"https://{cage.add('foreign_hook', length=24)}.test/x")
    world.solve({"sitekey": "a", "reuse": cage.add("bad_option")}, key=alice)
    world.call("GET", "/" + cage.add("unknown_path"), key=alice)
    world.call("GET", "/pingback/" + cage.add("forged_nonce"), code=cage.add("forged_token"))
    hooks.answer = lambda call: (500, b"no")
    world.submit(key=alice, sitekey="unheard", pingback=f"{hooks.url}/deaf/{cage.add('deaf_hook')}")
    world.sim.set_faults(script=[strike("submit-garbage", "w1"), strike("submit-lost", "w2"), strike("submit-5xx-accepted", "w3"),
                                 strike("submit-truncate", "w4"), strike("submit-twice", "w5"), strike("submit-error", "w6", 9, "ERROR_SOMETHING_NEW"),
                                 strike("task-error", "w7", 9, "ERROR_CAPTCHA_UNSOLVABLE"), strike("callback-forged", "w8"),
                                 strike("task-never", "w0")])  # so that there is something to look at
    asking = [threading.Thread(target=world.solve, args=({"sitekey": f"w{i}"},), kwargs={"key": alice}) for i in range(9)]
    for thread in asking:
        thread.start()
    wait_until(lambda: "shown" if world.call("GET", "/v1/flights", key=world.admin).json()["flights"] else None, "flights to look at")
    cage.listen("/v1/flights", world.call("GET", "/v1/flights", key=world.admin).text)
    for thread in asking:
        thread.join()
    letters = wait_until(lambda: (lambda l: len(l) >= 3 and l)(world.call("GET", "/v1/letters", key=world.admin).json()["letters"]), "letters")
    world.call("POST", f"/v1/letters/{letters[0]['id']}/replay", key=world.admin)
    # The account is out of order: breaker, alert.
    world.sim.set_faults(script=[strike("submit-error", "w9", 1, "ERROR_KEY_DOES_NOT_EXIST")])
    world.solve({"sitekey": "w9"}, key=alice)
    wait_until(lambda: world.stats(world.admin)["now"]["breaker"] == "closed", "the breaker to close")


def crash(world, cage):
    """In the middle of a paid solve; the next life speaks JSON."""
    world.sim.set_faults(script=[strike("task-slow", "late", 1, "1s")])
    world.call("POST", "/v1/solves", {"method": "turnstile", "sitekey": "late", "pageurl": PAGE}, key=world.alice)
    wait_until(lambda: any(submit["params"].get("sitekey") == "late" for submit in world.sim.submits(limit=1000)), "the submit")
    world.await_journaled_task()
    world.end_life()
    world.gate.config["log"] = {"level": "debug", "format": "json"}
    world.restart()
    wait_until(lambda: world.stats(world.admin)["now"]["flights"] == 0, "the solve after the crash")
    cage.listen("/v1/flights", world.call("GET", "/v1/flights", key=world.admin).text)


def check_core_limit(world):
    with open(f"/proc/{world.gate.process.pid}/limits", encoding="ascii") as limits:
        contains(re.sub(" +", " ", limits.read()), "Max core file size 0 0", "core limit")


def bytes_of(folder):
    for name in os.listdir(folder):
        with open(os.path.join(folder, name), "rb") as file:
            yield name, file.read()


@test
def no_secret_leaves_by_a_log_a_metric_a_list_or_an_alert():
    cage = Cage()
    with Receiver() as alerts, Receiver() as hooks, CanaryWorld(cage, alerts, hooks) as world:
        ask_in_all_ways(world, cage, hooks)
        go_wrong_in_all_ways(world, cage, hooks)
        crash(world, cage)
        world.collect_vendor()
        check(sum(name.startswith("token") for name in cage.birds) > 5, "tokens to look for")
        check(sum(name.startswith("nonce") for name in cage.birds) > 5, "nonces to look for")
        for path, text in world.public_outputs():
            cage.listen(path, text)
        for call in alerts.wait(2):
            # Its own address is the receiver's to know, the rest is not.
            body_and_headers = call["body"] + str(call["headers"]).encode()
            cage.listen("an alert", body_and_headers)
        check_core_limit(world)
        with open(f"/proc/{world.gate.process.pid}/cmdline", "rb") as file:
            cage.listen("the command line", file.read())
        world.gate.stop()
        world.end_life()
        for stdout, stderr in world.heard:
            check(len(stderr.splitlines()) > 10, "it said something")
            cage.listen("the log", stderr)
            cage.listen("stdout", stdout)
        contains(world.heard[0][1], "level=debug", "debug level")
        contains(world.heard[0][1], "event=paid", "the audit trail")
        contains(world.heard[1][1], '"event":"restored"', "the second life")
        keys = Cage()
        keys.birds = {name: bird for name, bird in cage.birds.items() if name.endswith("_key") and name != "idempotency_key"}
        for name, content in bytes_of(world.data):
            keys.listen(name, content)


@test
def answers_go_to_their_owner_and_letters_to_the_admin_alone():
    cage = Cage()
    with Receiver() as alerts, Receiver(lambda call: (500, b"no")) as hooks, CanaryWorld(cage, alerts, hooks) as world:
        answer = world.solved({"sitekey": "mine"}, key=world.alice)
        check(answer["solution"].startswith("SIM_"), "the owner gets it")
        cage.birds["token"] = answer["solution"]
        other = world.call("GET", "/v1/solves/" + answer["id"], key=world.admin)
        equal(other.status, 404, "somebody else's request")
        cage.listen("somebody else's answer", other.text)
        world.submit(key=world.alice, sitekey="mine", pingback=hooks.url + "/deaf")
        letter = wait_until(lambda: world.call("GET", "/v1/letters", key=world.admin).json()["letters"], "the letter")[0]
        cage.listen("the list of letters", world.call("GET", "/v1/letters", key=world.admin).text)
        contains(world.call("GET", f"/v1/letters/{letter['id']}", key=world.admin).text, answer["solution"], "the admin sees what was not delivered")
        refused = world.call("GET", f"/v1/letters/{letter['id']}", key=world.alice)
        equal(refused.status, 403, "a client may not look at letters")
        cage.listen("the refusal", refused.text)


@test
def a_vendor_that_echoes_everything_is_not_quoted():
    cage = Cage()
    echo = lambda call: (200, b"ERROR_" + call["body"] + str(call["params"]).encode())
    key = cage.add("vendor_key")
    with Receiver(echo) as vendor, World({"upstream": {"url": vendor.url, "key": key}, "ambiguity_window": "100ms", "on_ambiguous": "never",
                                          "log": {"level": "debug"}, "clients": [{"name": "a", "key": cage.add("key"), "scopes": ["solve", "admin"]}]}) as world:
        reply = world.solve({"cookies": cage.add("cookie")}, key=cage.birds["key"])
        check(reply.status >= 500, f"the solve failed: {reply}")
        cage.listen("the answer", reply.text)
        for path in ("/metrics", "/v1/stats", "/v1/letters"):
            cage.listen(path, world.call("GET", path, key=cage.birds["key"]).text)
        world.call("GET", "/res.php", key=cage.birds["key"], action="getbalance")
        world.gate.stop()
        cage.listen("the log", world.gate.stderr())


@test
def a_configuration_with_mistakes_is_not_quoted():
    cage = Cage()
    with World() as world:
        path = os.path.join(world.gate.folder.name, "bad.json")
        with open(path, "w", encoding="utf-8") as file:
            file.write('{"upstream": {"key": ["%s"]}, "clients": [{"name": "a", "key": "%s"}, {"name": "b", "key": "%s", "weight": 0}]}'
                       % (cage.add("vendor_key"), cage.add("short_key", length=31), cage.add("good_key")))
        for words in (["check", "-c", path], ["serve", "-c", path]):
            done = subprocess.run([binary("SOLVEGATE"), *words], capture_output=True, text=True, timeout=30, check=False)
            equal(done.returncode, 78, f"{words[0]} said {done.stderr}, exit code")
            cage.listen(words[0], done.stdout + done.stderr)


@test
def a_cage_that_hears_nothing_would_be_broken():
    cage = Cage()
    bird = cage.add("bird", "a/b c" + secrets.token_hex(16))
    for text in (bird, "x=" + urllib.parse.quote(bird, safe=""), bird.replace("/", "\\/")):
        try:
            cage.listen("a test", text)
        except AssertionError:
            continue
        raise AssertionError(f"not heard: {text}")


@test
def no_secret_shows_in_logs_metrics_or_answers_at_any_level():
    vendor_key = "canaryVENDORcanaryVENDORcanary32"
    hidden = {"vendor key": vendor_key, "alice": ALICE, "admin": ADMIN, "proxy": "canaryPROXYPASS",
               "cookie": "canaryCOOKIE", "wrong key": "canaryWRONGcanaryWRONGcanaryWR32",
               "idempotency": "canaryIDEMPOTENCY"}
    config = {**clients(), "log": {"level": "debug"}, "upstream": {"key": vendor_key}, "retry": {"unsolvable": 0}}
    shown = []
    with World(config) as world:
        more = {"proxy": "user:canaryPROXYPASS@1.2.3.4:80", "proxytype": "HTTP", "cookies": "a=canaryCOOKIE"}
        solved = world.solve(key=ALICE, headers={"Idempotency-Key": "canaryIDEMPOTENCY"}, **more)
        equal(solved.status, 200)
        hidden["token"] = solved.json()["solution"]
        hidden["token's middle"] = hidden["token"][20:60]
        for reply in (world.solve(key=hidden["wrong key"]), world.solve(key=ALICE, wait="x", **more),
                      world.submit(key=hidden["wrong key"]), world.submit(key=ALICE, method="", **more),
                      world.solve(key=ALICE, sitekey="SIM-ERROR_CAPTCHA_UNSOLVABLE", **more),
                      world.solve(key=ALICE, sitekey="SIM-ERROR_SOMETHING_NEW", **more),
                      world.call("GET", "/res.php", key=ALICE, **{"action": "get", "id": "1"}),
                      world.call("GET", "/v1/flights", key=ADMIN), world.call("GET", "/v1/stats", key=ADMIN),
                      world.call("GET", "/metrics"), world.call("GET", "/nope", token=hidden["token"])):
            shown.append(reply.text)
        letters = world.call("GET", "/v1/letters", key=ADMIN)
        shown.append(letters.text)
        for letter in letters.json()["letters"]:
            shown.append(world.call("GET", f"/v1/letters/{letter['id']}", key=ADMIN).text)
        check(len(letters.json()["letters"]) >= 2, "letters to look at")
        world.sim.set_faults(script=["submit-garbage", "submit-5xx"])
        world.solve(key=ALICE, sitekey="g", wait=0.5, **more)
        world.solve(key=ALICE, sitekey="h", wait=0.5, **more)
        pid = world.gate.process.pid
        shown.append(open(f"/proc/{pid}/cmdline").read())
        world.gate.stop()
        shown.append("\n".join(world.gate.output()))
        contains(shown[-1], "level=debug event=submitted", "the log")
    for name, secret in hidden.items():
        for text in shown:
            check(secret not in text, f"{name} shows in: {text[:1000]}")


run()
