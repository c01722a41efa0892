'use strict';
// @zennolab_com/capmonstercloud-client: the createTask dialect of CapMonster, pointed here by its own option.

const {
  CapMonsterCloudClientFactory, ClientOptions, ErrorType, FunCaptchaRequest, GeeTestRequest, HCaptchaRequest, ImageToTextRequest,
  ProsopoRequest, RecaptchaV2EnterpriseRequest, RecaptchaV2Request, RecaptchaV3ProxylessRequest, TurnstileRequest,
} = require('@zennolab_com/capmonstercloud-client');
const { assert, test, nextTask, picture, GATE_URL, KEYS, PAGE } = require('./world');

const capMonster = (clientKey = KEYS.alice) =>
  CapMonsterCloudClientFactory.Create(new ClientOptions({ clientKey, serviceUrl: GATE_URL }));

async function solution(request, client = capMonster()) {
  const { error, solution: solved } = await client.Solve(request);
  assert.equal(error, undefined);
  return solved;
}

const proxy = { proxyType: 'http', proxyAddress: '8.8.8.8', proxyPort: 8080, proxyLogin: 'u', proxyPassword: 'p' };
const site = (websiteKey) => ({ websiteURL: PAGE, websiteKey });

// What it is asked, the member that it reads, and what the vendor is sent.
const SOLVED = {
  'reCAPTCHA v2': [new RecaptchaV2Request({ ...site('cm-v2'), recaptchaDataSValue: 's' }), 'gRecaptchaResponse',
    { method: 'userrecaptcha', googlekey: 'cm-v2', pageurl: PAGE, 'data-s': 's' }],
  'reCAPTCHA v2 with a proxy': [new RecaptchaV2Request({ ...site('cm-v2-proxy'), proxy }), 'gRecaptchaResponse',
    { googlekey: 'cm-v2-proxy', proxy: 'u:p@8.8.8.8:8080', proxytype: 'HTTP' }],
  'reCAPTCHA v2 enterprise': [new RecaptchaV2EnterpriseRequest({ ...site('cm-ent'), enterprisePayload: '{"s":"s2"}' }),
    'gRecaptchaResponse', { googlekey: 'cm-ent', enterprise: '1', 'data-s': 's2' }],
  'reCAPTCHA v3': [new RecaptchaV3ProxylessRequest({ ...site('cm-v3'), minScore: 0.6, pageAction: 'act' }), 'gRecaptchaResponse',
    { googlekey: 'cm-v3', version: 'v3', min_score: '0.6', action: 'act' }],
  hCaptcha: [new HCaptchaRequest({ ...site('cm-h'), data: 'rq' }), 'gRecaptchaResponse',
    { method: 'hcaptcha', sitekey: 'cm-h', data: 'rq' }],
  Turnstile: [new TurnstileRequest(site('cm-t')), 'token', { method: 'turnstile', sitekey: 'cm-t' }],
  'a Turnstile challenge': [new TurnstileRequest({ ...site('cm-c'), cloudflareTaskType: 'token', pageAction: 'a', data: 'd',
    pageData: 'p', userAgent: 'U' }), 'token', { method: 'turnstile', action: 'a', data: 'd', pagedata: 'p', useragent: 'U' }],
  'a clearance': [new TurnstileRequest({ ...site('cm-cf'), cloudflareTaskType: 'cf_clearance', htmlPageBase64: 'PGI+', userAgent: 'U',
    proxy }), 'cf_clearance', { method: 'cloudflare_challenge', pageurl: PAGE, proxy: 'u:p@8.8.8.8:8080' }],
  FunCaptcha: [new FunCaptchaRequest({ websiteURL: PAGE, websitePublicKey: 'cm-f', data: '{"blob":"b"}' }), 'token',
    { method: 'funcaptcha', publickey: 'cm-f', 'data[blob]': 'b' }],
  Prosopo: [new ProsopoRequest(site('cm-p')), 'token', { method: 'prosopo', sitekey: 'cm-p' }],
};

for (const [name, [request, member, upstream]] of Object.entries(SOLVED)) {
  test(`capmonstercloud-client gets ${name} solved`, { paid: 1, upstream }, async () => (await solution(request))[member]);
}

test('capmonstercloud-client gets an image solved', { paid: 1, upstream: { method: 'base64', regsense: '1' } }, async () =>
  (await solution(new ImageToTextRequest({ body: picture().toString('base64'), Case: true, CapMonsterModule: 'x' }))).text);

test('capmonstercloud-client gets the parts of a GeeTest answer', { paid: 1, upstream: { gt: 'g', challenge: 'c' } }, async () =>
  JSON.stringify(await solution(new GeeTestRequest({ websiteURL: PAGE, gt: 'g', challenge: 'c' }))));

test('capmonstercloud-client reads the balance', { paid: 0 }, async () => {
  assert.equal((await capMonster().getBalance()).balance, 7.25);
});

test('capmonstercloud-client knows the error of an unsolvable captcha', { paid: 1 }, async () => {
  await nextTask('task-error', 'ERROR_CAPTCHA_UNSOLVABLE');
  assert.equal((await capMonster().Solve(new TurnstileRequest(site('cm-bad')))).error, ErrorType.CAPTCHA_UNSOLVABLE);
});

test('capmonstercloud-client knows the error of a wrong key', { paid: 0 }, async () => {
  assert.equal((await capMonster(KEYS.unknown).Solve(new TurnstileRequest(site('cm-key')))).error, ErrorType.KEY_DOES_NOT_EXIST);
});

module.exports = { solution, TurnstileRequest, RecaptchaV2Request };
