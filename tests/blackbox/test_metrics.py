#!/usr/bin/env python3
"""/metrics, the dashboard and the alert rules, checked with Prometheus' own tool; the audit trail. (TAP)"""
import json
import os
import re
import shutil
import subprocess
import tempfile

from gateway import ADMIN, ALICE, BOB, World, clients, rewrite, together
from harness import Skip, check, contains, equal, run, test, wait_until
from store_world import StoreWorld, need_strace
from vendor_world import strike

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CONTRIB = os.path.join(ROOT, "contrib")
PRICES = {"upstream": {"price": {"turnstile": 0.0015, "default": 0.5}}}


def promtool(*args, text=None):
    if not shutil.which("promtool"):
        raise Skip("promtool is not installed")
    done = subprocess.run(["promtool", *args], input=text, capture_output=True, text=True, timeout=60, check=False)
    output = done.stdout + done.stderr
    equal(done.returncode, 0, f"promtool {' '.join(args)} said {output}, exit code")
    return output


def busy_world():
    """Callbacks, a journal, prices, several clients, a budget: everything that has a metric of its own."""
    return StoreWorld({**clients(bob={"budget_per_day": 60}), **PRICES}, sim=("--solve-time", "50ms"), callbacks=True)


def load(world):
    """A bit of everything: solved, joined, cached, failed, refused, left, reported."""
    world.sim.set_faults(script=[strike("submit-error", "bad", 1, "ERROR_PAGEURL")])
    together(8, lambda i: world.solve({"sitekey": f"s{i % 3}"}, key=(ALICE, BOB)[i % 2]))
    world.solve({"sitekey": "s0"}, key=ALICE)
    equal(world.solve({"sitekey": "bad"}, key=BOB).status, 502, "a bad pageurl")
    equal(world.submit(key=ALICE, pageurl=None).text, "ERROR_PAGEURL", "no page")
    world.call("GET", "/nowhere")
    world.call("GET", "/pingback/forged")


def metrics(world):
    reply = world.call("GET", "/metrics")
    equal(reply.status, 200, "status")
    return reply.text


def samples(text):
    """Series to value."""
    found = {}
    for line in text.splitlines():
        if not line.startswith("#"):
            series, value = line.rsplit(" ", 1)
            check(series not in found, f"{series} is there twice")
            found[series] = float(value)
    return found


def at_rest(world):
    """Metrics and statistics of the same moment: what a callback has answered, a reply may be counted for a little later."""
    def both():
        before = world.stats(ADMIN)["total"]
        text = metrics(world)
        return (samples(text), before) if before == world.stats(ADMIN)["total"] else None

    wait_until(lambda: world.stats(ADMIN)["now"]["flights"] == 0, "the last flight to land")
    return wait_until(both, "books at rest")


def names_in(expression):
    return set(re.findall(r"\b((?:solvegate|process)_[a-z_]+)", expression))


@test
def promtool_has_nothing_to_say_about_the_metrics():
    with busy_world() as world:
        load(world)
        equal(promtool("check", "metrics", text=metrics(world)), "", "words")
    with World() as world:
        equal(promtool("check", "metrics", text=metrics(world)), "", "words without clients, prices, journal and callbacks")


@test
def promtool_would_have_found_a_bad_one():
    try:
        promtool("check", "metrics", text="# TYPE a_ms counter\na_ms 1\n")
    except AssertionError:
        return
    raise AssertionError("promtool finds nothing")


