'use strict';
// capsolver-npm: the createTask dialect of CapSolver. Its address is no option, so it is changed on the way out.

const { Solver } = require('capsolver-npm');
const axios = require(require.resolve('axios', { paths: [require.resolve('capsolver-npm')] }));
const { assert, test, nextTask, picture, GATE_URL, KEYS, PAGE, POLL_MS } = require('./world');

axios.interceptors.request.use((call) => ({ ...call, url: call.url.replace('https://api.capsolver.com', GATE_URL) }));

const capSolver = (apiKey = KEYS.alice) => new Solver({ apiKey, pollDelay: POLL_MS });
const site = (websiteKey) => ({ websiteURL: PAGE, websiteKey });
const proxy = 'http:8.8.4.4:8080:u:p';

// Its method, the task, the member to read, and what the vendor is sent.
const SOLVED = [
  ['recaptchav2', { ...site('cs-v2'), proxy }, 'gRecaptchaResponse',
    { method: 'userrecaptcha', googlekey: 'cs-v2', proxy: 'u:p@8.8.4.4:8080', proxytype: 'HTTP' }],
  ['recaptchav2proxyless', { ...site('cs-v2-less'), isInvisible: true }, 'gRecaptchaResponse', { googlekey: 'cs-v2-less', invisible: '1' }],
  ['recaptchav2enterpriseproxyless', { ...site('cs-ent'), enterprisePayload: { s: 's' } }, 'gRecaptchaResponse',
    { googlekey: 'cs-ent', enterprise: '1', 'data-s': 's' }],
  ['recaptchav3proxyless', { ...site('cs-v3'), pageAction: 'login', minScore: 0.7 }, 'gRecaptchaResponse',
    { version: 'v3', action: 'login', min_score: '0.7' }],
  ['recaptchav3enterpriseproxyless', site('cs-v3-ent'), 'gRecaptchaResponse', { version: 'v3', enterprise: '1' }],
  ['turnstileproxyless', { ...site('cs-t'), metadata: { action: 'a', cdata: 'd' } }, 'token',
    { method: 'turnstile', sitekey: 'cs-t', action: 'a', data: 'd' }],
  ['cloudflare', { websiteURL: PAGE, proxy }, 'token', { method: 'cloudflare_challenge', proxy: 'u:p@8.8.4.4:8080' }],
  ['mtcaptcha', site('cs-mt'), 'token', { method: 'mt_captcha', sitekey: 'cs-mt' }],
  ['friendlycaptchaproxyless', site('cs-f'), 'token', { method: 'friendly_captcha', sitekey: 'cs-f' }],
  ['datadome', { websiteURL: PAGE, captchaUrl: 'https://c.example', userAgent: 'U', proxy }, 'cookie',
    { method: 'datadome', captcha_url: 'https://c.example', userAgent: 'U' }],
];

for (const [method, task, member, upstream] of SOLVED) {
  test(`capsolver-npm gets ${method} solved`, { paid: 1, upstream }, async () => (await capSolver()[method](task))[member]);
}

test('capsolver-npm gets an image solved without ever asking for it', { paid: 1, upstream: { method: 'base64' } }, async () =>
  (await capSolver().image2text({ body: picture().toString('base64'), module: 'common' })).text);

test('capsolver-npm waits for a slow image', { paid: 1 }, async () => {
  await nextTask('task-slow', '3s');
  return (await capSolver().image2text({ body: picture().toString('base64') })).text;
});

test('capsolver-npm gets the parts of a GeeTest answer', { paid: 1, upstream: { captcha_id: 'cs-g4' } }, async () =>
  JSON.stringify(await capSolver().geetestproxyless({ websiteURL: PAGE, captchaId: 'cs-g4' })));

test('capsolver-npm reads the balance', { paid: 0 }, async () => {
  assert.equal(await capSolver().balance(), 7.25);
});

test('capsolver-npm throws its own error for an unsolvable captcha', { paid: 1 }, async () => {
  await nextTask('task-error', 'ERROR_CAPTCHA_UNSOLVABLE');
  await assert.rejects(capSolver().turnstileproxyless(site('cs-bad')), { code: 'ERROR_CAPTCHA_UNSOLVABLE' });
});

test('capsolver-npm throws its own error for what the vendor does not have', { paid: 0 }, async () => {
  await assert.rejects(capSolver().visionengine({ image: 'x' }), { code: 'ERROR_TASK_NOT_SUPPORTED' });
  await assert.rejects(capSolver(KEYS.unknown).balance(), { code: 'ERROR_KEY_DOES_NOT_EXIST' });
});

module.exports = { capSolver };
