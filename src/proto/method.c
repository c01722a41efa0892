#include "proto/method.h"

#define NAME(literal) {.data = literal, .len = sizeof(literal) - 1}
#define METHOD(literal, what, demands) \
    {.name = NAME(literal), .captcha = CAPTCHA_##what, .needs = (demands)}
#define METHOD_ALSO(literal, what, demands, ...)                                        \
    {                                                                                   \
        .name = NAME(literal), .captcha = CAPTCHA_##what, .needs = (demands), .also = { \
            __VA_ARGS__                                                                 \
        }                                                                               \
    }

#define SITE (METHOD_NEEDS_SITEKEY | METHOD_NEEDS_PAGEURL)
#define PAGE METHOD_NEEDS_PAGEURL
#define PROXY METHOD_NEEDS_PROXY
#define IMAGES METHOD_HAS_IMAGES
#define UPLOAD (METHOD_NEEDS_IMAGE | METHOD_HAS_IMAGES)

/* The frequent ones first. The answer to anything recognised from a picture or a sound depends on
 * nothing else and does not expire, so all of those are images to the cache. userAgent is never
 * demanded here although some rows of PROTOCOL.md do: what happens without it is not documented. */
static const struct method METHODS[] = {
    METHOD("userrecaptcha", RECAPTCHA_V2, SITE),
    METHOD("turnstile", TURNSTILE, SITE),
    METHOD("hcaptcha", HCAPTCHA, SITE),
    METHOD("post", IMAGE, UPLOAD),
    METHOD("base64", IMAGE, UPLOAD),
    METHOD_ALSO("bls", IMAGE, IMAGES, NAME("instructions"), NAME("image_base64_1")),
    METHOD("rotatecaptcha", IMAGE, IMAGES),
    METHOD("bounding_box", IMAGE, IMAGES),
    METHOD_ALSO("audio", IMAGE, IMAGES, NAME("body")),
    METHOD("cloudflare_challenge", CLOUDFLARE, PAGE | PROXY),
    METHOD_ALSO("geetest", GEETEST, PAGE, NAME("gt")),
    METHOD_ALSO("geetest_v4", GEETEST, PAGE, NAME("captcha_id")),
    METHOD("friendly_captcha", OTHER, SITE),
    METHOD_ALSO("lemin", OTHER, PAGE, NAME("captcha_id")),
    METHOD("captchafox", OTHER, SITE | PROXY),
    METHOD("mt_captcha", OTHER, SITE),
    METHOD("prosopo", OTHER, SITE),
    METHOD("yandex", OTHER, SITE),
    METHOD("basilisk", OTHER, SITE),
    METHOD("yidun", OTHER, SITE),
    METHOD_ALSO("binance", OTHER, SITE, NAME("validate_id")),
    METHOD_ALSO("amazon_waf", OTHER, SITE, NAME("iv"), NAME("context")),
    METHOD_ALSO("funcaptcha", OTHER, PAGE, NAME("publickey")),
    METHOD_ALSO("capy", OTHER, PAGE, NAME("captchakey")),
    METHOD_ALSO("keycaptcha", OTHER, PAGE, NAME("s_s_c_user_id"), NAME("s_s_c_session_id"),
                NAME("s_s_c_web_server_sign"), NAME("s_s_c_web_server_sign2")),
    METHOD_ALSO("tencent", OTHER, PAGE, NAME("app_id")),
    METHOD_ALSO("atb_captcha", OTHER, PAGE, NAME("app_id"), NAME("api_server")),
    METHOD_ALSO("cutcaptcha", OTHER, PAGE, NAME("misery_key"), NAME("api_key")),
    METHOD_ALSO("datadome", OTHER, PAGE | PROXY, NAME("captcha_url")),
    METHOD_ALSO("cybersiara", OTHER, PAGE, NAME("master_url_id")),
    METHOD("altcha", OTHER, PAGE),
    METHOD_ALSO("alibaba", OTHER, PAGE, NAME("scene_id"), NAME("prefix")),
    METHOD_ALSO("hunt", OTHER, PAGE, NAME("api_get_lib")),
    METHOD_ALSO("tspd", OTHER, PAGE | PROXY, NAME("tspd_cookie"), NAME("html_page_base64")),
    METHOD_ALSO("vkimage", OTHER, IMAGES, NAME("body"), NAME("steps")),
    METHOD_ALSO("vkcaptcha", OTHER, PROXY, NAME("redirect_uri")),
    METHOD_ALSO("temuimage", OTHER, IMAGES, NAME("body")),
};

const struct method *method_find(struct slice name)
{
    for (size_t i = 0; i < sizeof(METHODS) / sizeof(METHODS[0]); i++)
        if (slice_equals(METHODS[i].name, name))
            return &METHODS[i];
    return NULL;
}
