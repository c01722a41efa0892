#include "config/config_clients.h"
#include "config/config_options.h"
#include "config/config_reference.h"
#include "config_world.h"
#include "seed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

/* Every option that this version takes, each with a value that is not its default. */
static const char complete[] =
    "// comments are welcome\n"
    "{\n"
    "  \"mode\": \"shadow\", \"shadow\": {\"keys\": 123, \"top\": 7},\n"
    "  \"listen\": [\"0.0.0.0:80\", \"[::1]:0\", \"localhost:8431\", \"unix:/run/gate.sock\"],\n"
    "  \"public_url\": \"https://Gate.Example.com/\",\n"
    "  \"store\": \"sqlite:/var/lib/solvegate\", \"store_prefix\": \"Gate_2\",\n"
    "  \"store_ca_file\": \"/etc/store.pem\", \"cluster\": {\"allow_async\": true,\n"
    "    \"node\": \"left\", \"lease\": \"30s\", \"heartbeat\": \"3s\"},\n"
    "  \"trusted_proxies\": [\"10.1.2.3/8\", \"fd00::/16\", \"192.0.2.7\"],\n"
    "  \"upstream\": {\"url\": \"HTTP://Sim.Example.COM:8000/base//\", \"key\": \"vendor\", "
    "\"slots\": 20,\n"
    "    \"connections\": 7, \"http2\": false, \"connect_timeout\": \"1s\", \"submit_timeout\": "
    "\"2s\",\n"
    "    \"poll_timeout\": \"3s\", \"price\": {\"turnstile\": 0.001, \"default\": 2},\n"
    "    \"ca_file\": \"/etc/ca.pem\", \"allow_plain_http\": true},\n"
    "  \"poll\": {\"first\": {\"image\": \"1s\", \"default\": \"4s\"}, \"interval\": \"250ms\",\n"
    "    \"fallback_after\": \"2m\"},\n"
    "  \"solve_timeout\": \"100s\", \"ambiguity_window\": \"40s\", \"on_ambiguous\": \"never\",\n"
    "  \"retry\": {\"base\": \"2s\", \"cap\": \"1h\", \"jitter\": \"0s\", \"busy\": 1, "
    "\"unsolvable\": 20,\n"
    "    \"transient\": 30, \"unknown\": 4, \"budget\": 0.25},\n"
    "  \"breaker\": {\"probe\": \"3s\", \"probe_max\": \"7m\"},\n"
    "  \"errors\": {\"ERROR_SOMETHING\": \"transient\", \"IP_BANNED\": \"busy\"},\n"
    "  \"cache\": {\"ttl\": {\"image\": \"7d\", \"default\": \"50s\"}, \"min_ttl\": \"5s\",\n"
    "    \"caller_error_ttl\": \"1m\", \"solutions\": 10, \"bytes\": \"1MiB\"},\n"
    "  \"dedup\": {\"scope\": \"global\", \"include_proxy\": true},\n"
    "  \"reuse\": {\"default\": \"single\", \"turnstile\": \"none\"},\n"
    "  \"idempotency\": {\"ttl\": \"10s\", \"max\": 11},\n"
    "  \"letters\": {\"bytes\": \"6MiB\",\n"
    "    \"alert_above\": 21, \"keep\": \"1d\", \"max\": 22, \"retry_every\": \"1h\", "
    "\"retry_classes\": [\"unknown\", \"busy\"], \"retry_max\": 9, \"replay_interval\": "
    "\"2s\"},\n"
    "  \"alerts\": {\"url\": \"https://alerts.example\"},\n"
    "  \"callbacks\": {\"allow\": [\"Hooks.Example.com.\", \"*.example.org:8443\", "
    "\"[2001:db8::1]:81\"],\n"
    "    \"allow_private\": true, \"timeout\": \"7s\", \"connections\": 3, \"ca_file\": "
    "\"/etc/hooks.pem\",\n"
    "    \"retries\": 2, \"retry_base\": \"2s\", \"retry_cap\": \"9s\"},\n"
    "  \"pools\": [{\"name\": \"login\", \"method\": \"turnstile\", \"sitekey\": \"0xS\",\n"
    "    \"pageurl\": \"https://www.example.com/\", \"size\": 3, \"idle_after\": \"90s\",\n"
    "    \"max_waste\": 7, \"client\": \"crawler\", \"min_score\": 0.7, \"invisible\": true}],\n"
    "  \"clients\": [\n"
    "    {\"mode\": \"serve\", \"name\": \"crawler\", \"key\": \"" KEY_A
    "\", \"scopes\": [\"solve\", \"admin\"],\n"
    "     \"allow_hosts\": [\"*.Example.com.\", \"example.org\"], \"slots\": 3, \"weight\": 4,\n"
    "     \"requests\": 5, \"budget_per_day\": 6, \"reuse\": \"single\",\n"
    "     \"retry\": {\"base\": \"3s\", \"cap\": \"31s\", \"busy\": 1, \"unsolvable\": 0, "
    "\"transient\": 7}},\n"
    "    {\"name\": \"qa.2\", \"key_hash\":\n"
    "     \"2788636be25cace0bd9e45bdde650b4fc0e979575d7f3d58c6248b18ab237609\"},\n"
    "  ],\n"
    "  \"limits\": {\"connections\": 12, \"requests\": 13, \"finished\": 17, \"flights\": 14, "
    "\"per_flight\": 15, "
    "  \"flight_bytes\": \"5MiB\", \"finished_bytes\": \"4MiB\", "
    "  \"pingback_bytes\": \"3MiB\", \"records\": 1018, "
    "\"record_bytes\": \"6MiB\", "
    "\"partial_bytes\": \"7MiB\", "
    "\"unsent_bytes\": \"9MiB\", "
    "\"callers\": 16,\n"
    "    \"body\": 2048, \"header\": \"8KiB\", \"header_timeout\": \"1s\", \"body_timeout\": "
    "\"2s\",\n"
    "    \"write_timeout\": \"3s\", \"idle_timeout\": \"4s\"},\n"
    "  \"log\": {\"level\": \"debug\", \"format\": \"json\"},\n"
    "  \"drain_timeout\": \"6s\", /* and trailing commas too */\n"
    "}\n";

