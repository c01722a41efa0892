#include "sim/fault.h"

#include "base/buf.h"
#include "sim/text.h"

#include <stdio.h>

#define NOT_ACCEPTED "; the task is not accepted"
#define ACCEPTED "; the task is accepted"

const struct fault_row fault_rows[] = {
    {"submit-ok", PLACE_SUBMIT, FAULT_NONE, VALUE_NONE, NULL, "nothing goes wrong (for scripts)"},
    {"submit-close", PLACE_SUBMIT, FAULT_CLOSE, VALUE_NONE, NULL,
     "FIN instead of a reply" NOT_ACCEPTED},
    {"submit-reset", PLACE_SUBMIT, FAULT_RESET, VALUE_NONE, NULL,
     "RST instead of a reply" NOT_ACCEPTED},
    {"submit-stall", PLACE_SUBMIT, FAULT_STALL, VALUE_NONE, NULL, "no reply ever" NOT_ACCEPTED},
    {"submit-hang", PLACE_SUBMIT, FAULT_HANG, VALUE_NONE, NULL, "no reply ever" ACCEPTED},
    {"submit-lost", PLACE_SUBMIT, FAULT_LOST, VALUE_NONE, NULL, "FIN instead of a reply" ACCEPTED},
    {"submit-lost-reset", PLACE_SUBMIT, FAULT_LOST_RESET, VALUE_NONE, NULL,
     "RST instead of a reply" ACCEPTED},
    {"submit-429", PLACE_SUBMIT, FAULT_429, VALUE_TEXT, "5",
     "HTTP 429; value: Retry-After as seconds, date, garbage, huge or none" NOT_ACCEPTED},
    {"submit-5xx", PLACE_SUBMIT, FAULT_5XX, VALUE_NUMBER, "502",
     "an HTML page; value: 500, 502, 503 or 504" NOT_ACCEPTED},
    {"submit-5xx-accepted", PLACE_SUBMIT, FAULT_5XX_ACCEPTED, VALUE_NUMBER, "502",
     "the same" ACCEPTED},
    {"submit-garbage", PLACE_SUBMIT, FAULT_GARBAGE, VALUE_NONE, NULL,
     "bytes without sense" ACCEPTED},
    {"submit-empty", PLACE_SUBMIT, FAULT_EMPTY, VALUE_NONE, NULL,
     "200 with an empty body" ACCEPTED},
    {"submit-truncate", PLACE_SUBMIT, FAULT_TRUNCATE, VALUE_NUMBER, NULL,
     "the body ends after this many bytes (default half), then FIN" ACCEPTED},
    {"submit-drip", PLACE_SUBMIT, FAULT_DRIP, VALUE_MS, "50ms", "one byte at a time" ACCEPTED},
    {"submit-delay", PLACE_SUBMIT, FAULT_DELAY, VALUE_MS, "1s", "a late reply" ACCEPTED},
    {"submit-error", PLACE_SUBMIT, FAULT_ERROR, VALUE_TEXT, "ERROR_NO_SLOT_AVAILABLE",
     "this error code" NOT_ACCEPTED},
    {"submit-wrong-id", PLACE_SUBMIT, FAULT_WRONG_ID, VALUE_NONE, NULL,
     "the reply names another id" ACCEPTED},
    {"submit-twice", PLACE_SUBMIT, FAULT_TWICE, VALUE_NONE, NULL,
     "two tasks are accepted for one submit, both call back"},
    {"poll-ok", PLACE_POLL, FAULT_NONE, VALUE_NONE, NULL, "nothing goes wrong (for scripts)"},
    {"poll-close", PLACE_POLL, FAULT_CLOSE, VALUE_NONE, NULL, "FIN instead of a reply"},
    {"poll-reset", PLACE_POLL, FAULT_RESET, VALUE_NONE, NULL, "RST instead of a reply"},
    {"poll-hang", PLACE_POLL, FAULT_HANG, VALUE_NONE, NULL, "no reply ever"},
    {"poll-429", PLACE_POLL, FAULT_429, VALUE_TEXT, "5", "HTTP 429, value as for submit-429"},
    {"poll-5xx", PLACE_POLL, FAULT_5XX, VALUE_NUMBER, "502", "an HTML page"},
    {"poll-garbage", PLACE_POLL, FAULT_GARBAGE, VALUE_NONE, NULL, "bytes without sense"},
    {"poll-empty", PLACE_POLL, FAULT_EMPTY, VALUE_NONE, NULL, "200 with an empty body"},
    {"poll-truncate", PLACE_POLL, FAULT_TRUNCATE, VALUE_NUMBER, NULL,
     "the body ends after this many bytes (default half), then FIN"},
    {"poll-drip", PLACE_POLL, FAULT_DRIP, VALUE_MS, "50ms", "one byte at a time"},
    {"poll-delay", PLACE_POLL, FAULT_DELAY, VALUE_MS, "1s", "a late reply"},
    {"poll-error", PLACE_POLL, FAULT_ERROR, VALUE_TEXT, "ERROR_SERVER_ERROR",
     "this error code, while the task goes on"},
    {"account-ok", PLACE_ACCOUNT, FAULT_NONE, VALUE_NONE, NULL, "nothing goes wrong (for scripts)"},
    {"account-close", PLACE_ACCOUNT, FAULT_CLOSE, VALUE_NONE, NULL, "FIN instead of a reply"},
    {"account-reset", PLACE_ACCOUNT, FAULT_RESET, VALUE_NONE, NULL, "RST instead of a reply"},
    {"account-hang", PLACE_ACCOUNT, FAULT_HANG, VALUE_NONE, NULL, "no reply ever"},
    {"account-429", PLACE_ACCOUNT, FAULT_429, VALUE_TEXT, "5", "HTTP 429, value as for submit-429"},
    {"account-5xx", PLACE_ACCOUNT, FAULT_5XX, VALUE_NUMBER, "502", "an HTML page"},
    {"account-garbage", PLACE_ACCOUNT, FAULT_GARBAGE, VALUE_NONE, NULL, "bytes without sense"},
    {"account-empty", PLACE_ACCOUNT, FAULT_EMPTY, VALUE_NONE, NULL, "200 with an empty body"},
    {"account-delay", PLACE_ACCOUNT, FAULT_DELAY, VALUE_MS, "1s", "a late reply"},
    {"account-error", PLACE_ACCOUNT, FAULT_ERROR, VALUE_TEXT, "ERROR_KEY_DOES_NOT_EXIST",
     "this error code"},
    {"task-ok", PLACE_TASK, FAULT_NONE, VALUE_NONE, NULL, "nothing goes wrong (for scripts)"},
    {"task-error", PLACE_TASK, FAULT_ERROR, VALUE_TEXT, "ERROR_CAPTCHA_UNSOLVABLE",
     "the task ends with this error code, by poll and by callback"},
    {"task-never", PLACE_TASK, FAULT_NEVER, VALUE_NONE, NULL, "the task is never solved"},
    {"task-slow", PLACE_TASK, FAULT_SLOW, VALUE_MS, "60s", "the task takes this long"},
    {"task-reply", PLACE_TASK, FAULT_REPLY, VALUE_BYTES, "{\"status\":1,\"request\":\"\"}",
     "once solved, each poll is answered with these very bytes; %XX is a byte"},
    {"callback-ok", PLACE_CALLBACK, FAULT_NONE, VALUE_NONE, NULL,
     "nothing goes wrong (for scripts)"},
    {"callback-drop", PLACE_CALLBACK, FAULT_DROP, VALUE_NONE, NULL, "it is never made"},
    {"callback-twice", PLACE_CALLBACK, FAULT_TWICE, VALUE_NONE, NULL, "it is made two times"},
    {"callback-early", PLACE_CALLBACK, FAULT_EARLY, VALUE_NONE, NULL,
     "solved at once; it is answered before the submit gets its reply"},
    {"callback-late", PLACE_CALLBACK, FAULT_LATE, VALUE_MS, "30s",
     "it comes this long after the solve"},
    {"callback-forged", PLACE_CALLBACK, FAULT_FORGED, VALUE_TEXT, "",
     "one to an altered path with a false code comes first; value only: the true one never comes"},
    {"callback-other-code", PLACE_CALLBACK, FAULT_OTHER_CODE, VALUE_TEXT, "",
     "a second one brings another code; value only: it alone, so polls say otherwise"},
    {"callback-error", PLACE_CALLBACK, FAULT_ERROR, VALUE_TEXT, "ERROR_CAPTCHA_UNSOLVABLE",
     "it brings this error code although the task is solved"},
    {"callback-code", PLACE_CALLBACK, FAULT_CODE, VALUE_BYTES, "%01",
     "it brings these very bytes; %XX is a byte"},
};
const size_t fault_row_count = sizeof fault_rows / sizeof fault_rows[0];

