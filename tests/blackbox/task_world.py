"""Short words for the createTask dialect, and the table of its types: what a client sends, what in.php is sent for it,
and the solution that comes back."""
import base64

from gateway import PAGE
from harness import KEY, equal, http_request, wait_until

PICTURE = base64.b64encode(b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 2).decode()
SITE = {"websiteURL": PAGE, "websiteKey": "0xSITE"}
SITE_SENT = {"sitekey": "0xSITE", "pageurl": PAGE}
GOOGLE_SENT = {"googlekey": "0xSITE", "pageurl": PAGE}
PROXY = {"proxyType": "http", "proxyAddress": "1.2.3.4", "proxyPort": 8080, "proxyLogin": "u", "proxyPassword": "p"}
PROXY_SENT = {"proxy": "u:p@1.2.3.4:8080", "proxytype": "HTTP"}
AGENT = {"userAgent": "Agent/1.0"}


def call(world, path, body, headers=None):
    """POSTs it; every reply of the dialect is 200 and JSON."""
    reply = http_request(world.url + path, "POST", body, headers)
    equal(reply.status, 200, f"{path} said {reply.text}, status")
    equal(reply.headers.get("content-type"), "application/json", f"{path}: content type")
    return reply.json()


def create(world, task, key=KEY, headers=None, **more):
    return call(world, "/createTask", {"clientKey": key, "task": task, **more}, headers)


def create_id(world, task, **more):
    reply = create(world, task, **more)
    equal(reply.get("errorId"), 0, f"createTask said {reply}, errorId")
    return reply["taskId"]


def result(world, task_id, key=KEY, headers=None):
    return call(world, "/getTaskResult", {"clientKey": key, "taskId": task_id}, headers)


def final(world, task_id, key=KEY):
    """Polls as a client does, until there is an end."""
    def ended():
        reply = result(world, task_id, key)
        return None if reply["status"] == "processing" else reply

    return wait_until(ended, f"the end of {task_id}")


def solution(world, task_id, key=KEY):
    reply = final(world, task_id, key)
    equal(reply["status"], "ready", f"getTaskResult said {reply}, status")
    return reply["solution"]


RECAPTCHA = {"gRecaptchaResponse": str, "token": str}
ENTERPRISE = {**RECAPTCHA, "userAgent": str}
TOKEN = {"token": str, "userAgent": str}
TEXT = {"text": str, "url": str}
CLEARANCE = {"cf_clearance": str, "cookies": dict, "token": str, "userAgent": str}
GEETEST_4 = dict.fromkeys(("captcha_id", "lot_number", "pass_token", "gen_time", "captcha_output"), str)

