#include "proto/task_table.h"

#include <stddef.h>

/* Where several members name one parameter, the first that is given counts. Members that no row
 * names are passed on in snake_case, which is right for most: captchaId, miseryKey, challengeURL. */

/* Proxies are not here: they are made of up to five members (task_proxy.c). */
const struct task_field task_common_fields[] = {
    {"type", NULL, VALUE_IGNORED},         {"softId", NULL, VALUE_IGNORED},
    {"nocache", "reuse", VALUE_FRESH},     {"websiteURL", "pageurl", VALUE_TEXT},
    {"websiteKey", "sitekey", VALUE_TEXT}, {"userAgent", "userAgent", VALUE_TEXT},
    {"cookies", "cookies", VALUE_COOKIES}, {NULL, NULL, VALUE_TEXT},
};

static const struct task_field recaptcha[] = {
    {"websiteKey", "googlekey", VALUE_TEXT},
    {"isInvisible", "invisible", VALUE_FLAG},
    {"isEnterprise", "enterprise", VALUE_FLAG},
    {"recaptchaDataSValue", "data-s", VALUE_TEXT},
    {"enterprisePayload.s", "data-s", VALUE_TEXT},
    {"apiDomain", "domain", VALUE_TEXT},
    {"pageAction", "action", VALUE_TEXT},
    {"minScore", "min_score", VALUE_TEXT},
    {"websiteSToken", NULL, VALUE_IGNORED}, /* Google gave it up */
    {NULL, NULL, VALUE_TEXT},
};

static const struct task_field hcaptcha[] = {
    {"isInvisible", "invisible", VALUE_FLAG},
    {"isEnterprise", "enterprise", VALUE_FLAG},
    {"data", "data", VALUE_TEXT},
    {"enterprisePayload.rqdata", "data", VALUE_TEXT},
    {NULL, NULL, VALUE_TEXT},
};

static const struct task_field turnstile[] = {
    {"userAgent", "useragent", VALUE_TEXT},
    {"action", "action", VALUE_TEXT},
    {"pageAction", "action", VALUE_TEXT},
    {"metadata.action", "action", VALUE_TEXT},
    {"cData", "data", VALUE_TEXT},
    {"data", "data", VALUE_TEXT},
    {"metadata.cdata", "data", VALUE_TEXT},
    {"chlPageData", "pagedata", VALUE_TEXT},
    {"pagedata", "pagedata", VALUE_TEXT},
    {"pageData", "pagedata", VALUE_TEXT},
    {"cloudflareTaskType", NULL, VALUE_IGNORED},
    {NULL, NULL, VALUE_TEXT},
};

static const struct task_field clearance[] = {
    {"websiteKey", NULL, VALUE_IGNORED}, /* of the challenge page itself */
    {"cloudflareTaskType", NULL, VALUE_IGNORED},
    {"htmlPageBase64", NULL, VALUE_IGNORED}, /* the vendor loads the page itself */
    {NULL, NULL, VALUE_TEXT},
};

static const struct task_field image[] = {
    {"body", "body", VALUE_IMAGE},
    {"phrase", "phrase", VALUE_FLAG},
    {"case", "regsense", VALUE_FLAG},
    {"Case", "regsense", VALUE_FLAG},
    {"numeric", "numeric", VALUE_FLAG},
    {"math", "calc", VALUE_FLAG},
    {"minLength", "min_len", VALUE_FLAG},
    {"maxLength", "max_len", VALUE_FLAG},
    {"comment", "textinstructions", VALUE_TEXT},
    {"imgInstructions", "imginstructions", VALUE_IMAGE},
    {"languagePool", "lang", VALUE_LANGUAGE},
    {"CapMonsterModule", NULL, VALUE_IGNORED},
    {"capMonsterModule", NULL, VALUE_IGNORED},
    {"recognizingThreshold", NULL, VALUE_IGNORED},
    {"module", NULL, VALUE_IGNORED},
    {"score", NULL, VALUE_IGNORED},
    {"websiteUrl", NULL, VALUE_IGNORED},
    {"websiteURL", NULL, VALUE_IGNORED},
    {NULL, NULL, VALUE_TEXT},
};