@test
def metrics_say_what_the_statistics_say():
    with busy_world() as world:
        load(world)
        found, total = at_rest(world)
        for source in ("api", "dedup_wait", "dedup_cache", "idempotent", "pool"):
            equal(found[f'solvegate_answered_total{{source="{source}"}}'], total["answered_" + source], source)
        equal(found["solvegate_requests_total"], total["requests"], "requests")
        for dialect in ("vendor", "v1", "createtask"):
            equal(found[f'solvegate_dialect_requests_total{{dialect="{dialect}"}}'], total["requests_" + dialect], dialect)
        equal(found['solvegate_submits_ended_total{outcome="accepted"}'], total["submits_accepted"], "accepted")
        equal(found['solvegate_callbacks_total{result="forged"}'], total["callbacks_forged"], "forged")
        equal(found["solvegate_slot_used_seconds_total"], total["slot_ms_used"] / 1000, "slot time")
        for client in ("alice", "bob"):
            of_client = total["by_client"][client]
            equal(found[f'solvegate_client_requests_total{{client="{client}"}}'], of_client["requests"], client)
            equal(found[f'solvegate_client_paid_total{{client="{client}"}}'], of_client["paid"], client)
            equal(found[f'solvegate_client_money_spent_total{{client="{client}"}}'], of_client["money_spent"], client)
        equal(found['solvegate_type_requests_total{type="turnstile"}'], total["by_type"]["turnstile"]["requests"], "type")


@test
def histograms_add_up():
    with busy_world() as world:
        load(world)
        found, total = at_rest(world)
        for name, count in (("solve_seconds", total["solves"]), ("queue_wait_seconds", total["submits"]),
                            ("callback_delay_seconds", total["callbacks_ok"])):
            equal(found[f"solvegate_{name}_count"], count, name)
        for name, labels in (("solve_seconds", ""), ("http_answer_seconds", 'held="no",'),
                             ("http_answer_seconds", 'held="yes",'), ("loop_lag_seconds", ""),
                             ("store_commit_seconds", "")):
            buckets = [value for series, value in found.items() if series.startswith(f"solvegate_{name}_bucket{{{labels}le=")]
            tail = f"{{{labels[:-1]}}}" if labels else ""
            check(buckets and buckets == sorted(buckets), f"{name} grows from class to class: {buckets}")
            check(buckets[-1] > 0, f"{name} was observed")
            equal(buckets[-1], found[f"solvegate_{name}_count{tail}"], name)
        check(0 < found["solvegate_solve_seconds_sum"] < 60, "solve time")
        equal(found['solvegate_http_answer_seconds_count{held="yes"}'], 10, "those that asked to be held")


@test
def descriptors_are_not_listed_by_the_thread_that_answers_everybody():
    need_strace()
    with StoreWorld() as world:
        with tempfile.TemporaryDirectory() as folder:
            trace = os.path.join(folder, "trace")
            world.restart("strace", "-f", "-o", trace, "-e", "trace=getdents64,getdents")
            # Starting is over when somebody was answered; what the store does to its folder is done before.
            world.stats()
            with open(trace, encoding="utf-8") as file:
                before = file.read()
            for _ in range(3):
                check(samples(metrics(world))["process_open_fds"] > 3, "descriptors")
            with open(trace, encoding="utf-8") as file:
                after = file.read()[len(before):]
            main = str(world.gate.pid())
            # Whoever is traced does not end by a signal to the tracer.
            world.restart()
            equal([line for line in after.splitlines() if line.split()[0] == main], [], "folders listed by the loop")


@test
def process_store_and_build_are_told():
    with busy_world() as world:
        load(world)
        found = samples(metrics(world))
        check(found["process_resident_memory_bytes"] > 1 << 20, "memory")
        check(found["process_cpu_seconds_total"] > 0, "CPU")
        check(3 < found["process_open_fds"] < found["process_max_fds"], "descriptors")
        check(found["process_start_time_seconds"] > 1.6e9, "start")
        check(any(series.startswith("solvegate_build_info{version=") for series in found), "build")
        wait_until(lambda: samples(metrics(world))["solvegate_store_records_total"] > 0, "records on disk")
        equal((found["solvegate_store_configured"], found["solvegate_store_writable"]), (1, 1), "store")
        equal(found["solvegate_callbacks_healthy"], 1, "callbacks")


