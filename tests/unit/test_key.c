/* Identity: every row of docs/design.md 5.1, the mistakes we see ourselves, and idempotency keys. */
#include "proto/form.h"
#include "proto/idempotency.h"
#include "proto/key.h"
#include "seed.h"

#include <setjmp.h>
#include <sodium.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#define CAP ((size_t)2 * 1024 * 1024)

static struct params params;
static struct buf scratch;
static struct identity identity;
static struct identity_options options;

static int setup(void **state)
{
    (void)state;
    options = (struct identity_options){.secret = {1, 2, 3}};
    params_init(&params, CAP);
    buf_init(&scratch, IDENTITY_SCRATCH_BYTES);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    params_close(&params);
    buf_close(&scratch);
    return 0;
}

static int compute_for(const char *client)
{
    const struct identity_scope scope = identity_scope_of(&options, slice_from(client));
    return identity_compute(&options, &params, &scope, &scratch, &identity);
}

static int compute_form(const char *form)
{
    params_reset(&params);
    assert_int_equal(params_add_form(&params, slice_from(form)), 0);
    return compute_for("crawler");
}

static struct key key_of(const char *form)
{
    assert_int_equal(compute_form(form), 0);
    assert_null(identity.mistake);
    return identity.key;
}

static void assert_same(const char *a, const char *b)
{
    const struct key left = key_of(a);
    const struct key right = key_of(b);
    assert_memory_equal(left.bytes, right.bytes, KEY_BYTES);
}

static void assert_other(const char *a, const char *b)
{
    const struct key left = key_of(a);
    const struct key right = key_of(b);
    assert_memory_not_equal(left.bytes, right.bytes, KEY_BYTES);
}

static void assert_mistake(const char *form, const char *word, const char *detail)
{
    assert_int_equal(compute_form(form), ERR_INVALID);
    assert_string_equal(identity.mistake, word);
    assert_string_equal(identity.mistake_detail, detail);
}

#define V2 "method=userrecaptcha&googlekey=K&pageurl=https://a.example/x"
#define TS "method=turnstile&sitekey=K&pageurl=https://a.example/x"

static void recaptcha_v2_counts_what_the_table_says(void **state)
{
    (void)state;
    static const char *const counted[] = {
        V2 "&invisible=1",
        V2 "&enterprise=1",
        V2 "&data-s=s",
        V2 "&domain=recaptcha.net",
        V2 "&cookies=a:b",
        V2 "&userAgent=Mozilla",
        V2 "&action=a",
        V2 "&unknown=",
        "method=userrecaptcha&googlekey=L&pageurl=https://a.example/x",
        "method=userrecaptcha&googlekey=K&pageurl=https://a.example/y",
    };
    for (size_t i = 0; i < sizeof(counted) / sizeof(counted[0]); i++)
        assert_other(V2, counted[i]);
    (void)key_of(V2);
    assert_int_equal(identity.type, TYPE_RECAPTCHA_V2);
    assert_false(identity.is_one_time);
    (void)key_of(V2 "&data-s=s");
    assert_true(identity.is_one_time);
}

static void a_question_without_a_method_is_the_one_with_method_post(void **state)
{
    (void)state;
    assert_same("textcaptcha=2%2B2", "method=post&textcaptcha=2%2B2");
}

static void recaptcha_v3_counts_version_action_and_score(void **state)
{
    (void)state;
    assert_other(V2, V2 "&version=v3");
    assert_other(V2 "&version=v3", V2 "&version=v3&action=login");
    assert_same(V2 "&version=v3", V2 "&version=v3&action=");
    assert_other(V2 "&version=v3&min_score=0.3", V2 "&version=v3&min_score=0.7");
    (void)key_of(V2 "&version=v3");
    assert_int_equal(identity.type, TYPE_RECAPTCHA_V3);
}

static void every_given_parameter_of_other_sitekey_types_counts(void **state)
{
    (void)state;
    assert_other(TS, TS "&action=a");
    assert_other(TS, TS "&data=d");
    assert_other(TS, TS "&pagedata=p");
    assert_other(TS "&action=a&data=b", TS "&action=b&data=a");
    assert_other(TS, "method=hcaptcha&sitekey=K&pageurl=https://a.example/x");
    (void)key_of(TS);
    assert_int_equal(identity.type, TYPE_TURNSTILE);
    (void)key_of("method=hcaptcha&sitekey=K&pageurl=https://a.example/x");
    assert_int_equal(identity.type, TYPE_HCAPTCHA);
}

