#!/usr/bin/env python3
"""The createTask dialect, type by type: what is sent for each, what comes back, and that it is the same request as in the
other dialects. (TAP)"""
import json

from gateway import PAGE, World
from harness import KEY, check, contains, equal, run, test, wait_until
from task_world import PICTURE, SITE, TYPES, UNSUPPORTED, create, create_id, solution

SHARED = {"reuse": {"default": "shared", "hcaptcha": "shared", "recaptcha_v2": "shared", "recaptcha_v3": "shared",
                    "geetest": "shared", "cloudflare": "shared", "turnstile": "shared", "image": "shared"}}


def shape(value):
    """Its members with their types; of an array the shape of its first item."""
    if isinstance(value, dict):
        return {name: shape(member) for name, member in value.items()}
    if isinstance(value, list):
        return [shape(value[0])] if value else []
    return type(value)


def check_shape(got, expected, what):
    got = {name: dict if isinstance(value, dict) else shape(value) for name, value in got.items()}
    equal(got, expected, what)


def sent(params):
    """As the simulator shows it: of an image only its length. The call's own parameters do not count."""
    def shown(value):
        size = value["bytes"] if isinstance(value, dict) else len(value)
        return size if size > 500 else value

    return {name: shown(value) for name, value in params.items() if name not in ("key", "json", "pingback", "soft_id")}


def as_in_php(world, params):
    task = world.submit_id(**params)
    return lambda: json.loads(world.result(task, json="1").text)


def as_v1(world, params):
    reply = world.call("POST", "/v1/solves", {**params, "wait": 0})
    check(reply.status in (200, 202), f"/v1/solves said {reply.text}")
    path = "/v1/solves/" + reply.json()["id"]
    return lambda: world.call("GET", path).json()


@test
def every_type_is_the_same_request_in_all_dialects_and_is_answered_in_the_words_of_each():
    with World(SHARED, sim=("--solve-time", "10m")) as world:
        for number, (name, members, params, expected) in enumerate(TYPES, 1):
            first = create_id(world, {"type": name, **members})
            vendor = as_in_php(world, params)
            api = as_v1(world, params)
            wait_until(lambda: world.paid() == number, f"{name}: the submit")
            entry = world.sim.submits()[-1]
            equal(sent(entry["params"]), sent(params), f"{name}: what in.php was sent")
            world.sim.solve()
            got = solution(world, first)
            check_shape(got, expected, f"{name}: solution")
            wait_until(lambda: vendor().get("request") != "CAPCHA_NOT_READY", f"{name}: in.php's answer")
            wait_until(lambda: api()["status"] == "solved", f"{name}: the answer of /v1")
            told = api()
            parts = json.dumps([told["solution"], told.get("extra")])
            for member in ("token", "text", "challenge_id", "captcha_output", "seccode", "randstr", "cookie"):
                if member in got:
                    contains(parts, got[member], f"{name}: the same in /v1")
            equal(world.paid(), number, f"{name}: paid")
        books = world.stats()["total"]
        equal(books["requests"], 3 * len(TYPES), "requests")
        equal(books["answered_api"], len(TYPES), "answered by their own solve")


@test
def a_type_that_the_vendor_does_not_have_is_refused_by_its_name():
    with World() as world:
        for name in UNSUPPORTED:
            reply = create(world, {"type": name, **SITE})
            equal((reply["errorId"], reply["errorCode"]), (1, "ERROR_TASK_NOT_SUPPORTED"), name)
            contains(reply["errorDescription"], f"'{name}'", "the description names it")
        equal(world.paid(), 0, "paid")


@test
def unknown_members_count_and_are_passed_on_in_snake_case():
    with World(SHARED) as world:
        task = {"type": "TurnstileTaskProxyless", **SITE}
        solution(world, create_id(world, task))
        solution(world, create_id(world, {**task, "someNewOption": 5, "URLOfIt": {"a": [1, 2]}}))
        equal(world.paid(), 2, "paid")
        params = world.sim.submits()[-1]["params"]
        equal((params["some_new_option"], params["url_of_it"]), ("5", '{"a":[1,2]}'), "passed on")
        solution(world, create_id(world, {**task, "someNewOption": 6, "URLOfIt": {"a": [1, 2]}}))
        equal(world.paid(), 3, "another value is another request; paid")
        solution(world, create_id(world, {**task, "someNewOption": None, "URLOfIt": None}))
        equal(world.paid(), 3, "null is absent; paid")
        whole = {"type": "RecaptchaV2EnterpriseTaskProxyless", **SITE, "enterprisePayload": {"s": "s", "other": 1}}
        solution(world, create_id(world, whole))
        params = world.sim.submits()[-1]["params"]
        equal((params["data-s"], params["enterprise_payload"]), ("s", '{"s":"s","other":1}'), "an object that is not known wholly")


