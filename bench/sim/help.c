#include "help.h"

#include "fault.h"

#include <stdio.h>
#include <string.h>

/* Each line of help stands in a line of source that has 100 columns. */
#define HELP_COLUMNS 91
#define NAME_COLUMNS 24

static const char introduction[] =
    "usage: solvegate-sim [OPTIONS]\n"
    "\n"
    "A stand-in for CaptchaAI's API (in.php and res.php, the dialect 2captcha clients speak),\n"
    "for tests and benchmarks. It solves nothing and costs nothing: a submit is accepted, takes\n"
    "its time and is answered with a made-up token that starts with SIM_. On command it does to\n"
    "a client everything that a real service and a bad network do, and it keeps a ledger of all\n"
    "accepted submits, so that a test can tell what would have been paid.\n"
    "\n"
    "When it listens it prints one line: solvegate-sim ready on http://ADDRESS:PORT\n"
    "\n"
    "EXAMPLES (any key of 32 characters is good unless --key is given)\n"
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
    "    curl http://127.0.0.1:8431/in.php -d key=$K -d method=turnstile -d pageurl=http://a/ \\\n"
    "         -d sitekey=SIM-ERROR_CAPTCHA_UNSOLVABLE -d pingback=http://127.0.0.1:9000/hook\n"
    "  Lose the reply of the next two accepted submits, and one poll in ten from now on:\n"
    "    curl -X PUT http://127.0.0.1:8431/sim/faults -d '{\"faults\": {\"poll-reset\": 0.1},\n"
    "         \"script\": [{\"fault\": \"submit-lost\", \"count\": 2}]}'\n"
    "  What was accepted, and the sums alone:\n"
    "    curl http://127.0.0.1:8431/sim/ledger\n"
    "    curl \"http://127.0.0.1:8431/sim/ledger?summary=1\"\n"
    "\n"
    "DOORS\n"
    "  /in.php           submit: GET or POST; query, form, multipart, JSON (sniffed)\n"
    "  /res.php          action= get or get2 (id= or ids=1,2,3), getbalance, threadsinfo,\n"
    "                    reportgood, reportbad\n"
    "  /solve.php        submit an image, the reply is the answer\n"
    "  GET  /sim/ledger  totals and accepted submits; ?summary=1, ?id=, ?after=ID, ?limit=N\n"
    "  GET  /sim/faults  what can go wrong now, what is left of the script, what has struck\n"
    "  PUT  /sim/faults  replace the probabilities (faults), the script, or both\n"
    "  POST /sim/solve   end a task now (?id=), or all; ?error=CODE to let it fail\n"
    "  POST /sim/reset   forget tasks and totals, faults as on the command line; ids go on\n"
    "\n";

