/* Rows that a load should give, compared field by field with those that it gave. */
#ifndef SOLVEGATE_TESTS_STORE_EXPECT_H
#define SOLVEGATE_TESTS_STORE_EXPECT_H

#include "store_world.h"

#define ROWS_PER_KIND 20
#define EXPECTED_MAX (RECORD_KIND_COUNT * ROWS_PER_KIND)

struct expectation {
    struct record records[EXPECTED_MAX]; /* owned; in any order */
    size_t count;
    /* A load's progress. */
    bool is_seen[EXPECTED_MAX];
    size_t loaded;
    enum record_kind latest;
    int64_t latest_name;
    const char *mistake;
};

/* Appends some random rows of each kind to the store and expects them. */
void expect_append(struct store_world *world, struct expectation *wanted);
/* The drop of a record: only its name is given, as by an engine that has forgotten the rest. */
struct record expect_drop_of(const struct record *record);
void expect_drop(struct store_world *world, const struct record *record);
/* Loads the open store and fails the test unless exactly the expected rows come, in their order. */
void expect_load(struct store_world *world, struct expectation *wanted);
void expect_forget(struct expectation *wanted);

#endif
