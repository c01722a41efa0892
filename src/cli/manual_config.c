/* solvegate.json(5): turns the plain-text reference of the configuration into a manual page. */
#include "cli/manual_config.h"

#include "cli/manual.h"
#include "config/config_options.h"
#include "config/config_reference.h"

#include <ctype.h>

#define REFERENCE_MAX_BYTES (1 << 20)

static const char example[] =
    "{\n"
    "  \"listen\": [\"127.0.0.1:8430\"],\n"
    "  \"upstream\": {\"key\": \"${CAPTCHAAI_API_KEY}\", \"slots\": 50},\n"
    "  \"clients\": [\n"
    "    // `solvegate hash-key` prints the hash for a key.\n"
    "    {\"name\": \"crawler\", \"key_hash\": \"...\",\n"
    "     \"allow_hosts\": [\"*.example.com\"], \"budget_per_day\": 10000},\n"
    "  ],\n"
    "}\n";

static void add_line(struct buf *out, struct slice text)
{
    manual_add_text(out, text);
    buf_add_char(out, '\n');
}

/* Copies the text before the first option; a sentence at the start of a line begins a paragraph. */
static void write_introduction(struct buf *out, struct slice *text)
{
    const struct slice first_option = slice_from(option_table[0].path);
    bool is_first = true;
    while (text->len > 0) {
        struct slice rest = *text;
        const struct slice line = slice_take(&rest, '\n');
        if (slice_equals(line, first_option))
            return;
        *text = rest;
        const struct slice words = slice_trim(line);
        if (words.len == 0)
            continue;
        if (isupper((unsigned char)words.data[0]) && !is_first)
            buf_add(out, SLICE_OF(".PP\n"));
        is_first = false;
        add_line(out, words);
    }
}

/* An unindented name begins an option; the indented lines below belong to it. */
static void write_options(struct buf *out, struct slice text)
{
    bool is_first = true;
    while (text.len > 0) {
        const struct slice line = slice_take(&text, '\n');
        const struct slice words = slice_trim(line);
        if (words.len == 0)
            continue;
        if (line.data[0] != ' ') {
            buf_add(out, SLICE_OF(".TP\n\\fB"));
            manual_add_text(out, words);
            buf_add(out, SLICE_OF("\\fR\n"));
        } else {
            buf_add(out, is_first ? SLICE_OF("") : SLICE_OF(".br\n"));
            add_line(out, words);
        }
        is_first = line.data[0] != ' ';
    }
}

void manual_write_config(struct buf *out)
{
    struct buf reference;
    buf_init(&reference, REFERENCE_MAX_BYTES);
    config_write_reference(&reference);
    struct slice text = buf_slice(&reference);
    manual_add_head(out, "solvegate.json", 5, "configuration of solvegate");
    buf_add(out, SLICE_OF(".SH DESCRIPTION\n"));
    write_introduction(out, &text);
    buf_add(out, SLICE_OF(".PP\n"));
    add_line(out, SLICE_OF("`solvegate check -c FILE` names every mistake of a file at once."));
    buf_add(out, SLICE_OF(".SH OPTIONS\n"));
    write_options(out, text);
    buf_add(out, SLICE_OF(".SH EXAMPLES\n.EX\n"));
    manual_add_text(out, SLICE_OF(example));
    buf_add(out, SLICE_OF(".EE\n.SH SEE ALSO\n.BR solvegate (1)\n"));
    buf_close(&reference);
}
