#include "engine/rest.h"

#include "engine/attempt.h"
#include "engine/hear.h"
#include "engine/journal.h"
#include "engine/letters.h"
#include "engine/vigil.h"

/* Few polls are enough: somebody waits, and the text is there already. */
#define QUESTIONS_MAX 3

void rest_await(struct engine *engine, struct attempt *attempt, const struct vendor_result *result)
{
    attempt->partial = blob_ref(result->text);
    (void)journal_attempt(engine, attempt);
    rest_go_on(engine, attempt);
}

/* The attempt's former flight is about to submit again, and would pay while we poll for the rest. */
static bool is_in_a_hurry(const struct engine *engine, const struct attempt *attempt)
{
    const struct flight *own = attempt_origin(engine, attempt);
    return attempt->flight == NULL && own != NULL && own->is_in_table;
}

void rest_go_on(struct engine *engine, struct attempt *attempt)
{
    struct flight *flight = attempt->flight;
    /* The submit's reply is still to come and may name the task. */
    if (!attempt->is_replied)
        return;
    /* A poll for the id of another attempt's task would bring that attempt's answer. */
    if (attempt->task_id == NULL || attempt->is_twin || is_in_a_hurry(engine, attempt)) {
        attempt_settle(engine, attempt);
        return;
    }
    if (flight != NULL && flight->state != FLIGHT_SOLVING)
        flight_enter(engine, flight, FLIGHT_SOLVING, WHEEL_NEVER);
    attempt_poll(engine, attempt);
}

void rest_not_heard(struct engine *engine, struct attempt *attempt,
                    const struct vendor_result *result)
{
    const bool is_final =
        result->outcome == OUTCOME_FAILED || result->outcome == OUTCOME_UNDELIVERABLE;
    attempt->questions++;
    /* Callers get the text alone; the letter keeps the rest for the operator. */
    if (result->outcome == OUTCOME_UNDELIVERABLE)
        letter_of_solution(engine, attempt, result, slice_from(result->code));
    if (is_final || attempt->flight == NULL || attempt->questions >= QUESTIONS_MAX)
        attempt_settle(engine, attempt);
    else
        attempt_arm_next_poll(engine, attempt->flight, result->retry_after_ms);
}
