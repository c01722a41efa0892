#include "base/rand.h"
#include "seed.h"
#include "sys/log.h"
#include "sys/log_repeat.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <yyjson.h>

#include <cmocka.h>

#define FUZZED_EVENTS 5000
#define OUTPUT_MAX (32 << 20)

static int real_stderr = -1;
static char *output; /* what was logged between begin and end, with a NUL */

static void begin(void)
{
    FILE *const file = tmpfile();
    assert_non_null(file);
    real_stderr = dup(STDERR_FILENO);
    assert_true(dup2(fileno(file), STDERR_FILENO) >= 0);
    (void)fclose(file);
}

static size_t end(void)
{
    const off_t size = lseek(STDERR_FILENO, 0, SEEK_END);
    assert_true(size >= 0 && size < OUTPUT_MAX);
    assert_int_equal(lseek(STDERR_FILENO, 0, SEEK_SET), 0);
    output = realloc(output, (size_t)size + 1);
    size_t len = 0;
    ssize_t count;
    while (len < (size_t)size &&
           (count = read(STDERR_FILENO, output + len, (size_t)size - len)) > 0)
        len += (size_t)count;
    output[len] = '\0';
    assert_true(dup2(real_stderr, STDERR_FILENO) >= 0);
    (void)close(real_stderr);
    return len;
}

static void one_event_is_one_line_in_each_format(void **state)
{
    (void)state;
    begin();
    log_init(LOG_LEVEL_INFO, LOG_FORMAT_KEY_VALUE);
    LOG(LOG_LEVEL_WARN, "door_opened", log_string("where", "front"), log_number("count", -3),
        log_string("said", "a b\n=\"c\""), log_text("nothing", SLICE_NONE),
        log_string("empty", ""));
    log_init(LOG_LEVEL_INFO, LOG_FORMAT_JSON);
    LOG(LOG_LEVEL_WARN, "door_opened", log_string("where", "front"), log_number("count", INT64_MIN),
        log_text("nothing", SLICE_NONE));
    log_init(LOG_LEVEL_INFO, LOG_FORMAT_TEXT);
    LOG(LOG_LEVEL_ERROR, "door_closed", log_string("where", "front"));
    (void)end();
    const char *const lines[] = {
        " level=warn event=door_opened where=front count=-3 said=\"a b\\n=\\\"c\\\"\" "
        "nothing=null empty=\"\"\n",
        "\"level\":\"warn\",\"event\":\"door_opened\",\"where\":\"front\",\"count\":-"
        "9223372036854775808,"
        "\"nothing\":null}\n",
        " error door_closed where=front\n",
    };
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
        if (strstr(output, lines[i]) == NULL)
            fail_msg("%s lacks %s", output, lines[i]);
}

static void the_time_is_utc_with_milliseconds(void **state)
{
    (void)state;
    begin();
    log_init(LOG_LEVEL_INFO, LOG_FORMAT_KEY_VALUE);
    LOG(LOG_LEVEL_INFO, "clock", log_number("n", 1));
    (void)end();
    static const char shape[] = "time=2000-00-00T00:00:00.000Z level=";
    for (size_t i = 0; i < strlen(shape); i++) {
        const bool is_digit = output[i] >= '0' && output[i] <= '9';
        if (shape[i] >= '0' && shape[i] <= '9' ? !is_digit : output[i] != shape[i])
            fail_msg("%s", output);
    }
}

static void events_below_the_level_are_not_written(void **state)
{
    (void)state;
    begin();
    log_init(LOG_LEVEL_WARN, LOG_FORMAT_KEY_VALUE);
    LOG(LOG_LEVEL_DEBUG, "quiet", log_number("n", 1));
    LOG(LOG_LEVEL_INFO, "quiet", log_number("n", 2));
    LOG(LOG_LEVEL_ERROR, "loud", log_number("n", 3));
    assert_false(log_is_on(LOG_LEVEL_INFO));
    assert_true(log_is_on(LOG_LEVEL_WARN));
    (void)end();
    assert_null(strstr(output, "quiet"));
    assert_non_null(strstr(output, "loud"));
}

