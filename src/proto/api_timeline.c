/* What is known of one key, as JSON: no solution, no parameter and nobody else's request. */
#include "proto/api_timeline.h"

#include "proto/json_out.h"

#include <solvegate/words.h>

static void write_time(struct buf *out, const char *name, int64_t wall_ms)
{
    if (wall_ms != 0)
        json_time(out, name, wall_ms);
}

static void write_client(struct buf *out, client_id client, const struct onlooker *onlooker,
                         const struct api_names *names)
{
    if (onlooker->sees_all || client == onlooker->client)
        json_string(out, "client", names->client_name(names->context, client));
}

static void write_attempt(struct buf *out, const struct timeline_attempt *attempt)
{
    json_open(out, '{');
    json_string(out, "state", attempt->state);
    write_time(out, "started", attempt->started_wall_ms);
    write_time(out, "accepted", attempt->accepted_wall_ms);
    write_time(out, "polled", attempt->asked_wall_ms);
    json_seconds(out, "took", attempt->took_ms);
    if (attempt->class != CLASS_NONE)
        json_string(out, "class", error_class_name(attempt->class));
    if (attempt->code.len > 0)
        json_text(out, "error", attempt->code);
    if (attempt->task_id.len > 0)
        json_text(out, "upstream_id", attempt->task_id);
    json_close(out, '}');
}

static void write_attempts(struct buf *out, const char *name,
                           const struct timeline_attempt *attempts, size_t count)
{
    json_member(out, name);
    json_open(out, '[');
    for (size_t i = 0; i < count; i++)
        write_attempt(out, &attempts[i]);
    json_close(out, ']');
}

static void write_requests(struct buf *out, const struct timeline *timeline,
                           const struct onlooker *onlooker, const struct api_names *names)
{
    json_number(out, "request_count", timeline->request_count);
    json_member(out, "requests");
    json_open(out, '[');
    for (size_t i = 0; i < timeline->request_shown; i++) {
        json_open(out, '{');
        json_id(out, "id", timeline->requests[i].id);
        write_client(out, timeline->requests[i].client, onlooker, names);
        json_bool(out, "held", timeline->requests[i].is_held);
        json_close(out, '}');
    }
    json_close(out, ']');
}

static void write_flight(struct buf *out, const struct timeline *timeline,
                         const struct onlooker *onlooker, const struct api_names *names)
{
    json_open(out, '{');
    json_string(out, "state", timeline->state);
    write_client(out, timeline->client, onlooker, names);
    json_string(out, "type", type_name(timeline->type));
    json_string(out, "dialect", dialect_name(timeline->dialect));
    json_string(out, "reuse", reuse_name(timeline->reuse));
    write_time(out, "created", timeline->created_wall_ms);
    json_seconds(out, "age", timeline->age_ms);
    json_seconds(out, "deadline_in", timeline->deadline_in_ms);
    write_time(out, "queued_since", timeline->queued_wall_ms);
    write_time(out, "slot_since", timeline->slot_wall_ms);
    if (timeline->next != NULL) {
        json_string(out, "next", timeline->next);
        json_seconds(out, "next_in", timeline->next_in_ms);
    }
    write_requests(out, timeline, onlooker, names);
    write_attempts(out, "attempts", timeline->attempts, timeline->attempt_count);
    json_close(out, '}');
}

static void write_solution(struct buf *out, const struct key_view *view)
{
    if (!view->has_solution) {
        json_null(out, "solution");
        return;
    }
    json_member(out, "solution");
    json_open(out, '{');
    json_time(out, "born", view->born_wall_ms);
    json_seconds(out, "expires_in", view->expires_in_ms);
    json_number(out, "attempts", view->solution_attempts);
    if (view->solution_task_id.len > 0)
        json_text(out, "upstream_id", view->solution_task_id);
    json_close(out, '}');
}

static void write_letter(struct buf *out, const struct key_view *view)
{
    if (view->letter == 0) {
        json_null(out, "letter");
        return;
    }
    json_member(out, "letter");
    json_open(out, '{');
    json_id(out, "id", view->letter);
    json_time(out, "created", view->letter_wall_ms);
    json_string(out, "class", error_class_name(view->letter_class));
    json_text(out, "error", view->letter_code);
    write_attempts(out, "attempts", view->letter_attempts, view->letter_attempt_count);
    json_close(out, '}');
}

void api_write_timeline(struct buf *out, const struct key_view *view,
                        const struct onlooker *onlooker, const struct api_names *names,
                        const char *node)
{
    json_open(out, '{');
    json_hex(out, "key", view->key.bytes, KEY_BYTES);
    if (node != NULL)
        json_string(out, "node", node);
    json_number(out, "flight_count", view->flight_total);
    json_member(out, "flights");
    json_open(out, '[');
    for (size_t i = 0; i < view->flight_count; i++)
        write_flight(out, &view->flights[i], onlooker, names);
    json_close(out, ']');
    write_attempts(out, "strays", view->strays, view->stray_count);
    write_solution(out, view);
    write_letter(out, view);
    json_close(out, '}');
}