static void every_key_is_taken_and_lands_in_its_field(void **state)
{
    (void)state;
    struct world world;
    world_load(&world, complete);
    assert_string_equal(world_mistakes(&world), "");
    const struct config *const c = &world.config;
    assert_int_equal(c->listen_count, 4);
    assert_string_equal(c->listen[0], "0.0.0.0:80");
    assert_string_equal(c->listen[2], "127.0.0.1:8431");
    assert_string_equal(c->listen[3], "unix:/run/gate.sock");
    assert_int_equal(c->http.trusted_proxy_count, 3);
    assert_string_equal(c->public_url, "https://gate.example.com");
    assert_string_equal(c->store.url, "sqlite:/var/lib/solvegate");
    assert_string_equal(c->store.prefix, "Gate_2");
    assert_string_equal(c->store.ca_file, "/etc/store.pem");
    assert_true(c->store.allow_async);
    assert_string_equal(c->store.node, "left");
    assert_int_equal(c->store.lease_ms, 30000);
    assert_int_equal(c->store.heartbeat_ms, 3000);
    assert_int_equal(c->pool_count, 1);
    assert_string_equal(c->pools[0].name, "login");
    assert_string_equal(c->pools[0].client, "crawler");
    assert_int_equal(c->pools[0].options.size, 3);
    assert_int_equal(c->pools[0].options.idle_after_ms, 90000);
    assert_int_equal(c->pools[0].options.max_waste, 7);
    assert_true(c->pools[0].params->len > 40);
    assert_int_equal(c->http.trusted_proxies[0].prefix_bits, 104);
    assert_int_equal(c->http.trusted_proxies[0].address[12], 10);
    assert_int_equal(c->http.trusted_proxies[0].address[13], 0);
    assert_int_equal(c->http.trusted_proxies[1].prefix_bits, 16);
    assert_int_equal(c->http.trusted_proxies[2].prefix_bits, 128);
    assert_string_equal(c->upstream.url, "http://sim.example.com:8000/base");
    assert_string_equal(c->upstream.key, "vendor");
    assert_int_equal(c->engine.slots, 20);
    assert_false(c->engine.slots_are_auto);
    assert_int_equal(c->upstream.connections, 7);
    assert_false(c->upstream.http2);
    assert_int_equal(c->upstream.connect_timeout_ms, 1000);
    assert_int_equal(c->upstream.submit_timeout_ms, 2000);
    assert_int_equal(c->upstream.poll_timeout_ms, 3000);
    assert_true(c->has_price);
    assert_int_equal(c->engine.price_micro[TYPE_TURNSTILE], 1000);
    assert_int_equal(c->engine.price_micro[TYPE_IMAGE], 2000000);
    assert_string_equal(c->upstream.ca_file, "/etc/ca.pem");
    assert_true(c->upstream.allow_plain_http);
    assert_int_equal(c->engine.poll_first_ms[TYPE_IMAGE], 1000);
    assert_int_equal(c->engine.poll_first_ms[TYPE_RECAPTCHA_V2], 4000);
    assert_int_equal(c->engine.poll_interval_ms, 250);
    assert_int_equal(c->engine.fallback_after_ms, 120000);
    assert_int_equal(c->engine.solve_timeout_ms, 100000);
    assert_int_equal(c->engine.ambiguity_window_ms, 40000);
    assert_false(c->engine.resend_ambiguous);
    assert_int_equal(c->engine.retry_base_ms, 2000);
    assert_int_equal(c->engine.retry_cap_ms, 3600000);
    assert_int_equal(c->engine.retry_jitter_ms, 0);
    assert_int_equal(c->engine.retry_busy, 1);
    assert_int_equal(c->engine.retry_unsolvable, 20);
    assert_int_equal(c->engine.retry_transient, 30);
    assert_int_equal(c->engine.retry_unknown, 4);
    assert_int_equal(c->engine.retry_budget_permille, 250);
    assert_int_equal(c->engine.breaker_probe_ms, 3000);
    assert_int_equal(c->engine.breaker_probe_most_ms, 420000);
    world_close(&world);
}