@test
def strangers_make_no_new_series():
    with World(clients()) as world:
        world.solved({"sitekey": "a"}, key=ALICE)
        before = set(samples(metrics(world)))
        for i in range(30):
            world.solve({"sitekey": f"x{i}", "pageurl": f"https://h{i}.example.com/", "method": f"m{i}", "wait": 0}, key=ALICE)
            world.call("GET", f"/path{i}")
            world.call("GET", "/v1/stats", key=f"{i:032}")
        equal(set(samples(metrics(world))) - before, set(), "new series")


@test
def errors_nobody_knows_are_counted_by_name():
    with World({"retry": {"base": "10ms"}}, sim=("--solve-time", "10ms")) as world:
        world.sim.set_faults(script=[strike("submit-error", "moon", 2, "ERROR_NEW_MOON"), strike("task-error", "tide", 1, "ERROR_TIDE_2"),
                                     strike("submit-error", "odd", 2, "ERROR: 1099"), strike("submit-error", "known", 1, "ERROR_PAGEURL")])
        equal(world.stats()["total"]["unknown_errors"], {}, "at first")
        equal(samples(metrics(world))['solvegate_unknown_errors_total{code="other"}'], 0, "at first")
        equal([world.solve(sitekey=name).status for name in ("moon", "tide", "odd", "known")], [502, 200, 502, 502], "statuses")
        stats = world.stats()
        expected = {"ERROR_NEW_MOON": 2, "ERROR_TIDE_2": 1, "other": 2}
        equal(stats["total"]["unknown_errors"], expected, "since start")
        check("unknown_errors" not in stats["today"], "a day has none")
        text = metrics(world)
        found = {series: value for series, value in samples(text).items() if series.startswith("solvegate_unknown_errors_total")}
        equal(found, {f'solvegate_unknown_errors_total{{code="{code}"}}': times for code, times in expected.items()}, "series")
        equal(promtool("check", "metrics", text=text), "", "words")


@test
def a_vendor_full_of_new_words_makes_few_series():
    words = [f"ERROR_WORD_{i}" for i in range(50)]
    with World({"retry": {"base": "1ms", "jitter": "1ms"}}, sim=("--solve-time", "10ms")) as world:
        world.sim.set_faults(script=[strike("submit-error", word, 2, word) for word in words])
        equal({world.solve(sitekey=word).status for word in words}, {502}, "statuses")
        counted = world.stats()["total"]["unknown_errors"]
        equal(counted, {**{word: 2 for word in words[:32]}, "other": 2 * 18}, "since start")
        series = [name for name in samples(metrics(world)) if name.startswith("solvegate_unknown_errors_total")]
        equal(len(series), 33, "series")


@test
def the_alert_rules_are_good_and_name_metrics_that_exist():
    path = os.path.join(CONTRIB, "alerts.yml")
    contains(promtool("check", "rules", path), "SUCCESS")
    with open(path, encoding="utf-8") as file:
        expressions = re.findall(r"expr: (.*)", file.read())
    check(len(expressions) >= 5, "rules")
    with busy_world() as world:
        there = {series.split("{")[0] for series in samples(metrics(world))}
    equal(set().union(*map(names_in, expressions)) - there, set(), "metrics that do not exist")


@test
def the_dashboard_asks_for_metrics_that_exist_in_words_prometheus_knows():
    with open(os.path.join(CONTRIB, "grafana.json"), encoding="utf-8") as file:
        dashboard = json.load(file)
    expressions = [target["expr"] for panel in dashboard["panels"] for target in panel.get("targets", [])]
    check(len(expressions) > 20, "panels")
    with busy_world() as world:
        there = {series.split("{")[0] for series in samples(metrics(world))}
    equal(set().union(*map(names_in, expressions)) - there, set(), "metrics that do not exist")
    ids = [panel["id"] for panel in dashboard["panels"]]
    equal(len(ids), len(set(ids)), "each panel once")
    with tempfile.NamedTemporaryFile("w", suffix=".yml") as file:
        rules = [{"record": f"panel{i}", "expr": re.sub(r"\$__\w+", "5m", expression)} for i, expression in enumerate(expressions)]
        json.dump({"groups": [{"name": "dashboard", "rules": rules}]}, file)  # JSON is YAML
        file.flush()
        contains(promtool("check", "rules", file.name), "SUCCESS")


