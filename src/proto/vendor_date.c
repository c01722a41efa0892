#include "proto/vendor_date.h"

/* RFC 9110 10.2.3: Retry-After is a number of seconds or a date in one of three forms (5.6.7):
 * "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994". */

struct moment {
    int year, month, day, hour, minute, second;
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

/* Takes one to four digits off the front. */
static bool take_number(struct slice *text, int *number)
{
    size_t len = 0;
    int value = 0;
    while (len < text->len && len < 4 && is_digit(text->data[len]))
        value = value * 10 + (text->data[len++] - '0');
    text->data += len;
    text->len -= len;
    *number = value;
    return len > 0;
}

static struct slice take_word(struct slice *text)
{
    struct slice word = {.data = text->data, .len = 0};
    while (word.len < text->len && is_letter(text->data[word.len]))
        word.len++;
    text->data += word.len;
    text->len -= word.len;
    return word;
}

static void skip_separators(struct slice *text)
{
    while (text->len > 0 &&
           (text->data[0] == ' ' || text->data[0] == ',' || text->data[0] == '-')) {
        text->data++;
        text->len--;
    }
}

static bool take_char(struct slice *text, char c)
{
    if (text->len == 0 || text->data[0] != c)
        return false;
    text->data++;
    text->len--;
    return true;
}

static int month_of(struct slice word)
{
    static const char names[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    if (word.len != 3)
        return 0;
    for (int month = 0; month < 12; month++)
        if (memcmp(names + month * 3, word.data, 3) == 0)
            return month + 1;
    return 0;
}

static bool take_month(struct slice *text, struct moment *moment)
{
    moment->month = month_of(take_word(text));
    skip_separators(text);
    return moment->month != 0;
}

static bool take_day(struct slice *text, struct moment *moment)
{
    const bool is_there = take_number(text, &moment->day);
    skip_separators(text);
    return is_there;
}

static bool take_time(struct slice *text, struct moment *moment)
{
    return take_number(text, &moment->hour) && take_char(text, ':') &&
           take_number(text, &moment->minute) && take_char(text, ':') &&
           take_number(text, &moment->second);
}

static bool take_year(struct slice *text, struct moment *moment)
{
    skip_separators(text);
    const size_t before = text->len;
    if (!take_number(text, &moment->year))
        return false;
    /* In a Retry-After the two-digit year of RFC 850 can only mean our century. */
    if (before - text->len == 2)
        moment->year += 2000;
    skip_separators(text);
    return moment->year >= 1970;
}

static bool read_date(struct slice text, struct moment *moment)
{
    (void)take_word(&text);
    skip_separators(&text);
    if (text.len > 0 && is_letter(text.data[0])) /* asctime: the month comes first, the year last */
        return take_month(&text, moment) && take_day(&text, moment) && take_time(&text, moment) &&
               take_year(&text, moment);
    return take_day(&text, moment) && take_month(&text, moment) && take_year(&text, moment) &&
           take_time(&text, moment);
}

static bool is_moment(const struct moment *moment)
{
    return moment->day >= 1 && moment->day <= 31 && moment->hour <= 23 && moment->minute <= 59 &&
           moment->second <= 60;
}

/* Days since 1970-01-01 in the Gregorian calendar. Counting years from March puts the leap day at
 * the end of the year, so that one formula fits all months. */
static int64_t days_since_1970(const struct moment *moment)
{
    const int64_t year = moment->year - (moment->month <= 2);
    const int64_t month = (moment->month + 9) % 12;
    const int64_t day_of_year = (153 * month + 2) / 5 + moment->day - 1;
    const int64_t day = year * 365 + year / 4 - year / 100 + year / 400 + day_of_year;
    return day - 719468; /* from 0000-03-01 to 1970-01-01 */
}

static bool is_all_digits(struct slice text)
{
    for (size_t i = 0; i < text.len; i++)
        if (!is_digit(text.data[i]))
            return false;
    return text.len > 0;
}

uint32_t vendor_retry_after_ms(struct slice value, int64_t wall_ms, uint32_t cap_ms)
{
    const struct slice text = slice_trim(value);
    if (is_all_digits(text)) {
        unsigned long long seconds = 0;
        const bool fits = slice_to_u64(text, &seconds) && seconds < cap_ms / 1000u;
        return fits ? (uint32_t)seconds * 1000u : cap_ms;
    }
    struct moment moment = {.year = 0};
    if (text.len == 0 || !read_date(text, &moment) || !is_moment(&moment))
        return 0;
    const int64_t seconds =
        days_since_1970(&moment) * 86400 + moment.hour * 3600 + moment.minute * 60 + moment.second;
    const int64_t wait_ms = seconds * 1000 - wall_ms;
    if (wait_ms <= 0)
        return 0;
    return wait_ms < cap_ms ? (uint32_t)wait_ms : cap_ms;
}