static void every_key_is_taken_also_below_the_first_half(void **state)
{
    (void)state;
    struct world world;
    world_load(&world, complete);
    const struct config *const c = &world.config;
    assert_int_equal(c->upstream.vendor.override_count, 2);
    assert_string_equal(c->upstream.vendor.overrides[0].code, "ERROR_SOMETHING");
    assert_int_equal(c->upstream.vendor.overrides[0].class, CLASS_TRANSIENT);
    assert_int_equal(c->upstream.vendor.overrides[1].class, CLASS_BUSY);
    assert_int_equal(c->engine.ttl_ms[TYPE_IMAGE], 7 * 24 * 3600 * 1000);
    assert_int_equal(c->engine.ttl_ms[TYPE_TURNSTILE], 250000);
    assert_int_equal(c->engine.ttl_ms[TYPE_GEETEST], 50000);
    assert_int_equal(c->engine.ttl_ms[TYPE_OTHER], 50000);
    assert_int_equal(c->min_ttl_ms, 5000);
    assert_int_equal(c->engine.caller_error_ttl_ms, 60000);
    assert_int_equal(c->engine.max_solutions, 10);
    assert_int_equal(c->engine.max_solution_bytes, 1 << 20);
    assert_true(c->engine.clients_share);
    assert_true(c->dedup_include_proxy);
    assert_int_equal(c->mode, MODE_SHADOW);
    assert_int_equal(c->engine.max_shadow_keys, 123);
    assert_int_equal(c->engine.max_shadow_top, 7);
    assert_int_equal(c->reuse[TYPE_RECAPTCHA_V2], REUSE_SINGLE);
    assert_int_equal(c->reuse[TYPE_TURNSTILE], REUSE_NONE);
    assert_int_equal(c->reuse[TYPE_IMAGE], REUSE_SHARED);
    assert_int_equal(c->engine.idempotency_ttl_ms, 10000);
    assert_int_equal(c->engine.max_idempotency, 11);
    assert_int_equal(c->engine.letter_alert_above, 21);
    assert_int_equal(c->engine.letter_keep_ms, 86400000);
    assert_int_equal(c->engine.max_letters, 22);
    assert_int_equal(c->engine.max_letter_bytes, 6 << 20);
    assert_int_equal(c->engine.replay_interval_ms, 2000);
    assert_int_equal(c->engine.letter_retry_every_ms, 3600000);
    assert_int_equal(c->engine.letter_retry_classes, 1u << CLASS_UNKNOWN | 1u << CLASS_BUSY);
    assert_int_equal(c->engine.letter_retry_max, 9);
    assert_string_equal(c->alerts_url, "https://alerts.example");
    assert_int_equal(c->http.connections, 12);
    assert_int_equal(c->engine.max_requests, 13);
    assert_int_equal(c->engine.max_finished, 17);
    assert_int_equal(c->engine.max_flights, 14);
    assert_int_equal(c->engine.max_per_flight, 15);
    assert_int_equal(c->engine.max_flight_bytes, 5 << 20);
    assert_int_equal(c->engine.max_finished_bytes, 4 << 20);
    assert_int_equal(c->engine.max_pingback_bytes, 3 << 20);
    assert_int_equal(c->engine.max_records, 1018);
    assert_int_equal(c->engine.max_record_bytes, 6 << 20);
    assert_int_equal(c->http.partial_bytes, 7 << 20);
    assert_int_equal(c->http.unsent_bytes, 9 << 20);
    assert_int_equal(c->engine.max_callers, 16);
    assert_int_equal(c->http.body_bytes, 2048);
    assert_int_equal(c->http.header_bytes, 8192);
    assert_int_equal(c->http.header_timeout_ms, 1000);
    assert_int_equal(c->http.body_timeout_ms, 2000);
    assert_int_equal(c->http.write_timeout_ms, 3000);
    assert_int_equal(c->http.idle_timeout_ms, 4000);
    assert_int_equal(c->log_level, LOG_LEVEL_DEBUG);
    assert_int_equal(c->log_format, LOG_FORMAT_JSON);
    assert_int_equal(c->drain_timeout_ms, 6000);
    world_close(&world);
}