static void a_file_is_never_coloured(void **state)
{
    (void)state;
    begin();
    log_init(LOG_LEVEL_INFO, LOG_FORMAT_TEXT);
    LOG(LOG_LEVEL_ERROR, "plain", log_string("escape", "\033[31mred"));
    (void)end();
    assert_null(strchr(output, '\033'));
    assert_non_null(strstr(output, "\\u001b[31mred"));
}

static void what_could_break_a_line_or_a_terminal_is_escaped(void **state)
{
    (void)state;
    char all[256];
    for (size_t i = 0; i < sizeof(all); i++)
        all[i] = (char)i;
    begin();
    log_init(LOG_LEVEL_INFO, LOG_FORMAT_JSON);
    LOG(LOG_LEVEL_INFO, "bytes", log_text("all", (struct slice){all, sizeof(all)}),
        log_string("marks", "\xe2\x80\xa8|\xe2\x80\xa9|\xe2\x80\xae|\xc2\x9b|\x7f|\xed\xa0\x80|"
                            "\xf4\x90\x80\x80|\xc3\xa4"));
    const size_t len = end();
    assert_ptr_equal(strchr(output, '\n'), output + len - 1);
    for (size_t i = 0; i + 1 < len; i++)
        assert_true((unsigned char)output[i] >= ' ' && output[i] != 0x7f);
    assert_non_null(
        strstr(output, "\"marks\":\"\\u2028|\\u2029|\\u202e|\\u009b|\\u007f|\\\\xed\\\\xa0\\\\x80|"
                       "\\\\xf4\\\\x90\\\\x80\\\\x80|\xc3\xa4\""));
}

/* A value as a stranger might make it: bytes, or characters of all kinds. */
static size_t make_value(struct rand *rand, char *out, size_t room)
{
    static const char *const pieces[] = {"a",
                                         "\"",
                                         "\\",
                                         "\n",
                                         "\r\n",
                                         "\xe2\x80\xa8",
                                         "\xe2\x80",
                                         "\xc3\xa4",
                                         "\xf0\x9f\x98\x80",
                                         "\xf0\x9f",
                                         "\xff",
                                         "\xc0\x80",
                                         "\xed\xb0\x80",
                                         "{",
                                         "}",
                                         ",",
                                         "=",
                                         " ",
                                         "\t",
                                         "\033[2J"};
    size_t len = 0;
    for (uint64_t k = rand_below(rand, 200); k > 0 && len + 8 < room; k--) {
        if (rand_below(rand, 2) == 0) {
            out[len++] = (char)rand_u64(rand);
            continue;
        }
        const char *const piece = pieces[rand_below(rand, sizeof(pieces) / sizeof(pieces[0]))];
        memcpy(out + len, piece, strlen(piece));
        len += strlen(piece);
    }
    return len;
}

static void check_line(const char *line, size_t len, int64_t number)
{
    assert_true(len <= 4096);
    yyjson_doc *const doc = yyjson_read(line, len, 0);
    if (doc == NULL)
        fail_msg("no JSON: %.*s", (int)len, line);
    yyjson_val *const root = yyjson_doc_get_root(doc);
    assert_int_equal(yyjson_get_sint(yyjson_obj_get(root, "number")), number);
    assert_non_null(yyjson_obj_get(root, "value"));
    yyjson_doc_free(doc);
}

