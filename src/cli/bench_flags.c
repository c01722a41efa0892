#include "cli/bench_flags.h"

#include "cli/bench_talk.h"
#include "cli/remote_key.h"
#include "config/config_values.h"

#include <sodium.h>
#include <stdlib.h>

#define DURATION_MAX_MS ((uint64_t)24 * 3600 * 1000)
#define REQUESTS_MAX ((uint64_t)1000000000)
#define WAIT_MAX_MS ((uint64_t)3600 * 1000)

#define AMOUNT_MAX 10000.0

#define DEFAULT_METHOD "turnstile"
#define DEFAULT_CONCURRENCY 10
#define DEFAULT_DURATION_MS 10000
#define DEFAULT_WAIT_MS 180000
#define VENDOR_URL "https://ocr.captchaai.com"
#define VENDOR_CONCURRENCY 5
#define VENDOR_REQUESTS 10
/* The vendor's reference asks for 5 s between two polls. */
#define VENDOR_POLL_MS 5000

const struct cli_flag bench_flags[] = {
    {.letter = 'm',
     .name = "method",
     .value_name = "NAME",
     .words = "turnstile userrecaptcha hcaptcha geetest geetest_v4 cloudflare_challenge "
              "friendly_captcha base64",
     .help = "the vendor's name for the type of captcha (turnstile; base64 with --images); any "
             "other method needs its parameters with --param; for a vendor several, separated by "
             "commas"},
    {.letter = 'r',
     .name = "rate",
     .value_name = "RATE",
     .help = "open loop: so many requests a second, as 200/s or 30/m, however long answers take; "
             "several steps as 50/s,100/s,200/s, each for its part of the duration"},
    {.letter = 'c',
     .name = "concurrency",
     .value_name = "N",
     .help = "closed loop: so many requests at once, each after the answer to the one before (10); "
             "for a vendor up to 8 numbers, as 1,5,20, one after the other (5)"},
    {.letter = 'd',
     .name = "duration",
     .value_name = "DURATION",
     .help = "send for that long, as 30s or 5m (10s, or without end if --requests is given)"},
    {.letter = 'n', .name = "requests", .value_name = "N", .help = "send at most so many requests"},
    {.name = "ramp",
     .value_name = "DURATION",
     .help = "let the rate or the number at once grow evenly at the start (0s); no longer than the "
             "duration, or than the first of several rates"},
    {.name = "repeat",
     .value_name = "SHARE",
     .help = "this share of the requests, 0 to 1, asks for a target that was asked for before (0)"},
    {.name = "zipf",
     .value_name = "EXPONENT",
     .help = "with --repeat: early targets are repeated more often, by Zipf's law (0: all alike)"},
    {.name = "dialect",
     .value_name = "NAME",
     .words = BENCH_DIALECT_WORDS,
     .help = "how the gateway is spoken to: v1, vendor (in.php and res.php) or createtask (v1)"},
    {.name = "poll",
     .value_name = "DURATION",
     .help = "ask for the result again and again at this interval, as old clients do (the gateway "
             "holds the reply instead)"},
    {.name = "callbacks",
     .value_name = "HOST:PORT",
     .help = "be told of ends by notices to this address of this machine, which the gateway must "
             "allow (callbacks.allow); for a vendor: see how much sooner they come than polls"},
    {.letter = 'w',
     .name = "wait",
     .value_name = "DURATION",
     .help = "how long one answer may take (180s)"},
    {.letter = 's', .name = "sitekey", .value_name = "KEY", .help = "of the targets (made up)"},
    {.letter = 'p',
     .name = "pageurl",
     .value_name = "URL",
     .help = "of the targets; each gets a parameter of its own added (made up)"},
    {.name = "param",
     .value_name = "NAME=VALUE",
     .help = "any other parameter, by the dialect's name; may be repeated"},
    {.name = "images",
     .value_name = "DIR",
     .help = "solve the images of this folder, in turn (small bitmaps are made up)"},
    {.name = "reuse",
     .value_name = "POLICY",
     .words = "shared single none",
     .help = "who may get the same solution: shared, single or none (as configured)"},
    {.name = "seed",
     .value_name = "N",
     .help = "the same targets in the same order as another run with this number (random)"},
    {.name = "record",
     .value_name = "FILE",
     .help = "send nothing: watch what others ask the gateway for, for the duration, and write it "
             "into this file"},
    {.name = "from-log",
     .value_name = "FILE",
     .help = "with --record: read what was asked from the log of a gateway at level debug, which "
             "has answers from memory as well; - is standard input"},
    {.name = "replay",
     .value_name = "FILE",
     .help =
         "send what --record wrote: the same pattern of times and repeats, with made-up targets"},
    {.name = "speed", .value_name = "N", .help = "with --replay: so many times as fast (1)"},
    {.name = "compare",
     .value_name = "FILE",
     .help = "show what changed since the report in this file, which --json printed; with --html "
             "on its page, too"},
    {.name = "html", .value_name = "FILE", .help = "write a page with charts into this file, too"},
    {.name = "csv", .help = "print a line of titles and a line of figures"},
    {.name = "budget",
     .value_name = "AMOUNT",
     .help = "vendor: the most that may be spent, in the account's currency; must be given"},
    {.name = "price",
     .value_name = "AMOUNT",
     .help = "vendor: what one captcha costs; charged for each one that may have been accepted, "
             "even if the balance does not show it"},
    {.letter = 'y', .name = "yes", .help = "do not ask whether to spend the money"},
    {.name = "i-own-this-host",
     .help = "allow addresses that are not private, and more than 100 requests a second to another "
             "machine"},
    REMOTE_FLAGS,
    {.name = NULL},
};

