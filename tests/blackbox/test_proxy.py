#!/usr/bin/env python3
"""contrib/nginx.conf, contrib/Caddyfile and contrib/nginx-workers.conf as they are, in front of the gateway: what they let
through, and that their logs hold neither tokens nor nonces nor keys. (TAP)"""
import base64
import json
import re
import urllib.parse

from gateway import ADMIN, ALICE, PAGE, World, clients, free_port, merge
from harness import Receiver, check, contains, equal, multipart, run, test, wait_until
from proxy_world import HOST, Caddy, Nginx, Workers, program

NONCE = "0123456789abcdef" * 3
TOKEN = "TOKEN_" + "t" * 3994
SLOW = ("--solve-time", "60s")  # the test calls back, not the simulator

def with_both(function):
    """A test for each proxy; it gets the class."""
    def bound(kind):
        def case():
            program(kind.__name__.lower())
            function(kind)

        case.__name__ = f"{kind.__name__.lower()}_{function.__name__}"
        return case

    for kind in (Nginx, Caddy):
        test(bound(kind))


def world_behind(port, public_url=f"https://{HOST}", **options):
    """The gateway as the contrib files ask for it."""
    return World({"listen": [f"127.0.0.1:{port}"], "public_url": public_url, "trusted_proxies": ["127.0.0.1/32"],
                  "poll": {"fallback_after": "60s"}}, **options)


def dressed(proxy):
    """A receiver that passes the simulator's callbacks on over TLS, which the simulator does not speak."""
    def pass_on(call):
        reply = proxy.call(call["path"] + "?" + urllib.parse.urlencode(call["params"]), call["method"])
        return reply.status, reply.body

    return Receiver(pass_on)


@with_both
def lets_a_whole_solve_through_and_writes_down_neither_nonce_nor_token(kind):
    port = free_port()
    with kind(port) as proxy, dressed(proxy) as tls, world_behind(port, tls.url) as world:
        solution = world.solved()["solution"]
        wait_until(lambda: world.sim.totals()["callbacks_ok"] == 1, "the simulator's OK")
        equal((world.paid(), world.sim.totals()["polls"]), (1, 0), "submits and polls")
        nonce = world.sim.submits()[0]["pingback"].rsplit("/", 1)[1]
        proxy.stop()
        proxy.check_discretion(nonce, solution)
        if kind is Nginx:
            equal([line.split()[2:4] for line in proxy.access_log()], [["GET", "200"]], "access log")


@with_both
def passes_callbacks_of_every_form_on_over_tls(kind):
    port = free_port()
    with kind(port) as proxy, world_behind(port, sim=SLOW) as world:
        secrets = []

        def deliver(number, send):
            token = f"TOKEN_{number}_" + "x" * 3990
            ask = world.solve(sitekey=str(number), wait=None).json()["id"]
            submit = wait_until(lambda: next((s for s in world.sim.submits() if s["params"]["sitekey"] == str(number)),
                                             None), "the submit")
            nonce = submit["pingback"].rsplit("/", 1)[1]
            reply = send("/pingback/" + nonce, submit["id"], token)
            equal((reply.status, reply.text), (200, "OK"), f"callback {number}")
            equal(world.call("GET", f"/v1/solves/{ask}").json()["solution"], token)
            secrets.extend((nonce, token))

        form = {"Content-Type": "application/x-www-form-urlencoded"}
        deliver(1, lambda path, task, token: proxy.call(f"{path}?id={task}&code={token}"))
        deliver(2, lambda path, task, token: proxy.call(path, "POST", f"id={task}&code={token}", form))
        deliver(3, lambda path, task, token: proxy.call(path, "POST", f'{{"id":"{task}","code":"{token}"}}'))

        def as_multipart(path, task, token):
            body, content_type = multipart([("id", str(task)), ("code", token)])
            return proxy.call(path, "POST", body, {"Content-Type": content_type})

        deliver(4, as_multipart)
        # The longest query that the gateway takes: every character of a token may be escaped.
        deliver(5, lambda path, task, token: proxy.call(
            f"{path}?id={task}&code=" + "".join(f"%{ord(c):02x}" for c in token[:2000]) + token[2000:]))
        proxy.stop()
        proxy.check_discretion(*secrets)