def documented(first):
    """The rows of docs/metrics.md whose first cell begins like this, cell by cell."""
    with open(os.path.join(ROOT, "docs", "metrics.md"), encoding="utf-8") as file:
        lines = [line for line in file if line.startswith(f"| `{first}")]
    return [[cell.strip() for cell in line.strip()[1:-1].split("|")] for line in lines]


def documented_metrics():
    """Name to (type, labels); a row may name a pair of metrics, whose labels are divided by a slash."""
    found = {}
    for row in documented("solvegate_") + documented("process_"):
        names = re.findall(r"`(\w+)`", row[0])
        labels = [sorted(re.findall(r"`(\w+)`", part)) for part in row[2].split("/")]
        for i, name in enumerate(names):
            check(name not in found, f"{name} has two rows")
            check(len(row) == 4 and row[3], f"{name} has no meaning")
            found[name] = (row[1], labels[i % len(labels)])
    return found


def told_metrics(text):
    """The same as /metrics has it; the bounds of a histogram are no label of ours."""
    found = {name: (kind, []) for name, kind in re.findall(r"^# TYPE (\w+) (\w+)$", text, re.MULTILINE)}
    for series in samples(text):
        name = series.split("{")[0]
        family = name if name in found else re.sub(r"_(bucket|sum|count)$", "", name)
        labels = sorted(set(re.findall(r'(\w+)="', series)) - {"le"})
        found[family] = (found[family][0], labels)
    return found


@test
def the_document_has_every_metric_with_its_type_and_labels():
    with busy_world() as world:
        load(world)
        rewrite(world, lambda config: config["clients"][0].update(mode="shadow"))("reloaded")
        told, written = told_metrics(metrics(world)), documented_metrics()
    equal(sorted(set(told) - set(written)), [], "not in docs/metrics.md")
    equal(sorted(set(written) - set(told)), [], "only in docs/metrics.md")
    equal([(name, written[name]) for name in told if written[name] != told[name]], [], "types and labels that are wrong there")


@test
def the_document_has_every_alert_with_its_severity():
    with open(os.path.join(CONTRIB, "alerts.yml"), encoding="utf-8") as file:
        rules = re.findall(r"alert: (\w+)\n.*?severity: (\w+)", file.read(), re.DOTALL)
    equal([(row[0].strip("`"), row[1]) for row in documented("Solvegate")], rules, "docs/metrics.md")


def story(alert, series, after="15m", labels=None, fires=True):
    """A rule test of promtool: with these series the alert fires, or does not."""
    expected = [{"exp_labels": {"severity": "ticket", "instance": "a", "job": "solvegate", **(labels or {})}}] if fires else []
    inputs = [{"series": name.replace("{", '{instance="a",job="solvegate",') if "{" in name else name + '{instance="a",job="solvegate"}',
               "values": values} for name, values in series.items()]
    return {"interval": "1m", "input_series": inputs,
            "alert_rule_test": [{"eval_time": after, "alertname": alert, "exp_alerts": expected}]}


def try_alerts(stories):
    """promtool finds that the rules do what these stories say."""
    for one in stories:
        for expected in one["alert_rule_test"][0]["exp_alerts"]:
            expected["exp_labels"] = {name: value for name, value in expected["exp_labels"].items() if value}
    with open(os.path.join(CONTRIB, "alerts.yml"), encoding="utf-8") as file:
        rules = re.sub(r"\n +annotations:\n(?: {10,}.*\n)+", "\n", file.read())  # the words are not what is tested
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "rules.yml"), "w", encoding="utf-8") as file:
            file.write(rules)
        path = os.path.join(folder, "test.yml")
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"rule_files": ["rules.yml"], "evaluation_interval": "1m", "tests": stories}, file)
        contains(promtool("test", "rules", path), "SUCCESS")


