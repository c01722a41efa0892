#include "proto/rest.h"

#include "proto/method.h"

struct row {
    const char *method;
    const char *with; /* NULL, or a parameter that must be given and not false */
};

/* Methods whose answer has further members, or is an object or array (docs/protocol.md 1a, 2).
 * Recognised images and texts, and tokens that need nothing else, are not listed: their callbacks
 * carry the whole answer. */
static const struct row ROWS[] = {
    {"cloudflare_challenge", NULL},  /* user_agent, without which a cf_clearance is worthless */
    {"userrecaptcha", "enterprise"}, /* user_agent */
    {"hcaptcha", NULL},              /* respKey, useragent */
    {"turnstile", "data"},           /* useragent: of a challenge page */
    {"turnstile", "pagedata"},       /* useragent: of a challenge page */
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
    /* Without a method it is an upload. */
    const struct slice method = given.len > 0 ? given : SLICE_OF("post");
    for (size_t i = 0; i < sizeof(ROWS) / sizeof(ROWS[0]); i++)
        if (slice_equals(method, slice_from(ROWS[i].method)) &&
            (ROWS[i].with == NULL || is_given(params, ROWS[i].with)))
            return true;
    /* The answer of an undocumented method may be more than a text. */
    return method_find(method) == NULL;
}