const struct fault_row *fault_find(struct slice name)
{
    for (size_t i = 0; i < fault_row_count; i++)
        if (slice_equals_nocase(slice_from(fault_rows[i].name), name))
            return &fault_rows[i];
    return NULL;
}

const char *fault_suggest(struct slice name)
{
    const char *names[sizeof fault_rows / sizeof fault_rows[0]];
    char word[40];

    for (size_t i = 0; i < fault_row_count; i++)
        names[i] = fault_rows[i].name;
    snprintf(word, sizeof word, "%.*s", (int)(name.len > 39 ? 39 : name.len), name.data);
    return text_nearest(word, names, fault_row_count);
}

/* The text goes into a header line, so it must not contain a line break. */
static bool is_one_line(struct slice text)
{
    for (size_t i = 0; i < text.len; i++)
        if ((unsigned char)text.data[i] < ' ' || text.data[i] == 0x7f)
            return false;
    return text.len <= 64;
}

static int hex_digit(char c)
{
    static const char digits[] = "0123456789abcdefABCDEF";
    const char *found = c == '\0' ? NULL : strchr(digits, c);

    if (found == NULL)
        return -1;
    return (int)(found - digits) < 16 ? (int)(found - digits) : (int)(found - digits) - 6;
}

/* False for a % without two digits, and for a zero byte, which would end the text. */
static bool read_bytes(struct slice text, const char **bytes)
{
    struct buf out;
    bool is_good = true;

    buf_init(&out, text.len + 1);
    for (size_t i = 0; i < text.len; i++) {
        char c = text.data[i];
        if (c == '%') {
            const int high = i + 2 < text.len ? hex_digit(text.data[i + 1]) : -1;
            const int low = i + 2 < text.len ? hex_digit(text.data[i + 2]) : -1;
            is_good = is_good && high >= 0 && low >= 0;
            c = (char)((high & 15) << 4 | (low & 15));
            i += 2;
        }
        is_good = is_good && c != '\0';
        buf_add_char(&out, c);
    }
    if (is_good)
        *bytes = text_intern(buf_slice(&out));
    buf_close(&out);
    return is_good;
}

bool fault_set(struct fault *fault, const struct fault_row *row, struct slice value)
{
    unsigned long long number;

    *fault = (struct fault){.row = row, .text = "", .number = FAULT_HALF};
    if (!slice_is_given(value) && row->fallback == NULL)
        return true;
    const struct slice text = slice_is_given(value) ? value : slice_from(row->fallback);
    switch (row->value) {
    case VALUE_NONE:
        return false;
    case VALUE_TEXT:
        fault->text = text_intern(text);
        return is_one_line(text);
    case VALUE_BYTES:
        return read_bytes(text, &fault->text);
    case VALUE_MS:
        return text_to_ms(text, &fault->number);
    case VALUE_NUMBER:
        if (!slice_to_u64(text, &number))
            return false;
        fault->number = number;
        return row->kind == FAULT_TRUNCATE || (number >= 500 && number <= 504 && number != 501);
    }
    return false;
}