static void the_complete_file_names_every_option_of_the_table(void **state)
{
    (void)state;
    for (size_t i = 0; i < option_count; i++) {
        const char *const dot = strrchr(option_table[i].path, '.');
        char quoted[64];
        (void)snprintf(quoted, sizeof(quoted),
                       "\"%s\":", dot == NULL ? option_table[i].path : dot + 1);
        /* The store excludes them; test_config_store.c has them. */
        if (strstr(complete, quoted) == NULL && strcmp(option_table[i].path, "data_dir") != 0 &&
            strcmp(option_table[i].path, "cluster.enabled") != 0 &&
            strcmp(option_table[i].path, "listen_shared") != 0)
            fail_msg("%s is not tested", option_table[i].path);
    }
}

static void clients_carry_everything_they_were_given(void **state)
{
    (void)state;
    struct world world;
    world_load(&world, complete);
    assert_int_equal(world.config.client_count, 2);
    const struct config_client *const crawler = &world.config.clients[0];
    assert_string_equal(crawler->name, "crawler");
    assert_int_equal(crawler->scopes, SCOPE_SOLVE | SCOPE_ADMIN);
    assert_int_equal(crawler->allow_host_count, 2);
    assert_string_equal(crawler->allow_hosts[0], "*.example.com");
    assert_int_equal(crawler->options.slots, 3);
    assert_int_equal(crawler->options.weight, 4);
    assert_int_equal(crawler->options.requests, 5);
    assert_int_equal(crawler->options.budget_per_day, 6);
    assert_int_equal(crawler->reuse, REUSE_SINGLE);
    assert_int_equal(crawler->options.retry.base_ms, 3000);
    assert_int_equal(crawler->options.retry.cap_ms, 31000);
    assert_int_equal(crawler->options.retry.busy, 1);
    assert_int_equal(crawler->options.retry.unsolvable, 0);
    assert_int_equal(crawler->options.retry.transient, 7);
    const struct config_client *const qa = &world.config.clients[1];
    assert_string_equal(qa->name, "qa.2");
    assert_int_equal(qa->scopes, SCOPE_SOLVE);
    assert_int_equal(qa->allow_host_count, 0);
    assert_int_equal(qa->options.slots, 0);
    assert_int_equal(qa->options.weight, 1);
    assert_int_equal(qa->options.requests, 0);
    assert_true(qa->options.budget_per_day == UINT64_MAX);
    assert_int_equal(qa->reuse, REUSE_DEFAULT);
    /* The gateway's mode is that of clients who have none of their own. */
    assert_int_equal(crawler->mode, MODE_SERVE);
    assert_int_equal(qa->mode, MODE_DEFAULT);
    assert_false(config_client_is_shadow(&world.config, 0));
    assert_true(config_client_is_shadow(&world.config, 1));
    assert_true(config_has_shadow(&world.config));
    assert_true(qa->options.retry.base_ms == UINT32_MAX && qa->options.retry.busy == UINT16_MAX);
    world_close(&world);
}

