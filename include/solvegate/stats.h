/* The books: one list defines the counters, their Prometheus names and their help. */
#ifndef SOLVEGATE_STATS_H
#define SOLVEGATE_STATS_H

#include "base/histogram.h"

#include <solvegate/types.h>

#include <stdint.h>

/* Field, unit, metric, its labels, sentence. Counters of one metric stand together, and the metric's own sentence is in
 * STATS_FAMILY_LIST. Requests = sources + failed + rejected + detached + in flight: the books balance. */
#define STATS_LIST(X)                                                                             \
    X(requests, ONE, "requests_total", "", "Requests asked at any door")                          \
    X(requests_adopted, ONE, "requests_adopted_total", "",                                        \
      "Requests among them that were asked at a gateway that died")                               \
    X(requests_vendor, ONE, "dialect_requests_total", "dialect=\"vendor\"",                       \
      "Requests asked by in.php or solve.php")                                                    \
    X(requests_v1, ONE, "dialect_requests_total", "dialect=\"v1\"", "Requests asked by /v1")      \
    X(requests_createtask, ONE, "dialect_requests_total", "dialect=\"createtask\"",               \
      "Requests asked by createTask")                                                             \
    X(answered_api, ONE, "answered_total", "source=\"api\"",                                      \
      "Requests answered by the solve they started")                                              \
    X(answered_dedup_wait, ONE, "answered_total", "source=\"dedup_wait\"",                        \
      "Requests answered by joining a solve under way")                                           \
    X(answered_dedup_cache, ONE, "answered_total", "source=\"dedup_cache\"",                      \
      "Requests answered from fresh solutions in memory")                                         \
    X(answered_idempotent, ONE, "answered_total", "source=\"idempotent\"",                        \
      "Requests answered by the solve of their idempotency key")                                  \
    X(answered_pool, ONE, "answered_total", "source=\"pool\"", "Requests answered from a pool")   \
    X(failed, ONE, "failed_total", "", "Requests whose solve failed")                             \
    X(rejected, ONE, "rejected_total", "", "Requests refused at the door")                        \
    X(detached, ONE, "detached_total", "", "Requests whose caller left before the answer")        \
    X(flights, ONE, "flights_total", "", "Flights started")                                       \
    X(submits, ONE, "submits_total", "", "Submits sent to the vendor")                            \
    X(submits_accepted, ONE, "submits_ended_total", "outcome=\"accepted\"",                       \
      "Submits the vendor accepted: what is paid for")                                            \
    X(submits_rejected, ONE, "submits_ended_total", "outcome=\"rejected\"",                       \
      "Submits the vendor refused")                                                               \
    X(submits_not_sent, ONE, "submits_ended_total", "outcome=\"not_sent\"",                       \
      "Submits proven not to have left")                                                          \
    X(submits_ambiguous, ONE, "submits_ended_total", "outcome=\"ambiguous\"",                     \
      "Submits whose reply was lost")                                                             \
    X(submits_proven, ONE, "submits_ended_total", "outcome=\"proven\"",                           \
      "Submits without a reply that a callback proved to be paid")                                \
    X(resends, ONE, "resends_total", "", "Submits repeated after an ambiguity window")            \
    X(retries, ONE, "retries_total", "", "Attempts after the first of a flight")                  \
    X(rides, ONE, "rides_total", "",                                                              \
      "Flights that waited for a task paid for before instead of submitting")                     \
    X(polls, ONE, "polls_total", "", "Polls sent to the vendor")                                  \
    X(polls_unheard, ONE, "polls_unheard_total", "", "Polls without a usable reply")              \
    X(probes, ONE, "probes_total", "", "Free account calls sent to the vendor")                   \
    X(solves, ONE, "solves_total", "", "Solutions received")                                      \
    X(failures_busy, ONE, "flights_failed_total", "class=\"busy\"",                               \
      "Flights failed because the vendor stayed busy")                                            \
    X(failures_unsolvable, ONE, "flights_failed_total", "class=\"unsolvable\"",                   \
      "Flights failed because the vendor gave up")                                                \
    X(failures_transient, ONE, "flights_failed_total", "class=\"transient\"",                     \
      "Flights failed by vendor or network faults")                                               \
    X(failures_ambiguous, ONE, "flights_failed_total", "class=\"ambiguous\"",                     \
      "Flights failed with a submit nobody heard of")                                             \
    X(failures_account, ONE, "flights_failed_total", "class=\"account\"",                         \
      "Flights failed by the vendor account")                                                     \
    X(failures_caller, ONE, "flights_failed_total", "class=\"caller\"",                           \
      "Flights failed by their own parameters")                                                   \
    X(failures_proxy, ONE, "flights_failed_total", "class=\"proxy\"",                             \
      "Flights failed by their proxy")                                                            \
    X(failures_unknown, ONE, "flights_failed_total", "class=\"unknown\"",                         \
      "Flights failed by errors we do not know")                                                  \
    X(failures_timeout, ONE, "flights_failed_total", "class=\"timeout\"",                         \
      "Flights that reached their deadline")                                                      \
    X(callbacks_ok, ONE, "callbacks_total", "result=\"ok\"",                                      \
      "Callbacks that brought something new")                                                     \
    X(callbacks_duplicate, ONE, "callbacks_total", "result=\"duplicate\"",                        \
      "Callbacks that repeated what we knew")                                                     \
    X(callbacks_late, ONE, "callbacks_total", "result=\"late\"",                                  \
      "Callbacks for attempts already given up")                                                  \
    X(callbacks_unknown, ONE, "callbacks_total", "result=\"unknown\"",                            \
      "Genuine callbacks for attempts no longer kept")                                            \
    X(callbacks_forged, ONE, "callbacks_total", "result=\"forged\"",                              \
      "Callbacks with a nonce that is not ours, or no longer")                                    \
    X(duplicates_proven, ONE, "duplicates_proven_total", "",                                      \
      "Attempts for which two task ids were seen")                                                \
    X(tasks_twice, ONE, "tasks_twice_total", "", "Attempts that were given the task of another")  \
    X(cache_hits, ONE, "cache_hits_total", "", "Look-ups that found a fresh solution")            \
    X(cache_misses, ONE, "cache_misses_total", "", "Look-ups that found none")                    \
    X(solutions_banked, ONE, "solutions_banked_total", "",                                        \
      "Solutions kept though nobody was waiting")                                                 \
    X(solutions_expired_unused, ONE, "solutions_expired_unused_total", "",                        \
      "Solutions that expired without being handed out")                                          \
    X(solutions_evicted, ONE, "solutions_evicted_total", "",                                      \
      "Solutions dropped to stay within the cache's limits")                                      \
    X(letters, ONE, "letters_total", "", "Dead letters made")                                     \
    X(letters_replayed, ONE, "letters_replayed_total", "", "Dead letters sent for another solve") \
    X(letters_settled, ONE, "letters_settled_total", "", "Dead letters whose replay was solved")  \
    X(letters_dropped, ONE, "letters_dropped_total", "",                                          \
      "Dead letters dropped by hand, by age or for room")                                         \
    X(pool_refills, ONE, "pool_refills_total", "", "Solves started ahead for a pool")             \
    X(pool_expired, ONE, "pool_expired_total", "", "Solutions of pools that expired unused")      \
    X(notices_delivered, ONE, "notices_total", "result=\"delivered\"",                            \
      "Notices to callers that were taken")                                                       \
    X(notices_failed, ONE, "notices_total", "result=\"failed\"",                                  \
      "Notices to callers given up after all retries")                                            \
    X(reports_good, ONE, "reports_total", "opinion=\"good\"", "Good reports")                     \
    X(reports_bad, ONE, "reports_total", "opinion=\"bad\"", "Bad reports")                        \
    X(shadow_paid, ONE, "shadow_paid_total", "", "Submits paid for in shadow mode")               \
    X(shadow_dedup_wait, ONE, "shadow_duplicates_total", "source=\"dedup_wait\"",                 \
      "Submits paid for in shadow mode that joining a solve would have spared")                   \
    X(shadow_dedup_cache, ONE, "shadow_duplicates_total", "source=\"dedup_cache\"",               \
      "Submits paid for in shadow mode that a fresh solution would have spared")                  \
    X(shadow_idempotent, ONE, "shadow_duplicates_total", "source=\"idempotent\"",                 \
      "Submits paid for in shadow mode that an idempotency key would have spared")                \
    X(shadow_retried, ONE, "shadow_retried_total", "",                                            \
      "Duplicates in shadow mode that serving would have needed as retries")                      \
    X(shadow_mismatched, ONE, "shadow_mismatched_total", "",                                      \
      "Requests in shadow mode whose idempotency key stood for something else")                   \
    X(slot_ms_used, MS, "slot_used_seconds_total", "", "Seconds of vendor slots used")            \
    X(slot_ms_saved, MS, "slot_saved_seconds_total", "",                                          \
      "Seconds of vendor slots saved by answers without a solve")                                 \
    X(late_completions, ONE, "late_completions_total", "", "Completions for something already dead")

