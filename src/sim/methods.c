#include "sim/methods.h"

#include "sim/text.h"

#define DEMANDS_MAX 5

struct demand {
    const char *name;
    const char *code; /* the vendor's error if it is missing or blank */
};

struct method {
    const char *name;
    struct demand demands[DEMANDS_MAX];
};

#define NEEDS_PAGEURL {"pageurl", "ERROR_PAGEURL"}
#define NEEDS_SITEKEY {"sitekey", "ERROR_GOOGLEKEY"}
#define NEEDS(name) {name, "ERROR_BAD_PARAMETERS"}

/* Images are checked separately. Methods that are not in the table are accepted unchecked. */
static const struct method methods[] = {
    {"post", {{NULL, NULL}}},
    {"base64", {{NULL, NULL}}},
    {"bls", {NEEDS("instructions"), NEEDS("image_base64_1"), NEEDS("image_base64_9")}},
    {"userrecaptcha", {{"googlekey", "ERROR_GOOGLEKEY"}, NEEDS_PAGEURL}},
    {"turnstile", {NEEDS_SITEKEY, NEEDS_PAGEURL}},
    {"hcaptcha", {NEEDS_SITEKEY, NEEDS_PAGEURL}},
    {"friendly_captcha", {NEEDS_SITEKEY, NEEDS_PAGEURL}},
    {"captchafox", {NEEDS_SITEKEY, NEEDS_PAGEURL, NEEDS("proxy"), NEEDS("proxytype")}},
    {"cloudflare_challenge", {NEEDS_PAGEURL, NEEDS("proxy"), NEEDS("proxytype")}},
    {"geetest", {NEEDS("gt"), NEEDS_PAGEURL}},
    {"geetest_v4", {NEEDS("captcha_id"), NEEDS_PAGEURL}},
    {"lemin", {NEEDS("captcha_id"), NEEDS_PAGEURL}},
};

struct slice methods_name(const struct params *params)
{
    const struct slice method = params_get(params, SLICE_OF("method"));

    if (method.len > 0)
        return method;
    return params_find(params, SLICE_OF("file")) != NULL ? SLICE_OF("post") : SLICE_NONE;
}

static bool is_method(const struct params *params, struct slice name)
{
    return slice_equals(methods_name(params), name);
}

bool methods_is_image(const struct params *params)
{
    return is_method(params, SLICE_OF("post")) || is_method(params, SLICE_OF("base64"));
}

static bool is_geetest_v4(const struct params *params)
{
    const struct slice version = params_get(params, SLICE_OF("version"));

    return slice_equals(version, SLICE_OF("4")) || slice_equals(version, SLICE_OF("v4"));
}

static enum answer_kind image_answer_kind(const struct params *params)
{
    const bool is_grid =
        slice_equals(params_get(params, SLICE_OF("img_type")), SLICE_OF("recaptcha")) ||
        params_is_set(params, SLICE_OF("recaptcha"));

    if (params_is_set(params, SLICE_OF("canvas")))
        return ANSWER_OUTLINE;
    if (params_is_set(params, SLICE_OF("coordinatescaptcha")))
        return ANSWER_POINTS;
    return is_grid ? ANSWER_CELLS : ANSWER_TEXT;
}

/* Methods whose answers have one form, whatever else is asked. */
static enum answer_kind fixed_answer_kind(struct slice method)
{
    static const struct {
        const char *method;
        enum answer_kind kind;
    } rows[] = {
        {"bls", ANSWER_CELLS},
        {"cloudflare_challenge", ANSWER_CLEARANCE},
        {"hcaptcha", ANSWER_AGENT},
        {"geetest_v4", ANSWER_GEETEST_4},
        {"amazon_waf", ANSWER_AMAZON},
        {"lemin", ANSWER_LEMIN},
        {"capy", ANSWER_CAPY},
        {"tencent", ANSWER_TENCENT},
        {"rotatecaptcha", ANSWER_NUMBER},
        {"bounding_box", ANSWER_BOXES},
        {"audio", ANSWER_TEXT},
        {"vkimage", ANSWER_STEPS},
        {"temuimage", ANSWER_POINTS},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (slice_equals(method, slice_from(rows[i].method)))
            return rows[i].kind;
    return ANSWER_TOKEN;
}

enum answer_kind methods_answer_kind(const struct params *params)
{
    if (methods_is_image(params))
        return image_answer_kind(params);
    if (is_method(params, SLICE_OF("geetest")) && !is_geetest_v4(params))
        return ANSWER_GEETEST;
    if (is_method(params, SLICE_OF("userrecaptcha")) &&
        params_is_set(params, SLICE_OF("enterprise")))
        return ANSWER_ENTERPRISE;
    return fixed_answer_kind(methods_name(params));
}

/* The decoded length of base64 text, or -1 if it is not base64. */
static long long base64_bytes(struct slice text)
{
    unsigned long long symbols = 0;
    size_t padding = 0;

    for (size_t i = 0; i < text.len; i++) {
        const char c = text.data[i];
        const bool is_symbol = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
                               (c >= '0' && c <= '9') || c == '+' || c == '/' || c == '-' ||
                               c == '_';
        if (c == '=')
            padding++;
        else if (is_symbol && padding == 0)
            symbols++;
        else if (c != '\r' && c != '\n' && c != ' ')
            return -1;
    }
    return padding > 2 || symbols % 4 == 1 ? -1 : (long long)(symbols * 3 / 4);
}

static struct slice without_data_uri(struct slice body)
{
    const char *comma = body.len == 0 ? NULL : memchr(body.data, ',', body.len);