void bench_order_init(struct bench_order *order)
{
    *order = (struct bench_order){
        .plan = {.wait_ms = DEFAULT_WAIT_MS, .seed = randombytes_random()},
    };
    remote_init(&order->remote);
    order->configured_url = order->remote.url;
}

/* ---- one flag ---------------------------------------------------------------------------- */

/* Each of these returns NULL, or what was expected. */

static const char *take_duration(uint64_t *ms, uint64_t least, uint64_t most, const char *text)
{
    uint64_t read = 0;
    if (!value_parse_duration(slice_from(text), &read) || read < least || read > most)
        return "a duration like \"30s\"";
    *ms = read;
    return NULL;
}

static const char *take_rate(struct bench_plan *plan, const char *text)
{
    plan->step_count = bench_parse_steps(text, plan->steps);
    return plan->step_count > 0 ? NULL
                                : "a rate like \"200/s\", at most 100000/s, or up to 16 of them "
                                  "separated by commas";
}

/* Numbers with commas; only a vendor is measured at several. */
static const char *take_concurrency(struct bench_order *order, const char *text)
{
    struct slice rest = slice_from(text);
    order->level_count = 0;
    do {
        const struct slice one = slice_take(&rest, ',');
        unsigned long long read = 0;
        if (order->level_count == BENCH_LEVELS_MAX || !slice_to_u64(one, &read) || read < 1 ||
            read > BENCH_CONCURRENCY_MAX)
            return "a number from 1 to 20000";
        order->levels[order->level_count++] = (uint32_t)read;
    } while (rest.len > 0);
    order->plan.concurrency = order->levels[0];
    return NULL;
}

static const char *take_param(struct bench_plan *plan, const char *text)
{
    const char *const equals = strchr(text, '=');
    if (equals == NULL || equals == text)
        return "NAME=VALUE";
    if (plan->param_count == BENCH_PARAMS_MAX)
        return "at most 32 parameters";
    plan->params[plan->param_count++] = (struct bench_param){
        .name = {.data = text, .len = (size_t)(equals - text)}, .value = equals + 1};
    return NULL;
}