/* Metric with labels, sentence. */
#define STATS_FAMILY_LIST(X)                                                    \
    X("dialect_requests_total", "Requests asked, by dialect")                   \
    X("answered_total", "Requests answered, by how")                            \
    X("submits_ended_total", "Submits, by what became of them")                 \
    X("flights_failed_total", "Flights that failed, by why")                    \
    X("callbacks_total", "Callbacks, by what they brought")                     \
    X("shadow_duplicates_total",                                                \
      "Submits paid for in shadow mode that serving would have spared, by how") \
    X("notices_total", "Notices to callers, by their end")                      \
    X("reports_total", "Reports about solutions")

struct stats {
#define STATS_AS_FIELD(field, unit, metric, labels, text) uint64_t field;
    STATS_LIST(STATS_AS_FIELD)
#undef STATS_AS_FIELD
};

/* One hour of a day in shadow mode: what was paid for, and what serving would have spared of it. */
#define SHADOW_HOURS 24
struct shadow_hour {
    uint64_t paid, duplicates, saved_micro;
};

#define STATS_DAYS 7

/* Counters kept per client and type, a small subset of the above: field, unit, metric after
 * "solvegate_client_" or "solvegate_type_", sentence. Money is counted in millionths of the prices'
 * unit. The books balance here as well: requests = answered + deduplicated + failed + rejected +
 * detached + waiting. */
