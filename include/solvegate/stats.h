/* The books: one list that yields the counters, their Prometheus names and their documentation. */
#ifndef SOLVEGATE_STATS_H
#define SOLVEGATE_STATS_H

#include "base/histogram.h"

#include <solvegate/types.h>

#include <stdint.h>

/* field, sentence. Requests = sources + failed + rejected + detached + in flight: the books balance. */
#define STATS_LIST(X)                                                                 \
    X(requests, "Requests asked at any door")                                         \
    X(answered_api, "Requests answered by the solve they started")                    \
    X(answered_dedup_wait, "Requests answered by joining a solve under way")          \
    X(answered_dedup_cache, "Requests answered from fresh solutions in memory")       \
    X(answered_idempotent, "Requests answered by the solve of their idempotency key") \
    X(answered_pool, "Requests answered from a pool")                                 \
    X(failed, "Requests whose solve failed")                                          \
    X(rejected, "Requests refused at the door")                                       \
    X(detached, "Requests whose caller left before the answer")                       \
    X(flights, "Flights started")                                                     \
    X(submits, "Submits sent to the vendor")                                          \
    X(submits_accepted, "Submits the vendor accepted: what is paid for")              \
    X(submits_rejected, "Submits the vendor refused")                                 \
    X(submits_not_sent, "Submits proven not to have left")                            \
    X(submits_ambiguous, "Submits whose reply was lost")                              \
    X(submits_proven, "Submits without a reply that a callback proved to be paid")    \
    X(resends, "Submits repeated after an ambiguity window")                          \
    X(retries, "Attempts after the first of a flight")                                \
    X(rides, "Flights that waited for a task paid for before instead of submitting")  \
    X(polls, "Polls sent to the vendor")                                              \
    X(polls_unheard, "Polls without a usable reply")                                  \
    X(probes, "Free account calls sent to the vendor")                                \
    X(solves, "Solutions received")                                                   \
    X(failures_busy, "Flights failed because the vendor stayed busy")                 \
    X(failures_unsolvable, "Flights failed because the vendor gave up")               \
    X(failures_transient, "Flights failed by vendor or network faults")               \
    X(failures_ambiguous, "Flights failed with a submit nobody heard of")             \
    X(failures_account, "Flights failed by the vendor account")                       \
    X(failures_caller, "Flights failed by their own parameters")                      \
    X(failures_proxy, "Flights failed by their proxy")                                \
    X(failures_unknown, "Flights failed by errors we do not know")                    \
    X(failures_timeout, "Flights that reached their deadline")                        \
    X(callbacks_ok, "Callbacks that brought something new")                           \
    X(callbacks_duplicate, "Callbacks that repeated what we knew")                    \
    X(callbacks_late, "Callbacks for attempts already given up")                      \
    X(callbacks_unknown, "Genuine callbacks for attempts no longer kept")             \
    X(callbacks_forged, "Callbacks with a nonce that is not ours, or no longer")      \
    X(duplicates_proven, "Attempts for which two task ids were seen")                 \
    X(tasks_twice, "Attempts that were given the task of another")                    \
    X(cache_hits, "Look-ups that found a fresh solution")                             \
    X(cache_misses, "Look-ups that found none")                                       \
    X(solutions_banked, "Solutions kept though nobody was waiting")                   \
    X(solutions_expired_unused, "Solutions that expired without being handed out")    \
    X(solutions_evicted, "Solutions dropped to stay within the cache's limits")       \
    X(letters, "Dead letters made")                                                   \
    X(letters_replayed, "Dead letters sent for another solve")                        \
    X(letters_settled, "Dead letters whose replay was solved")                        \
    X(letters_dropped, "Dead letters dropped by hand, by age or for room")            \
    X(pool_refills, "Solves started ahead for a pool")                                \
    X(pool_expired, "Solutions of pools that expired unused")                         \
    X(notices_delivered, "Callbacks to callers that were taken")                      \
    X(notices_failed, "Callbacks to callers given up after all retries")              \
    X(reports_good, "Good reports")                                                   \
    X(reports_bad, "Bad reports")                                                     \
    X(slot_ms_used, "Milliseconds of vendor slots used")                              \
    X(slot_ms_saved, "Milliseconds of vendor slots saved by answers without a solve") \
    X(late_completions, "Completions for something already dead")

struct stats {
#define STATS_AS_FIELD(field, text) uint64_t field;
    STATS_LIST(STATS_AS_FIELD)
#undef STATS_AS_FIELD
};

#define STATS_DAYS 7

/* What is counted for each client and type by itself, a small part of the above. Money is counted in
 * millionths of the prices' unit. The books balance here as well: requests = answered + deduplicated
 * + failed + rejected + detached + waiting. */
#define TALLY_LIST(X)                                                                 \
    X(requests, "Requests asked at any door")                                         \
    X(answered, "Requests answered by the solve they started")                        \
    X(deduplicated, "Requests answered without a solve of their own")                 \
    X(failed, "Requests whose solve failed")                                          \
    X(rejected, "Requests refused at the door")                                       \
    X(detached, "Requests whose caller left before the answer")                       \
    X(paid, "Submits paid for, as far as the vendor said so")                         \
    X(slot_ms_used, "Milliseconds of vendor slots used")                              \
    X(slot_ms_saved, "Milliseconds of vendor slots saved by answers without a solve") \
    X(spent_micro, "Millionths of the price's unit spent")                            \
    X(saved_micro, "Millionths of the price's unit saved by answers without a submit")

struct tally {
#define TALLY_AS_FIELD(field, text) uint64_t field;
    TALLY_LIST(TALLY_AS_FIELD)
#undef TALLY_AS_FIELD
};

/* Errors of the vendor that no table knows, by name: how a new one is noticed. The vendor chooses the
 * names, so only the first few that look like one have a place; the others count together. */
#define UNKNOWN_ERRORS_MAX 32
struct unknown_errors {
    size_t count;
    struct {
        char name[ERROR_CODE_MAX]; /* of A-Z, 0-9 and _ */
        uint64_t times;
    } items[UNKNOWN_ERRORS_MAX]; /* in the order they were first heard */
    uint64_t other_times;
};

/* Durations, as Prometheus has them. */
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