static const struct task_field grid[] = {
    {"body", "body", VALUE_IMAGE},
    {"comment", "instructions", VALUE_TEXT},
    {"imgInstructions", "imginstructions", VALUE_IMAGE},
    {"rows", "grid_size", VALUE_GRID},
    {"columns", NULL, VALUE_IGNORED},
    {"languagePool", "lang", VALUE_LANGUAGE},
    {NULL, NULL, VALUE_TEXT},
};

static const struct task_field picture[] = {
    {"body", "body", VALUE_IMAGE},
    {"comment", "textinstructions", VALUE_TEXT},
    {"imgInstructions", "imginstructions", VALUE_IMAGE},
    {"languagePool", "lang", VALUE_LANGUAGE},
    {NULL, NULL, VALUE_TEXT},
};

static const struct task_field boxes[] = {
    {"body", "image", VALUE_IMAGE},
    {"comment", "textinstructions", VALUE_TEXT},
    {"imgInstructions", "imginstructions", VALUE_IMAGE},
    {"languagePool", "lang", VALUE_LANGUAGE},
    {NULL, NULL, VALUE_TEXT},
};

static const struct task_field question[] = {
    {"comment", "textcaptcha", VALUE_TEXT},
    {"languagePool", "lang", VALUE_LANGUAGE},
    {NULL, NULL, VALUE_TEXT},
};

static const struct task_field puzzle[] = {
    {"image", "body", VALUE_IMAGE},
    {"parts", "part", VALUE_PARTS},
    {NULL, NULL, VALUE_TEXT},
};

static const struct task_field geetest[] = {
    {"geetestApiServerSubdomain", "api_server", VALUE_TEXT},
    {"version", NULL, VALUE_IGNORED},
    {NULL, NULL, VALUE_TEXT},
};

static const struct task_field geetest_4[] = {
    {"captchaId", "captcha_id", VALUE_TEXT},
    {"initParameters.captcha_id", "captcha_id", VALUE_TEXT},
    {"gt", "captcha_id", VALUE_TEXT},
    {"initParameters.riskType", "risk_type", VALUE_TEXT},
    {"geetestApiServerSubdomain", "api_server", VALUE_TEXT},
    {"version", NULL, VALUE_IGNORED},
    {NULL, NULL, VALUE_TEXT},
};

static const struct task_field funcaptcha[] = {
    {"websitePublicKey", "publickey", VALUE_TEXT},
    {"funcaptchaApiJSSubdomain", "surl", VALUE_SUBDOMAIN},
    {"data.blob", "data[blob]", VALUE_TEXT},
    {NULL, NULL, VALUE_TEXT},
};

static const struct task_field amazon[] = {
    {"awsKey", "sitekey", VALUE_TEXT},
    {"awsIv", "iv", VALUE_TEXT},
    {"awsContext", "context", VALUE_TEXT},
    {"awsChallengeJS", "challenge_script", VALUE_TEXT},
    {"cookieSolution", "cookie_solution", VALUE_FLAG},
    {NULL, NULL, VALUE_TEXT},
};

static const struct task_field lemin[] = {
    {"leminApiServerSubdomain", "api_server", VALUE_TEXT},
    {NULL, NULL, VALUE_TEXT},
};

static const struct task_field capy[] = {
    {"websiteKey", "captchakey", VALUE_TEXT},
    {NULL, NULL, VALUE_TEXT},
};

static const struct task_field cybersiara[] = {
    {"SlideMasterUrlId", "master_url_id", VALUE_TEXT},
    {NULL, NULL, VALUE_TEXT},
};

static const struct task_field tspd[] = {
    {"tspdcookie", "tspd_cookie", VALUE_TEXT},
    {NULL, NULL, VALUE_TEXT},
};