static void no_name_or_value_can_imitate_another_field(void **state)
{
    (void)state;
    assert_other("method=aa&x=1", "method=ab&x=1");
    assert_other("method=x&ab=c", "method=x&a=bc");
    assert_other("method=x&a=1&b=2", "method=x&a=1%26b%3D2");
    assert_other("method=x&a=", "method=x");
    /* As the digested stream has them, in case a length were missing from it. */
    assert_other("method=x&a=1&b=2", "method=x&a=1T%01b2");
    assert_other("method=x&a=1&b=2", "method=x&a=1T%01b%01%002");
    char tail[255];
    char whole[300];
    char parts[300];
    memset(tail, 'v', 254);
    tail[254] = '\0';
    (void)snprintf(whole, sizeof(whole), "method=x&a=v%%fe%%00%s", tail);
    (void)snprintf(parts, sizeof(parts), "method=x&a%%01%%01v=%s", tail);
    assert_other(whole, parts);
}

static void transport_fields_never_count(void **state)
{
    (void)state;
    assert_same(
        TS, TS
        "&key=k&_=1763400000000&json=1&soft_id=1&header_acao=1&pingback=http://x&callback=y&debug=1"
        "&wait=3&reuse=single&min_ttl=1&max_age=2&idempotency_key=i&priority=9");
    (void)key_of(TS "&key=k&proxy=p&action=a");
    assert_int_equal(identity.ignored_count, 2);
    assert_true(slice_equals(identity.ignored[0], SLICE_OF("key")));
    assert_true(slice_equals(identity.ignored[1], SLICE_OF("proxy")));
    assert_int_equal(identity.field_count, 3);
    assert_true(slice_equals(identity.fields[0].name, SLICE_OF("action")));
    assert_true(slice_equals(identity.fields[1].name, SLICE_OF("pageurl")));
    assert_true(slice_equals(identity.fields[2].name, SLICE_OF("sitekey")));
    assert_true(slice_equals(identity.fields[2].value, SLICE_OF("K")));
}

static void false_and_v2_equal_absence(void **state)
{
    (void)state;
    static const char *const falses[] = {"0", "false", "False", "no", ""};
    for (size_t i = 0; i < sizeof(falses) / sizeof(falses[0]); i++) {
        char form[200];
        (void)snprintf(form, sizeof(form), V2 "&invisible=%s&enterprise=%s", falses[i], falses[i]);
        assert_same(V2, form);
    }
    assert_same(V2, V2 "&version=v2");
    assert_other(TS, TS "&version=v2"); /* there it is nobody's default */
    assert_other(V2, V2 "&version=v4");
    assert_other(TS, TS "&phrase=0");
}

static void two_spellings_are_one_field(void **state)
{
    (void)state;
    assert_same(V2, "method=userrecaptcha&sitekey=K&pageurl=https://a.example/x");
    assert_same(V2, V2 "&sitekey=K");
    assert_same(TS "&userAgent=U", TS "&useragent=U");
    /* With different values it is unclear which one the vendor takes, so nothing is merged. */
    assert_other(V2, V2 "&sitekey=L");
    assert_other("method=userrecaptcha&googlekey=A&sitekey=B&pageurl=http://a/",
                 "method=userrecaptcha&googlekey=B&sitekey=A&pageurl=http://a/");
    assert_other(V2 "&sitekey=L",
                 "method=userrecaptcha&sitekey=K&pageurl=https://a.example/x&googlekey=L");
    assert_same(V2 "&sitekey=L",
                "sitekey=L&pageurl=https://a.example/x&googlekey=K&method=userrecaptcha");
    assert_other(TS "&userAgent=U&useragent=V", TS "&userAgent=V&useragent=U");
    assert_other(TS "&userAgent=U&useragent=V", TS "&useragent=U&userAgent=V");
}

static void assert_pageurl(const char *given, const char *expected)
{
    char form[200];
    (void)snprintf(form, sizeof(form), "method=turnstile&sitekey=K&pageurl=%s", given);
    assert_int_equal(compute_form(form), 0);
    const struct slice value = identity.fields[0].value;
    assert_int_equal(value.len, strlen(expected));
    assert_memory_equal(value.data, expected, value.len);
}