static void fuzzed_fields_stay_one_line_of_json_each(void **state)
{
    (void)state;
    static char names[200][16]; /* more kinds than are watched, so that none is held back */
    for (size_t i = 0; i < 200; i++)
        (void)snprintf(names[i], sizeof(names[i]), "fuzzed_%zu", i);
    struct rand rand;
    rand_init(&rand, seed_value());
    begin();
    log_init(LOG_LEVEL_INFO, LOG_FORMAT_JSON);
    for (int i = 0; i < FUZZED_EVENTS; i++) {
        char value[2048], more[2048];
        const struct slice a = {value, make_value(&rand, value, sizeof(value))};
        const struct slice b = {more, make_value(&rand, more, sizeof(more))};
        LOG(LOG_LEVEL_INFO, names[i % 200], log_number("number", -i), log_text("value", a),
            log_text("more", b), log_text("again", a), log_text("and_again", b),
            log_text("at_last", a));
    }
    const size_t len = end();
    const char *line = output;
    for (int i = 0; i < FUZZED_EVENTS; i++) {
        const char *const stop = memchr(line, '\n', len - (size_t)(line - output));
        assert_non_null(stop);
        check_line(line, (size_t)(stop - line), -i);
        line = stop + 1;
    }
    assert_ptr_equal(line, output + len);
}

static void a_long_value_is_cut_and_a_full_line_says_so(void **state)
{
    (void)state;
    char value[5000];
    memset(value, 1, sizeof(value)); /* six characters each when escaped */
    const struct slice text = {value, sizeof(value)};
    begin();
    log_init(LOG_LEVEL_INFO, LOG_FORMAT_JSON);
    LOG(LOG_LEVEL_INFO, "long", log_text("a", text), log_text("b", text), log_number("c", 5));
    const size_t len = end();
    assert_true(len <= 4096);
    assert_non_null(strstr(output, "\\u0001...\","));
    assert_null(strstr(output, "\"b\":"));
    assert_non_null(strstr(output, ",\"c\":5,\"is_cut\":true}\n"));
}

static void repeats_pass_fifty_a_second_and_the_rest_are_counted(void **state)
{
    (void)state;
    static struct log_repeats repeats;
    struct log_repeat ended;
    for (int i = 0; i < 120; i++)
        assert_int_equal(log_repeats_allow(&repeats, "storm", 1000 + (uint64_t)i),
                         i < LOG_REPEATS_A_SECOND);
    assert_true(log_repeats_allow(&repeats, "calm", 1200));
    assert_false(log_repeats_take(&repeats, 1999, &ended));
    assert_true(log_repeats_take(&repeats, 2000, &ended));
    assert_string_equal(ended.event, "storm");
    assert_int_equal(ended.dropped, 70);
    assert_false(log_repeats_take(&repeats, 9000, &ended));
    assert_true(log_repeats_allow(&repeats, "storm", 2000));
}

static void many_kinds_of_events_do_not_hold_each_other_back(void **state)
{
    (void)state;
    static struct log_repeats repeats;
    static char names[3 * LOG_REPEATS_KINDS][16];
    for (size_t i = 0; i < 3 * LOG_REPEATS_KINDS; i++)
        (void)snprintf(names[i], sizeof(names[i]), "kind_%zu", i);
    for (uint64_t i = 0; i < 30 * LOG_REPEATS_KINDS; i++)
        assert_true(log_repeats_allow(&repeats, names[i % (3 * LOG_REPEATS_KINDS)], i / 100));
}

static void every_repeat_is_either_written_or_counted(void **state)
{
    (void)state;
    begin();
    log_init(LOG_LEVEL_INFO, LOG_FORMAT_KEY_VALUE);
    for (int i = 0; i < 1000; i++)
        LOG(LOG_LEVEL_INFO, "storm", log_number("n", i));
    log_close();
    (void)end();
    long written = 0, counted = 0;
    for (const char *at = output; (at = strstr(at, "event=storm ")) != NULL; at++)
        written++;
    for (const char *at = output; (at = strstr(at, "repeated=storm count=")) != NULL; at++)
        counted += strtol(at + strlen("repeated=storm count="), NULL, 10);
    assert_true(written >= LOG_REPEATS_A_SECOND && written < 500);
    assert_int_equal(written + counted, 1000);
}

