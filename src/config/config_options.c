#include "config/config_options.h"

#include "base/assert.h"
#include "config/config_values.h"
#include "config/nearest.h"

/* The part of a path below a prefix; not given if the path is elsewhere. */
static struct slice below(const char *path, struct slice prefix)
{
    const struct slice rest = slice_from(path);
    if (!slice_starts_with(rest, prefix))
        return SLICE_NONE;
    return slice_skip(rest, prefix.len);
}

const struct option *option_find(struct slice prefix, struct slice name)
{
    for (size_t i = 0; i < option_count; i++) {
        const struct slice rest = below(option_table[i].path, prefix);
        if (slice_is_given(rest) && slice_equals(rest, name))
            return &option_table[i];
    }
    return NULL;
}

bool option_has_below(struct slice prefix)
{
    for (size_t i = 0; i < option_count; i++)
        if (slice_is_given(below(option_table[i].path, prefix)))
            return true;
    return false;
}

const struct option_word *option_word(const struct option *option, struct slice text)
{
    for (const struct option_word *word = option->words; word != NULL && word->text != NULL; word++)
        if (slice_equals(text, slice_from(word->text)))
            return word;
    return NULL;
}

const char *option_type_name(size_t type)
{
    static const char *const names[TYPE_COUNT] = {
#define TYPE_AS_TEXT(name, text) [TYPE_##name] = (text),
        TYPE_LIST(TYPE_AS_TEXT)
#undef TYPE_AS_TEXT
    };
    ASSERT(type < TYPE_COUNT);
    return names[type];
}

static void write_words(const struct option_word *words, struct buf *out)
{
    for (const struct option_word *word = words; word->text != NULL; word++) {
        if (word != words)
            buf_add(out, word[1].text == NULL ? SLICE_OF(" or ") : SLICE_OF(", "));
        buf_addf(out, "\"%s\"", word->text);
    }
}

static void write_range(const struct option *option, const char *what,
                        void (*write)(struct buf *, uint64_t), const char *like, struct buf *out)
{
    buf_addf(out, "a %s of ", what);
    write(out, option->min);
    buf_add(out, SLICE_OF(" to "));
    write(out, option->max);
    buf_add(out, slice_from(like));
}

/* Descriptions of kinds that need no range or word list. */
static const char *const plain_shapes[OPTION_KIND_COUNT] = {
    [OPTION_TEXT] = "a text",
    [OPTION_SECRET] = "a text of visible characters",
    [OPTION_URL] = "a URL like \"https://host\", without user, query and fragment",
    [OPTION_ADDRESS] = "an address like \"127.0.0.1:8430\", \"[::1]:8430\" or \"unix:/path\"",
    [OPTION_HOST] = "a host like \"example.com\" or \"*.example.com\"",
    [OPTION_STORE] =
        "a URL like \"postgresql://user@host/database\", \"redis://host\" or \"sqlite:/path\"",
    [OPTION_PREFIX] = "1 to 40 letters, digits or \"_\"",
    [OPTION_NAME] = "1 to 63 letters, digits, \"_\", \"-\" or \".\"",
    [OPTION_KEY] = "32 or 36 visible characters",
    [OPTION_KEY_HASH] = "64 hexadecimal digits",
    [OPTION_NETWORK] = "a network like \"10.0.0.0/8\" or an address",
    [OPTION_NOTICE_HOST] = "a host like \"example.com\", \"*.example.com\" or \"example.com:8443\"",
    [OPTION_FLAG] = "true or false",
};
_Static_assert(CLIENT_NAME_MAX == 64 && CLIENT_KEY_CHARS == 32 && CLIENT_KEY_LONG_CHARS == 36 &&
                   CLIENT_KEY_HASH_BYTES == 32,
               "the texts above say so");

void option_write_expected(const struct option *option, struct buf *out)
{
    if (plain_shapes[option->kind] != NULL)
        buf_add(out, slice_from(plain_shapes[option->kind]));
    else if (option->kind == OPTION_SIZE)
        write_range(option, "size", value_write_size, ", like \"2MiB\" or plain bytes", out);
    else if (option->kind == OPTION_DURATION)
        write_range(option, "duration", value_write_duration, ", like \"5s\"", out);
    else if (option->kind == OPTION_COUNT)
        write_range(option, "whole number", buf_add_u64, option->words == NULL ? "" : " or ", out);
    else if (option->words == NULL)
        write_range(option, "number", buf_add_u64, "", out);
    if (option->words != NULL)
        write_words(option->words, out);
}

/* The part of a path up to its next dot or bracket. */
static struct slice first_step(struct slice path)
{
    size_t len = 0;
    while (len < path.len && path.data[len] != '.' && path.data[len] != '[')
        len++;
    return (struct slice){.data = path.data, .len = len};
}

static const char *path_ending_in(struct slice name)
{
    for (size_t i = 0; i < option_count; i++) {
        const char *const dot = strrchr(option_table[i].path, '.');
        if (dot != NULL && slice_equals(slice_from(dot + 1), name))
            return option_table[i].path;
    }
    return NULL;
}

void option_write_suggestion(struct slice prefix, struct slice name, struct buf *out)
{
    struct nearest nearest;
    nearest_init(&nearest, name);
    for (size_t i = 0; i < option_count; i++) {
        const struct slice rest = below(option_table[i].path, prefix);
        if (slice_is_given(rest))
            nearest_offer(&nearest, first_step(rest));
    }
    /* A right name in the wrong group is as common as a typo. */
    const char *const elsewhere = path_ending_in(name);
    if (slice_is_given(nearest.best))
        buf_addf(out, ", did you mean \"%.*s\"?", (int)nearest.best.len, nearest.best.data);
    else if (elsewhere != NULL)
        buf_addf(out, ", did you mean \"%s\"?", elsewhere);
}