static void callbacks_carry_everything_they_were_given(void **state)
{
    (void)state;
    struct world world;
    world_load(&world, complete);
    const struct config *const c = &world.config;
    assert_int_equal(c->notices.allow_count, 3);
    assert_string_equal(c->notices.allow[0].host, "hooks.example.com");
    assert_int_equal(c->notices.allow[0].port, 0);
    assert_string_equal(c->notices.allow[1].host, "*.example.org");
    assert_int_equal(c->notices.allow[1].port, 8443);
    assert_string_equal(c->notices.allow[2].host, "[2001:db8::1]");
    assert_int_equal(c->notices.allow[2].port, 81);
    assert_true(c->notices.allow_private);
    assert_int_equal(c->notices.timeout_ms, 7000);
    assert_int_equal(c->notices.connections, 3);
    assert_string_equal(c->notices.ca_file, "/etc/hooks.pem");
    assert_int_equal(c->engine.notice_retries, 2);
    assert_int_equal(c->engine.notice_base_ms, 2000);
    assert_int_equal(c->engine.notice_cap_ms, 9000);
    world_close(&world);
}

static void without_a_file_the_defaults_of_the_design_hold(void **state)
{
    (void)state;
    world_set_environment((const char *const[]){"CAPTCHAAI_API_KEY", "vendor", NULL});
    struct world world;
    world_load(&world, "");
    assert_string_equal(world_mistakes(&world), "");
    const struct config *const c = &world.config;
    assert_int_equal(c->listen_count, 1);
    assert_string_equal(c->listen[0], "127.0.0.1:8430");
    assert_string_equal(c->upstream.url, "https://ocr.captchaai.com");
    assert_string_equal(c->upstream.key, "vendor");
    assert_true(c->engine.slots_are_auto);
    assert_int_equal(c->engine.slots, 0);
    assert_false(c->has_price);
    assert_int_equal(c->engine.poll_first_ms[TYPE_IMAGE], 5000);
    assert_int_equal(c->engine.solve_timeout_ms, 180000);
    assert_int_equal(c->engine.ambiguity_window_ms, 45000);
    assert_true(c->engine.resend_ambiguous);
    assert_int_equal(c->engine.retry_budget_permille, 200);
    assert_int_equal(c->engine.breaker_probe_ms, 15000);
    assert_int_equal(c->engine.breaker_probe_most_ms, 300000);
    assert_int_equal(c->engine.ttl_ms[TYPE_RECAPTCHA_V3], 80000);
    assert_int_equal(c->engine.ttl_ms[TYPE_CLOUDFLARE], 60000);
    assert_int_equal(c->min_ttl_ms, 10000);
    assert_int_equal(c->mode, MODE_SERVE);
    assert_false(config_has_shadow(c));
    for (size_t i = 0; i < TYPE_COUNT; i++)
        assert_int_equal(c->reuse[i], REUSE_SHARED);
    assert_int_equal(c->http.connections, 10000);
    assert_int_equal(c->engine.max_requests, 200000);
    assert_int_equal(c->engine.max_finished, 200000);
    assert_int_equal(c->engine.max_records, 1000000);
    assert_int_equal(c->engine.max_record_bytes, 256 << 20);
    assert_int_equal(c->http.partial_bytes, 64 << 20);
    assert_int_equal(c->http.unsent_bytes, 64 << 20);
    assert_int_equal(c->http.body_bytes, 2 << 20);
    assert_int_equal(c->client_count, 0);
    assert_int_equal(c->notices.allow_count, 0);
    assert_false(c->notices.allow_private);
    assert_int_equal(c->notices.timeout_ms, 10000);
    assert_int_equal(c->notices.connections, 16);
    assert_null(c->notices.ca_file);
    assert_int_equal(c->engine.notice_retries, 5);
    assert_int_equal(c->engine.notice_base_ms, 1000);
    assert_int_equal(c->engine.notice_cap_ms, 60000);
    assert_int_equal(c->log_level, LOG_LEVEL_INFO);
    assert_int_equal(c->drain_timeout_ms, 5000);
    world_close(&world);
    world_set_environment(NULL);
}

