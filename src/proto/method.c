#include "proto/method.h"

#define NAME(literal) {.data = literal, .len = sizeof(literal) - 1}
#define METHOD(literal, what, demands) \
    {.name = NAME(literal), .type = TYPE_##what, .needs = (demands)}
#define METHOD_WITH(literal, what, demands, ...) \
    {.name = NAME(literal), .type = TYPE_##what, .needs = (demands), __VA_ARGS__}

#define SITE (METHOD_NEEDS_SITEKEY | METHOD_NEEDS_PAGEURL)
#define PAGE METHOD_NEEDS_PAGEURL
#define PROXY (METHOD_NEEDS_PROXY | METHOD_BINDS_PROXY)
#define BOUND METHOD_BINDS_PROXY
#define IMAGES METHOD_HAS_IMAGES
#define UPLOAD (METHOD_NEEDS_IMAGE | METHOD_HAS_IMAGES)
#define ANYTHING 0U

/* Frequent methods first. The answer to anything recognised from a picture or a sound depends on
 * nothing else and does not expire, so the type of all of those is image. */
static const struct method METHODS[] = {
    /* Methods of the vendor's own reference. userAgent is never demanded, although some rows of
     * docs/protocol.md do so: it is not documented what happens without it. */
    METHOD_WITH("userrecaptcha", RECAPTCHA_V2, SITE, .once = {NAME("data-s")}),
    METHOD_WITH("turnstile", TURNSTILE, SITE, .once = {NAME("data"), NAME("pagedata")}),
    METHOD("post", IMAGE, UPLOAD),
    METHOD("base64", IMAGE, UPLOAD),
    METHOD_WITH("bls", IMAGE, IMAGES, .also = {NAME("instructions"), NAME("image_base64_1")}),
    METHOD("cloudflare_challenge", CLOUDFLARE, PAGE | PROXY),
    METHOD_WITH("geetest", GEETEST, PAGE, .also = {NAME("gt")}, .once = {NAME("challenge")}),
    METHOD("friendly_captcha", OTHER, SITE),
    METHOD_WITH("lemin", OTHER, PAGE, .also = {NAME("captcha_id")}),
    METHOD("captchafox", OTHER, SITE | PROXY),
    /* Methods of other vendors, which clients also send, in several spellings. Only the vendor
     * knows what they need, so nothing is demanded. */
    METHOD_WITH("hcaptcha", HCAPTCHA, ANYTHING, .once = {NAME("data"), NAME("rqdata")}),
    METHOD_WITH("geetest_v4", GEETEST, ANYTHING, .once = {NAME("challenge")}),
    METHOD("rotatecaptcha", IMAGE, IMAGES),
    METHOD("bounding_box", IMAGE, IMAGES),
    METHOD("audio", IMAGE, IMAGES),
    METHOD("vkimage", OTHER, IMAGES),
    METHOD("temuimage", OTHER, IMAGES),
    METHOD_WITH("funcaptcha", OTHER, ANYTHING, .once = {NAME("data[blob]")}),
    METHOD_WITH("amazon_waf", OTHER, ANYTHING, .once = {NAME("context"), NAME("iv")}),
    METHOD_WITH("binance", OTHER, ANYTHING, .once = {NAME("validate_id")}),
    METHOD_WITH("altcha", OTHER, ANYTHING, .once = {NAME("challenge_json")}),
    METHOD_WITH("keycaptcha", OTHER, ANYTHING, .once = {NAME("s_s_c_session_id")}),
    METHOD("datadome", OTHER, BOUND),
    METHOD("tspd", OTHER, BOUND),
    METHOD("vkcaptcha", OTHER, BOUND),
};

const struct method *method_find(struct slice name)
{
    for (size_t i = 0; i < sizeof(METHODS) / sizeof(METHODS[0]); i++)
        if (slice_equals(METHODS[i].name, name))
            return &METHODS[i];
    return NULL;
}

static bool has_value(const struct params *params, struct slice name)
{
    return params_value(params, name).len > 0;
}

struct slice method_of(const struct params *params)
{
    const struct slice given = params_trim(params_value(params, SLICE_OF("method")));
    if (given.len > 0)
        return given;
    bool has_file = has_value(params, SLICE_OF("textcaptcha"));
    for (size_t i = 0; i < params->count; i++)
        has_file |= slice_is_given(params->items[i].filename);
    if (has_file)
        return SLICE_OF("post");
    return has_value(params, SLICE_OF("body")) ? SLICE_OF("base64") : SLICE_NONE;
}
