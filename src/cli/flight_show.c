#include "cli/flight_show.h"

#include "cli/show.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <sysexits.h>
#include <time.h>
#include <yyjson.h>

#define TEXT_MAX_BYTES ((size_t)256 * 1024)
#define KEY_DIGITS 64

/* Seconds since 1970 of a time like 2026-01-31T23:59:59.123Z; negative if it is not one. */
static double seconds_of(const char *text)
{
    struct tm date = {.tm_mday = 1};
    const char *const rest = strptime(text, "%Y-%m-%dT%H:%M:%S", &date);
    return rest == NULL ? -1 : (double)timegm(&date) + strtod(rest, NULL);
}

/* Begins a line: how long after the flight's beginning something was. */
static void add_moment(struct buf *out, double start, const char *time)
{
    const double at = seconds_of(time);
    char offset[32] = "";
    if (at >= 0 && start >= 0)
        (void)snprintf(offset, sizeof offset, "%+.1fs", fabs(at - start) < 0.05 ? 0 : at - start);
    buf_addf(out, "%10s  ", offset);
}

static void add_duration(struct buf *out, yyjson_val *object, const char *name)
{
    show_add_seconds(out, show_real(object, name));
}

/* ---- attempts ---------------------------------------------------------------------------- */

static void add_end(struct buf *out, yyjson_val *attempt)
{
    buf_addf(out, "%10s  ", "");
    if (show_has(attempt, "error")) {
        show_add_clean(out, show_text(attempt, "state"));
        buf_add(out, SLICE_OF(" after "));
        add_duration(out, attempt, "took");
        buf_add(out, SLICE_OF(": "));
        show_add_clean(out, show_text(attempt, "error"));
        buf_add(out, SLICE_OF(" ("));
        show_add_clean(out, show_text(attempt, "class"));
        buf_add_char(out, ')');
    } else {
        show_add_clean(out, show_text(attempt, "state"));
        buf_add(out, SLICE_OF(" for "));
        add_duration(out, attempt, "took");
    }
    buf_add_char(out, '\n');
}

static void add_attempt(struct buf *out, yyjson_val *attempt, double start, size_t number)
{
    add_moment(out, start, show_text(attempt, "started"));
    buf_addf(out, "attempt %zu sent\n", number);
    if (show_has(attempt, "accepted")) {
        add_moment(out, start, show_text(attempt, "accepted"));
        buf_add(out, SLICE_OF("accepted as task "));
        show_add_clean(out, show_text(attempt, "upstream_id"));
        buf_add_char(out, '\n');
    }
    if (show_has(attempt, "polled")) {
        add_moment(out, start, show_text(attempt, "polled"));
        buf_add(out, SLICE_OF("asked for the result\n"));
    }
    add_end(out, attempt);
}

static void add_attempts(struct buf *out, yyjson_val *list, double start)
{
    yyjson_arr_iter iter;
    size_t number = 0;
    (void)yyjson_arr_iter_init(list, &iter);
    for (yyjson_val *attempt; (attempt = yyjson_arr_iter_next(&iter)) != NULL;)
        add_attempt(out, attempt, start, ++number);
}

/* ---- flights ----------------------------------------------------------------------------- */

static const char *next_words(const char *next)
{
    static const char *const words[][2] = {
        {"poll", "the next poll"},
        {"retry", "the next attempt"},
        {"give_up_reply", "the end of waiting for the submit's reply"},
        {"ask_store", "the next question to the store"},
    };
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcmp(words[i][0], next) == 0)
            return words[i][1];
    return next;
}

static void add_requests(struct buf *out, yyjson_val *flight)
{
    yyjson_arr_iter iter;
    const uint64_t total = show_number(flight, "request_count");
    const char *separator = ": ";
    size_t shown = 0;
    buf_addf(out, "%" PRIu64 " %s", total, total == 1 ? "request waits" : "requests wait");
    (void)yyjson_arr_iter_init(yyjson_obj_get(flight, "requests"), &iter);
    for (yyjson_val *one; (one = yyjson_arr_iter_next(&iter)) != NULL; shown++) {
        buf_add(out, slice_from(separator));
        show_add_clean(out, show_text(one, "id"));
        buf_add(out, show_flag(one, "held") ? SLICE_OF(" (held)") : SLICE_NONE);
        separator = ", ";
    }
    if (shown < total)
        buf_addf(out, "%sand %" PRIu64 " more", shown == 0 ? ": " : ", ", total - shown);
    buf_add_char(out, '\n');
}

