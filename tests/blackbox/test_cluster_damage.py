#!/usr/bin/env python3
"""Rows of a dead gateway that nobody can read: they are counted and told, and all others go on. (TAP)"""
from cluster_world import Cluster, on_each_adopter
from harness import binary, check, contains, equal, run, wait_until
from stores import metric

LEASE = {"cluster": {"lease": "2s", "heartbeat": "250ms"}}
KEYS = ["k1", "k2", "k3"]

# The first becomes no JSON, the second no row.
LUA = """
local names = redis.call('ZRANGE', '{solvegate}:flight@1', 0, -1)
redis.call('SET', '{solvegate}:flight:' .. names[1], 'nonsense')
redis.call('DEL', '{solvegate}:flight:' .. names[2])
redis.call('RPUSH', '{solvegate}:flight:' .. names[2], 'nonsense')
return #names
"""
# Neither is an object any more.
SQL = """
UPDATE solvegate.flight SET body = '"nonsense"' WHERE id = (SELECT min(id) FROM solvegate.flight);
UPDATE solvegate.flight SET body = '[]' WHERE id = (SELECT id FROM solvegate.flight ORDER BY id LIMIT 1 OFFSET 1)
"""


def damage(store):
    if store.kind == "Redis":
        equal(store.ask("EVAL", LUA, "0"), b":3", "flights")
    else:
        store.sql(SQL)


@on_each_adopter
def loses_only_what_cannot_be_read_of_one_that_died(store):
    """Two of three flights are damaged. Their tasks are not: whoever asks again gets what was paid for."""
    with Cluster(store, config=LEASE, sim=("--solve-time", "10m")) as cluster:
        a, b = cluster.nodes
        tasks = [a.submit_id(sitekey=key) for key in KEYS]
        a.await_accepted(len(KEYS))
        a.kill()
        damage(store)
        contains(b.wait_line("event=node_adopted", 40), "node=a")
        contains(b.wait_line("event=rows_skipped", 40), "rows=2 node=a")
        equal(metric(b, "store_rows_skipped_total"), 2, "rows that were skipped")
        cluster.sim.solve()
        wait_until(lambda: sum(b.text_of(task) is not None for task in tasks) == 1, "the answer to the one that is whole", 40)
        for key in KEYS:
            equal(b.solve(sitekey=key).status, 200)
        equal(cluster.paid(), len(KEYS), "paid")
        check(b.process.poll() is None, "it goes on")


if __name__ == "__main__":
    binary("SOLVEGATE")
    run()