ELSEWHERE = """
/ /pingback /pingback/ /pingback? /pingback/?code=1 /v1/stats /v1/solves /metrics /livez /readyz /openapi.json
/in.php /res.php?key=1&action=getbalance /favicon.ico /.well-known/x
//pingback/{n} ///pingback/{n} /./pingback/{n} /x/../pingback/{n} /%70ingback/{n} /pingback%2f{n} /Pingback/{n}
/pingback//{n} /pingback/./{n} /pingback/{n}/ /pingback/{n}/x /pingback/{n}%00 /pingback/{n}%20 /pingback/{n};x
/pingback/../v1/stats /pingback/..;/v1/stats /pingback/%2e%2e/v1/stats /pingback/..%2fv1/stats /pingback/%2e%2e%2fv1%2fstats
/pingback/%252e%252e/v1/stats /pingback/..%252fv1/stats /pingback/..%5cv1/stats /pingback/x/../../v1/stats
/pingback/{n}/../../v1/stats /pingback/{n}%2f..%2f..%2fv1%2fstats /pingback/{n}%3f/../../v1/stats /pingback/%c0%ae%c0%ae/v1/stats
/v1/stats?/pingback/{n} /v1/stats%3f/pingback/{n} /v1/stats%23/pingback/{n} /v1/stats;/pingback/{n}
https://gate.example.com/metrics?x=/pingback/{n}
""".replace("{n}", NONCE).split()


@with_both
def passes_nothing_else_on(kind):
    with Receiver() as behind, kind(behind.port) as proxy:
        for target in ELSEWHERE:
            for method in ("GET", "POST"):
                reply = proxy.call(target, method, b"code=x" if method == "POST" else None)
                # A path that is no path at all may be called a bad request instead.
                check(reply.status == 404 or ("%00" in target and reply.status == 400), f"{method} {target}: {reply}")
        for method in ("PUT", "DELETE", "OPTIONS", "PATCH", "HEAD", "TRACE", "BREW"):
            check(proxy.call(f"/pingback/{NONCE}", method).status in (404, 405), method)
        equal([call["path"] for call in behind.calls], [], "what came through")
        equal(proxy.call(f"/pingback/{NONCE}?code=x").status, 200, "a callback")
        equal([call["path"] for call in behind.calls], [f"/pingback/{NONCE}"], "what came through")
        proxy.stop()
        proxy.check_discretion(NONCE)


@with_both
def says_where_a_callback_comes_from_and_does_not_believe_what_it_claims(kind):
    with Receiver() as behind, kind(behind.port) as proxy:
        claims = {"X-Forwarded-For": "6.6.6.6, 127.0.0.1"}
        equal(proxy.call(f"/pingback/{NONCE}?id=1&code=a%2fb+c", headers=claims).status, 200)
        equal(proxy.call(f"/pingback/{NONCE}", "POST", b"code=x", claims).status, 200)
        equal([call["headers"]["X-Forwarded-For"] for call in behind.calls], ["127.0.0.1"] * 2)
        equal((behind.calls[0]["params"], behind.calls[1]["body"]), ({"id": "1", "code": "a/b c"}, b"code=x"))


