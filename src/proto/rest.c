#include "proto/rest.h"

#include "proto/method.h"

struct row {
    const char *method;
    const char *with; /* only when this parameter is given and not false, or NULL */
};

/* What stands beside the text, or that it is an object or array (docs/protocol.md 1a, 2). Images and texts that
 * are recognised, and tokens that need nothing else, are not here: their callbacks say it all. */
static const struct row ROWS[] = {
    {"cloudflare_challenge", NULL},  /* user_agent, without which a cf_clearance is worthless */
    {"userrecaptcha", "enterprise"}, /* user_agent */
    {"hcaptcha", NULL},              /* respKey, useragent */
    {"turnstile", "data"},           /* useragent: of a challenge page */
    {"turnstile", "pagedata"},       /* the same */
    {"geetest", NULL},               /* challenge, validate, seccode */
    {"geetest_v4", NULL},            /* lot_number, pass_token, captcha_output */
    {"capy", NULL},                  /* captchakey, challengekey, answer */
    {"lemin", NULL},                 /* answer, challenge_id */
    {"tencent", NULL},               /* appid, ticket, randstr */
    {"amazon_waf", NULL},            /* captcha_voucher, existing_token */
    {"vkimage", NULL},               /* best_step, answer */
    {"temuimage", NULL},             /* coordinates */
    {"bounding_box", NULL},          /* boxes */
    {"post", "coordinatescaptcha"},  /* points */
    {"base64", "coordinatescaptcha"},
    {"post", "canvas"}, /* an outline */
    {"base64", "canvas"},
};

static bool is_given(const struct params *params, const char *name)
{
    const struct slice value = params_value(params, slice_from(name));
    return value.len > 0 && !slice_equals(value, SLICE_OF("0")) &&
           !slice_equals_nocase(value, SLICE_OF("false"));
}

bool rest_is_wanted(const struct params *params)
{
    const struct slice given = params_trim(params_value(params, SLICE_OF("method")));
    /* A missing one means an upload. */
    const struct slice method = given.len > 0 ? given : SLICE_OF("post");
    for (size_t i = 0; i < sizeof(ROWS) / sizeof(ROWS[0]); i++)
        if (slice_equals(method, slice_from(ROWS[i].method)) &&
            (ROWS[i].with == NULL || is_given(params, ROWS[i].with)))
            return true;
    /* Of a method that nobody documented, nobody knows. */
    return method_find(method) == NULL;
}
