#include "sim/help.h"

#include "sim/fault.h"

#include <stdio.h>
#include <string.h>

#define HELP_COLUMNS 91
#define FAULT_TEXT_MAX 256

const char help_usage[] = "solvegate-sim [OPTIONS]";
const char help_summary[] = "a captcha vendor's API without the vendor";

static const struct help_row doors[] = {
    {"/in.php", "submit: GET or POST; query, form, multipart, JSON (sniffed)"},
    {"/res.php", "action= get or get2 (id= or ids=1,2,3), getbalance, threadsinfo, reportgood, "
                 "reportbad"},
    {"/solve.php", "submit an image, the reply is the answer"},
    {"GET /sim/ledger", "totals and accepted submits; ?summary=1, ?id=, ?after=ID, ?limit=N"},
    {"GET /sim/faults", "what can go wrong now, what is left of the script, what has struck"},
    {"PUT /sim/faults", "replace the probabilities (faults), the script, or both"},
    {"POST /sim/solve", "end a task now (?id=), or all; ?error=CODE to let it fail"},
    {"POST /sim/reset", "forget tasks and totals, faults as on the command line; ids go on"},
    {NULL, NULL},
};

static const struct help_row options[] = {
    {"--listen ADDRESS:PORT", "numeric address; port 0 takes a free one (127.0.0.1:8431)"},
    {"--key KEY", "accept this key only; may be repeated (any 32 characters)"},
    {"--profile NAME",
     "a kind of vendor in one word: captchaai (a plan of 50 threads), 2captcha (paid "
     "by the solve), slow or flaky; options behind it win"},
    {"--slots N", "threads of the plan, held from accept until solved (no limit)"},
    {"--busy-code CODE", "said when all are taken (ERROR_NO_SLOT_AVAILABLE)"},
    {"--balance AMOUNT", "money at the start (10)"},
    {"--price AMOUNT", "taken for each accepted submit, returned if it fails (0)"},
    {"--solve-time [METHOD=]T", "5s; exp:5s and tail:5s have that mean, exponential or with a long "
                                "tail; uniform:2s-8s; METHOD= for that one alone (5s)"},
    {"--seed N", "same seed, same ids, tokens, times and faults (random)"},
    {"--token-bytes N", "length of a token (200)"},
    {"--result-ttl T", "how long an answer can be read (300s)"},
    {"--read-once", "an answer can be read only once"},
    {"--ids FORM", "string, number, mixed, or long: 23 digits, zeros first (string)"},
    {"--threadsinfo FORM", "mixed, number or string: quotes around the numbers (mixed)"},
    {"--cloudflare FORM", "result: in result and user_agent, or request: a document in request "
                          "(result)"},
    {"--default-json 0|1", "reply form when json is not given (0)"},
    {"--unknown-methods WORD", "accept or reject methods not known here (accept)"},
    {"--image-min SIZE", "smallest image (100)"},
    {"--image-max SIZE", "largest image (1MiB)"},
    {"--pingback-method M", "GET with id and code in the query, or POST as a form (GET)"},
    {"--pingback-connections N", "kept to one address (64)"},
    {"--pingback-timeout T", "until a callback is given up (10s)"},
    {"--fault NAME=P[,VALUE]", "let it happen with probability P; may be repeated"},
    {"--script JSON|FILE", "faults for the calls to come, in order (as for PUT /sim/faults)"},
    {"--ledger-max N", "submits the ledger remembers, the oldest go first (100000)"},
    {"--tasks-max N", "tasks in memory; finished ones go first (1000000)"},
    {"--connections-max N", "open connections (10000)"},
    {"--body-max SIZE", "largest request body (4MiB)"},
    {"--keep-alive T", "until an idle connection is closed, 0: never (75s)"},
    {"--log", "one line per call on stderr, without keys and tokens"},
    {"-h, --help", "print this and leave"},
    {"--version", "print the version and leave"},
    {NULL, NULL},
};

static const struct help_row magic[] = {
    {"SIM-ERROR_CAPTCHA_UNSOLVABLE", "the task ends with this code (any ERROR_ code)"},
    {"SIM-SUBMIT-ERROR_ZERO_BALANCE", "the submit is refused with this code"},
    {"SIM-POLL-ERROR_SERVER_ERROR", "every poll says this code"},
    {"SIM-CALLBACK-ERROR_X", "the callback alone says this code"},
    {"SIM-FAST, SIM-SLOW-30s", "solved at once, or after 30 s"},
    {"SIM-NEVER", "never solved"},
    {"SIM-HANG, SIM-LOST", "accepted, and the reply never comes or is cut off"},
    {"SIM-FAULT or SIM-FAULT-VALUE", "any fault above: SIM-CALLBACK-LATE-10s, SIM-SUBMIT-429-7"},
    {"SIM-SLOW-2s+CALLBACK-DROP.17", "two of them, told apart from others by .17"},
    {NULL, NULL},
};

static const struct help_row exits[] = {
    {"0", "after SIGTERM or SIGINT"},
    {"64", "a wrong option"},
    {"69", "it cannot listen"},
    {NULL, NULL},
};