static void a_type_that_is_not_named_follows_default(void **state)
{
    (void)state;
    struct world world;
    world_load(&world, FILE_WITH("\"poll\": {\"first\": \"7s\"}, \"cache\": {\"ttl\": \"90s\"}"));
    assert_string_equal(world_mistakes(&world), "");
    for (size_t i = 0; i < TYPE_COUNT; i++) {
        assert_int_equal(world.config.engine.poll_first_ms[i], 7000);
        assert_int_equal(world.config.engine.ttl_ms[i], 90000);
    }
    world_close(&world);
}

static void the_environment_beats_the_file_and_flags_beat_both(void **state)
{
    (void)state;
    world_set_environment((const char *const[]){"SOLVEGATE_UPSTREAM_URL",
                                                "http://127.0.0.1:9",
                                                "SOLVEGATE_UPSTREAM_KEY",
                                                "from-env",
                                                "CAPTCHAAI_API_KEY",
                                                "last-resort",
                                                "SOLVEGATE_LISTEN",
                                                "127.0.0.1:1, [::1]:2",
                                                "SOLVEGATE_UPSTREAM_SLOTS",
                                                "9",
                                                "SOLVEGATE_LOG_FORMAT",
                                                "json",
                                                "SOLVEGATE_LOG_LEVEL",
                                                "warn",
                                                "SOLVEGATE_RETRY_BUDGET",
                                                "0.5",
                                                "SOLVEGATE_DEDUP_INCLUDE_PROXY",
                                                "true",
                                                "SOLVEGATE_CACHE_BYTES",
                                                "128KiB",
                                                "SOLVEGATE_CACHE_TTL_IMAGE",
                                                "2h",
                                                "SOLVEGATE_REUSE_DEFAULT",
                                                "single",
                                                "SOLVEGATE_UPSTREAM_PRICE_IMAGE",
                                                "0.5",
                                                "SOLVEGATE_DRAIN_TIMEOUT",
                                                "",
                                                NULL});
    const struct config_flag flags[] = {{"--listen", "listen", "127.0.0.1:7"},
                                        {"--listen", "listen", "unix:/tmp/a,b"},
                                        {"--log-level", "log.level", "error"}};
    struct world world;
    world_load_flags(
        &world,
        "{\"upstream\": {\"key\": \"from-file\", \"slots\": 3}, \"drain_timeout\": \"9s\", "
        "\"log\": {\"level\": \"debug\", \"format\": \"text\"}}",
        flags, 3);
    assert_string_equal(world_mistakes(&world), "");
    const struct config *const c = &world.config;
    assert_string_equal(c->upstream.key, "from-env");
    assert_string_equal(c->upstream.url, "http://127.0.0.1:9");
    assert_int_equal(c->engine.slots, 9);
    assert_int_equal(c->listen_count, 2);
    assert_string_equal(c->listen[0], "127.0.0.1:7");
    assert_string_equal(c->listen[1], "unix:/tmp/a,b");
    assert_int_equal(c->log_level, LOG_LEVEL_ERROR);
    assert_int_equal(c->log_format, LOG_FORMAT_JSON);
    assert_int_equal(c->engine.retry_budget_permille, 500);
    assert_true(c->dedup_include_proxy);
    assert_int_equal(c->engine.max_solution_bytes, 128 << 10);
    assert_int_equal(c->engine.ttl_ms[TYPE_IMAGE], 7200000);
    assert_int_equal(c->reuse[TYPE_HCAPTCHA], REUSE_SINGLE);
    assert_int_equal(c->reuse[TYPE_IMAGE], REUSE_SHARED);
    assert_int_equal(c->engine.price_micro[TYPE_IMAGE], 500000);
    assert_int_equal(c->drain_timeout_ms, 9000);
    world_close(&world);
    world_set_environment(NULL);
}