static void page_addresses_are_normalised_and_nothing_more(void **state)
{
    (void)state;
    assert_pageurl("https://a.example/x?Y=Z", "https://a.example/x?Y=Z");
    assert_pageurl("HTTPS://A.Example/X%23frag", "https://a.example/X");
    assert_pageurl("https://a.example:443/", "https://a.example/");
    assert_pageurl("http://a.example:80?q", "http://a.example?q");
    assert_pageurl("http://a.example:443/", "http://a.example:443/");
    assert_pageurl("https://a.example:8443", "https://a.example:8443");
    assert_pageurl("https://a.example:/", "https://a.example/");
    assert_pageurl("https://a.example%23", "https://a.example");
    assert_pageurl("https://a.example", "https://a.example");
    assert_pageurl("https://a.example//b/../c%2525", "https://a.example//b/../c%25");
    assert_pageurl("https://a.example/\xc3\xa4", "https://a.example/\xc3\xa4");
    /* No address, or not without a real parser: as it is. */
    assert_pageurl("A.Example/login%23x", "A.Example/login#x");
    assert_pageurl("HTTPS://User@A.Example/", "HTTPS://User@A.Example/");
    assert_pageurl("HTTPS://A.Example/a b", "HTTPS://A.Example/a b");
    assert_pageurl("HTTPS://A.Example:0443/", "HTTPS://A.Example:0443/");
    assert_pageurl("a.example:8080/x", "a.example:8080/x");
}

static void assert_no_page(const char *pageurl)
{
    char form[200];
    (void)snprintf(form, sizeof(form), "method=turnstile&sitekey=K&pageurl=%s", pageurl);
    assert_int_equal(compute_form(form), ERR_INVALID);
    assert_string_equal(identity.mistake, "ERROR_PAGEURL");
}

static void what_no_browser_could_open_is_no_page_address(void **state)
{
    (void)state;
    assert_no_page("HTTPS://");
    assert_no_page("https:///x");
    assert_no_page("%20%09");
    assert_no_page("no address");
    assert_no_page("https://a%20b/");
    assert_no_page("javascript:alert(1)");
    assert_no_page("ftp://a.example/");
    assert_no_page("https:a.example");
    assert_no_page("https://a.example/%0d%0aX:y");
}

/* Eight bytes are looked at together, so each place counts, and so do the neighbours of what is looked for. */
static void a_control_anywhere_makes_it_no_page_address(void **state)
{
    (void)state;
    for (int at = 0; at < 17; at++) {
        char url[64];
        for (int byte = 1; byte < 256; byte++) {
            (void)snprintf(url, sizeof(url), "https://a.example/%.*s%%%02x%.*s", at,
                           "abcdefghijklmnopq", (unsigned)byte, 17 - at, "ABCDEFGHIJKLMNOPQ");
            if (byte < ' ' || byte == 0x7f) {
                assert_no_page(url);
                continue;
            }
            char form[200];
            (void)snprintf(form, sizeof(form), "method=turnstile&sitekey=K&pageurl=%s", url);
            assert_int_equal(compute_form(form), 0);
        }
    }
}

static long normalize_fake(struct slice url, char *out, size_t room)
{
    if (!slice_starts_with(url, SLICE_OF("odd@")))
        return -1;
    assert_true(room > url.len);
    memcpy(out, "normal", 6);
    return 6;
}

static void odd_addresses_go_to_the_given_normaliser(void **state)
{
    (void)state;
    options.normalize_url = normalize_fake;
    assert_pageurl("odd@one", "normal");
    assert_pageurl("no-address", "no-address");
    assert_pageurl("https://a.example/", "https://a.example/");
    assert_same("method=turnstile&sitekey=K&pageurl=odd@one",
                "method=turnstile&sitekey=K&pageurl=odd@two");
}

static void the_proxy_counts_only_where_it_must(void **state)
{
    (void)state;
#define CF "method=cloudflare_challenge&pageurl=https://a.example/&proxy=1.2.3.4:1&proxytype=HTTP"
    assert_same(TS, TS "&proxy=1.2.3.4:1&proxytype=HTTP");
    assert_other(
        CF,
        "method=cloudflare_challenge&pageurl=https://a.example/&proxy=1.2.3.4:2&proxytype=HTTP");
    assert_other(
        CF,
        "method=cloudflare_challenge&pageurl=https://a.example/&proxy=1.2.3.4:1&proxytype=SOCKS5");
    assert_other(CF, CF "&userAgent=U");
    assert_int_equal(identity.type, TYPE_CLOUDFLARE);
    options.include_proxy = true;
    assert_other(TS, TS "&proxy=1.2.3.4:1");
    assert_other(TS "&proxytype=HTTP", TS "&proxytype=SOCKS4");
}

