#include "redis_store_world.h"
#include "tls_world.h"

#include "seed.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#define CANARY "s3cr3t-canary"

/* A server that speaks TLS with this certificate; false on a machine that cannot. */
static bool restart_with(const char *certificate)
{
    static char port[16], file[256], key[256];
    struct redis_server *const server = store_kit_redis_server();
    if (!tls_world_is_usable())
        return false;
    redis_stop(server);
    (void)snprintf(file, sizeof(file), "%s", tls_world_path(certificate));
    (void)snprintf(key, sizeof(key), "%.*s.key", (int)(strlen(file) - 4), file);
    (void)snprintf(port, sizeof(port), "%u", redis_free_port());
    const char *const extra[] = {"--tls-port",
                                 port,
                                 "--tls-cert-file",
                                 file,
                                 "--tls-key-file",
                                 key,
                                 "--tls-ca-cert-file",
                                 file,
                                 "--tls-auth-clients",
                                 "no",
                                 NULL};
    memcpy(server->extra, extra, sizeof(extra));
    redis_start(server);
    redis_do(server, "ACL", "SETUSER", "me", "on", ">" CANARY, "~*", "&*", "+@all", NULL);
    redis_do(server, "CONFIG", "RESETSTAT", NULL);
    return true;
}

static struct store_backend *open_with(const char *ca, const char *host)
{
    char url[256], ca_file[256] = "";
    if (ca != NULL)
        (void)snprintf(ca_file, sizeof(ca_file), "%s", tls_world_path(ca));
    (void)snprintf(url, sizeof(url), "rediss://me:" CANARY "@%s:%s/0", host,
                   store_kit_redis_server()->extra[1]);
    const struct store_place place = {
        .url = url, .prefix = CASE_PREFIX, .ca_file = ca == NULL ? NULL : ca_file};
    return redis_case_open(&place);
}

/* It would be counted. */
static void assert_nothing_was_sent(void)
{
    struct redis_reply *const stats =
        redis_ask(store_kit_redis_server(), "INFO", "commandstats", NULL);
    assert_non_null(stats);
    assert_null(strstr(stats->bytes, "cmdstat_auth"));
    redis_reply_free(stats);
    assert_null(strstr(redis_case_mistake, CANARY));
}

static void a_server_with_the_right_certificate_is_used(void **state)
{
    struct store_world *const world = *state;
    if (!restart_with("right"))
        return;
    static const char *const hosts[] = {"localhost", "127.0.0.1"};
    for (size_t i = 0; i < 2; i++) {
        struct store_backend *const backend = open_with("right", hosts[i]);
        if (backend == NULL)
            fail_msg("%s", redis_case_mistake);
        for (uint64_t id = 1; id <= 50; id++)
            assert_int_equal(redis_case_put(world, backend, id), STORE_DONE);
        struct record large = world_record(world, RECORD_SOLUTION, 1);
        blob_unref(large.solution.text);
        large.solution.text = blob_alloc((size_t)4 << 20);
        memset(large.solution.text->data, 'x', large.solution.text->len);
        assert_int_equal(redis_case_write(backend, &large, "alpha"), STORE_DONE);
        assert_int_equal(backend->driver->beat(backend), STORE_DONE);
        backend->driver->close(backend);
    }
    assert_int_equal(world_count_rows(world), 51);
}

static void a_server_whose_certificate_nobody_vouches_for_gets_no_password(void **state)
{
    (void)state;
    if (!restart_with("right"))
        return;
    assert_null(open_with("wrong", "localhost"));
    assert_mistake("certificate");
    assert_nothing_was_sent();
    assert_null(open_with(NULL, "localhost"));
    assert_mistake("certificate");
    assert_nothing_was_sent();
}

static void a_certificate_of_another_host_is_refused(void **state)
{
    (void)state;
    if (!restart_with("wrong"))
        return;
    assert_null(open_with("wrong", "localhost"));
    assert_nothing_was_sent();
}

static void a_file_without_certificates_is_refused(void **state)
{
    (void)state;
    if (!restart_with("right"))
        return;
    assert_null(open_with("missing", "localhost"));
    assert_nothing_was_sent();
}

/* Redis takes the greeting for the beginning of a command and waits for its end. */
static void a_server_that_does_not_answer_to_tls_is_told_from_one_that_is_not_there(void **state)
{
    (void)state;
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}};
    socklen_t len = sizeof(address);
    char url[128];
    const int listener = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(bind(listener, (struct sockaddr *)&address, sizeof(address)), 0);
    assert_int_equal(listen(listener, 1), 0);
    assert_int_equal(getsockname(listener, (struct sockaddr *)&address, &len), 0);
    (void)snprintf(url, sizeof(url), "rediss://127.0.0.1:%u", ntohs(address.sin_port));
    assert_null(redis_case_open_url(url));
    assert_mistake("does not answer to TLS");
    assert_mistake("write redis://");
    (void)close(listener);
    assert_null(redis_case_open_url(url));
    assert_null(strstr(redis_case_mistake, "TLS"));
}

static void a_server_that_wants_tls_says_so(void **state)
{
    (void)state;
    if (!restart_with("right"))
        return;
    char url[128];
    (void)snprintf(url, sizeof(url), "redis://127.0.0.1:%s", store_kit_redis_server()->extra[1]);
    assert_null(redis_case_open_url(url));
    assert_mistake("rediss://");
}

static void a_socket_that_is_not_there_is_not_called_a_port(void **state)
{
    (void)state;
    assert_null(redis_case_open_url("redis+unix:///tmp/no/such.sock"));
    assert_mistake("/tmp/no/such.sock");
    assert_mistake("No such file");
    assert_null(strstr(redis_case_mistake, "port"));
}

int main(int argc, char **argv)
{
    seed_init(argc, argv);
    const struct CMUnitTest tests[] = {
        REDIS_CASE(a_server_with_the_right_certificate_is_used),
        REDIS_CASE(a_server_whose_certificate_nobody_vouches_for_gets_no_password),
        REDIS_CASE(a_certificate_of_another_host_is_refused),
        REDIS_CASE(a_file_without_certificates_is_refused),
        REDIS_CASE(a_server_that_does_not_answer_to_tls_is_told_from_one_that_is_not_there),
        REDIS_CASE(a_server_that_wants_tls_says_so),
        REDIS_CASE(a_socket_that_is_not_there_is_not_called_a_port),
    };
    return store_kit_redis.missing() != NULL
               ? redis_case_skip()
               : cmocka_run_group_tests(tests, tls_world_open, tls_world_close);
}