# Type, members besides it, what in.php is sent, members of the solution with their types.
TYPES = [
    ("NoCaptchaTaskProxyless", {**SITE, "isInvisible": True, "recaptchaDataSValue": "s1", "websiteSToken": "dead"},
     {"method": "userrecaptcha", **GOOGLE_SENT, "invisible": "1", "data-s": "s1"}, RECAPTCHA),
    ("NoCaptchaTask", {**SITE, **PROXY, **AGENT, "cookies": "a=b; c=d=e"},
     {"method": "userrecaptcha", **GOOGLE_SENT, **PROXY_SENT, **AGENT, "cookies": "a:b;c:d=e"}, RECAPTCHA),
    ("RecaptchaV2TaskProxyless", {**SITE, "apiDomain": "recaptcha.net", "isInvisible": False},
     {"method": "userrecaptcha", **GOOGLE_SENT, "domain": "recaptcha.net"}, RECAPTCHA),
    ("ReCaptchaV2Task", {**SITE, "cookies": [{"name": "a", "value": "b"}, {"name": "c", "value": "d"}]},
     {"method": "userrecaptcha", **GOOGLE_SENT, "cookies": "a:b;c:d"}, RECAPTCHA),
    ("RecaptchaV2EnterpriseTaskProxyless", {**SITE, "enterprisePayload": {"s": "s2"}, "pageAction": "login"},
     {"method": "userrecaptcha", **GOOGLE_SENT, "enterprise": "1", "data-s": "s2", "action": "login"}, ENTERPRISE),
    ("ReCaptchaV2EnterpriseTask", {**SITE, "enterprisePayload": '{"s":"s3"}'},
     {"method": "userrecaptcha", **GOOGLE_SENT, "enterprise": "1", "data-s": "s3"}, ENTERPRISE),
    ("RecaptchaV3TaskProxyless", {**SITE, "minScore": 0.3, "pageAction": "verify"},
     {"method": "userrecaptcha", **GOOGLE_SENT, "version": "v3", "min_score": "0.3", "action": "verify"}, RECAPTCHA),
    ("ReCaptchaV3Task", {**SITE, "isEnterprise": True},
     {"method": "userrecaptcha", **GOOGLE_SENT, "version": "v3", "enterprise": "1"}, ENTERPRISE),
    ("RecaptchaV3EnterpriseTask", {**SITE, "pageAction": "buy"},
     {"method": "userrecaptcha", **GOOGLE_SENT, "version": "v3", "enterprise": "1", "action": "buy"}, ENTERPRISE),
    ("ReCaptchaV3EnterpriseTaskProxyLess", {**SITE, "minScore": 0.9},
     {"method": "userrecaptcha", **GOOGLE_SENT, "version": "v3", "enterprise": "1", "min_score": "0.9"}, ENTERPRISE),
    ("HCaptchaTaskProxyless", {**SITE, "isInvisible": 1, "data": "rq"},
     {"method": "hcaptcha", **SITE_SENT, "invisible": "1", "data": "rq"}, {**ENTERPRISE, "respKey": str}),
    ("HCaptchaTask", {**SITE, **PROXY, "enterprisePayload": {"rqdata": "rq2"}, **AGENT},
     {"method": "hcaptcha", **SITE_SENT, **PROXY_SENT, "data": "rq2", **AGENT}, {**ENTERPRISE, "respKey": str}),
    ("HCaptchaEnterpriseTaskProxyLess", SITE, {"method": "hcaptcha", **SITE_SENT}, {**ENTERPRISE, "respKey": str}),
    ("TurnstileTaskProxyless", {**SITE, "action": "a", "cData": "c", "chlPageData": "p", "userAgent": "U"},
     {"method": "turnstile", **SITE_SENT, "action": "a", "data": "c", "pagedata": "p", "useragent": "U"}, TOKEN),
    ("TurnstileTask", {**SITE, "pageAction": "a2", "data": "d2", "pageData": "p2", "cloudflareTaskType": "token"},
     {"method": "turnstile", **SITE_SENT, "action": "a2", "data": "d2", "pagedata": "p2"}, TOKEN),
    ("AntiTurnstileTaskProxyLess", {**SITE, "metadata": {"action": "a3", "cdata": "d3"}},
     {"method": "turnstile", **SITE_SENT, "action": "a3", "data": "d3"}, TOKEN),
    ("TurnstileTask", {**SITE, **PROXY, **AGENT, "cloudflareTaskType": "cf_clearance", "htmlPageBase64": "PGI+"},
     {"method": "cloudflare_challenge", "pageurl": PAGE, **PROXY_SENT, **AGENT}, CLEARANCE),
    ("AntiCloudflareTask", {"websiteURL": PAGE, "proxy": "http:5.6.7.8:81:user:pass"},
     {"method": "cloudflare_challenge", "pageurl": PAGE, "proxy": "user:pass@5.6.7.8:81", "proxytype": "HTTP"}, CLEARANCE),
    ("AntiBotCookieTask", {"websiteURL": PAGE, "proxyAddress": "9.9.9.9", "proxyPort": "82", "proxyType": "socks5"},
     {"method": "cloudflare_challenge", "pageurl": PAGE, "proxy": "9.9.9.9:82", "proxytype": "SOCKS5"}, CLEARANCE),
    ("ImageToTextTask", {"body": "data:image/png;base64," + PICTURE, "phrase": True, "case": True, "numeric": 2, "math": True,
                         "minLength": 3, "maxLength": 9, "comment": "type it", "module": "common", "score": 0.8},
     {"method": "base64", "body": PICTURE, "phrase": "1", "regsense": "1", "numeric": "2", "calc": "1", "min_len": "3",
      "max_len": "9", "textinstructions": "type it"}, TEXT),
    ("ImageToTextTask", {"body": PICTURE, "Case": True, "numeric": 0, "CapMonsterModule": "m", "recognizingThreshold": 5},
     {"method": "base64", "body": PICTURE, "regsense": "1"}, TEXT),
    ("GeeTestTaskProxyless", {"websiteURL": PAGE, "gt": "g", "challenge": "c", "version": 3,
                              "geetestApiServerSubdomain": "api.geetest.com"},
     {"method": "geetest", "gt": "g", "challenge": "c", "pageurl": PAGE, "api_server": "api.geetest.com"},
     dict.fromkeys(("challenge", "validate", "seccode"), str)),
    ("GeeTestTask", {"websiteURL": PAGE, "gt": "id1", "version": 4, "initParameters": {"riskType": "slide"}},
     {"method": "geetest_v4", "captcha_id": "id1", "pageurl": PAGE, "risk_type": "slide"}, GEETEST_4),
    ("GeeTestTaskProxyLess", {"websiteURL": PAGE, "captchaId": "id2"},
     {"method": "geetest_v4", "captcha_id": "id2", "pageurl": PAGE}, GEETEST_4),
    ("GeeTestTaskProxyless", {"websiteURL": PAGE, "version": "4", "initParameters": {"captcha_id": "id3"}},
     {"method": "geetest_v4", "captcha_id": "id3", "pageurl": PAGE}, GEETEST_4),
    ("FunCaptchaTaskProxyless", {"websiteURL": PAGE, "websitePublicKey": "pk", "funcaptchaApiJSSubdomain": "f.example",
                                 "data": '{"blob":"bb"}'},
     {"method": "funcaptcha", "publickey": "pk", "pageurl": PAGE, "surl": "https://f.example", "data[blob]": "bb"}, TOKEN),
    ("FunCaptchaTask", {"websiteURL": PAGE, "websitePublicKey": "pk2", "data": {"blob": "cc"}, **AGENT},
     {"method": "funcaptcha", "publickey": "pk2", "pageurl": PAGE, "data[blob]": "cc", **AGENT}, TOKEN),
    ("FriendlyCaptchaTaskProxyless", SITE, {"method": "friendly_captcha", **SITE_SENT}, TOKEN),
    ("MTCaptchaTask", SITE, {"method": "mt_captcha", **SITE_SENT}, TOKEN),
    ("ProsopoTaskProxyless ", SITE, {"method": "prosopo", **SITE_SENT}, TOKEN),
    ("YandexSmartCaptchaTaskProxyless", SITE, {"method": "yandex", **SITE_SENT}, TOKEN),
    ("BasiliskTask", {**SITE, **AGENT}, {"method": "basilisk", **SITE_SENT, **AGENT}, TOKEN),
    ("YidunTaskProxyless", {**SITE, "yidunGetLib": "l"}, {"method": "yidun", **SITE_SENT, "yidun_get_lib": "l"}, TOKEN),
    ("AmazonTaskProxyless", {**SITE, "iv": "i", "context": "x", "challengeScript": "cs", "captchaScript": "ps"},
     {"method": "amazon_waf", **SITE_SENT, "iv": "i", "context": "x", "challenge_script": "cs", "captcha_script": "ps"},
     dict.fromkeys(("captcha_voucher", "existing_token", "token"), str)),
    ("AntiAwsWafTaskProxyLess", {"websiteURL": PAGE, "awsKey": "k", "awsIv": "i2", "awsContext": "x2", "awsChallengeJS": "js"},
     {"method": "amazon_waf", "sitekey": "k", "pageurl": PAGE, "iv": "i2", "context": "x2", "challenge_script": "js"},
     dict.fromkeys(("captcha_voucher", "existing_token", "token"), str)),
    ("LeminTaskProxyless", {"websiteURL": PAGE, "captchaId": "CROPPED_1", "divId": "d"},
     {"method": "lemin", "captcha_id": "CROPPED_1", "div_id": "d", "pageurl": PAGE}, {"answer": str, "challenge_id": str}),
    ("CapyTaskProxyless", {**SITE, "version": "puzzle"},
     {"method": "capy", "captchakey": "0xSITE", "pageurl": PAGE, "version": "puzzle"},
     dict.fromkeys(("captchakey", "challengekey", "answer"), str)),
    ("KeyCaptchaTaskProxyless", {"websiteURL": PAGE, "s_s_c_user_id": 10, "s_s_c_session_id": "s"},
     {"method": "keycaptcha", "pageurl": PAGE, "s_s_c_user_id": "10", "s_s_c_session_id": "s"}, TOKEN),
    ("CutCaptchaTaskProxyless", {"websiteURL": PAGE, "miseryKey": "m", "apiKey": "a"},
     {"method": "cutcaptcha", "pageurl": PAGE, "misery_key": "m", "api_key": "a"}, TOKEN),
    ("TencentTaskProxyless", {"websiteURL": PAGE, "appId": "190014885"},
     {"method": "tencent", "pageurl": PAGE, "app_id": "190014885"},
     {"appid": str, "ret": int, "ticket": str, "randstr": str}),
    ("AtbCaptchaTaskProxyless", {"websiteURL": PAGE, "appId": "ap", "apiServer": "https://s.example"},
     {"method": "atb_captcha", "pageurl": PAGE, "app_id": "ap", "api_server": "https://s.example"}, TOKEN),
    ("BinanceTaskProxyless", {**SITE, "validateId": "v"}, {"method": "binance", **SITE_SENT, "validate_id": "v"}, TOKEN),
    ("AltchaTask", {"websiteURL": PAGE, "challengeURL": "/c", "challengeJSON": "{}"},
     {"method": "altcha", "pageurl": PAGE, "challenge_url": "/c", "challenge_json": "{}"}, TOKEN),
    ("DataDomeSliderTask", {"websiteURL": PAGE, "captchaUrl": "https://c.example", **AGENT, **PROXY},
     {"method": "datadome", "pageurl": PAGE, "captcha_url": "https://c.example", **AGENT, **PROXY_SENT}, {"cookie": str}),
    ("CaptchaFoxTask", {**SITE, **AGENT, **PROXY}, {"method": "captchafox", **SITE_SENT, **AGENT, **PROXY_SENT}, TOKEN),
    ("AntiCyberSiAraTaskProxyless", {"websiteURL": PAGE, "SlideMasterUrlId": "O1"},
     {"method": "cybersiara", "pageurl": PAGE, "master_url_id": "O1"}, TOKEN),
    ("VKCaptchaTask", {"redirectUri": "https://id.vk.example", **AGENT, **PROXY},
     {"method": "vkcaptcha", "redirect_uri": "https://id.vk.example", **AGENT, **PROXY_SENT}, TOKEN),
    ("tspdtask", {"websiteURL": PAGE, "tspdcookie": "TS=1", "htmlPageBase64": "PGI+", **PROXY},
     {"method": "tspd", "pageurl": PAGE, "tspd_cookie": "TS=1", "html_page_base64": "PGI+", **PROXY_SENT}, TOKEN),
    ("AlibabaTaskProxyless", {"websiteURL": PAGE, "sceneId": "s", "prefix": "p", "userId": "u"},
     {"method": "alibaba", "pageurl": PAGE, "scene_id": "s", "prefix": "p", "user_id": "u"}, TOKEN),
    ("GridTask", {"body": PICTURE, "comment": "cars", "rows": 3, "columns": 4},
     {"method": "base64", "body": PICTURE, "img_type": "recaptcha", "instructions": "cars", "grid_size": "3x4"}, {"click": [int]}),
    ("CoordinatesTask", {"body": PICTURE, "comment": "click", "minClicks": 1},
     {"method": "base64", "body": PICTURE, "coordinatescaptcha": "1", "textinstructions": "click", "min_clicks": "1"},
     {"coordinates": [{"x": int, "y": int}]}),
    ("ImageToCoordinatesTask", {"body": PICTURE, "comment": "tap"},
     {"method": "base64", "body": PICTURE, "coordinatescaptcha": "1", "textinstructions": "tap"}, {"coordinates": [[int]]}),
    ("RotateTask", {"body": PICTURE, "angle": 40}, {"method": "rotatecaptcha", "body": PICTURE, "angle": "40"}, {"rotate": int}),
    ("DrawAroundTask", {"body": PICTURE, "comment": "draw"},
     {"method": "base64", "body": PICTURE, "recaptcha": "1", "canvas": "1", "textinstructions": "draw"},
     {"canvas": [[{"x": int, "y": int}]]}),
    ("BoundingBoxTask", {"body": PICTURE, "comment": "box"},
     {"method": "bounding_box", "image": PICTURE, "textinstructions": "box"},
     {"bounding_boxes": [dict.fromkeys(("xMin", "xMax", "yMin", "yMax"), int)]}),
    ("TextCaptchaTask", {"comment": "two and two?"}, {"method": "post", "textcaptcha": "two and two?"}, TEXT),
    ("AudioTask", {"body": PICTURE, "lang": "en"}, {"method": "audio", "body": PICTURE, "lang": "en"}, TEXT),
    ("VKCaptchaImageTask", {"image": PICTURE, "steps": [5, 3]},
     {"method": "vkimage", "body": PICTURE, "steps": "[5,3]"}, {"best_step": int, "answer": str}),
    ("TemuCaptchaTask", {"image": PICTURE, "parts": ["QUFB", "QkJC"]},
     {"method": "temuimage", "body": PICTURE, "part1": "QUFB", "part2": "QkJC"}, {"coordinates": [{"x": int, "y": int}]}),
]

UNSUPPORTED = ["CustomTask", "ComplexImageTask", "AntiGateTask", "HCaptchaClassification", "VisionEngine", "AntiKasadaTask",
               "AntiAkamaiBMPTask", "TurnstileTaskPoxyless", ""]