static void geetest_challenges_are_one_time(void **state)
{
    (void)state;
#define GT "method=geetest&gt=g&pageurl=https://a.example/"
    assert_other(GT "&challenge=a", GT "&challenge=b");
    assert_true(identity.is_one_time);
    assert_int_equal(identity.type, TYPE_GEETEST);
    (void)key_of(GT "&version=4");
    assert_false(identity.is_one_time);
    (void)key_of(TS "&challenge=x");
    assert_false(identity.is_one_time);
}

static void inputs_that_a_site_takes_once_are_one_time(void **state)
{
    (void)state;
#define HC "method=hcaptcha&sitekey=K&pageurl=https://a.example/"
    static const char *const once[] = {
        TS "&data=d",
        TS "&pagedata=p",
        HC "&data=d",
        HC "&rqdata=r",
        GT "&challenge=c",
        V2 "&data-s=s",
        "method=funcaptcha&publickey=K&data%5Bblob%5D=b",
        "method=amazon_waf&sitekey=K&iv=i&context=c",
        "method=binance&sitekey=K&validate_id=v",
        "method=altcha&websiteURL=https://a.example/&challenge_json=%7B%7D",
    };
    static const char *const often[] = {
        TS,
        HC,
        GT,
        V2,
        TS "&data=",
        TS "&pagedata=",
        HC "&rqdata=",
        HC "&invisible=1",
        TS "&rqdata=r",
        V2 "&data=d",
        HC "&data-s=s",
        "method=brand_new&data=d",
        "method=funcaptcha&publickey=K&data%5Bother%5D=b",
    };
    for (size_t i = 0; i < sizeof(once) / sizeof(once[0]); i++) {
        (void)key_of(once[i]);
        if (!identity.is_one_time)
            fail_msg("%s could be cached", once[i]);
    }
    for (size_t i = 0; i < sizeof(often) / sizeof(often[0]); i++) {
        (void)key_of(often[i]);
        if (identity.is_one_time)
            fail_msg("%s could not be cached", often[i]);
    }
}

static void blanks_around_a_method_are_not_part_of_it(void **state)
{
    (void)state;
    assert_same("method=geetest_v4&captcha_id=1&pageurl=http://a/",
                "method=geetest_v4%20&captcha_id=1&pageurl=http://a/");
    assert_int_equal(identity.type, TYPE_GEETEST);
    assert_true(slice_equals(identity.method, SLICE_OF("geetest_v4")));
    assert_same(TS, "method=%09turnstile%0d%0a&sitekey=K&pageurl=https://a.example/x");
    assert_mistake("method=%20", "ERROR_BAD_PARAMETERS", "method is missing");
    assert_mistake("method=turn%20stile&sitekey=K&pageurl=http://a/", "ERROR_BAD_PARAMETERS",
                   "method is not a word of letters, digits, _, - and .");
    assert_mistake("method=turnstile%00&sitekey=K&pageurl=http://a/", "ERROR_BAD_PARAMETERS",
                   "method holds a NUL byte");
}

static void only_the_vendors_own_methods_demand_parameters(void **state)
{
    (void)state;
    static const char *const others[] = {
        "method=vkimage&file_1=aGVsbG8=",
        "method=vkimage&body=aGVsbG8=",
        "method=altcha&websiteURL=https://a.example/&challenge_url=https://a.example/c",
        "method=alibaba&sceneId=s&prefix=p&pageurl=https://a.example/",
        "method=hunt&apiGetLib=https://a.example/l.js&pageurl=https://a.example/",
        "method=tspd&tspdcookie=c&pageurl=https://a.example/",
        "method=vkcaptcha&useragent=u",
        "method=yandex&sitekey=K&url=https://a.example/",
        "method=binance&sitekey=K&url=https://a.example/&validateId=v",
        "method=capy&sitekey=K&pageurl=https://a.example/",
        "method=hcaptcha",
        "method=geetest_v4",
        "method=rotatecaptcha&file_1=aGVsbG8=",
        "method=audio",
        "method=bounding_box",
        "method=temuimage",
        "method=funcaptcha",
        "method=keycaptcha",
        "method=amazon_waf",
        "method=lemin_v2",
        "method=datadome",
        "method=cutcaptcha",
        "method=cybersiara",
        "method=tencent",
        "method=atb_captcha",
        "method=mt_captcha",
        "method=prosopo",
        "method=basilisk",
        "method=yidun",
    };
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        if (compute_form(others[i]) != 0)
            fail_msg("%s: %s", others[i], identity.mistake_detail);
    /* What is bound to an egress address still is, when a proxy is given. */
    assert_other("method=datadome&proxy=1.2.3.4:1", "method=datadome&proxy=1.2.3.4:2");
    assert_other("method=tspd&proxy=1.2.3.4:1", "method=tspd&proxy=1.2.3.4:2");
    assert_other("method=vkcaptcha&proxy=1.2.3.4:1", "method=vkcaptcha");
}

