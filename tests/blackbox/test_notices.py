#!/usr/bin/env python3
"""Notices to callers: allow-listed addresses only, told until they listen, then a letter. (TAP)"""
from gateway import World, rewrite
from harness import Receiver, equal, run, test, wait_until
from vendor_world import strike

CALLBACKS = {"allow": ["127.0.0.1:*"], "allow_private": True, "retries": 2, "retry_base": "100ms", "retry_cap": "200ms"}


def allowing(receiver, **more):
    return {"callbacks": {**CALLBACKS, "allow": [f"127.0.0.1:{receiver.port}"], **more}}


@test
def a_caller_is_told_its_solution_as_the_vendor_would():
    with Receiver() as receiver, World(allowing(receiver)) as world:
        task = world.submit_id(pingback=receiver.url + "/hook?mine=1")
        call = receiver.wait(1)[0]
        equal(call["method"], "GET", "method")
        equal(call["path"], "/hook", "path")
        equal(call["params"]["mine"], "1", "the caller's own parameter")
        equal(call["params"]["id"], task, "id")
        equal("OK|" + call["params"]["code"], world.result_text(task), "code")
        wait_until(lambda: world.counter("notices_delivered") == 1, "the gateway to hear that it was taken")
        equal(world.sim.submits()[0].get("pingback") in (None, ""), True, "the vendor heard nothing of it")


@test
def a_failure_is_told_by_its_code():
    with Receiver() as receiver, World(allowing(receiver)) as world:
        world.sim.set_faults(script=[strike("submit-error", "proxy", 1, "ERROR_BAD_PROXY")])
        world.submit_id(sitekey="proxy", pingback=receiver.url + "/hook")
        equal(receiver.wait(1)[0]["params"]["code"], "ERROR_BAD_PROXY", "code")


@test
def an_address_that_refuses_is_told_again_then_a_letter_is_kept_and_replayed():
    with Receiver(lambda call: (500, b"no")) as receiver, World(allowing(receiver)) as world:
        task = world.submit_id(pingback=receiver.url + "/hook")
        receiver.wait(3)
        letter = wait_until(lambda: world.call("GET", "/v1/letters").json()["letters"], "the letter")[0]
        equal((letter["kind"], letter["error"]), ("notice", "ERROR_NOTICE_NOT_TAKEN"), "letter")
        shown = world.call("GET", f"/v1/letters/{letter['id']}").json()
        equal(shown["pingback"], receiver.url + "/hook", "where")
        equal(shown["request"], task, "whose")
        equal([note["error"] for note in shown["attempts"]], ["http_500"] * 3, "attempts")
        receiver.answer = lambda call: (200, b"OK")
        equal(world.call("POST", f"/v1/letters/{letter['id']}/replay").status, 202, "replay")
        receiver.wait(4)
        wait_until(lambda: world.call("GET", "/v1/letters").json()["total"] == 0, "the letter to be settled")


@test
def addresses_that_are_not_allowed_are_refused_at_the_door():
    with Receiver() as receiver, World(allowing(receiver)) as world:
        for url in ("https://evil.example.com/", "http://127.0.0.1:1/", "ftp://127.0.0.1/", "http://a:b@127.0.0.1/", "x"):
            equal(world.submit(pingback=url).text, "ERROR_PINGBACK_NOT_ALLOWED", url)
            reply = world.solve(pingback=url)
            equal((reply.status, reply.json()["code"]), (403, "pingback_not_allowed"), url)
        equal(world.paid(), 0, "paid")


@test
def without_a_list_nobody_may_have_callbacks():
    with World() as world:
        equal(world.submit(pingback="https://hooks.example.com/").text, "ERROR_PINGBACK_NOT_ALLOWED", "in.php")
        equal(world.submit(pingback="").text[:3], "OK|", "an empty one is none")


@test
def a_private_address_is_refused_unless_it_is_allowed():
    with Receiver() as receiver, World(allowing(receiver, allow_private=False)) as world:
        world.submit_id(pingback=receiver.url + "/hook")
        letter = wait_until(lambda: world.call("GET", "/v1/letters").json()["letters"], "the letter")[0]
        shown = world.call("GET", f"/v1/letters/{letter['id']}").json()
        equal(shown["attempts"][0]["error"], "address_refused", "why")
        equal(receiver.connections, 0, "connections")


@test
def a_callback_survives_kill_9():
    with Receiver(lambda call: (503, b"later")) as receiver:
        config = {**allowing(receiver, retries=100), "data_dir": "data"}
        with World(config) as world:
            task = world.submit_id(pingback=receiver.url + "/hook")
            receiver.wait(2)
            world.gate.kill()
            receiver.answer = lambda call: (200, b"OK")
            before = len(receiver.calls)
            world.gate.start()
            world.url = world.gate.url
            equal(receiver.wait(before + 1)[-1]["params"]["id"], task, "id")
            equal(world.paid(), 1, "paid")


@test
def door_and_sender_learn_of_a_new_host_at_the_same_time():
    with Receiver() as receiver, World({"callbacks": {**CALLBACKS, "allow": [], "allow_private": False}}) as world:
        equal(world.submit(pingback=receiver.url + "/hook").text, "ERROR_PINGBACK_NOT_ALLOWED", "before the reload")

        def allow(config):
            config["callbacks"].update(allow=[f"127.0.0.1:{receiver.port}"], allow_private=True)

        rewrite(world, allow)("reloaded")
        task = world.submit_id(pingback=receiver.url + "/hook")
        equal(receiver.wait(1)[0]["params"]["id"], task, "id")


@test
def a_host_that_is_no_longer_allowed_is_not_told_any_more():
    with Receiver() as receiver, World({**allowing(receiver, retries=0)}, sim=("--solve-time", "10m")) as world:
        # The connection of the first one stays open, and must not be used for the second.
        world.submit_id(sitekey="first", pingback=receiver.url + "/hook")
        world.await_accepted(1)
        world.sim.solve()
        receiver.wait(1)
        world.submit_id(sitekey="private", pingback=receiver.url + "/hook")
        world.await_accepted(2)
        rewrite(world, lambda config: config["callbacks"].update(allow_private=False))("reloaded")
        world.sim.solve()
        letter = wait_until(lambda: world.call("GET", "/v1/letters").json()["letters"], "the letter")[0]
        attempts = world.call("GET", f"/v1/letters/{letter['id']}").json()["attempts"]
        equal([note["error"] for note in attempts], ["address_refused"], "a private address")
        world.submit_id(sitekey="gone", pingback=receiver.url + "/hook")
        world.await_accepted(3)
        rewrite(world, lambda config: config["callbacks"].update(allow=[], allow_private=True))("reloaded")
        world.sim.solve()
        letters = wait_until(lambda: [*(lambda found: found if len(found) == 2 else [])(
            world.call("GET", "/v1/letters").json()["letters"])], "the second letter")
        attempts = world.call("GET", f"/v1/letters/{letters[0]['id']}").json()["attempts"]
        equal([note["error"] for note in attempts], ["not_allowed"], "a host that is gone from the list")
        equal(len(receiver.calls), 1, "calls")


run()
