"""Bugs in what arbitrates between gateways, in the form of mutants_list.py: they are the modelled store's, and stand for
what the real ones' statements and scripts decide."""

ARBITER_MUTANTS = [
    ("arbiter: what an adopted node decides is written", "tests/sim/cluster/store.c",
     "    if (store->runs[node->run].is_gone)\n        return false;\n", "", "cluster"),
    ("arbiter: a node is adopted though its beat has moved", "tests/sim/cluster/pulse.c",
     " && dead->member.beat == moment->number;", ";", "cluster"),
    ("arbiter: a node is adopted twice", "tests/sim/cluster/pulse.c",
     "!dead->is_gone && ", "", "cluster"),
    ("arbiter: a batch that is sent again is applied again", "tests/sim/cluster/store.c",
     "const bool is_repeat = store->applied[place] == node->batch;", "const bool is_repeat = false;", "cluster"),
    ("arbiter: another's row is overwritten", "tests/sim/cluster/store.c",
     "    if (row != NULL && row->owner != node)\n        return;\n", "", "cluster"),
    ("arbiter: another's row is dropped", "tests/sim/cluster/store.c",
     "    if (row != NULL && row->owner != node)\n        return;\n",
     "    if (row != NULL && row->owner != node && !record->is_drop)\n        return;\n", "cluster"),
    ("arbiter: a claim is granted to two", "tests/sim/cluster/store.c",
     "    if (held != NULL) {\n        let_follow(verdict, held, node);\n        return;\n    }\n", "", "cluster"),
    ("arbiter: what a dead run had drawn is drawn again", "tests/sim/cluster/budget.c",
     "    share->earlier += share->held;\n", "", "cluster"),
]