static void the_scope_and_the_secret_are_part_of_the_key(void **state)
{
    (void)state;
    struct key first = key_of(TS);
    static const char *const others[] = {"shop", "crawle", "crawler2", "Crawler", ""};
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        assert_int_equal(compute_for(others[i]), 0);
        assert_memory_not_equal(first.bytes, identity.key.bytes, KEY_BYTES);
    }
    assert_int_equal(compute_for("crawler"), 0);
    assert_memory_equal(first.bytes, identity.key.bytes, KEY_BYTES);
    options.is_global = true;
    assert_int_equal(compute_for("crawler"), 0);
    const struct key global = identity.key;
    assert_memory_not_equal(first.bytes, global.bytes, KEY_BYTES);
    assert_int_equal(compute_for("shop"), 0);
    assert_memory_equal(global.bytes, identity.key.bytes, KEY_BYTES);
    assert_int_equal(identity_compute(&options, &params, NULL, &scratch, &identity), 0);
    assert_memory_equal(global.bytes, identity.key.bytes, KEY_BYTES);
    options.is_global = false;
    for (size_t i = 0; i < IDENTITY_SECRET_BYTES; i++) {
        options.secret[i] ^= 0x80;
        assert_int_equal(compute_for("crawler"), 0);
        assert_memory_not_equal(first.bytes, identity.key.bytes, KEY_BYTES);
        options.secret[i] ^= 0x80;
    }
}

static void required_parameters_are_missed_in_the_vendors_words(void **state)
{
    (void)state;
    assert_mistake("", "ERROR_BAD_PARAMETERS", "method is missing");
    assert_mistake("method=", "ERROR_BAD_PARAMETERS", "method is missing");
    assert_mistake("method=userrecaptcha&pageurl=http://a/", "ERROR_GOOGLEKEY",
                   "googlekey is required by method userrecaptcha");
    assert_mistake("method=userrecaptcha&googlekey=&pageurl=http://a/", "ERROR_GOOGLEKEY",
                   "googlekey is required by method userrecaptcha");
    assert_mistake("method=userrecaptcha&googlekey=K", "ERROR_PAGEURL",
                   "pageurl is required by method userrecaptcha");
    assert_mistake("method=turnstile&pageurl=http://a/", "ERROR_GOOGLEKEY",
                   "sitekey is required by method turnstile");
    assert_mistake("method=friendly_captcha&sitekey=K", "ERROR_PAGEURL",
                   "pageurl is required by method friendly_captcha");
    assert_mistake("method=cloudflare_challenge&pageurl=http://a/", "ERROR_BAD_PARAMETERS",
                   "proxy is required by method cloudflare_challenge");
    assert_mistake("method=geetest&pageurl=http://a/&challenge=c", "ERROR_BAD_PARAMETERS",
                   "gt is required by method geetest");
    assert_mistake("method=lemin&pageurl=http://a/", "ERROR_BAD_PARAMETERS",
                   "captcha_id is required by method lemin");
    assert_mistake("method=captchafox&pageurl=http://a/&sitekey=K", "ERROR_BAD_PARAMETERS",
                   "proxy is required by method captchafox");
    assert_mistake("method=bls&instructions=664", "ERROR_BAD_PARAMETERS",
                   "image_base64_1 is required by method bls");
    /* What nobody documented passes. */
    (void)key_of("method=brand_new");
    assert_int_equal(identity.type, TYPE_OTHER);
}

