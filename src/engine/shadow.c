#include "engine/shadow.h"

#include "engine/aside.h"
#include "engine/flight_name.h"
#include "engine/retry.h"
#include "engine/shadow_books.h"
#include "engine/shadow_marks.h"
#include "engine/shadow_state.h"

#include <stdlib.h>

/* ---- birth and death --------------------------------------------------------------------- */

/* Made by the first ask in shadow mode, so that others do without it. */
static struct shadow *shadow_of(struct engine *engine)
{
    if (engine->shadow != NULL)
        return engine->shadow;
    struct shadow *shadow = calloc(1, sizeof *shadow);
    ASSERT(shadow != NULL);
    const uint32_t most = engine->options.max_shadow_keys;
    slab_init(&shadow->guesses, sizeof(struct guess), most);
    slab_init(&shadow->marks, sizeof(struct mark), most);
    table_init(&shadow->guesses_by_key, most, engine->options.secret);
    table_init(&shadow->marks_by_digest, most, engine->options.secret);
    list_init(&shadow->guess_order);
    list_init(&shadow->mark_order);
    repeats_init(&shadow->repeats, engine->options.max_shadow_top, engine->options.secret);
    engine->shadow = shadow;
    return shadow;
}

void shadow_close(struct engine *engine)
{
    struct shadow *shadow = engine->shadow;
    engine->shadow = NULL;
    if (shadow == NULL)
        return;
    slab_close(&shadow->guesses);
    slab_close(&shadow->marks);
    table_close(&shadow->guesses_by_key);
    table_close(&shadow->marks_by_digest);
    repeats_close(&shadow->repeats);
    free(shadow);
}

static void guess_hide(struct shadow *shadow, struct guess *guess)
{
    if (guess->node.place != NULL)
        table_remove(&shadow->guesses_by_key, &guess->node);
    guess->is_deserted = false;
}

static void guess_free(struct shadow *shadow, struct guess *guess)
{
    guess_hide(shadow, guess);
    list_unlink(&guess->link);
    slab_free(&shadow->guesses, guess->id);
}

static struct guess *guess_new(struct engine *engine, const struct ask *ask)
{
    struct shadow *shadow = engine->shadow;
    slab_id id;
    if (shadow->guesses.used == shadow->guesses.capacity)
        guess_free(shadow, CONTAINER_OF(list_first(&shadow->guess_order), struct guess, link));
    struct guess *guess = slab_alloc(&shadow->guesses, &id);
    ASSERT(guess != NULL);
    guess->id = id;
    guess->node.key = ask->key;
    guess->client = ask->client;
    guess->reuse = ask->reuse;
    guess->is_one_time = ask->is_one_time;
    list_init(&guess->link);
    list_append(&shadow->guess_order, &guess->link);
    if (ask->reuse == REUSE_SHARED)
        table_insert(&shadow->guesses_by_key, &guess->node);
    return guess;
}

/* ---- asking ------------------------------------------------------------------------------ */

struct ask shadow_alone(const struct ask *ask)
{
    struct ask alone = *ask;
    alone.reuse = REUSE_NONE;
    alone.has_idempotency = false;
    alone.pool = 0;
    alone.has_max_retries = true;
    alone.max_retries = 0;
    return alone;
}

/* As solution_suits() (cache.c). */
static bool suits(const struct engine *engine, const struct guess *guess, const struct ask *ask)
{
    if (guess->expires_ms <= engine->now_ms)
        return false;
    return guess->is_mistake || (guess->expires_ms - engine->now_ms >= ask->min_ttl_ms &&
                                 engine->now_ms - guess->born_ms <= ask->max_age_ms);
}

/* Finds what serving would have found, in the order of ask_place(): a solution, then a flight. */
static struct guess *find(const struct engine *engine, const struct ask *ask, enum source *source)
{
    struct guess *banked = NULL;
    struct guess *flight = NULL;
    if (ask->reuse == REUSE_NONE)
        return NULL;
    for (struct table_node *node = table_find(&engine->shadow->guesses_by_key, &ask->key);
         node != NULL; node = table_find_next(node)) {
        struct guess *guess = CONTAINER_OF(node, struct guess, node);
        const bool is_open = ask->reuse == REUSE_SHARED && guess->reuse == REUSE_SHARED;
        if (!clients_may_share(engine, guess->client, ask->client))
            continue;
        if (!guess->is_solved && (is_open || (guess->is_deserted && ask->reuse == REUSE_SINGLE)))
            flight = guess;
        if (!guess->is_solved || !suits(engine, guess, ask))
            continue;
        *source = SOURCE_DEDUP_CACHE;
        if (is_open || guess->is_mistake)
            return guess;
        if (guess->is_deserted)
            banked = guess;
    }
    *source = banked != NULL ? SOURCE_DEDUP_CACHE : SOURCE_DEDUP_WAIT;
    return banked != NULL ? banked : flight;
}