@test
def the_alerts_fire_when_they_should_and_not_otherwise():
    page, ones, zeros = {"severity": "page"}, "1x30", "0x30"
    try_alerts([
        story("SolvegateBreakerOpen", {"solvegate_breaker_open": ones}, labels=page),
        story("SolvegateBreakerOpen", {"solvegate_breaker_open": zeros}, fires=False),
        story("SolvegateLettersGrowing", {"solvegate_letters_total": "0+2x30"}, "30m"),
        story("SolvegateLettersGrowing", {"solvegate_letters_total": "500x30"}, "30m", fires=False),
        story("SolvegateCallbacksUnhealthy", {"solvegate_callbacks_healthy": zeros}),
        story("SolvegateCallbacksUnhealthy", {"solvegate_callbacks_healthy": ones}, fires=False),
        story("SolvegateSlotsSaturated", {"solvegate_slots_used": "5x30", "solvegate_slots_limit": "5x30", "solvegate_flights_queued": "3x30"}),
        story("SolvegateSlotsSaturated", {"solvegate_slots_used": "5x30", "solvegate_slots_limit": "5x30", "solvegate_flights_queued": zeros}, fires=False),
        story("SolvegateUnknownErrors", {'solvegate_unknown_errors_total{code="ERROR_NEW_MOON"}': "0+1x30"}, "30m", labels={"code": "ERROR_NEW_MOON"}),
        story("SolvegateUnknownErrors", {'solvegate_unknown_errors_total{code="other"}': "500x30"}, "30m", fires=False),
        story("SolvegateBudgetLow", {'solvegate_client_budget_left{client="bob"}': "9x30", 'solvegate_client_budget_limit{client="bob"}': "100x30"},
              labels={"client": "bob"}),
        story("SolvegateBudgetLow", {'solvegate_client_budget_left{client="bob"}': "10x30", 'solvegate_client_budget_limit{client="bob"}': "100x30"},
              fires=False),
        story("SolvegateStoreNotWritable", {"solvegate_store_writable": zeros}, labels=page),
        story("SolvegateStoreAway", {"solvegate_store_up": zeros}, labels=page),
        story("SolvegateStoreAway", {"solvegate_store_up": ones}, fires=False),
        story("SolvegateStoreReconnects", {"solvegate_store_reconnects_total": "0+1x30"}, "30m"),
        story("SolvegateStoreReconnects", {"solvegate_store_reconnects_total": "500x30"}, "30m", fires=False),
        story("SolvegateStoreAsync", {"solvegate_store_async": "1x90"}, "80m"),
        story("SolvegateStoreAsync", {"solvegate_store_async": "0x90"}, "80m", fires=False),
        story("SolvegateStoreSlow", {'solvegate_store_commit_seconds_bucket{le="0.5"}': "0x30", 'solvegate_store_commit_seconds_bucket{le="1"}': "0+60x30",
                                     'solvegate_store_commit_seconds_bucket{le="+Inf"}': "0+60x30"}, labels={"job": None}),
        story("SolvegateStoreSlow", {'solvegate_store_commit_seconds_bucket{le="0.005"}': "0+60x30", 'solvegate_store_commit_seconds_bucket{le="+Inf"}': "0+60x30"}, fires=False),
    ])