static void hostile_names_and_bytes_are_refused(void **state)
{
    (void)state;
    static const char *const names[] = {
        "Key",         "+key",           "key%00",         "key[]",
        "KEY",         "soft.id",        "soft+id",        "Soft_ID",
        "header.acao", "%20%09pingback", "pingback[x][y]", "PingBack",
        "JSON",        "a%00b"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        char form[200];
        (void)snprintf(form, sizeof(form), TS "&%s=1", names[i]);
        assert_int_equal(compute_form(form), ERR_INVALID);
        assert_string_equal(identity.mistake, "ERROR_BAD_PARAMETERS");
    }
    (void)key_of(TS "&data[key]=1&keys=2&api_key=3&pingback_=4&xkey=5");
    assert_mistake("method=turnstile&sitekey=K%00&pageurl=http://a/", "ERROR_BAD_PARAMETERS",
                   "sitekey holds a NUL byte");
    assert_mistake("method=turnstile&sitekey=K&pageurl=http://a/%00", "ERROR_BAD_PARAMETERS",
                   "pageurl holds a NUL byte");
    assert_mistake(TS "&a%0ab%1b[31m%00=1", "ERROR_BAD_PARAMETERS",
                   "the parameter name 'a?b?[31m?' is not allowed");
    assert_mistake("method=mmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmm",
                   "ERROR_BAD_PARAMETERS", "method is longer than 64 bytes");
}

static void idempotency_keys_are_quoted_or_bare(void **state)
{
    (void)state;
    static const char *const good[][2] = {
        {"abc", "abc"},           {"\"abc\"", "abc"}, {" \t\"a-1\" ", "a-1"},
        {"\"a\\\"b\"", "a\\\"b"}, {"a\"b", "a\"b"},
    };
    static const char *const bad[] = {"",         "\"",      "\"\"",     "\"abc",
                                      "a b",      "\"a b\"", "a\x7f",    "\xc3\xa4",
                                      "\"a\"b\"", "\"a\\\"", "\"a\";q=1"};
    struct slice out;
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        assert_true(idempotency_key_parse(slice_from(good[i][0]), &out));
        assert_true(slice_equals(out, slice_from(good[i][1])));
    }
    out = SLICE_OF("untouched");
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_false(idempotency_key_parse(slice_from(bad[i]), &out));
    char longest[256];
    memset(longest, 'k', sizeof(longest));
    assert_false(idempotency_key_parse((struct slice){longest, 256}, &out));
    assert_true(slice_equals(out, SLICE_OF("untouched")));
    assert_true(idempotency_key_parse((struct slice){longest, 255}, &out));
    const struct identity_scope crawler = identity_scope_of(&options, SLICE_OF("crawler"));
    const struct identity_scope shop = identity_scope_of(&options, SLICE_OF("shop"));
    const struct key one = idempotency_digest(&crawler, out);
    const struct key two = idempotency_digest(&shop, out);
    const struct key shorter = idempotency_digest(&crawler, (struct slice){longest, 254});
    assert_memory_not_equal(one.bytes, two.bytes, KEY_BYTES);
    assert_memory_not_equal(one.bytes, shorter.bytes, KEY_BYTES);
}

int main(int argc, char **argv)
{
#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(recaptcha_v2_counts_what_the_table_says),
        TEST(a_question_without_a_method_is_the_one_with_method_post),
        TEST(recaptcha_v3_counts_version_action_and_score),
        TEST(every_given_parameter_of_other_sitekey_types_counts),
        TEST(no_name_or_value_can_imitate_another_field),
        TEST(transport_fields_never_count),
        TEST(false_and_v2_equal_absence),
        TEST(two_spellings_are_one_field),
        TEST(page_addresses_are_normalised_and_nothing_more),
        TEST(what_no_browser_could_open_is_no_page_address),
        TEST(a_control_anywhere_makes_it_no_page_address),
        TEST(odd_addresses_go_to_the_given_normaliser),
        TEST(the_proxy_counts_only_where_it_must),
        TEST(geetest_challenges_are_one_time),
        TEST(inputs_that_a_site_takes_once_are_one_time),
        TEST(blanks_around_a_method_are_not_part_of_it),
        TEST(only_the_vendors_own_methods_demand_parameters),
        TEST(the_scope_and_the_secret_are_part_of_the_key),
        TEST(required_parameters_are_missed_in_the_vendors_words),
        TEST(hostile_names_and_bytes_are_refused),
        TEST(idempotency_keys_are_quoted_or_bare),
    };
#undef TEST
    seed_init(argc, argv);
    if (sodium_init() < 0)
        return 1;
    return cmocka_run_group_tests(tests, seed_announce, NULL);
}