static const char *take_number(struct bench_plan *plan, const struct cli_arg *arg)
{
    const char *const text = arg->value;
    if (cli_is_flag(arg, "requests"))
        return bench_parse_count(text, 1, REQUESTS_MAX, &plan->requests) ? NULL : "a number from 1";
    if (cli_is_flag(arg, "seed"))
        return bench_parse_count(text, 0, UINT32_MAX, &plan->seed) ? NULL : "a number below 2^32";
    if (cli_is_flag(arg, "speed"))
        return bench_parse_real(text, 0.01, 1000, &plan->speed) ? NULL : "a number of 0.01 to 1000";
    if (cli_is_flag(arg, "repeat"))
        return bench_parse_real(text, 0, 1, &plan->repeat) ? NULL : "a share from 0 to 1";
    return bench_parse_real(text, 0, 10, &plan->zipf) ? NULL : "an exponent from 0 to 10";
}

static const char *take_time(struct bench_plan *plan, const struct cli_arg *arg)
{
    if (cli_is_flag(arg, "duration"))
        return take_duration(&plan->duration_ms, 100, DURATION_MAX_MS, arg->value);
    if (cli_is_flag(arg, "ramp"))
        return take_duration(&plan->ramp_ms, 0, DURATION_MAX_MS, arg->value);
    if (cli_is_flag(arg, "poll"))
        return take_duration(&plan->poll_ms, 10, WAIT_MAX_MS, arg->value);
    return take_duration(&plan->wait_ms, 1000, WAIT_MAX_MS, arg->value);
}

static const char *take_pageurl(struct bench_plan *plan, const char *text)
{
    if (strlen(text) > BENCH_PAGEURL_MAX)
        return "at most 2000 characters";
    plan->pageurl = text;
    return NULL;
}

static const char *take_text(struct bench_plan *plan, const struct cli_arg *arg)
{
    if (cli_is_flag(arg, "method"))
        plan->method = arg->value;
    else if (cli_is_flag(arg, "sitekey"))
        plan->sitekey = arg->value;
    else if (cli_is_flag(arg, "pageurl"))
        return take_pageurl(plan, arg->value);
    else if (cli_is_flag(arg, "callbacks"))
        plan->callbacks = arg->value;
    else
        plan->reuse = arg->value;
    return NULL;
}

static const char *take_amount(double *amount, const char *text)
{
    return bench_parse_real(text, 0, AMOUNT_MAX, amount) && *amount > 0 ? NULL
                                                                        : "an amount like \"0.10\"";
}

static const char *take_value(struct bench_order *order, const struct cli_arg *arg)
{
    struct bench_plan *const plan = &order->plan;
    const char *const name = arg->flag->name;
    if (cli_is_flag(arg, "budget"))
        return take_amount(&order->budget, arg->value);
    if (cli_is_flag(arg, "price"))
        return take_amount(&order->price, arg->value);
    if (cli_is_flag(arg, "rate"))
        return take_rate(plan, arg->value);
    if (cli_is_flag(arg, "concurrency"))
        return take_concurrency(order, arg->value);
    if (cli_is_flag(arg, "param"))
        return take_param(plan, arg->value);
    if (cli_has_word("requests seed repeat zipf speed", name))
        return take_number(plan, arg);
    if (cli_has_word("duration ramp poll wait", name))
        return take_time(plan, arg);
    return take_text(plan, arg);
}