    if (comma == NULL || !slice_starts_with(body, SLICE_OF("data:")))
        return body;
    const size_t skipped = (size_t)(comma + 1 - body.data);
    return (struct slice){comma + 1, body.len - skipped};
}

static const char *check_extension(struct slice filename)
{
    static const char *const known[] = {".jpg", ".jpeg", ".png", ".gif"};
    size_t dot = filename.len;

    while (dot > 0 && filename.data[dot - 1] != '.')
        dot--;
    if (dot == 0)
        return NULL;
    const struct slice extension = {filename.data + dot - 1, filename.len - dot + 1};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (slice_equals_nocase(extension, slice_from(known[i])))
            return NULL;
    return "ERROR_WRONG_FILE_EXTENSION";
}

static const char *check_image(const struct params *params, const struct options *options)
{
    const struct param *file = params_find(params, SLICE_OF("file"));
    const struct slice body = params_get(params, SLICE_OF("body"));
    const bool is_file = is_method(params, SLICE_OF("post")) && file != NULL;

    if (params_has(params, SLICE_OF("textcaptcha")))
        return NULL;
    if (!is_file && body.len == 0)
        return "ERROR_ZERO_CAPTCHA_FILESIZE";
    const long long bytes =
        is_file ? (long long)file->value.len : base64_bytes(without_data_uri(body));
    if (bytes < 0)
        return "ERROR_UPLOAD";
    if ((uint64_t)bytes < options->image_bytes_min)
        return "ERROR_ZERO_CAPTCHA_FILESIZE";
    if ((uint64_t)bytes > options->image_bytes_max)
        return "ERROR_TOO_BIG_CAPTCHA_FILESIZE";
    return is_file ? check_extension(file->filename) : NULL;
}

static const char *check_proxy(const struct params *params)
{
    static const char *const known[] = {"HTTP", "HTTPS", "SOCKS4", "SOCKS5"};
    const struct slice proxy = params_get(params, SLICE_OF("proxy"));
    const struct slice type = params_get(params, SLICE_OF("proxytype"));

    if (proxy.len > 0 && memchr(proxy.data, ':', proxy.len) == NULL)
        return "ERROR_BAD_PROXY";
    if (type.len == 0)
        return NULL;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (slice_equals_nocase(type, slice_from(known[i])))
            return NULL;
    return "ERROR_BAD_PARAMETERS";
}

static const char *check_demands(const struct params *params, const struct method *method)
{
    for (size_t i = 0; i < DEMANDS_MAX && method->demands[i].name != NULL; i++)
        if (!params_has(params, slice_from(method->demands[i].name)))
            return method->demands[i].code;
    return NULL;
}

/* Checks rules of single methods. */
static const char *check_details(const struct params *params)
{
    const struct slice score = params_get(params, SLICE_OF("min_score"));
    const struct slice sitekey = params_get(params, SLICE_OF("googlekey"));
    double number;

    if (is_method(params, SLICE_OF("geetest")) && !is_geetest_v4(params) &&
        !params_has(params, SLICE_OF("challenge")))
        return "ERROR_BAD_PARAMETERS";
    if (score.len > 0 && (!text_to_double(score, &number) || number > 1))
        return "ERROR_BAD_PARAMETERS";
    if (sitekey.len > 0 && memchr(sitekey.data, ' ', sitekey.len) != NULL)
        return "ERROR_WRONG_GOOGLEKEY";
    return check_proxy(params);
}

const char *methods_check(const struct params *params, const struct options *options)
{
    const struct slice name = methods_name(params);
    const struct method *method = NULL;

    if (!slice_is_given(name))
        return "ERROR_BAD_PARAMETERS";
    for (size_t i = 0; i < sizeof methods / sizeof methods[0]; i++)
        if (slice_equals(name, slice_from(methods[i].name)))
            method = &methods[i];
    if (method == NULL && options->rejects_unknown)
        return "ERROR_BAD_PARAMETERS";
    const char *code = method == NULL ? NULL : check_demands(params, method);
    if (code == NULL && methods_is_image(params))
        code = check_image(params, options);
    return code == NULL ? check_details(params) : code;
}
