"""The callback seed as a service: submit with pingback, hold the caller until the callback; gunicorn.conf.py serves it.

As the seed has it (callback, fallback polling of what stayed silent for 120 s, repeated callbacks ignored); it does not
deduplicate, so identical requests are paid each. The seed leaves open how a caller learns the result: here it waits."""
import os
import threading
import time

from flask import Flask, request

import vendor_client

CALLBACK_URL = os.environ["CALLBACK_URL"]

app = Flask(__name__)
lock = threading.Lock()
pending = {}  # task id to when it was submitted
waiting = {}  # task id to the event that its caller waits for
results = {}  # task id to solution, until the caller took it


def settle(task_id, solution):
    with lock:
        if task_id in results:
            return
        pending.pop(task_id, None)
        results[task_id] = solution
        event = waiting.get(task_id)
    if event:
        event.set()


@app.get("/callback")
def captcha_callback():
    settle(request.args.get("id"), request.args.get("code"))
    return "OK", 200


@app.post("/v1/solves")
def solves():
    reply = vendor_client.submit(vendor_client.captcha_of(request.get_json()), pingback=CALLBACK_URL)
    if reply.get("status") != 1:
        return {"error": reply.get("request")}, 502
    task_id, event = reply["request"], threading.Event()
    with lock:
        waiting[task_id] = event
        is_here = task_id in results
        if not is_here:
            pending[task_id] = time.time()
    if not is_here:
        event.wait(180)
    with lock:
        del waiting[task_id]
        solution = results.pop(task_id, None)
    return ({"solution": solution, "source": "api"}, 200) if solution else ({"error": "TIMEOUT"}, 504)


def fallback_poller():
    while True:
        time.sleep(30)
        with lock:
            stale = [task_id for task_id, submitted in pending.items() if time.time() - submitted > 120]
        for task_id in stale:
            result = vendor_client.fetch(task_id)
            if result.get("status") == 1:
                settle(task_id, result["request"])


threading.Thread(target=fallback_poller, daemon=True).start()