@test
def no_member_passes_for_a_parameter_of_the_call():
    with World() as world:
        for name in ("key", "json", "method", "pingback", "softID", "soft_id", "wait", "reuse", "headerAcao", "pageurl", "sitekey"):
            reply = create(world, {"type": "TurnstileTaskProxyless", **SITE, name: "x"})
            equal((reply["errorId"], reply["errorCode"]), (1, "ERROR_BAD_PARAMETERS"), name)
            contains(reply["errorDescription"], name, "the description names it")
        twice = '{"clientKey":"%s","task":{"type":"TurnstileTask","websiteURL":"%s","websiteURL":"http://b.example"}}' % (KEY, PAGE)
        reply = world.call("POST", "/createTask", twice).json()
        equal(reply["errorCode"], "ERROR_BAD_PARAMETERS", "a member given twice")
        equal(world.paid(), 0, "paid")


@test
def proxies_are_understood_in_every_form():
    forms = [
        ({"proxy": "http://u:p@1.2.3.4:80"}, "u:p@1.2.3.4:80", "HTTP"),
        ({"proxy": "socks5://1.2.3.4:80/"}, "1.2.3.4:80", "SOCKS5"),
        ({"proxy": "socks5:1.2.3.4:80:u:p"}, "u:p@1.2.3.4:80", "SOCKS5"),
        ({"proxy": "1.2.3.4:80:u:p:q"}, "u:p:q@1.2.3.4:80", None),
        ({"proxy": "1.2.3.4:80"}, "1.2.3.4:80", None),
        ({"proxy": "u:p@1.2.3.4:80", "proxyType": "https"}, "u:p@1.2.3.4:80", "HTTPS"),
        ({"proxyType": "http", "proxyAddress": "h.example", "proxyPort": 3128}, "h.example:3128", "HTTP"),
        ({"proxyType": None, "proxyAddress": None, "proxyPort": None, "proxyLogin": None, "proxyPassword": None}, None, None),
        ({"proxyType": "http", "proxyAddress": "", "proxyPort": 0}, None, None),
    ]
    with World() as world:
        for number, (members, proxy, kind) in enumerate(forms):
            solution(world, create_id(world, {"type": "TurnstileTask", **SITE, "websiteKey": f"k{number}", **members}))
            params = world.sim.submits()[-1]["params"]
            equal(params.get("proxy"), proxy, f"{members}: proxy")
            if proxy is not None:
                equal(params.get("proxytype"), kind, f"{members}: proxytype")
        members = {"proxyType": "http", "proxyAddress": "1.2.3.4", "proxyPort": 80}
        solution(world, create_id(world, {"type": "TurnstileTaskProxyless", **SITE, "websiteKey": "less", **members}))
        check("proxy" not in world.sim.submits()[-1]["params"], "a type without a proxy")


@test
def the_pool_of_workers_is_a_language_of_images():
    with World() as world:
        for pool, lang in (("en", "en"), ("rn", "ru"), ("ru", "ru"), (None, None)):
            solution(world, create_id(world, {"type": "ImageToTextTask", "body": PICTURE, "comment": str(pool)}, languagePool=pool))
            equal(world.sim.submits()[-1]["params"].get("lang"), lang, f"{pool}")
        solution(world, create_id(world, {"type": "TurnstileTask", **SITE}, languagePool="en"))
        check("lang" not in world.sim.submits()[-1]["params"], "a token has no language")


@test
def nocache_asks_for_a_solve_of_ones_own():
    with World(SHARED) as world:
        task = {"type": "TurnstileTaskProxyless", **SITE}
        tokens = [solution(world, create_id(world, {**task, **more}))["token"]
                  for more in ({}, {"nocache": False}, {"nocache": True})]
        equal((len(set(tokens)), world.paid()), (2, 2), "tokens, paid")


run()