static void follow(struct engine *engine, struct flight *flight, struct guess *guess,
                   enum source source)
{
    struct shadow *shadow = engine->shadow;
    struct seat *seat = &flight->aside->seat;
    seat->guess = guess->id;
    seat->source = source;
    seat->is_duplicate = true;
    if (!guess->is_solved)
        guess->followers[guess->follower_count++ % GUESS_FOLLOWERS] = flight_id(engine, flight);
    /* What nobody waited for is handed out once. */
    if (guess->is_deserted) {
        guess->is_given = true;
        guess_hide(shadow, guess);
    }
    list_unlink(&guess->link);
    list_append(&shadow->guess_order, &guess->link);
}

/* Only an idempotency key finds a solve again that is not for everybody, or whose caller left. */
static struct guess *lead(struct engine *engine, struct flight *flight, const struct ask *ask)
{
    if (ask->reuse == REUSE_NONE && !ask->has_idempotency)
        return NULL;
    struct guess *guess = guess_new(engine, ask);
    flight->aside->seat.guess = guess->id;
    flight->aside->seat.is_leading = true;
    return guess;
}

void shadow_guess(struct engine *engine, struct flight *flight, const struct ask *ask)
{
    struct guess *guess = NULL;
    enum source source = SOURCE_IDEMPOTENT;
    (void)shadow_of(engine);
    aside_of(engine, flight)->seat.is_taken = true;
    /* What a pool hands out is paid for by its refills, one by one. */
    if (ask->pool != 0)
        return;
    const enum mark_found found = marks_find(engine, ask, &guess);
    if (found == MARK_MISMATCH) {
        COUNT(engine, shadow_mismatched);
        return;
    }
    if (found == MARK_NONE)
        guess = find(engine, ask, &source);
    if (guess != NULL)
        follow(engine, flight, guess, source);
    else
        guess = lead(engine, flight, ask);
    if (guess != NULL)
        marks_bind(engine, ask, guess);
}

/* ---- ends -------------------------------------------------------------------------------- */

void shadow_on_paid(struct engine *engine, struct flight *flight)
{
    struct seat *seat = &flight->aside->seat;
    shadow_books_paid(engine, flight);
    if (!seat->is_duplicate || seat->is_counted)
        return;
    seat->is_counted = true;
    shadow_books_duplicate(engine, flight);
    repeats_note(&engine->shadow->repeats, flight, engine->options.price_micro[flight->type]);
}

static struct guess *led_by(const struct engine *engine, const struct flight *flight)
{
    const struct seat *seat = &flight->aside->seat;
    return seat->is_leading ? slab_get(&engine->shadow->guesses, seat->guess) : NULL;
}

static void settle(struct engine *engine, struct guess *guess, uint64_t born_ms,
                   uint64_t expires_ms)
{
    guess->is_solved = true;
    guess->born_ms = born_ms;
    guess->expires_ms = expires_ms;
    guess->arrived_ms = engine->now_ms;
    list_unlink(&guess->link);
    list_append(&engine->shadow->guess_order, &guess->link);
}

/* May somebody else have it, though it was meant for one? */
static bool may_be_banked(const struct guess *guess)
{
    return guess->reuse == REUSE_SINGLE && !guess->is_marked && !guess->is_one_time &&
           !guess->is_given;
}

static void desert(struct shadow *shadow, struct guess *guess)
{
    guess->is_deserted = true;
    if (guess->node.place == NULL)
        table_insert(&shadow->guesses_by_key, &guess->node);
}

void shadow_on_solved(struct engine *engine, struct flight *flight, const struct solution *solution)
{
    struct guess *guess = led_by(engine, flight);
    if (guess == NULL)
        return;
    settle(engine, guess, solution->born_ms, solution->expires_ms);
    guess->attempt = solution->attempt;
    if (guess->is_one_time || guess->expires_ms <= engine->now_ms)
        guess_hide(engine->shadow, guess);
    else if (flight->request_count == 0 && may_be_banked(guess))
        desert(engine->shadow, guess);
}

