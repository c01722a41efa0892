#include "config/config_options.h"

#include <inttypes.h>

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

static void write_shape(const struct option *option, struct buf *out)
{
    if (option_is_list(option))
        buf_add(out, SLICE_OF("list; each "));
    else if (option_is_per_type(option))
        buf_add(out, SLICE_OF("per type; each "));
    else if (option->kind == OPTION_ERRORS)
        buf_add(out, SLICE_OF("an object from codes to "));
    option_write_expected(option, out);
}

static void write_option(const struct option *option, struct buf *out)
{
    buf_addf(out, "%s\n    %s\n    ", option->path, option->help);
    write_shape(option, out);
    if (option->preset != NULL)
        buf_addf(out, "\n    default: %s", option->preset);
    buf_add(out, SLICE_OF("\n\n"));
}

void config_write_reference(struct buf *out)
{
    buf_add(out, SLICE_OF(intro));
#define CAPTCHA_AS_WORD(name, text) buf_add(out, SLICE_OF(text " "));
    CAPTCHA_LIST(CAPTCHA_AS_WORD)
#undef CAPTCHA_AS_WORD
    buf_add(out, SLICE_OF(precedence));
    for (size_t i = 0; i < option_count; i++)
        write_option(&options[i], out);
}