#define TALLY_LIST(X)                                                                            \
    X(requests, ONE, "requests_total", "Requests asked at any door")                             \
    X(requests_adopted, ONE, "requests_adopted_total",                                           \
      "Requests among them that were asked at a gateway that died")                              \
    X(answered, ONE, "answered_total", "Requests answered by the solve they started")            \
    X(deduplicated, ONE, "deduplicated_total", "Requests answered without a solve of their own") \
    X(failed, ONE, "failed_total", "Requests whose solve failed")                                \
    X(rejected, ONE, "rejected_total", "Requests refused at the door")                           \
    X(detached, ONE, "detached_total", "Requests whose caller left before the answer")           \
    X(paid, ONE, "paid_total", "Submits paid for, as far as the vendor said so")                 \
    X(slot_ms_used, MS, "slot_used_seconds_total", "Seconds of vendor slots used")               \
    X(slot_ms_saved, MS, "slot_saved_seconds_total",                                             \
      "Seconds of vendor slots saved by answers without a solve")                                \
    X(spent_micro, MICRO, "money_spent_total", "Money spent, in the unit of the prices")         \
    X(saved_micro, MICRO, "money_saved_total",                                                   \
      "Money saved by answers without a submit, in the unit of the prices")                      \
    X(shadow_paid, ONE, "shadow_paid_total", "Submits paid for in shadow mode")                  \
    X(shadow_wait, ONE, "shadow_dedup_wait_total",                                               \
      "Of those, submits that joining would have spared")                                        \
    X(shadow_cache, ONE, "shadow_dedup_cache_total",                                             \
      "Of those, submits that fresh solutions would have spared")                                \
    X(shadow_idempotent, ONE, "shadow_idempotent_total",                                         \
      "Of those, submits that idempotency keys would have spared")                               \
    X(shadow_retried, ONE, "shadow_retried_total",                                               \
      "Spared ones that serving would have needed as retries")                                   \
    X(shadow_spent_micro, MICRO, "shadow_money_spent_total", "Money spent in shadow mode")       \
    X(shadow_wait_micro, MICRO, "shadow_money_dedup_wait_total",                                 \
      "Money that joining would have saved")                                                     \
    X(shadow_cache_micro, MICRO, "shadow_money_dedup_cache_total",                               \
      "Money that fresh solutions would have saved")                                             \
    X(shadow_idempotent_micro, MICRO, "shadow_money_idempotent_total",                           \
      "Money that idempotency keys would have saved")                                            \
    X(shadow_retried_micro, MICRO, "shadow_money_retried_total",                                 \
      "Money that retries would have cost")

struct tally {
#define TALLY_AS_FIELD(field, unit, metric, text) uint64_t field;
    TALLY_LIST(TALLY_AS_FIELD)
#undef TALLY_AS_FIELD
};

/* Unknown error codes of the vendor, counted by name, so that a new one is noticed. The vendor
 * chooses the names, so only the first few valid ones have a place; all others count together. */
#define UNKNOWN_ERRORS_MAX 32
struct unknown_errors {
    size_t count;
    struct {
        char name[ERROR_CODE_MAX]; /* of A-Z, 0-9 and _ */
        uint64_t times;
    } items[UNKNOWN_ERRORS_MAX]; /* in the order of their first occurrence */
    uint64_t other_times;
};

/* Durations, as Prometheus histograms. */
#define TIMING_LIST(X)                                                                    \
    X(QUEUE, "queue_wait_seconds", "Time flights waited in the queue before each submit") \
    X(SOLVE, "solve_seconds", "Time from an accepted submit to its solution")             \
    X(CALLBACK, "callback_delay_seconds", "Time from an accepted submit to its callback")

enum timing {
#define TIMING_AS_ENUM(name, metric, text) TIMING_##name,
    TIMING_LIST(TIMING_AS_ENUM)
#undef TIMING_AS_ENUM
        TIMING_COUNT
};

#endif
