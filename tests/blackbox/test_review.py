"""What an adversary, a careless operator or an odd client does to the gateway."""
import base64
import json
import os
import re
import signal
import socket
import subprocess
import tempfile

from gateway import ADMIN, ALICE, BOB, PAGE, World, clients
from harness import (KEY, TIMEOUT, Raw, binary, check, contains, equal, get, http_request, multipart, post_form, run, test,
                     wait_until)

JUST_EXAMPLE = {"alice": {"allow_hosts": ["example.com", "*.example.org"]}}


def raw_post(port, path, body, headers=""):
    with Raw(port) as connection:
        head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n{headers}\r\n"
        connection.send(head.encode() + body)
        return connection.reply()


# --- the list of hosts ----------------------------------------------------------------------------

@test
def a_backslash_does_not_fool_the_list_of_hosts():
    with World(clients(**JUST_EXAMPLE)) as world:
        # Browsers take a backslash for a slash, so that these lead to evil.com.
        for pageurl in ("https://evil.com\\@example.com/", "https://evil.com\\\\@example.com/x",
                        "https://evil.com:80\\@a.example.org/"):
            reply = world.solve(key=ALICE, pageurl=pageurl)
            equal((reply.status, reply.json()["code"]), (403, "host_not_allowed"), pageurl)
            equal(world.submit(key=ALICE, pageurl=pageurl).text, "ERROR_DOMAIN_NOT_ALLOWED", pageurl)
        equal(world.sim.totals()["submits"], 0, "submits")


@test
def a_second_pageurl_in_disguise_is_refused():
    with World(clients(**JUST_EXAMPLE)) as world:
        # PHP reads all of these as pageurl, and the last one wins there.
        for name in (" pageurl", "\tpageurl", "pageurl[", "pageurl[]", "PageUrl", " method", "Method"):
            form = {"key": ALICE, "method": "turnstile", "sitekey": "k", "pageurl": PAGE, name: "https://evil.com/"}
            equal(post_form(world.url + "/in.php", form).text, "ERROR_BAD_PARAMETERS", name)
        equal(world.sim.totals()["submits"], 0, "submits")


@test
def a_restricted_client_has_to_name_the_page_unless_it_asks_about_an_image():
    with World(clients(**JUST_EXAMPLE)) as world:
        reply = world.call("POST", "/v1/solves", {"method": "newthing", "url": "https://evil.com/"}, key=ALICE)
        equal((reply.status, reply.json()["code"]), (403, "host_not_allowed"))
        equal(world.submit(key=ALICE, method="vkcaptcha", redirect_uri="https://evil.com/", proxy="1.2.3.4:80").text,
              "ERROR_DOMAIN_NOT_ALLOWED")
        body, content_type = multipart([("key", ALICE), ("file", "a.png", b"\x89PNG" + b"x" * 200)])
        contains(http_request(world.url + "/in.php", "POST", body, {"Content-Type": content_type}).text, "OK|")
        contains(world.submit(key=ALICE, method="post", textcaptcha="two and two?").text, "OK|")
        contains(world.submit(key=BOB, method="newthing", url="https://evil.com/").text, "OK|")


# --- what must not reach the vendor ---------------------------------------------------------------

@test
def what_cannot_be_right_does_not_reach_the_vendor():
    site = {"method": "turnstile", "sitekey": "k", "pageurl": PAGE}
    wrong = [({**site, "sitekey": " "}, "ERROR_GOOGLEKEY"), ({**site, "pageurl": " \t"}, "ERROR_PAGEURL"),
             ({**site, "pageurl": "javascript:alert(1)"}, "ERROR_PAGEURL"),
             ({**site, "pageurl": "ftp://example.com/"}, "ERROR_PAGEURL"),
             ({**site, "pageurl": "https://"}, "ERROR_PAGEURL"),
             ({**site, "pageurl": "https://exa mple.com/"}, "ERROR_PAGEURL"),
             ({**site, "pageurl": "https://example.com/\r\nX: y"}, "ERROR_PAGEURL"),
             ({**site, "method": "turn stile"}, "ERROR_BAD_PARAMETERS"),
             ({**site, "method": '{"a":1}'}, "ERROR_BAD_PARAMETERS"),
             ({**site, "method": "tür"}, "ERROR_BAD_PARAMETERS")]
    right = [{**site, "pageurl": "example.com/login"}, {**site, "pageurl": "HTTP://Example.com:8080"},
             {**site, "pageurl": " https://example.com/x "}, {**site, "pageurl": "https://пример.рф/вход"},
             {**site, "method": "some_new-method.v2"}, {**site, "pageurl": "https://example.com/a b?c=d|e"}]
    with World() as world:
        for params, word in wrong:
            equal(post_form(world.url + "/in.php", {"key": KEY, **params}).text, word, str(params))
            reply = world.call("POST", "/v1/solves", params)
            equal((reply.status, reply.json()["code"]), (422, "bad_parameter"), str(params))
        equal(world.sim.totals()["submits"], 0, "submits")
        for params in right:
            contains(post_form(world.url + "/in.php", {"key": KEY, **params}).text, "OK|", str(params))