static const char options[] =
    "OPTIONS (durations: 250ms, 5s, 2m, 1h; both --name value and --name=value)\n"
    "  --listen ADDRESS:PORT     numeric address; port 0 takes a free one (127.0.0.1:8431)\n"
    "  --key KEY                 accept this key only; may be repeated (any 32 characters)\n"
    "  --slots N                 threads of the plan, held from accept until solved (no limit)\n"
    "  --busy-code CODE          said when all are taken (ERROR_NO_SLOT_AVAILABLE)\n"
    "  --balance AMOUNT          money at the start (10)\n"
    "  --price AMOUNT            taken for each accepted submit, returned if it fails (0)\n"
    "  --solve-time [METHOD=]T   5s; exp:5s and tail:5s have that mean, exponential or with a\n"
    "                            long tail; uniform:2s-8s; METHOD= for that one alone (5s)\n"
    "  --seed N                  same seed, same ids, tokens, times and faults (random)\n"
    "  --token-bytes N           length of a token (200)\n"
    "  --result-ttl T            how long an answer can be read (300s)\n"
    "  --read-once               an answer can be read only once\n"
    "  --ids FORM                string, number, mixed, or long: 23 digits, zeros first (string)\n"
    "  --threadsinfo FORM        mixed, number or string: quotes around the numbers (mixed)\n"
    "  --cloudflare FORM         result: in result and user_agent, or request: a document in\n"
    "                            request (result)\n"
    "  --default-json 0|1        reply form when json is not given (0)\n"
    "  --unknown-methods WORD    accept or reject methods not known here (accept)\n"
    "  --image-min SIZE          smallest image (100)\n"
    "  --image-max SIZE          largest image (1MiB)\n"
    "  --pingback-method M       GET with id and code in the query, or POST as a form (GET)\n"
    "  --pingback-connections N  kept to one address (64)\n"
    "  --pingback-timeout T      until a callback is given up (10s)\n"
    "  --fault NAME=P[,VALUE]    let it happen with probability P; may be repeated\n"
    "  --script JSON|FILE        faults for the calls to come, in order (as for PUT /sim/faults)\n"
    "  --ledger-max N            submits the ledger remembers, the oldest go first (100000)\n"
    "  --tasks-max N             tasks in memory; finished ones go first (1000000)\n"
    "  --connections-max N       open connections (10000)\n"
    "  --body-max SIZE           largest request body (4MiB)\n"
    "  --keep-alive T            until an idle connection is closed, 0: never (75s)\n"
    "  --log                     one line per call on stderr, without keys and tokens\n"
    "  --help, --version\n"
    "\n"
    "Callbacks (pingback=URL of a submit) go by plain http, and to numeric addresses and\n"
    "localhost only.\n"
    "\n"
    "FAULTS\n"
    "A fault strikes by magic sitekey, else by script, else by probability. Task and callback\n"
    "faults are decided when the submit is accepted. A script is an array of names or objects\n"
    "  {\"fault\": NAME, \"value\": V, \"count\": 1, \"skip\": 0, \"match\": {\"sitekey\": X}}\n"
    "and each entry strikes the next call at its place (submit, poll, account, task, callback)\n"
    "that matches, count times, after letting skip of them pass. Submits that are rejected use\n"
    "nothing up.\n"
    "\n";

static const char magic[] =
    "\n"
    "MAGIC SITEKEYS\n"
    "A googlekey, sitekey, gt, captcha_id, publickey, instructions or textinstructions that\n"
    "starts with SIM- decides what happens to its submit. Several are joined by +; behind a dot\n"
    "anything may follow.\n"
    "  SIM-ERROR_CAPTCHA_UNSOLVABLE    the task ends with this code (any ERROR_ code)\n"
    "  SIM-SUBMIT-ERROR_ZERO_BALANCE   the submit is refused with this code\n"
    "  SIM-POLL-ERROR_SERVER_ERROR     every poll says this code\n"
    "  SIM-CALLBACK-ERROR_X            the callback alone says this code\n"
    "  SIM-FAST, SIM-SLOW-30s          solved at once, or after 30 s\n"
    "  SIM-NEVER                       never solved\n"
    "  SIM-HANG, SIM-LOST              accepted, and the reply never comes or is cut off\n"
    "  SIM-FAULT or SIM-FAULT-VALUE    any fault above: SIM-CALLBACK-LATE-10s, SIM-SUBMIT-429-7\n"
    "  SIM-SLOW-2s+CALLBACK-DROP.17    two of them, told apart from others by .17\n"
    "A word that is none of these is refused with ERROR_SIM_UNKNOWN_MAGIC.\n"
    "\n"
    "Exit status: 0 after SIGTERM or SIGINT, 64 for a wrong option, 69 when it cannot listen.\n";

/* Words flow into the right column. */
static void print_row(const char *name, const char *help)
{
    int column = NAME_COLUMNS;

    printf("  %-*s", NAME_COLUMNS - 2, name);
    while (*help != '\0') {
        const int length = (int)strcspn(help, " ");
        if (column + length + 1 > HELP_COLUMNS) {
            printf("\n%*s", NAME_COLUMNS, "");
            column = NAME_COLUMNS;
        }
        printf("%.*s ", length, help);
        column += length + 1;
        help += length + (help[length] == ' ' ? 1 : 0);
    }
    printf("\n");
}

void help_print(void)
{
    char help[256];

    fputs(introduction, stdout);
    fputs(options, stdout);
    for (size_t i = 0; i < fault_row_count; i++) {
        const struct fault_row *row = &fault_rows[i];
        const bool has_fallback = row->fallback != NULL && row->fallback[0] != '\0';
        snprintf(help, sizeof help, "%s%s%s%s", row->help, has_fallback ? " (" : "",
                 has_fallback ? row->fallback : "", has_fallback ? ")" : "");
        print_row(row->name, help);
    }
    fputs(magic, stdout);
}