static enum cli_result take_flag(const struct command *command, struct bench_order *order,
                                 const struct cli_arg *arg)
{
    if (cli_is_flag(arg, "csv")) {
        order->is_csv = true;
    } else if (cli_is_flag(arg, "yes")) {
        order->is_sure = true;
    } else if (cli_is_flag(arg, "i-own-this-host")) {
        order->is_owned = true;
    } else if (cli_is_flag(arg, "record")) {
        order->record = arg->value;
    } else if (cli_is_flag(arg, "from-log")) {
        order->from_log = arg->value;
    } else if (cli_is_flag(arg, "replay")) {
        order->replay = arg->value;
    } else if (cli_is_flag(arg, "html")) {
        order->html = arg->value;
    } else if (cli_is_flag(arg, "compare")) {
        order->compare = arg->value;
    } else if (cli_is_flag(arg, "images")) {
        order->images = arg->value;
    } else if (cli_is_flag(arg, "dialect")) {
        if (!bench_parse_dialect(arg->value, &order->plan.dialect))
            return cli_wrong_word(command, "dialect", arg->value, arg->flag->words);
    } else if (cli_is_flag(arg, "reuse") && !cli_has_word(arg->flag->words, arg->value)) {
        return cli_wrong_word(command, "policy", arg->value, arg->flag->words);
    } else {
        const char *const expected = take_value(order, arg);
        if (expected != NULL) {
            cli_wrong(command, "--%s: expected %s, found \"%s\"", arg->flag->name, expected,
                      arg->value);
            return CLI_WRONG;
        }
    }
    return CLI_ARG;
}

/* ---- all together ------------------------------------------------------------------------ */

/* What contradicts itself, or NULL. */
static const char *contradiction(const struct bench_order *order)
{
    const struct bench_plan *const plan = &order->plan;
    if (plan->step_count > 0 && plan->concurrency > 0)
        return "give --rate (open loop) or --concurrency (closed loop), not both";
    if (plan->step_count > 1 && plan->duration_ms == 0 && plan->requests > 0)
        return "several rates need --duration, which they share";
    if (plan->zipf > 0 && plan->repeat <= 0)
        return "--zipf says how repeats are spread: give --repeat, too";
    if (order->images != NULL && plan->method != NULL && !bench_is_image(plan->method))
        return "--images is for --method base64";
    if (plan->callbacks != NULL && plan->poll_ms > 0)
        return "give --poll or --callbacks, not both";
    if (order->level_count > 1)
        return "several numbers for --concurrency are for bench vendor";
    if (order->budget > 0 || order->price > 0)
        return "--budget and --price are for bench vendor";
    if (order->is_csv && order->remote.is_json)
        return "give --json or --csv, not both";
    if (order->compare != NULL && (order->is_csv || order->remote.is_json))
        return "--compare is for people: give neither --json nor --csv";
    return NULL;
}

/* The same for traces. */
static const char *trace_contradiction(const struct bench_order *order)
{
    const struct bench_plan *const plan = &order->plan;
    if (order->replay == NULL && plan->speed > 0)
        return "--speed is for --replay";
    if (order->from_log != NULL && (order->record == NULL || plan->duration_ms > 0))
        return "--from-log reads the whole log into the file of --record: give that, and no "
               "--duration";
    if (order->replay != NULL &&
        (plan->step_count > 0 || plan->concurrency > 0 || plan->ramp_ms > 0 || plan->repeat > 0 ||
         plan->method != NULL || order->record != NULL))
        return "--replay says what is sent and when: give no --rate, --concurrency, --ramp, "
               "--repeat, --method and --record";
    return NULL;
}

/* The same for a vendor. */
static const char *vendor_contradiction(const struct bench_order *order)
{
    const struct bench_plan *const plan = &order->plan;
    if (order->budget <= 0)
        return "say with --budget how much may be spent";
    if (plan->step_count > 0 || plan->duration_ms > 0 || plan->ramp_ms > 0 || plan->repeat > 0 ||
        plan->reuse != NULL || order->is_csv || order->html != NULL || order->compare != NULL ||
        plan->dialect != BENCH_V1 || order->record != NULL || order->from_log != NULL ||
        order->replay != NULL)
        return "bench vendor has no --rate, --duration, --ramp, --repeat, --reuse, --dialect, "
               "--csv, --html, --compare, --record, --from-log and --replay";
    if (order->remote.key_file == NULL && order->remote.key[0] == '\0')
        return "the vendor's key is needed: CAPTCHAAI_API_KEY or --key-file";
    return NULL;
}