static const struct task_field nothing[] = {
    {NULL, NULL, VALUE_TEXT},
};

#define TYPE(task, sent, rows, kind) \
    {.name = (task), .method = (sent), .fields = (rows), .layout = LAYOUT_##kind}
#define TYPE_WITH(task, sent, rows, kind, ...) \
    {.name = (task), .method = (sent), .fields = (rows), .layout = LAYOUT_##kind, __VA_ARGS__}

const struct task_type task_types[] = {
    TYPE("NoCaptchaTask", "userrecaptcha", recaptcha, RECAPTCHA),
    TYPE("RecaptchaV2Task", "userrecaptcha", recaptcha, RECAPTCHA),
    TYPE_WITH("RecaptchaV2EnterpriseTask", "userrecaptcha", recaptcha, RECAPTCHA,
              .fixed = {{"enterprise", "1"}}),
    TYPE_WITH("RecaptchaV3Task", "userrecaptcha", recaptcha, RECAPTCHA,
              .fixed = {{"version", "v3"}}),
    TYPE_WITH("RecaptchaV3EnterpriseTask", "userrecaptcha", recaptcha, RECAPTCHA,
              .fixed = {{"version", "v3"}, {"enterprise", "1"}}),
    TYPE("HCaptchaTask", "hcaptcha", hcaptcha, HCAPTCHA),
    TYPE("HCaptchaEnterpriseTask", "hcaptcha", hcaptcha, HCAPTCHA),
    TYPE_WITH("TurnstileTask", "cloudflare_challenge", clearance, CLEARANCE,
              .with = "cloudflareTaskType", .value = "cf_clearance"),
    TYPE("TurnstileTask", "turnstile", turnstile, TOKEN),
    TYPE("AntiTurnstileTask", "turnstile", turnstile, TOKEN),
    TYPE("AntiCloudflareTask", "cloudflare_challenge", clearance, CLEARANCE),
    TYPE("AntiBotCookieTask", "cloudflare_challenge", clearance, CLEARANCE),
    TYPE_WITH("ImageToTextTask", "base64", image, TEXT, .is_instant = true),
    TYPE_WITH("GeeTestTask", "geetest_v4", geetest_4, GEETEST_4, .with = "version", .value = "4"),
    TYPE_WITH("GeeTestTask", "geetest_v4", geetest_4, GEETEST_4, .with = "captchaId"),
    TYPE_WITH("GeeTestTask", "geetest_v4", geetest_4, GEETEST_4, .with = "initParameters",
              .without = "challenge"),
    TYPE("GeeTestTask", "geetest", geetest, GEETEST),
    TYPE("FunCaptchaTask", "funcaptcha", funcaptcha, TOKEN),
    TYPE("FriendlyCaptchaTask", "friendly_captcha", nothing, TOKEN),
    TYPE("MtCaptchaTask", "mt_captcha", nothing, TOKEN),
    TYPE("ProsopoTask", "prosopo", nothing, TOKEN),
    TYPE("YandexSmartCaptchaTask", "yandex", nothing, TOKEN),
    TYPE("BasiliskTask", "basilisk", nothing, TOKEN),
    TYPE("YidunTask", "yidun", nothing, TOKEN),
    TYPE("AmazonTask", "amazon_waf", amazon, AMAZON),
    TYPE("AntiAwsWafTask", "amazon_waf", amazon, AMAZON),
    TYPE("LeminTask", "lemin", lemin, LEMIN),
    TYPE("CapyTask", "capy", capy, CAPY),
    TYPE("KeyCaptchaTask", "keycaptcha", nothing, TOKEN),
    TYPE("CutCaptchaTask", "cutcaptcha", nothing, TOKEN),
    TYPE("TencentTask", "tencent", nothing, TENCENT),
    TYPE("AtbCaptchaTask", "atb_captcha", nothing, TOKEN),
    TYPE("BinanceTask", "binance", nothing, TOKEN),
    TYPE("AltchaTask", "altcha", nothing, TOKEN),
    TYPE("DataDomeSliderTask", "datadome", nothing, COOKIE),
    TYPE("CaptchaFoxTask", "captchafox", nothing, TOKEN),
    TYPE("AntiCyberSiAraTask", "cybersiara", cybersiara, TOKEN),
    TYPE("VKCaptchaTask", "vkcaptcha", nothing, TOKEN),
    TYPE("TspdTask", "tspd", tspd, TOKEN),
    TYPE("AlibabaTask", "alibaba", nothing, TOKEN),
    /* The vendor's words for a grid (docs/protocol.md 1a), not those of 2captcha. */
    TYPE_WITH("GridTask", "base64", grid, GRID, .fixed = {{"img_type", "recaptcha"}}),
    TYPE_WITH("CoordinatesTask", "base64", picture, POINTS, .fixed = {{"coordinatescaptcha", "1"}}),
    TYPE_WITH("ImageToCoordinatesTask", "base64", picture, PAIRS,
              .fixed = {{"coordinatescaptcha", "1"}}),
    TYPE("RotateTask", "rotatecaptcha", picture, ROTATE),
    TYPE_WITH("DrawAroundTask", "base64", picture, CANVAS,
              .fixed = {{"recaptcha", "1"}, {"canvas", "1"}}),
    TYPE("BoundingBoxTask", "bounding_box", boxes, BOXES),
    TYPE("TextCaptchaTask", "post", question, TEXT),
    TYPE("AudioTask", "audio", picture, TEXT),
    TYPE("VKCaptchaImageTask", "vkimage", puzzle, STEPS),
    TYPE("TemuCaptchaTask", "temuimage", puzzle, POINTS),
    {.name = NULL},
};

/* ---- solutions --------------------------------------------------------------------------- */

#define AGENT {"user_agent", "useragent", "userAgent"}
#define END {.name = NULL}

static const struct task_member members_of_none[] = {END};
static const struct task_member members_of_recaptcha[] = {
    {"gRecaptchaResponse", PART_ANSWER, {NULL}},
    {"token", PART_ANSWER, {NULL}},
    {"cookies", PART_MEMBER, {NULL}},
    {"userAgent", PART_MEMBER, AGENT},
    END,
};
static const struct task_member members_of_hcaptcha[] = {
    {"gRecaptchaResponse", PART_ANSWER, {NULL}},
    {"token", PART_ANSWER, {NULL}},
    {"respKey", PART_MEMBER_OR_NIL, {NULL}},
    {"userAgent", PART_MEMBER_OR_NIL, AGENT},
    END,
};
static const struct task_member members_of_token[] = {
    {"token", PART_MEMBER_OR_ANSWER, {NULL}},
    {"userAgent", PART_MEMBER_OR_NIL, AGENT},
    END,
};
static const struct task_member members_of_clearance[] = {
    {"cf_clearance", PART_CLEARANCE, {NULL}},
    {"cookies", PART_JAR, {NULL}},
    {"token", PART_CLEARANCE, {NULL}},
    {"userAgent", PART_MEMBER_OR_NIL, AGENT},
    END,
};
static const struct task_member members_of_text[] = {
    {"text", PART_ANSWER, {NULL}},
    {"url", PART_NIL, {NULL}},
    END,
};
/* One client takes exactly these as arguments. */
static const struct task_member members_of_geetest[] = {
    {"challenge", PART_MEMBER_OR_NIL, {"challenge", "geetest_challenge"}},
    {"validate", PART_MEMBER_OR_NIL, {"validate", "geetest_validate"}},
    {"seccode", PART_MEMBER_OR_NIL, {"seccode", "geetest_seccode"}},
    END,
};
static const struct task_member members_of_geetest_4[] = {
    {"captcha_id", PART_MEMBER_OR_NIL, {NULL}},     {"lot_number", PART_MEMBER_OR_NIL, {NULL}},
    {"pass_token", PART_MEMBER_OR_NIL, {NULL}},     {"gen_time", PART_MEMBER_OR_NIL, {NULL}},
    {"captcha_output", PART_MEMBER_OR_NIL, {NULL}}, END,
};
static const struct task_member members_of_amazon[] = {
    {"captcha_voucher", PART_MEMBER_OR_NIL, {NULL}},
    {"existing_token", PART_MEMBER_OR_NIL, {NULL}},
    {"token", PART_MEMBER_OR_ANSWER, {"token", "captcha_voucher"}},
    {"cookies", PART_MEMBER, {NULL}},
    END,
};
static const struct task_member members_of_lemin[] = {
    {"answer", PART_MEMBER_OR_ANSWER, {NULL}},
    {"challenge_id", PART_MEMBER_OR_NIL, {NULL}},
    END,
};
static const struct task_member members_of_capy[] = {
    {"captchakey", PART_MEMBER_OR_NIL, {NULL}},
    {"challengekey", PART_MEMBER_OR_NIL, {NULL}},
    {"answer", PART_MEMBER_OR_ANSWER, {NULL}},
    END,
};
static const struct task_member members_of_tencent[] = {
    {"appid", PART_MEMBER_OR_NIL, {NULL}},
    {"ret", PART_MEMBER, {NULL}},
    {"ticket", PART_MEMBER_OR_ANSWER, {NULL}},
    {"randstr", PART_MEMBER_OR_NIL, {NULL}},
    END,
};
static const struct task_member members_of_cookie[] = {
    {"cookie", PART_MEMBER_OR_ANSWER, {NULL}},
    END,
};
static const struct task_member members_of_grid[] = {{"click", PART_CELLS, {NULL}}, END};
static const struct task_member members_of_points[] = {{"coordinates", PART_POINTS, {NULL}}, END};
static const struct task_member members_of_pairs[] = {{"coordinates", PART_PAIRS, {NULL}}, END};
static const struct task_member members_of_rotate[] = {{"rotate", PART_NUMBER, {NULL}}, END};
static const struct task_member members_of_canvas[] = {{"canvas", PART_JSON, {NULL}}, END};
static const struct task_member members_of_boxes[] = {{"bounding_boxes", PART_JSON, {NULL}}, END};
static const struct task_member members_of_steps[] = {
    {"best_step", PART_MEMBER_OR_ANSWER, {NULL}},
    {"answer", PART_MEMBER_OR_NIL, {NULL}},
    END,
};

const struct task_member *task_members(enum task_layout layout)
{
    static const struct task_member *const members[LAYOUT_COUNT] = {
        [LAYOUT_NONE] = members_of_none,           [LAYOUT_RECAPTCHA] = members_of_recaptcha,
        [LAYOUT_HCAPTCHA] = members_of_hcaptcha,   [LAYOUT_TOKEN] = members_of_token,
        [LAYOUT_CLEARANCE] = members_of_clearance, [LAYOUT_TEXT] = members_of_text,
        [LAYOUT_GEETEST] = members_of_geetest,     [LAYOUT_GEETEST_4] = members_of_geetest_4,
        [LAYOUT_AMAZON] = members_of_amazon,       [LAYOUT_LEMIN] = members_of_lemin,
        [LAYOUT_CAPY] = members_of_capy,           [LAYOUT_TENCENT] = members_of_tencent,
        [LAYOUT_COOKIE] = members_of_cookie,       [LAYOUT_GRID] = members_of_grid,
        [LAYOUT_POINTS] = members_of_points,       [LAYOUT_PAIRS] = members_of_pairs,
        [LAYOUT_ROTATE] = members_of_rotate,       [LAYOUT_CANVAS] = members_of_canvas,
        [LAYOUT_BOXES] = members_of_boxes,         [LAYOUT_STEPS] = members_of_steps,
    };
    return members[layout];
}