const struct help_section help_sections[] = {
    {.title = "DESCRIPTION",
     .before = "A stand-in for CaptchaAI's API (in.php and res.php, the dialect 2captcha clients "
               "speak), for tests and benchmarks. It solves nothing and costs nothing: a submit is "
               "accepted, takes its time and is answered with a made-up token that starts with "
               "SIM_. On command it does to a client everything that a real service and a bad "
               "network do, and it keeps a ledger of all accepted submits, so that a test can tell "
               "what would have been paid.\n"
               "When it listens it prints one line: solvegate-sim ready on http://ADDRESS:PORT\n"},
    {.title = "EXAMPLES",
     .before = "Any key of 32 characters is good unless --key is given.\n",
     .lines =
         "  K=0123456789abcdef0123456789abcdef\n"
         "  solvegate-sim --listen 127.0.0.1:8431 --solve-time 2s &\n"
         "\n"
         "  Submit, then ask for the answer with the id that came back:\n"
         "    curl "
         "\"http://127.0.0.1:8431/in.php?key=$K&method=turnstile&sitekey=x&pageurl=http://a/\"\n"
         "    curl \"http://127.0.0.1:8431/res.php?key=$K&action=get&json=1&id=5000000000\"\n"
         "  An image, answered at once:\n"
         "    curl -F key=$K -F method=post -F file=@captcha.png http://127.0.0.1:8431/solve.php\n"
         "  A task that cannot be solved, by magic sitekey, with a callback:\n"
         "    curl http://127.0.0.1:8431/in.php -d key=$K -d method=turnstile -d pageurl=http://a/ "
         "\\\n"
         "         -d sitekey=SIM-ERROR_CAPTCHA_UNSOLVABLE -d pingback=http://127.0.0.1:9000/hook\n"
         "  Lose the reply of the next two accepted submits, and one poll in ten from now on:\n"
         "    curl -X PUT http://127.0.0.1:8431/sim/faults -d '{\"faults\": {\"poll-reset\": "
         "0.1},\n"
         "         \"script\": [{\"fault\": \"submit-lost\", \"count\": 2}]}'\n"
         "  What was accepted, and the sums alone:\n"
         "    curl http://127.0.0.1:8431/sim/ledger\n"
         "    curl \"http://127.0.0.1:8431/sim/ledger?summary=1\"\n"},
    {.title = "DOORS", .rows = doors, .column = 20},
    {.title = "OPTIONS",
     .before = "Durations are like 250ms, 5s, 2m, 1h. Both --name value and --name=value are "
               "understood.\n",
     .rows = options,
     .column = 28,
     .after = "Callbacks (pingback=URL of a submit) go by plain http, and to numeric addresses and "
              "localhost only.\n"},
    {.title = "FAULTS",
     .before =
         "A fault strikes by magic sitekey, else by script, else by probability. Task and callback "
         "faults are decided when the submit is accepted. A script is an array of names or objects "
         "like {\"fault\": NAME, \"value\": V, \"count\": 1, \"skip\": 0, \"match\": "
         "{\"sitekey\": X}} and each entry strikes the next call at its place (submit, poll, "
         "account, task, callback) that matches, count times, after letting skip of them pass. "
         "Submits that are rejected use nothing up.\n",
     .has_faults = true,
     .column = 24},
    {.title = "MAGIC SITEKEYS",
     .before = "A googlekey, sitekey, gt, captcha_id, publickey, instructions or textinstructions "
               "that starts with SIM- decides what happens to its submit. Several are joined by +; "
               "behind a dot anything may follow.\n",
     .rows = magic,
     .column = 34,
     .after = "A word that is none of these is refused with ERROR_SIM_UNKNOWN_MAGIC.\n"},
    {.title = "EXIT STATUS", .rows = exits, .column = 8},
    {.title = NULL},
};

/* ---- --help ------------------------------------------------------------------------------ */

/* Wraps words from column `at` on; further lines begin at `column`. */
static void print_flowing(const char *text, int at, int column)
{
    bool is_first = true;
    while (*text != '\0' && *text != '\n') {
        const int length = (int)strcspn(text, " \n");
        if (!is_first && at + 1 + length > HELP_COLUMNS) {
            printf("\n%*s", column, "");
            at = column;
            is_first = true;
        }
        printf("%s%.*s", is_first ? "" : " ", length, text);
        at += length + (is_first ? 0 : 1);
        is_first = false;
        text += length;
        text += strspn(text, " ");
    }
    printf("\n");
}

static void print_paragraphs(const char *text)
{
    while (text != NULL && *text != '\0') {
        print_flowing(text, 0, 0);
        text += strcspn(text, "\n") + 1;
    }
}

static void print_row(const char *name, const char *text, int column)
{
    printf("  %-*s", column - 2, name);
    print_flowing(text, column, column);
}

void help_write_fault(size_t place, char *out, size_t room)
{
    const struct fault_row *row = &fault_rows[place];
    const bool has_fallback = row->fallback != NULL && row->fallback[0] != '\0';

    snprintf(out, room, "%s%s%s%s", row->help, has_fallback ? " (" : "",
             has_fallback ? row->fallback : "", has_fallback ? ")" : "");
}

static void print_section(const struct help_section *section)
{
    char text[FAULT_TEXT_MAX];

    printf("\n%s\n", section->title);
    print_paragraphs(section->before);
    for (const struct help_row *row = section->rows; row != NULL && row->name != NULL; row++)
        print_row(row->name, row->text, section->column);
    for (size_t i = 0; section->has_faults && i < fault_row_count; i++) {
        help_write_fault(i, text, sizeof text);
        print_row(fault_rows[i].name, text, section->column);
    }
    if (section->lines != NULL)
        fputs(section->lines, stdout);
    print_paragraphs(section->after);
}

void help_print(void)
{
    printf("usage: %s\n", help_usage);
    for (const struct help_section *section = help_sections; section->title != NULL; section++)
        print_section(section);
}