static bool is_under_way(const struct flight *flight)
{
    return flight->state != FLIGHT_SOLVED && flight->state != FLIGHT_FAILED;
}

/* A follower's own flight, which is still under way, or NULL. */
static struct flight *heir_of(const struct engine *engine, struct guess *guess)
{
    for (size_t i = 0; i < GUESS_FOLLOWERS; i++) {
        struct flight *flight = slab_get(&engine->flights, guess->followers[i]);
        if (flight == NULL || !flight_is_shadow(flight) || !is_under_way(flight))
            continue;
        const struct seat *seat = &flight->aside->seat;
        if (!seat->is_duplicate || seat->guess != guess->id)
            continue;
        guess->followers[i] = 0;
        return flight;
    }
    return NULL;
}

/* Serving would have tried again for those who joined: the flight of one of them shows how that
 * goes, and what it cost is not spared. */
static bool go_on(struct engine *engine, struct guess *guess, const struct flight *failed,
                  enum error_class class)
{
    const bool is_resent = class == CLASS_AMBIGUOUS && engine->options.resend_ambiguous;
    /* A caller who left before the submit would have left it to the others. */
    const bool is_left = class == CLASS_NONE;
    if (!is_resent && !is_left && guess->tries >= retry_most_tries(engine, failed, class))
        return false;
    struct flight *heir = heir_of(engine, guess);
    if (heir == NULL)
        return false;
    guess->tries++;
    struct seat *seat = &heir->aside->seat;
    seat->is_leading = true;
    seat->is_duplicate = false;
    if (seat->is_counted)
        shadow_books_retried(engine, heir);
    return true;
}

void shadow_on_failed(struct engine *engine, struct flight *flight, enum error_class class)
{
    struct guess *guess = led_by(engine, flight);
    const uint32_t mistake_ms = engine->options.caller_error_ttl_ms;
    if (guess == NULL || go_on(engine, guess, flight, class))
        return;
    if (class != CLASS_CALLER || mistake_ms == 0 || guess->reuse == REUSE_NONE) {
        guess_free(engine->shadow, guess);
        return;
    }
    settle(engine, guess, engine->now_ms, engine->now_ms + mistake_ms);
    guess->is_mistake = true;
    if (guess->node.place == NULL)
        table_insert(&engine->shadow->guesses_by_key, &guess->node);
}

void shadow_on_deserted(struct engine *engine, struct flight *flight)
{
    struct guess *guess = led_by(engine, flight);
    if (guess != NULL && is_under_way(flight) && flight->attempt != NULL && may_be_banked(guess))
        desert(engine->shadow, guess);
}

void shadow_on_bad(struct engine *engine, const struct solution *solution)
{
    if (engine->shadow == NULL)
        return;
    for (struct table_node *node = table_find(&engine->shadow->guesses_by_key, &solution->node.key);
         node != NULL; node = table_find_next(node)) {
        struct guess *guess = CONTAINER_OF(node, struct guess, node);
        if (!guess->is_solved || guess->attempt != solution->attempt)
            continue;
        guess_free(engine->shadow, guess);
        return;
    }
}

/* ---- checking ---------------------------------------------------------------------------- */

void shadow_check(const struct engine *engine)
{
    const struct shadow *shadow = engine->shadow;
    if (shadow == NULL)
        return;
    slab_check(&shadow->guesses);
    slab_check(&shadow->marks);
    table_check(&shadow->guesses_by_key);
    table_check(&shadow->marks_by_digest);
    repeats_check(&shadow->repeats);
    ASSERT(shadow->marks_by_digest.count == shadow->marks.used);
    ASSERT(list_length(&shadow->mark_order) == shadow->marks.used);
    ASSERT(list_length(&shadow->guess_order) == shadow->guesses.used);
    for (slab_id id = 0; (id = slab_next(&shadow->guesses, id)) != 0;) {
        const struct guess *guess = slab_get(&shadow->guesses, id);
        ASSERT(!guess->is_deserted || guess->reuse == REUSE_SINGLE);
        ASSERT(!guess->is_deserted || guess->node.place != NULL);
        ASSERT(!guess->is_mistake || guess->is_solved);
    }
}
