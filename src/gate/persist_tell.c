#include "gate/persist_tell.h"

#include "gate/gate_state.h"
#include "gate/gone.h"
#include "sys/log.h"

static void tell_migration(const struct store_counters *counters)
{
    if (counters->migrated_from != 0)
        LOG(LOG_LEVEL_INFO, "journal_migrated",
            log_number("from_version", (int64_t)counters->migrated_from));
}

static void warn_of_skipped(const struct store_counters *counters)
{
    if (counters->skipped > 0)
        LOG(LOG_LEVEL_WARN, "rows_skipped", log_number("rows", (int64_t)counters->skipped),
            log_string("meaning",
                       "rows of the journal cannot be read, or are of a client that is "
                       "not configured; they stay where they are, and all others go on"));
}

static void warn_of_loss(const struct store_counters *counters)
{
    if (counters->lost_solutions == 0 && counters->lost_idempotency == 0)
        return;
    LOG(LOG_LEVEL_WARN, "keys_changed",
        log_number("solutions_discarded", (int64_t)counters->lost_solutions),
        log_number("idempotency_keys_discarded", (int64_t)counters->lost_idempotency),
        log_string("meaning",
                   "an older version told clients apart by their place in the configuration; what "
                   "it cached "
                   "for later requests is not handed out, request ids and paid tasks are kept"));
}

void persist_tell_restored(struct gate *gate, uint64_t start_ns)
{
    struct store_counters counters;
    store_counters(gate->persist.store, &counters);
    tell_migration(&counters);
    warn_of_skipped(&counters);
    warn_of_loss(&counters);
    gone_warn(gate);
    LOG(LOG_LEVEL_INFO, "restored", log_number("flights", (int64_t)gate->persist.restored_flights),
        log_number("skipped", (int64_t)counters.skipped),
        log_number("took_ms", (int64_t)((uv_hrtime() - start_ns) / 1000000)));
}