static void fill_in_vendor(struct bench_order *order)
{
    struct bench_plan *const plan = &order->plan;
    if (plan->method == NULL)
        plan->method = order->images == NULL ? DEFAULT_METHOD : "base64";
    order->methods = plan->method;
    plan->dialect = BENCH_VENDOR;
    if (plan->poll_ms == 0)
        plan->poll_ms = VENDOR_POLL_MS;
    if (plan->requests == 0)
        plan->requests = VENDOR_REQUESTS;
    if (order->level_count == 0)
        order->levels[order->level_count++] = VENDOR_CONCURRENCY;
}

/* A vendor has an address and a key of its own; a gateway's key must never be sent to it. */
static void be_vendor(struct bench_order *order)
{
    const char *const url = getenv("SOLVEGATE_UPSTREAM_URL");
    const char *const key = getenv("CAPTCHAAI_API_KEY");
    order->is_vendor = true;
    order->remote.url = url == NULL || *url == '\0' ? VENDOR_URL : url;
    order->configured_url = order->remote.url;
    if (key != NULL)
        (void)snprintf(order->remote.key, sizeof order->remote.key, "%s", key);
}

static void fill_in(struct bench_order *order)
{
    struct bench_plan *const plan = &order->plan;
    if (plan->method == NULL)
        plan->method = order->images == NULL ? DEFAULT_METHOD : "base64";
    if (plan->step_count == 0 && plan->concurrency == 0)
        plan->concurrency = DEFAULT_CONCURRENCY;
    if (plan->speed <= 0)
        plan->speed = 1;
    if (plan->duration_ms == 0 && plan->requests == 0 && order->replay == NULL)
        plan->duration_ms = DEFAULT_DURATION_MS;
}

/* What contradicts a duration, given or not. */
static const char *time_contradiction(const struct bench_plan *plan)
{
    if (bench_ramp_fits(plan))
        return NULL;
    return plan->step_count > 1
               ? "--ramp is longer than the part of --duration that the first rate has"
               : "--ramp is longer than --duration";
}

/* Words come first: flags may override what they set. */
static void take_words(struct cli_args *args, struct bench_order *order)
{
    if (*args->rest != NULL && strcmp(*args->rest, args->command->words) == 0) {
        be_vendor(order);
        args->rest++;
    }
}

/* Most flags here that name a form of output take a file. */
static enum cli_result tell_argument(const struct command *command, const char *argument,
                                     bool is_after_json)
{
    if (!is_after_json)
        return cli_wrong_argument(command, argument);
    cli_wrong(command, "unexpected argument \"%s\": --json prints to standard output", argument);
    return CLI_WRONG;
}

enum cli_result bench_order_read(struct cli_args *args, struct bench_order *order)
{
    struct cli_arg arg;
    enum cli_result result;
    bool was_json = false;
    take_words(args, order);
    while ((result = cli_next(args, &arg)) == CLI_ARG) {
        if (arg.flag == NULL)
            return tell_argument(args->command, arg.value, was_json);
        was_json = cli_is_flag(&arg, "json");
        if (!remote_take_flag(&order->remote, &arg))
            result = take_flag(args->command, order, &arg);
        if (result != CLI_ARG)
            return result;
    }
    if (result != CLI_END)
        return result;
    const char *wrong = order->is_vendor ? vendor_contradiction(order) : contradiction(order);
    if (wrong == NULL)
        wrong = trace_contradiction(order);
    if (wrong == NULL && order->is_vendor)
        fill_in_vendor(order);
    else if (wrong == NULL)
        fill_in(order);
    if (wrong == NULL)
        wrong = time_contradiction(&order->plan);
    if (wrong == NULL)
        return CLI_END;
    cli_wrong(args->command, "%s", wrong);
    return CLI_WRONG;
}