static void a_list_from_the_environment_replaces_that_of_the_file(void **state)
{
    (void)state;
    world_set_environment((const char *const[]){"SOLVEGATE_LISTEN", "127.0.0.1:1, [::1]:2",
                                                "SOLVEGATE_CALLBACKS_ALLOW", "a.b, c.d:81", NULL});
    struct world world;
    world_load(&world, FILE_WITH("\"listen\": [\"127.0.0.1:5\"], "
                                 "\"callbacks\": {\"allow\": [\"e.f\", \"g.h\", \"i.j\"]}"));
    assert_string_equal(world_mistakes(&world), "");
    assert_int_equal(world.config.notices.allow_count, 2);
    assert_string_equal(world.config.notices.allow[1].host, "c.d");
    assert_int_equal(world.config.notices.allow[1].port, 81);
    assert_int_equal(world.config.listen_count, 2);
    assert_string_equal(world.config.listen[1], "[::1]:2");
    world_close(&world);
    world_set_environment(NULL);
}

static void texts_hold_environment_variables(void **state)
{
    (void)state;
    world_set_environment(
        (const char *const[]){"HOST", "vendor.example", "K_1", KEY_B, "EMPTY", "", NULL});
    struct world world;
    world_load(&world,
               "{\"upstream\": {\"url\": \"https://${HOST}/${EMPTY}a\", \"key\": \"a$b$${HOST}$\"},"
               "\"clients\": [{\"name\": \"n\", \"key\": \"${K_1}\"}]}");
    assert_string_equal(world_mistakes(&world), "");
    assert_string_equal(world.config.upstream.url, "https://vendor.example/a");
    assert_string_equal(world.config.upstream.key, "a$b${HOST}$");
    assert_int_equal(config_find_client(&world.config, SLICE_OF(KEY_B)), 0);
    world_close(&world);
    world_set_environment(NULL);
}

static void texts_from_the_environment_are_taken_as_they_are(void **state)
{
    (void)state;
    world_set_environment(
        (const char *const[]){"HOST", "x", "SOLVEGATE_UPSTREAM_KEY", "a${HOST}$${b", NULL});
    struct world world;
    world_load(&world, "");
    assert_string_equal(world_mistakes(&world), "");
    assert_string_equal(world.config.upstream.key, "a${HOST}$${b");
    world_close(&world);
    world_set_environment(NULL);
}