/* Fills the pipe without blocking, then makes it one that would block. */
static void stuff(int fd)
{
    const int flags = fcntl(fd, F_GETFL);
    char block[4096] = {0};
    assert_int_equal(fcntl(fd, F_SETFL, flags | O_NONBLOCK), 0);
    while (write(fd, block, sizeof(block)) > 0)
        continue;
    assert_int_equal(fcntl(fd, F_SETFL, flags), 0);
}

static void a_reader_that_sleeps_does_not_stop_us(void **state)
{
    (void)state;
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    real_stderr = dup(STDERR_FILENO);
    stuff(ends[1]);
    assert_true(dup2(ends[1], STDERR_FILENO) >= 0);
    (void)close(ends[1]);
    log_init(LOG_LEVEL_INFO, LOG_FORMAT_KEY_VALUE);
    (void)alarm(20); /* a blocked write would hang for ever */
    for (int i = 0; i < 3; i++)
        LOG(LOG_LEVEL_INFO, "unheard", log_number("n", i));
    char drained[8192];
    assert_int_equal(fcntl(ends[0], F_SETFL, O_NONBLOCK), 0);
    while (read(ends[0], drained, sizeof(drained)) > 0)
        continue;
    LOG(LOG_LEVEL_INFO, "heard", log_number("n", 4));
    (void)alarm(0);
    const ssize_t len = read(ends[0], drained, sizeof(drained) - 1);
    (void)dup2(real_stderr, STDERR_FILENO);
    (void)close(real_stderr);
    (void)close(ends[0]);
    assert_true(len > 0);
    drained[len] = '\0';
    assert_non_null(strstr(drained, "event=log_lines_lost count=3\n"));
    assert_non_null(strstr(drained, "event=heard n=4\n"));
}

static void a_line_that_is_counted_is_never_a_repeat(void **state)
{
    (void)state;
    const struct log_field field = log_number("n", 1);
    begin();
    log_init(LOG_LEVEL_DEBUG, LOG_FORMAT_KEY_VALUE);
    for (int i = 0; i < 3 * LOG_REPEATS_A_SECOND; i++)
        log_each(LOG_LEVEL_DEBUG, "counted", &field, 1);
    log_init(LOG_LEVEL_INFO, LOG_FORMAT_KEY_VALUE);
    log_each(LOG_LEVEL_DEBUG, "counted", &field, 1);
    (void)end();
    int lines = 0;
    for (const char *at = output; (at = strstr(at, "level=debug event=counted n=1\n")) != NULL;
         at++)
        lines++;
    assert_int_equal(lines, 3 * LOG_REPEATS_A_SECOND);
}

static int give_back(void **state)
{
    (void)state;
    free(output);
    return 0;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_event_is_one_line_in_each_format),
        cmocka_unit_test(the_time_is_utc_with_milliseconds),
        cmocka_unit_test(events_below_the_level_are_not_written),
        cmocka_unit_test(a_file_is_never_coloured),
        cmocka_unit_test(what_could_break_a_line_or_a_terminal_is_escaped),
        cmocka_unit_test(fuzzed_fields_stay_one_line_of_json_each),
        cmocka_unit_test(a_long_value_is_cut_and_a_full_line_says_so),
        cmocka_unit_test(repeats_pass_fifty_a_second_and_the_rest_are_counted),
        cmocka_unit_test(many_kinds_of_events_do_not_hold_each_other_back),
        cmocka_unit_test(every_repeat_is_either_written_or_counted),
        cmocka_unit_test(a_reader_that_sleeps_does_not_stop_us),
        cmocka_unit_test(a_line_that_is_counted_is_never_a_repeat),
    };
    seed_init(argc, argv);
    return cmocka_run_group_tests(tests, seed_announce, give_back);
}