@with_both
def writes_no_secret_down_when_things_go_wrong(kind):
    """The gateway is stopped or hangs up; a call is too long, too large, broken, or ends in the middle."""
    port = free_port()
    target = f"/pingback/{NONCE}?id=1&code={TOKEN}"
    with kind(port) as proxy:
        equal(proxy.call(target).status, 502, "a stopped gateway")
        equal(proxy.call(f"/pingback/{NONCE}", "POST", f"code={TOKEN}").status, 502, "a stopped gateway")
        check(proxy.call(target + "&more=" + TOKEN * 5).status in (400, 414, 431), "a long line")
        check(proxy.call(target, headers={"Referer": HOST + TOKEN * 5}).status in (400, 414, 431), "a long header")
        check(proxy.call(target, "POST", TOKEN * 40).status in (413, 502), "a large body")
        for broken in (f"GET {target} HTTP/9.9\r\n\r\n", f"GET {target}\x01 HTTP/1.1\r\nHost: {HOST}\r\n\r\n",
                       f"GET {target} HTTP/1.1\r\nHost: {HOST}\r\nHost: {TOKEN}\r\n\r\n",
                       f"GET {target} HTTP/1.1\r\nHost: {HOST}\r\nContent-Length: {NONCE}\r\n\r\n"):
            with proxy.connect() as connection:
                connection.sendall(broken.encode())
                check(re.match(r"HTTP/1\.1 (400|505) ", connection.recv(100).decode()), repr(broken[-40:]))
        with proxy.connect() as connection:
            connection.sendall(f"POST {target} HTTP/1.1\r\nHost: {HOST}\r\nContent-Length: 99\r\n\r\n{TOKEN[:50]}".encode())
        proxy.stop()
        proxy.check_discretion(NONCE, TOKEN)
        if kind is Nginx:
            contains("\n".join(proxy.access_log()), " GET 502 ")
        else:
            contains(proxy.written(), "connection refused")
    with Receiver(answer=lambda call: None) as rude, kind(rude.port) as proxy:
        equal(proxy.call(target).status, 502, "a gateway that hangs up")
        proxy.stop()
        proxy.check_discretion(NONCE, TOKEN)


@test
def nginx_writes_no_secret_down_when_the_gateways_unix_socket_is_missing():
    """That is `crit` for nginx, where a refused connection is only `error`."""
    with Nginx("unix:/nonexistent/solvegate.sock") as proxy:
        equal(proxy.call(f"/pingback/{NONCE}?code={TOKEN}").status, 502)
        proxy.stop()
        proxy.check_discretion(NONCE, TOKEN)


@with_both
def leaves_no_token_in_a_temporary_file(kind):
    """The largest body that is taken, looked for while the gateway is still busy with it."""
    found = []
    with Receiver() as behind, kind(behind.port) as proxy:
        def look(_):
            found.append((proxy.written(), proxy.nameless_files()))
            return 200, b"OK"

        behind.answer = look
        body = f"code={TOKEN}&rest=".ljust(60000, "r")
        equal(proxy.call(f"/pingback/{NONCE}", "POST", body).status, 200)
        equal(len(behind.calls[0]["body"]), 60000, "bytes that arrived")
        (written, nameless), = found
        check(TOKEN not in written, "a token on disk")
        equal(nameless, [], "files without a name")


# --- the site for workers -----------------------------------------------------------------------

FORM = {"Content-Type": "application/x-www-form-urlencoded"}


def workers_world(port):
    return World(merge(clients(), {"listen": [f"127.0.0.1:{port}"], "trusted_proxies": ["127.0.0.1/32"]}))


