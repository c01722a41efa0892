/* Which answers are more than a text: the table, by the parameters that clients send. */
#include "proto/rest.h"

#include "proto/form.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static bool wants(const char *form)
{
    struct params params;
    params_init(&params, 4096);
    assert_int_equal(params_add_form(&params, slice_from(form)), 0);
    const bool is_wanted = rest_is_wanted(&params);
    params_close(&params);
    return is_wanted;
}

static void what_is_more_than_a_text_is_polled_for(void **state)
{
    (void)state;
    static const char *const forms[] = {
        "method=cloudflare_challenge&pageurl=p",
        "method=userrecaptcha&googlekey=k&enterprise=1",
        "method=userrecaptcha&version=v3&enterprise=true",
        "method=hcaptcha&sitekey=k",
        "method=turnstile&sitekey=k&pagedata=p",
        "method=turnstile&sitekey=k&data=d",
        "method=geetest&gt=g",
        "method=geetest_v4+&captcha_id=c",
        "method=capy&captchakey=c",
        "method=base64&body=b&coordinatescaptcha=1",
        "coordinatescaptcha=1",
        "method=brand_new",
    };
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++)
        assert_true(wants(forms[i]));
}

static void a_text_is_all_of_the_others(void **state)
{
    (void)state;
    static const char *const forms[] = {
        "method=userrecaptcha&googlekey=k",
        "method=userrecaptcha&googlekey=k&enterprise=0",
        "method=userrecaptcha&googlekey=k&enterprise=false",
        "method=turnstile&sitekey=k",
        "method=turnstile&sitekey=k&pagedata=",
        "method=base64&body=b",
        "method=post",
        "method=bls&instructions=1",
        "textcaptcha=two",
    };
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++)
        assert_false(wants(forms[i]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_more_than_a_text_is_polled_for),
        cmocka_unit_test(a_text_is_all_of_the_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