@test
def the_alerts_of_a_cluster_do_so_too():
    page = {"severity": "page"}
    try_alerts([
        story("SolvegateClusterNodeDead", {'solvegate_cluster_nodes{state="dead"}': "0x5 1x30"}, labels={**page, "state": "dead"}),
        # Adopted within the minute.
        story("SolvegateClusterNodeDead", {'solvegate_cluster_nodes{state="dead"}': "0x14 1 0x30"}, fires=False),
        story("SolvegateClusterNodeDead", {'solvegate_cluster_nodes{state="left"}': "1x30"}, fires=False),
        story("SolvegateClusterLeaseLost", {"solvegate_cluster_leased": "0x30"}, labels=page),
        story("SolvegateClusterLeaseLost", {"solvegate_cluster_leased": "1x30"}, fires=False),
        story("SolvegateClusterNodeAdopted", {"solvegate_cluster_deaths_total": "0x5 1x30", "solvegate_cluster_adoptions_total": "0x5 1x30"}),
        # A rolling restart.
        story("SolvegateClusterNodeAdopted", {"solvegate_cluster_deaths_total": "3x30", "solvegate_cluster_adoptions_total": "3+1x30"}, fires=False),
        story("SolvegateClusterFenced", {"solvegate_cluster_fenced_total": "0x5 1x30"}),
        story("SolvegateClusterFenced", {"solvegate_cluster_fenced_total": "7x30"}, fires=False),
        story("SolvegateClusterLeaseUnsteady", {"solvegate_cluster_leases_lost_total": "0+1x90"}, "80m"),
        story("SolvegateClusterLeaseUnsteady", {"solvegate_cluster_leases_lost_total": "0x60 3x30"}, "80m", fires=False),
        story("SolvegateClusterConfigDiffers", {"solvegate_cluster_config_differs": "1x40"}, "30m"),
        # A rollout.
        story("SolvegateClusterConfigDiffers", {"solvegate_cluster_config_differs": "0x20 1x12 0x10"}, "31m", fires=False),
    ])


def audit_lines(world):
    return [dict(re.findall(r'(\w+)=("[^"]*"|\S+)', line)) for line in world.gate.stderr().splitlines() if " event=paid " in line]


@test
def each_paid_submit_leaves_one_audit_line_however_many_there_are():
    count = 200  # far more than an event may repeat in a second
    with World(clients(), sim=("--solve-time", "10ms")) as world:
        together(count, lambda i: world.call("POST", "/v1/solves", {"method": "turnstile", "sitekey": f"s{i}", "wait": 15,
                                                                    "pageurl": f"https://u:p@Shop{i}.Example.com:444/secret?x=1"}, key=ALICE))
        equal(world.paid(), count, "paid")
        lines = wait_until(lambda: len(audit_lines(world)) >= count and audit_lines(world), "the audit lines")
        equal(len(lines), count, "lines")
        equal({line["task"] for line in lines}, {submit["id"] for submit in world.sim.submits(limit=count)}, "tasks")
        equal({line["host"] for line in lines}, {f"shop{i}.example.com" for i in range(count)}, "hosts")
        equal({(line["client"], line["method"], line["type"], line["attempt"], line["cause"]) for line in lines},
              {("alice", "turnstile", "turnstile", "1", "first")}, "the rest")
        check("secret" not in world.gate.stderr(), "only the host of the page")


@test
def the_audit_trail_knows_the_page_by_every_name():
    pages = {"pageurl": "a.example.com", "url": "b.example.com", "websiteURL": "c.example.com", "website_url": "d.example.com"}
    with World(sim=("--solve-time", "10ms")) as world:
        for name, host in pages.items():
            world.result_text(world.submit_id(**{"method": "altcha", "pageurl": None, name: f"https://{host}/x"}))
        lines = wait_until(lambda: len(audit_lines(world)) >= len(pages) and audit_lines(world), "the audit lines")
        equal([line.get("host") for line in lines], list(pages.values()), "hosts")


@test
def the_audit_trail_says_why_a_submit_was_repeated():
    with World({"ambiguity_window": "300ms"}) as world:
        world.sim.set_faults(script=[strike("task-error", "again", 1, "ERROR_CAPTCHA_UNSOLVABLE"), strike("submit-lost", "lost", 1)])
        world.solved({"sitekey": "again"})
        world.solved({"sitekey": "lost"})
        lines = wait_until(lambda: len(audit_lines(world)) >= 3 and audit_lines(world), "the audit lines")
        equal([(line["cause"], line["attempt"], line.get("class"), line.get("error")) for line in lines],
              [("first", "1", None, None), ("retry", "2", "unsolvable", "ERROR_CAPTCHA_UNSOLVABLE"),
               ("resend", "2", "ambiguous", lines[2].get("error"))], "causes")


run()
