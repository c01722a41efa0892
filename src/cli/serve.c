#include "cli/cli.h"
#include "cli/guard.h"
#include "cli/load.h"
#include "doors/doors.h"
#include "gate/reload.h"
#include "gate/service.h"
#include "sys/log.h"

#include <signal.h>
#include <sodium.h>
#include <sys/resource.h>
#include <sysexits.h>

/* Descriptors besides connections: loop, listeners, log, and a reserve for refusing connections. */
#define OTHER_DESCRIPTORS 128
#define FLAGS_MAX (CONFIG_LISTEN_MAX + 8)

static const struct cli_flag flags[] = {
    LOAD_FLAG_CONFIG,
    {.letter = 'l',
     .name = "listen",
     .value_name = "ADDRESS",
     .help = "serve here instead of at the configured addresses; may be repeated"},
    {.letter = 'u', .name = "upstream", .value_name = "URL", .help = "the vendor's address"},
    {.name = "log-level",
     .value_name = "LEVEL",
     .words = "debug info warn error",
     .help = "debug, info, warn or error"},
    {.name = "log-format",
     .value_name = "FORMAT",
     .words = "auto text key_value json",
     .help = "auto, text, key_value or json"},
    {.name = NULL},
};

/* The option that each flag sets; the first one names the file. */
static const struct {
    const char *flag, *path;
} targets[] = {
    {NULL, NULL},
    {"--listen", "listen"},
    {"--upstream", "upstream.url"},
    {"--log-level", "log.level"},
    {"--log-format", "log.format"},
};

/* The usual soft limit of 1024 exists for programs that use select(). */
static void allow_descriptors(const struct config *config)
{
    struct rlimit limit;
    const rlim_t wanted =
        (rlim_t)config->http.connections + config->upstream.connections + OTHER_DESCRIPTORS;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= wanted)
        return;
    limit.rlim_cur = wanted < limit.rlim_max ? wanted : limit.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &limit);
    if (limit.rlim_cur < wanted)
        LOG(LOG_LEVEL_WARN, "few_descriptors", log_number("wanted", (int64_t)wanted),
            log_number("allowed", (int64_t)limit.rlim_cur));
}

/* The sources of the configuration, kept for reading them again on SIGHUP. */
struct given {
    const char *file;
    const struct config_flag *flags;
    size_t count;
};

static int load_again(void *context, struct config *config, struct buf *mistakes)
{
    const struct given *const given = context;
    const int code = load_config_quietly(config, given->file, given->flags, given->count, mistakes);
    return code == EX_OK && service_use_sockets(config) == 0 ? 0 : EX_CONFIG;
}

static int serve(const char *file, const struct config_flag *flags_given, size_t count)
{
    struct config config;
    struct given given = {.file = file, .flags = flags_given, .count = count};
    const struct gate_loader loader = {.context = &given, .load = load_again};
    int code = load_config(&config, file, flags_given, count);
    if (code == EX_OK) {
        log_init(config.log_level, config.log_format);
        allow_descriptors(&config);
        code = service_use_sockets(&config) == 0 ? gate_run(&config, &loader, &doors) : EX_CONFIG;
        log_close();
    }
    config_close(&config);
    return code;
}

static int run(struct cli_args *args)
{
    reload_defer();
    const char *file = NULL;
    struct config_flag given[FLAGS_MAX];
    size_t count = 0;
    struct cli_arg arg;
    enum cli_result result;
    while ((result = cli_next(args, &arg)) == CLI_ARG) {
        if (arg.flag == NULL || count == FLAGS_MAX) {
            cli_wrong(args->command, "%s \"%s\"",
                      arg.flag == NULL ? "unexpected argument"
                                       : "too many flags, the first too many is",
                      arg.value);
            return EX_USAGE;
        }
        const size_t place = (size_t)(arg.flag - flags);
        if (place == 0)
            file = arg.value;
        else
            given[count++] = (struct config_flag){
                .flag = targets[place].flag, .path = targets[place].path, .value = arg.value};
    }
    if (result != CLI_END)
        return cli_exit_code(result);
    guard_secrets();
    service_init();
    (void)signal(SIGPIPE, SIG_IGN);
    return serve(file, given, count);
}

const struct command command_serve = {
    .name = "serve",
    .summary = "Run the gateway",
    .group = GROUP_RUN,
    .usage = "[-c FILE] [--listen ADDRESS]... [--upstream URL] [--log-level LEVEL]",
    .details = "Flags come before the environment (SOLVEGATE_...), that before the file, that "
               "before defaults.\n"
               "It starts with no file at all: the vendor's key may be in CAPTCHAAI_API_KEY.\n"
               "SIGTERM lets open calls finish, then ends. SIGHUP reads the configuration again.\n",
    .flags = flags,
    .run = run,
};
