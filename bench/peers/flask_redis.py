"""The first seed as a service: Flask in front, Redis to deduplicate, polls to the vendor; gunicorn.conf.py serves it.

As the seed has it, but for what it asks of its readers itself or what anybody would do: the claim is SET NX, connections
are kept. A request that finds a solve under way looks into Redis every 2 s, a solve is polled every 5 s."""
import hashlib
import json
import os
import time

import redis
from flask import Flask, request

import vendor_client
from vendor_client import POLL_S

DEDUP_TTL = 180
CACHE_TTL = int(os.environ.get("CACHE_S", "60"))
WAIT_S = float(os.environ.get("WAIT_S", "2"))

app = Flask(__name__)
store = redis.Redis(unix_socket_path=os.environ["REDIS_SOCKET"], decode_responses=True)


def dedup_key(captcha):
    raw = f"{captcha['method']}:{captcha['sitekey']}:{captcha['pageurl']}"
    return f"captcha:dedup:{hashlib.sha256(raw.encode()).hexdigest()[:16]}"


def keep(key, state, seconds):
    store.set(key, json.dumps(state), ex=seconds)


def solve_with_dedup(captcha):
    key = dedup_key(captcha)
    existing = store.get(key)
    if existing is None and not store.set(key, json.dumps({"status": "solving"}), nx=True, ex=DEDUP_TTL):
        existing = json.dumps({"status": "solving"})  # somebody was faster
    state = json.loads(existing) if existing else {}
    if state.get("status") == "solved":
        return {"solution": state["solution"], "source": "dedup_cache"}
    if state.get("status") == "solving":
        return wait_for_result(key)
    return solve(key, captcha)


def solve(key, captcha):
    reply = vendor_client.submit(captcha)
    if reply.get("status") != 1:
        return fail(key, reply.get("request"))
    for _ in range(60):
        time.sleep(POLL_S)
        result = vendor_client.fetch(reply["request"])
        if result.get("status") == 1:
            keep(key, {"status": "solved", "solution": result["request"]}, CACHE_TTL)
            return {"solution": result["request"], "source": "api"}
        if result.get("request") != "CAPCHA_NOT_READY":
            return fail(key, result.get("request"))
    return fail(key, "TIMEOUT")


def fail(key, error):
    keep(key, {"status": "error", "error": error}, 30)
    return {"error": error}


def wait_for_result(key, timeout=120):
    start = time.time()
    while time.time() - start < timeout:
        data = store.get(key)
        if data:
            state = json.loads(data)
            if state["status"] == "solved":
                return {"solution": state["solution"], "source": "dedup_wait"}
            if state["status"] == "error":
                return {"error": state.get("error", "UNKNOWN")}
        time.sleep(WAIT_S)
    return {"error": "DEDUP_WAIT_TIMEOUT"}


@app.post("/v1/solves")
def solves():
    answer = solve_with_dedup(vendor_client.captcha_of(request.get_json()))
    return answer, 502 if "error" in answer else 200