static void clients_are_found_by_their_keys_however_many_there_are(void **state)
{
    (void)state;
    for (size_t count = 1; count <= 200; count = count * 3 + 1) {
        struct buf text;
        buf_init(&text, 1 << 20);
        buf_add(&text, SLICE_OF("{\"upstream\": {\"key\": \"vendor\"}, \"clients\": ["));
        for (size_t i = 0; i < count; i++)
            buf_addf(&text, "{\"name\": \"c%zu\", \"key\": \"%032zu\"},", i, i);
        buf_add(&text, SLICE_OF("]}"));
        struct world world;
        world_load_bytes(&world, buf_slice(&text));
        assert_string_equal(world_mistakes(&world), "");
        char key[33];
        for (size_t i = 0; i < count; i++) {
            (void)snprintf(key, sizeof(key), "%032zu", i);
            assert_int_equal(config_find_client(&world.config, slice_from(key)), (long)i);
        }
        (void)snprintf(key, sizeof(key), "%032zu", count);
        assert_int_equal(config_find_client(&world.config, slice_from(key)), -1);
        assert_int_equal(config_find_client(&world.config, SLICE_OF("")), -1);
        assert_int_equal(config_find_client(&world.config, SLICE_NONE), -1);
        world_close(&world);
        buf_close(&text);
    }
}

static void hosts_are_allowed_exactly_or_below_a_star(void **state)
{
    (void)state;
    struct world world;
    world_load(&world, complete);
    const struct config_client *const client = &world.config.clients[0];
    assert_true(config_client_allows(client, SLICE_OF("a.example.com")));
    assert_true(config_client_allows(client, SLICE_OF("a.b.example.com")));
    assert_true(config_client_allows(client, SLICE_OF("example.org")));
    assert_false(config_client_allows(client, SLICE_OF("example.com")));
    assert_false(config_client_allows(client, SLICE_OF(".example.com")));
    assert_false(config_client_allows(client, SLICE_OF("evilexample.com")));
    assert_false(config_client_allows(client, SLICE_OF("a.example.org")));
    assert_false(config_client_allows(client, SLICE_OF("example.com.evil.net")));
    assert_false(config_client_allows(client, SLICE_OF("")));
    assert_true(config_client_allows(&world.config.clients[1], SLICE_OF("anything.at.all")));
    world_close(&world);
}

static void the_key_hash_is_plain_blake2b_256(void **state)
{
    (void)state;
    struct world world;
    world_load(&world, complete);
    assert_int_equal(
        config_find_client(&world.config, SLICE_OF("0123456789abcdef0123456789abcdef")), 1);
    world_close(&world);
}

static void the_reference_names_every_option_with_its_default(void **state)
{
    (void)state;
    struct buf text;
    buf_init(&text, 1 << 20);
    config_write_reference(&text);
    buf_add_char(&text, '\0');
    for (size_t i = 0; i < option_count; i++) {
        char line[128];
        (void)snprintf(line, sizeof(line), "\n%s\n", option_table[i].path);
        assert_non_null(strstr(text.data, line));
        /* One sentence each: it ends in a full stop and has no line break. */
        assert_non_null(option_table[i].help);
        assert_int_equal(option_table[i].help[strlen(option_table[i].help) - 1], '.');
        assert_null(strchr(option_table[i].help, '\n'));
    }
    assert_non_null(strstr(text.data, "\n    default: \"64MiB\"\n"));
    buf_close(&text);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_key_is_taken_and_lands_in_its_field),
        cmocka_unit_test(every_key_is_taken_also_below_the_first_half),
        cmocka_unit_test(the_complete_file_names_every_option_of_the_table),
        cmocka_unit_test(clients_carry_everything_they_were_given),
        cmocka_unit_test(callbacks_carry_everything_they_were_given),
        cmocka_unit_test(without_a_file_the_defaults_of_the_design_hold),
        cmocka_unit_test(a_type_that_is_not_named_follows_default),
        cmocka_unit_test(the_environment_beats_the_file_and_flags_beat_both),
        cmocka_unit_test(a_list_from_the_environment_replaces_that_of_the_file),
        cmocka_unit_test(texts_hold_environment_variables),
        cmocka_unit_test(texts_from_the_environment_are_taken_as_they_are),
        cmocka_unit_test(clients_are_found_by_their_keys_however_many_there_are),
        cmocka_unit_test(hosts_are_allowed_exactly_or_below_a_star),
        cmocka_unit_test(the_key_hash_is_plain_blake2b_256),
        cmocka_unit_test(the_reference_names_every_option_with_its_default),
    };
    seed_init(argc, argv);
    return cmocka_run_group_tests(tests, seed_announce, NULL);
}
