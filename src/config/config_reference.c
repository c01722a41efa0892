#include "config/config_reference.h"

#include "config/config_options.h"

static const char intro[] =
    "The configuration is JSON; comments and trailing commas are welcome. Below are all options,\n"
    "what they must look like, their defaults and what they do.\n"
    "\n"
    "  A name with dots is a member of a group: upstream.url is {\"upstream\": {\"url\": ...}}.\n"
    "  Texts may hold ${NAME}, which is replaced by that environment variable.\n"
    "  Durations are texts like \"250ms\", \"5s\", \"2m\", \"1h\" or \"7d\".\n"
    "  Options per type take an object: ";

static const char precedence[] =
    "\n"
    "  A type that is not named has the value of \"default\".\n"
    "  Flags come before the environment, the environment before the file, the file before "
    "defaults.\n"
    "  Every option but errors and clients can be given as a variable: SOLVEGATE_ and its name in\n"
    "  capitals, with _ for each dot (SOLVEGATE_UPSTREAM_SLOTS=50); lists are separated by "
    "commas.\n"
    "\n";

static void write_introduction(struct buf *out)
{
    buf_add(out, SLICE_OF(intro));
#define TYPE_AS_WORD(name, text) buf_add(out, SLICE_OF(text " "));
    TYPE_LIST(TYPE_AS_WORD)
#undef TYPE_AS_WORD
    buf_add(out, SLICE_OF(precedence));
}

static void write_shape(const struct option *option, struct buf *out)
{
    static const char *const shapes[] = {[SHAPE_ONE] = "",
                                         [SHAPE_LIST] = "list; each ",
                                         [SHAPE_PER_TYPE] = "per type; each ",
                                         [SHAPE_MAP] = "an object from codes to "};
    buf_add(out, slice_from(shapes[option->shape]));
    option_write_expected(option, out);
}

/* Writes one value as JSON. Numbers with words are written as their words; a list of bits has
 * several. */
static void write_preset(const struct option *option, const struct option_preset *preset,
                         struct buf *out)
{
    const bool is_bits = option->kind == OPTION_BIT;
    const char *comma = "";
    for (const struct option_word *word = option->words;
         word != NULL && preset->text[0] == '\0' && word->text != NULL; word++) {
        if (is_bits ? (preset->number & word->value) == 0 : preset->number != word->value)
            continue;
        buf_addf(out, "%s\"%s\"", comma, word->text);
        comma = ", ";
    }
    const bool is_bare = option->kind == OPTION_COUNT || option->kind == OPTION_SHARE;
    if (option->kind == OPTION_FLAG)
        buf_add(out, preset->number != 0 ? SLICE_OF("true") : SLICE_OF("false"));
    else if (preset->text[0] != '\0')
        buf_addf(out, is_bare ? "%s" : "\"%s\"", preset->text);
}

static void write_default(const struct option *option, struct buf *out)
{
    const bool is_object =
        option->shape == SHAPE_MAP || option->types != NULL || option->kind == OPTION_PRICE;
    const bool is_list = option->shape == SHAPE_LIST;
    buf_add(out, is_object ? SLICE_OF("{") : is_list ? SLICE_OF("[") : SLICE_OF(""));
    const struct option_type *own = option->types;
    for (; own != NULL && own->type < TYPE_COUNT; own++) {
        buf_addf(out, "\"%s\": ", option_type_name(own->type));
        write_preset(option, &own->preset, out);
        buf_add(out, SLICE_OF(", "));
    }
    if (option->types != NULL)
        buf_add(out, SLICE_OF("\"default\": "));
    if (option->shape != SHAPE_MAP)
        write_preset(option, &option->preset, out);
    buf_add(out, is_object ? SLICE_OF("}") : is_list ? SLICE_OF("]") : SLICE_OF(""));
}

static void write_option(const struct option *option, struct buf *out)
{
    buf_addf(out, "%s\n    %s\n    ", option->path, option->help);
    write_shape(option, out);
    if (option->preset.text != NULL) {
        buf_add(out, SLICE_OF("\n    default: "));
        write_default(option, out);
    }
    buf_add(out, SLICE_OF("\n\n"));
}

void config_write_reference(struct buf *out)
{
    write_introduction(out);
    for (size_t i = 0; i < option_count; i++)
        write_option(&option_table[i], out);
}

/* ---- Markdown ------------------------------------------------------------------------------ */

/* Escapes bars, which would end the cell. */
static void add_cell(struct buf *out, const struct buf *text, const char *quote)
{
    buf_add(out, slice_from(quote));
    for (size_t i = 0; i < text->len; i++) {
        if (text->data[i] == '|')
            buf_add_char(out, '\\');
        buf_add_char(out, text->data[i]);
    }
    buf_addf(out, "%s | ", quote);
}

static void write_row(const struct option *option, struct buf *out)
{
    struct buf text;
    buf_init(&text, 4096);
    buf_addf(out, "| `%s` | %s | ", option->path, option->help);
    write_shape(option, &text);
    add_cell(out, &text, "");
    buf_reset(&text);
    if (option->preset.text != NULL)
        write_default(option, &text);
    add_cell(out, &text, text.len > 0 ? "`" : "");
    buf_add(out, option->is_live ? SLICE_OF("reload |\n") : SLICE_OF("restart |\n"));
    buf_close(&text);
}

/* A sentence that begins an indented line becomes an item of a list. */
static void write_markdown_introduction(struct buf *out)
{
    struct buf text;
    buf_init(&text, 4096);
    write_introduction(&text);
    buf_add_char(&text, '\0');
    for (const char *line = text.data; *line != '\0';) {
        const size_t indent = strspn(line, " ");
        const size_t len = strcspn(line, "\n");
        const size_t trailing = len > indent && line[len - 1] == ' ';
        const bool is_item = indent > 0 && line[indent] >= 'A' && line[indent] <= 'Z' &&
                             strncmp(line + indent, "SOLVEGATE_", 10) != 0;
        buf_addf(out, "%s%.*s\n",
                 is_item      ? "- "
                 : indent > 0 ? "  "
                              : "",
                 (int)(len - indent - trailing), line + indent);
        line += len + (line[len] == '\n');
    }
    buf_close(&text);
}

void config_write_markdown(struct buf *out)
{
    buf_add(out, SLICE_OF("# Configuration\n\n"
                          "This file is what `solvegate help config --markdown` prints.\n\n"));
    write_markdown_introduction(out);
    buf_add(out, SLICE_OF("| Option | What it does | Value | Default | Takes effect at |\n"
                          "|---|---|---|---|---|\n"));
    for (size_t i = 0; i < option_count; i++)
        write_row(&option_table[i], out);
}