@test
def head_spends_nothing():
    with World() as world:
        query = {"key": KEY, "method": "turnstile", "sitekey": "k", "pageurl": PAGE}
        reply = http_request(world.url + "/in.php", "HEAD", query=query)
        equal((reply.status, reply.headers["allow"]), (405, "OPTIONS, POST, GET"))
        equal(world.counter("requests"), 0, "requests")
        equal(get(world.url + "/in.php", **query).text[:3], "OK|", "GET")


# --- answers that stay whole ----------------------------------------------------------------------

@test
def too_many_ids_are_a_mistake_instead_of_a_short_answer():
    with World() as world:
        task = world.submit_id()
        token = world.result_text(task)[3:]
        equal(world.result(None, ids=",".join([task] * 100)).text, "|".join([token] * 100))
        equal(world.result(None, ids=",".join([task] * 101)).text, "ERROR_BAD_PARAMETERS")


@test
def an_explanation_of_the_longest_value_is_still_json():
    with World() as world:
        body = b'{"method":"x","blob":"' + b"\x7f" * 1900000 + b'"}'
        reply = raw_post(world.port, "/v1/explain", body)
        equal(reply.status, 200)
        equal(reply.json()["counted"]["blob"], "<1900000 bytes>")
        odd = "é\x7f\x01\""
        equal(world.call("POST", "/v1/explain", {"method": "x", "a": odd}).json()["counted"]["a"], odd)


@test
def refusals_of_the_frontend_are_whole_problems_too():
    with World({"limits": {"body": "1KiB"}}) as world:
        for body, headers in ((b"{" + b" " * 2000, ""), (b"", "Bad\r\n")):
            reply = raw_post(world.port, "/v1/solves", body, headers)
            problem = reply.json()
            equal(reply.headers["content-type"], "application/problem+json")
            equal((problem["status"], problem["retryable"]), (reply.status, False))
            check(problem["title"] and problem["code"] and problem["detail"], reply.text)


# --- the process ----------------------------------------------------------------------------------

def serve(config, *args):
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(config, file)
        file.flush()
        return subprocess.run([binary("SOLVEGATE"), "serve", "-c", file.name, *args], capture_output=True, text=True,
                              timeout=30)


@test
def nothing_is_called_ready_when_one_address_is_taken():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        config = {"listen": ["127.0.0.1:0", address], "upstream": {"url": "http://127.0.0.1:1", "key": KEY}}
        ended = serve(config)
    equal((ended.returncode, ended.stdout), (69, ""))
    contains(ended.stderr, f"cannot listen on {address}: address already in use")


