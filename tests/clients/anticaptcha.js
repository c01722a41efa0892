'use strict';
// anticaptcha: the createTask dialect of anti-captcha. Its address is no option, but its HTTP client is a member.

const { AntiCaptcha, QueueTypes, TaskTypes } = require('anticaptcha');
const { assert, test, nextTask, picture, GATE_URL, KEYS, PAGE, POLL_MS } = require('./world');

const POLLS = 200;

function antiCaptcha(key = KEYS.alice) {
  const client = new AntiCaptcha(key);
  client.api.setBaseURL(GATE_URL);
  return client;
}

async function solution(create, client = antiCaptcha()) {
  return (await client.getTaskResult(await create(client), POLLS, POLL_MS)).solution;
}

test('anticaptcha gets reCAPTCHA v2 solved', { paid: 1, upstream: { method: 'userrecaptcha', googlekey: 'ac-v2' } }, async () =>
  (await solution((client) => client.createTaskRecaptchaV2Proxyless(PAGE, 'ac-v2'))).gRecaptchaResponse);

test('anticaptcha gets reCAPTCHA v3 solved', { paid: 1, upstream: { version: 'v3', min_score: '0.3', action: 'go' } }, async () =>
  (await solution((client) => client.createTaskRecaptchaV3Proxyless(PAGE, 'ac-v3', 0.3, 'go'))).gRecaptchaResponse);

test('anticaptcha gets hCaptcha solved', { paid: 1, upstream: { method: 'hcaptcha', sitekey: 'ac-h' } }, async () =>
  (await solution((client) => client.createTask({ type: TaskTypes.HCAPTCHA_PROXYLESS, websiteURL: PAGE, websiteKey: 'ac-h' })))
    .gRecaptchaResponse);

test('anticaptcha gets an image solved', { paid: 1, upstream: { method: 'base64', lang: 'en', numeric: '1' } }, async () =>
  (await solution((client) => client.createTask({ type: TaskTypes.IMAGE_TO_TEXT, body: picture().toString('base64'), phrase: false,
    case: false, numeric: 1, math: 0, minLength: 0, maxLength: 0 }))).text);

test('anticaptcha reads balance and queue', { paid: 0 }, async () => {
  assert.equal(await antiCaptcha().getBalance(), 7.25);
  assert.equal(await antiCaptcha().isBalanceGreaterThan(7), true);
  const queue = await antiCaptcha().getQueueStats(QueueTypes.RECAPTCHA_PROXYLESS);
  assert.ok(queue.total > 0 && queue.waiting <= queue.total && Number(queue.bid) >= 0, JSON.stringify(queue));
});

test('anticaptcha throws its own error for an unsolvable captcha', { paid: 1 }, async () => {
  await nextTask('task-error', 'ERROR_CAPTCHA_UNSOLVABLE');
  await assert.rejects(solution((client) => client.createTaskRecaptchaV2Proxyless(PAGE, 'ac-bad')), { code: 'ERROR_CAPTCHA_UNSOLVABLE' });
});

test('anticaptcha throws its own error for a wrong key', { paid: 0 }, async () => {
  await assert.rejects(antiCaptcha(KEYS.unknown).getBalance(), { code: 'ERROR_KEY_DOES_NOT_EXIST' });
});

module.exports = { antiCaptcha, solution };
