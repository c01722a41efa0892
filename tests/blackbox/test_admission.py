#!/usr/bin/env python3
"""What is refused before anything is spent: pages, parameters, methods, and more than there is room for. (TAP)"""
import base64
import json

from gateway import ALICE, BOB, PAGE, World, clients
from harness import KEY, check, contains, equal, get, http_request, multipart, post_form, run, test
from vendor_world import metric, problem, strike

JUST_EXAMPLE = {"alice": {"allow_hosts": ["example.com", "*.example.org"]}}


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
def answers_that_left_the_cache_are_bounded_in_bytes():
    config = {**clients(), "cache": {"bytes": "64KiB"}, "limits": {"finished_bytes": "1MiB"}}
    with World(config, sim=("--solve-time", "50ms")) as world:
        world.sim.set_faults(script=[strike("task-reply", None, 99, json.dumps({"status": 1, "request": "t" * 60000}))])
        modest = world.solve(sitekey="modest", key=BOB).json()["id"]
        ids = [world.solve(sitekey=f"site{i}", key=ALICE).json()["id"] for i in range(25)]
        kept = metric(world, "solutions_kept_bytes")
        check(512 * 1024 < kept <= 1024 * 1024, f"{kept} bytes are kept")
        problem(world.call("GET", "/v1/solves/" + ids[0], key=ALICE), 404, "unknown_id")
        for key, task in ((ALICE, ids[-1]), (BOB, modest)):
            reply = world.call("GET", "/v1/solves/" + task, key=key)
            equal((reply.status, len(reply.json()["solution"])), (200, 60000), "what is kept")


run()