@test
def all_addresses_serve_and_a_unix_socket_is_as_near_as_loopback():
    with tempfile.TemporaryDirectory() as folder:
        path = folder + "/gate.sock"
        with World({**clients(), "listen": ["127.0.0.1:0", "unix:" + path, "[::1]:0"]}) as world:
            wait_until(lambda: os.path.exists(path), "the socket")
            with socket.socket(socket.AF_UNIX) as near:
                near.connect(path)
                near.sendall(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
                equal(near.makefile("rb").readline(), b"HTTP/1.1 200 OK\r\n")
            six = world.gate.wait_line(r"ready on http://\[::1\]")
            equal(http_request(re.search(r"http://\S+", six).group(0) + "/livez").text, "ok\n")
        check(not os.path.exists(path), "the socket goes with the gateway")


@test
def a_hangup_neither_ends_the_gateway_nor_loses_a_solve():
    with World(sim=("--solve-time", "500ms")) as world:
        task = world.submit_id()
        world.gate.send_signal(signal.SIGHUP)
        world.gate.wait_line("event=reloaded")
        contains(world.result_text(task), "OK|SIM_")


@test
def a_second_signal_ends_it_at_once():
    with World({"drain_timeout": "10m"}, sim=("--solve-time", "10m")) as world:
        with Raw(world.port) as held:
            body = json.dumps({"method": "turnstile", "sitekey": "k", "pageurl": PAGE, "wait": 40})
            held.send(f"POST /v1/solves HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n\r\n{body}")
            wait_until(lambda: world.paid() == 1, "the submit")
            world.gate.send_signal(signal.SIGTERM)
            world.gate.wait_line("event=draining")
            world.gate.send_signal(signal.SIGTERM)
            equal(world.gate.process.wait(TIMEOUT), 0)


# --- dead letters ---------------------------------------------------------------------------------

@test
def a_letter_that_may_not_start_does_not_hold_up_the_others():
    options = {"alice": {"budget_per_day": 1}}
    config = {**clients(**options), "retry": {"unsolvable": 0}}
    with World(config) as world:
        for key in (ALICE, BOB):
            equal(world.solve(key=key, sitekey="SIM-ERROR_CAPTCHA_UNSOLVABLE").status, 502)
        equal(world.solve(key=ALICE, sitekey="other").json()["code"], "budget_used_up")
        letters = world.call("GET", "/v1/letters", key=ADMIN).json()["letters"]
        equal([letter["client"] for letter in letters], ["bob", "alice"], "newest first; clients")
        equal(world.call("POST", "/v1/letters/replay", {"all": True}, key=ADMIN).json(), {"queued": 2})
        of_bob = f"/v1/letters/{letters[0]['id']}"
        wait_until(lambda: world.call("GET", of_bob, key=ADMIN).json()["replays"] == 1, "the replay of bob's letter")
        equal(world.call("DELETE", "/v1/letters/replay", key=ADMIN).json(), {"cancelled": 1})


# --- memory ---------------------------------------------------------------------------------------

def image(number):
    return base64.b64encode(bytes([number]) * 700000).decode()


@test
def the_images_of_all_solves_together_are_bounded():
    with World({"limits": {"flight_bytes": "4MiB"}}, sim=("--solve-time", "30s")) as world:
        answers = [world.submit(method="base64", body=image(i)).text for i in range(8)]
        equal([answer[:3] for answer in answers[:4]], ["OK|"] * 4)
        equal(answers[4:], ["ERROR_NO_SLOT_AVAILABLE"] * 4)
        reply = world.call("POST", "/v1/solves", {"method": "base64", "body": image(9)})
        equal((reply.status, reply.json()["code"]), (429, "too_many_flights"))
        check(int(reply.headers["retry-after"]) > 0, "Retry-After")
        equal(world.submit(method="base64", body=image(0)).text[:3], "OK|", "joining needs no room; answer")


@test
def the_images_of_all_letters_together_are_bounded():
    config = {"letters": {"bytes": "3MiB"}, "retry": {"unsolvable": 0}}
    with World(config, sim=("--solve-time", "10m")) as world:
        for i in range(6):
            task = world.submit_id(method="base64", body=image(i))
            wait_until(lambda: world.paid() == i + 1, "the submit")
            world.sim.solve(error="ERROR_CAPTCHA_UNSOLVABLE")
            equal(world.result_text(task), "ERROR_CAPTCHA_UNSOLVABLE")
        letters = world.call("GET", "/v1/letters").json()
        equal((letters["total"], letters["letters"][0]["id"]), (3, "6"), "the newest stay; letters")


# --- secrets --------------------------------------------------------------------------------------

@test
def no_secret_shows_in_logs_metrics_or_answers_at_any_level():
    vendor_key = "canaryVENDORcanaryVENDORcanary32"
    secrets = {"vendor key": vendor_key, "alice": ALICE, "admin": ADMIN, "proxy": "canaryPROXYPASS",
               "cookie": "canaryCOOKIE", "wrong key": "canaryWRONGcanaryWRONGcanaryWR32",
               "idempotency": "canaryIDEMPOTENCY"}
    config = {**clients(), "log": {"level": "debug"}, "upstream": {"key": vendor_key}, "retry": {"unsolvable": 0}}
    shown = []
    with World(config) as world:
        more = {"proxy": "user:canaryPROXYPASS@1.2.3.4:80", "proxytype": "HTTP", "cookies": "a=canaryCOOKIE"}
        solved = world.solve(key=ALICE, headers={"Idempotency-Key": "canaryIDEMPOTENCY"}, **more)
        equal(solved.status, 200)
        secrets["token"] = solved.json()["solution"]
        secrets["token's middle"] = secrets["token"][20:60]
        for reply in (world.solve(key=secrets["wrong key"]), world.solve(key=ALICE, wait="x", **more),
                      world.submit(key=secrets["wrong key"]), world.submit(key=ALICE, method="", **more),
                      world.solve(key=ALICE, sitekey="SIM-ERROR_CAPTCHA_UNSOLVABLE", **more),
                      world.solve(key=ALICE, sitekey="SIM-ERROR_SOMETHING_NEW", **more),
                      world.call("GET", "/res.php", key=ALICE, **{"action": "get", "id": "1"}),
                      world.call("GET", "/v1/flights", key=ADMIN), world.call("GET", "/v1/stats", key=ADMIN),
                      world.call("GET", "/metrics"), world.call("GET", "/nope", token=secrets["token"])):
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
    for name, secret in secrets.items():
        for text in shown:
            check(secret not in text, f"{name} shows in: {text[:1000]}")


run()