static void add_flight(struct buf *out, yyjson_val *flight)
{
    const double start = seconds_of(show_text(flight, "created"));
    show_add_clean(out, show_text(flight, "state"));
    buf_add(out, SLICE_OF(" for "));
    add_duration(out, flight, "age");
    buf_add(out, SLICE_OF(", "));
    add_duration(out, flight, "deadline_in");
    buf_add(out, SLICE_OF(" left; "));
    show_add_clean(out, show_text(flight, "type"));
    if (show_has(flight, "client")) {
        buf_add(out, SLICE_OF(" of "));
        show_add_clean(out, show_text(flight, "client"));
    }
    buf_add_char(out, '\n');
    add_requests(out, flight);
    buf_addf(out, "%10s  asked for at ", "+0.0s");
    show_add_clean(out, show_text(flight, "created"));
    buf_add_char(out, '\n');
    add_attempts(out, yyjson_obj_get(flight, "attempts"), start);
    if (show_has(flight, "queued_since")) {
        add_moment(out, start, show_text(flight, "queued_since"));
        buf_add(out, SLICE_OF("queued until a slot is free\n"));
    }
    if (show_has(flight, "next")) {
        buf_addf(out, "%10s  ", "next");
        show_add_clean(out, next_words(show_text(flight, "next")));
        buf_add(out, SLICE_OF(" in "));
        add_duration(out, flight, "next_in");
        buf_add_char(out, '\n');
    }
}

/* ---- what is left ------------------------------------------------------------------------ */

static void add_solution(struct buf *out, yyjson_val *solution)
{
    if (!yyjson_is_obj(solution))
        return;
    buf_add(out, SLICE_OF("solved at "));
    show_add_clean(out, show_text(solution, "born"));
    buf_addf(out, " in %" PRIu64 " attempts, as task ", show_number(solution, "attempts"));
    show_add_clean(out, show_text(solution, "upstream_id"));
    buf_add(out, SLICE_OF("; in memory for another "));
    add_duration(out, solution, "expires_in");
    buf_add_char(out, '\n');
}

static void add_letter(struct buf *out, yyjson_val *letter)
{
    if (!yyjson_is_obj(letter))
        return;
    buf_add(out, SLICE_OF("given up at "));
    show_add_clean(out, show_text(letter, "created"));
    buf_add(out, SLICE_OF(": "));
    show_add_clean(out, show_text(letter, "error"));
    buf_add(out, SLICE_OF(" ("));
    show_add_clean(out, show_text(letter, "class"));
    buf_add(out, SLICE_OF("), letter "));
    show_add_clean(out, show_text(letter, "id"));
    buf_add_char(out, '\n');
    yyjson_val *const attempts = yyjson_obj_get(letter, "attempts");
    add_attempts(out, attempts, seconds_of(show_text(yyjson_arr_get_first(attempts), "started")));
}

static void add_strays(struct buf *out, yyjson_val *strays)
{
    if (yyjson_arr_size(strays) == 0)
        return;
    buf_add(out, SLICE_OF("nobody waits, but the vendor may still solve what is paid for:\n"));
    add_attempts(out, strays, seconds_of(show_text(yyjson_arr_get_first(strays), "started")));
}

/* Several requests that share nothing have one key. */
static void add_more(struct buf *out, yyjson_val *root)
{
    const uint64_t shown = yyjson_arr_size(yyjson_obj_get(root, "flights"));
    const uint64_t total = show_number(root, "flight_count");
    if (total > shown)
        buf_addf(out, "\nand %" PRIu64 " younger flights with this key\n", total - shown);
    if (total > 0)
        buf_add_char(out, '\n');
}

static void print_key(yyjson_val *root)
{
    struct buf out;
    yyjson_arr_iter iter;
    buf_init(&out, TEXT_MAX_BYTES);
    buf_add(&out, SLICE_OF("key "));
    show_add_clean(&out, show_text(root, "key"));
    if (show_has(root, "node")) {
        buf_add(&out, SLICE_OF(" at gateway "));
        show_add_clean(&out, show_text(root, "node"));
    }
    buf_add_char(&out, '\n');
    (void)yyjson_arr_iter_init(yyjson_obj_get(root, "flights"), &iter);
    for (yyjson_val *flight; (flight = yyjson_arr_iter_next(&iter)) != NULL;) {
        buf_add_char(&out, '\n');
        add_flight(&out, flight);
    }
    add_more(&out, root);
    add_strays(&out, yyjson_obj_get(root, "strays"));
    add_solution(&out, yyjson_obj_get(root, "solution"));
    add_letter(&out, yyjson_obj_get(root, "letter"));
    show_print(&out);
    buf_close(&out);
}

int flight_show(const struct command *command, struct remote *remote, const char *key)
{
    char path[sizeof "/v1/flights/" + KEY_DIGITS];
    size_t digits = 0;
    while (isxdigit((unsigned char)key[digits]) != 0)
        digits++;
    if (key[digits] != '\0' || digits == 0 || digits > KEY_DIGITS) {
        cli_wrong(command, "expected the key of a flight in hexadecimal digits, found \"%s\"", key);
        return EX_USAGE;
    }
    (void)snprintf(path, sizeof path, "/v1/flights/%s", key);
    return remote_get(command, remote, path, print_key);
}