@test
def nginx_lets_workers_ask_over_tls_at_every_door_of_theirs_and_writes_no_key_down():
    port = free_port()
    target = {"key": ALICE, "method": "turnstile", "sitekey": "k", "pageurl": PAGE}
    with Workers(port) as proxy, workers_world(port) as world:
        def ask(path, params, method="POST"):
            encoded = urllib.parse.urlencode(params)
            if method == "GET":
                return proxy.call(f"{path}?{encoded}")
            return proxy.call(path, method, encoded, FORM)

        for method in ("POST", "GET"):
            task = ask("/in.php", target, method).text
            contains(task, "OK|")
            answer = ask("/res.php", {"key": ALICE, "action": "get", "id": task[3:], "wait": "10"}, method).text
            contains(answer, "OK|SIM_")
        image = base64.b64encode(bytes(range(256)) * 40).decode()
        text = ask("/solve.php", {"key": ALICE, "method": "base64", "body": image}).text
        contains(text, "OK|")
        task = ask("/in.php", {"key": ALICE, "method": "base64", "body": image}, "GET").text
        equal(ask("/res.php", {"key": ALICE, "action": "get", "id": task[3:]}).text, text, "an image in an address")
        solve = proxy.call("/v1/solves", "POST", f'{{"method":"turnstile","sitekey":"k","pageurl":"{PAGE}"}}',
                           {"Authorization": "Bearer " + ALICE})
        equal((solve.status, "OK|" + solve.json()["solution"]), (200, answer), "/v1/solves")
        state = proxy.call(f"/v1/solves/{solve.json()['id']}", headers={"Authorization": "Bearer " + ALICE})
        equal(state.json()["status"], "solved")
        task = {"type": "TurnstileTask", "websiteKey": "k", "websiteURL": PAGE}
        created = proxy.call("/createTask", "POST", json.dumps({"clientKey": ALICE, "task": task})).json()
        named = json.dumps({"clientKey": ALICE, "taskId": created["taskId"]})
        result = proxy.call("/getTaskResult", "POST", named).json()
        equal("OK|" + result["solution"]["token"], answer, "/getTaskResult")
        for path in ("/reportCorrect", "/reportIncorrect", "/reportCorrectRecaptcha", "/reportIncorrectRecaptcha",
                     "/reportIncorrectImageCaptcha", "/reportIncorrectHcaptcha"):
            equal(proxy.call(path, "POST", named).json(), {"errorId": 0, "status": "success"}, path)
        equal(proxy.call("/getBalance", "POST", named).json()["errorId"], 0, "/getBalance")
        equal(world.paid(), 2, "paid")
        proxy.stop()
        proxy.check_discretion(ALICE, answer[3:])


@test
def nginx_lets_workers_send_large_images_and_says_in_words_what_is_too_large():
    port = free_port()
    with Workers(port) as proxy, workers_world(port):
        body, kind = multipart([("key", ALICE), ("method", "post"), ("file", "captcha.png", bytes(1024 * 1024))])
        contains(proxy.call("/in.php", "POST", body, {"Content-Type": kind}).text, "OK|")
        # What solvegate refuses, and what nginx itself does.
        for size in (1100 * 1024, 3 * 1024 * 1024, 5 * 1024 * 1024):
            body, kind = multipart([("key", ALICE), ("method", "post"), ("file", "captcha.png", bytes(size))])
            reply = proxy.call("/in.php", "POST", body, {"Content-Type": kind})
            equal((reply.status, reply.text), (200, "ERROR_TOO_BIG_CAPTCHA_FILESIZE"), f"{size} bytes")
        reply = proxy.call("/in.php?method=base64&body=" + "A" * 35000)
        equal((reply.status, reply.text), (200, "ERROR_TOO_BIG_CAPTCHA_FILESIZE"), "a long address")
        for size in (3 * 1024 * 1024, 5 * 1024 * 1024):
            reply = proxy.call("/createTask", "POST", json.dumps({"clientKey": ALICE, "task": {"body": "A" * size}}))
            equal((reply.status, reply.json()["errorCode"]), (200, "ERROR_TOO_BIG_CAPTCHA_FILESIZE"), f"{size} bytes")


@test
def nginx_shows_workers_nothing_of_the_operators():
    port = free_port()
    with Workers(port) as proxy, workers_world(port):
        for path in ("/", "/metrics", "/v1/stats", "/v1/series", "/v1/flights", "/v1/pools", "/v1/nodes", "/v1/letters", "/v1/letters/replay", "/openapi.json",
                     "/livez", f"/pingback/{NONCE}", "/in.php/x", "/x/in.php", "/v1/solvesx", "/v1", "/in.php/../metrics",
                     "/v1/solves/../stats", "/v1/solves/%2e%2e/stats"):
            equal(proxy.call(path, headers={"Authorization": "Bearer " + ADMIN}).status, 404, path)


run()
