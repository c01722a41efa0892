'use strict';
// @infosimples/node_two_captcha: submits as a form, plain text replies, which it searches for the letters ERROR.

const fs = require('node:fs/promises');
const { createRequire } = require('node:module');
const os = require('node:os');
const path = require('node:path');

const TwoCaptchaClient = require('@infosimples/node_two_captcha');
const { errors } = require('@infosimples/node_two_captcha/src/constants');
const { assert, test, nextTask, picture, reported, served, GATE_URL, KEYS, PAGE, POLL_MS } = require('./world');

// Its address is fixed, so it is changed where its calls go out.
let polls = 0;
const axios = createRequire(require.resolve('@infosimples/node_two_captcha'))('axios');
axios.interceptors.request.use((config) => {
  polls += config.url.includes('action=get');
  return { ...config, url: config.url.replace('https://2captcha.com', GATE_URL) };
});

const twoCaptcha = (key = KEYS.alice) => new TwoCaptchaClient(key, { polling: POLL_MS, timeout: 60000, throwErrors: true });

const client = twoCaptcha();
const stranger = twoCaptcha(KEYS.unknown);
const text = async (promise) => (await promise).text;

// It knows the vendor's codes and throws its own sentence for each.
const fails = (promise, code) => {
  assert.ok(errors[code], `${code} is in its table`);
  return assert.rejects(promise, { name: 'Error', message: errors[code] });
};

test('node_two_captcha reads the balance as a number', { paid: 0 }, async () => {
  assert.equal(await client.balance(), 7.25);
});

const OPERATIONS = [
  ['reCAPTCHA v2', 'decodeRecaptchaV2', { googlekey: 'two-v2', pageurl: PAGE },
    { method: 'userrecaptcha', googlekey: 'two-v2', pageurl: PAGE }],
  ['invisible reCAPTCHA v2', 'decodeRecaptchaV2', { googlekey: 'two-v2', pageurl: PAGE, invisible: true }, { invisible: '1' }],
  ['reCAPTCHA v2 Enterprise', 'decodeRecaptchaV2', { googlekey: 'two-v2', pageurl: PAGE, enterprise: true }, { enterprise: '1' }],
  ['reCAPTCHA v3', 'decodeRecaptchaV3', { googlekey: 'two-v3', pageurl: PAGE, action: 'login' },
    { version: 'v3', action: 'login' }],
  ['reCAPTCHA v3 without an action', 'decodeRecaptchaV3', { googlekey: 'two-v3', pageurl: PAGE }, { version: 'v3' }],
  ['reCAPTCHA v3 Enterprise', 'decodeRecaptchaV3', { googlekey: 'two-v3', pageurl: PAGE, action: 'login', enterprise: true },
    { version: 'v3', enterprise: '1' }],
  ['hCaptcha', 'decodeHCaptcha', { sitekey: 'two-h', pageurl: PAGE }, { method: 'hcaptcha', sitekey: 'two-h' }],
  ['invisible hCaptcha', 'decodeHCaptcha', { sitekey: 'two-h', pageurl: PAGE, invisible: true }, { invisible: '1' }],
];

for (const [what, operation, params, upstream] of OPERATIONS) {
  test(`node_two_captcha gets ${what} solved, and the second time for free`, { paid: 1, upstream }, async () => {
    const first = await client[operation](params);
    assert.equal(first.apiResponse, 'OK|' + first.text);
    assert.match(first.id, /^\d+$/);
    assert.equal(await text(client[operation](params)), first.text);
    return first.text;
  });
}

test('node_two_captcha gets an image solved as a file, a buffer, base64 and a URL, and pays once',
  { paid: 1, upstream: { method: 'base64' } }, async () => {
    const image = picture();
    const folder = await fs.mkdtemp(path.join(os.tmpdir(), 'solvegate-clients-'));
    const file = path.join(folder, 'captcha.png');
    try {
      await fs.writeFile(file, image);
      return [
        await text(client.decode({ path: file })),
        await text(client.decode({ buffer: image })),
        await text(client.decode({ base64: image.toString('base64') })),
        await text(served(image, (url) => client.decode({ url }))),
      ];
    } finally {
      await fs.rm(folder, { recursive: true });
    }
  });

test('node_two_captcha sends an image with options of its caller', { paid: 1, upstream: { numeric: '1', lang: 'en' } },
  () => text(client.decode({ buffer: picture(), numeric: 1, lang: 'en' })));

// A name that the vendor's documentation does not have; it is for the vendor to judge.
test("node_two_captcha's method multipart reaches the vendor as it is", { paid: 1, upstream: { method: 'multipart' } },
  () => text(client.decode({ buffer: picture(), method: 'multipart' })));

test('node_two_captcha reads an answer again by its id', { paid: 1 }, async () => {
  const solved = await client.decodeHCaptcha({ sitekey: 'two-again', pageurl: PAGE });
  const again = await client.captcha(solved.id);
  assert.equal(again.text, solved.text);
  return again.text;
});

test('node_two_captcha polls until a slow reCAPTCHA is solved', { paid: 1 }, async () => {
  const before = polls;
  const token = await text(client.decodeRecaptchaV2({ googlekey: 'SIM-SLOW-4s.two', pageurl: PAGE }));
  assert.ok(polls - before > 3, `${polls - before} polls`);
  return token;
});

test('node_two_captcha reports a good answer', { paid: 1 }, async () => {
  const solved = await client.decodeHCaptcha({ sitekey: 'two-good', pageurl: PAGE });
  assert.equal(await client.report(solved.id, false), true);
  await reported('two-good', 'good');
  return solved.text;
});

test('node_two_captcha reports a bad answer and gets another one', { paid: 2 }, async () => {
  const params = { sitekey: 'two-bad', pageurl: PAGE };
  const solved = await client.decodeHCaptcha(params);
  assert.equal(await client.report(solved.id), true);
  await reported('two-bad', 'bad');
  return [solved.text, await text(client.decodeHCaptcha(params))];
});

test('node_two_captcha throws its own error for a report about nothing', { paid: 0 },
  () => fails(client.report('4503599627370496'), 'ERROR_WRONG_CAPTCHA_ID'));

test('node_two_captcha throws its own error for what cannot be solved', { paid: 2 }, async () => {
  const googlekey = 'SIM-ERROR_CAPTCHA_UNSOLVABLE.two';
  await fails(client.decodeRecaptchaV2({ googlekey, pageurl: PAGE }), 'ERROR_CAPTCHA_UNSOLVABLE');
  await nextTask('task-error', 'ERROR_CAPTCHA_UNSOLVABLE');
  await fails(client.decode({ buffer: picture() }), 'ERROR_CAPTCHA_UNSOLVABLE');
});

test('node_two_captcha throws its own error for a wrong key', { paid: 0 }, async () => {
  await fails(stranger.balance(), 'ERROR_KEY_DOES_NOT_EXIST');
  await fails(stranger.decodeRecaptchaV2({ googlekey: 'k', pageurl: PAGE }), 'ERROR_KEY_DOES_NOT_EXIST');
  await fails(stranger.decode({ buffer: picture() }), 'ERROR_KEY_DOES_NOT_EXIST');
  await fails(twoCaptcha('short').balance(), 'ERROR_WRONG_USER_KEY');
});

test('node_two_captcha throws its own error for a mistake, which the vendor never sees', { paid: 0 }, async () => {
  await fails(client.decodeRecaptchaV2({ googlekey: 'k' }), 'ERROR_PAGEURL');
  await fails(client.decodeHCaptcha({ pageurl: PAGE }), 'ERROR_GOOGLEKEY');
  await fails(client.decode({ buffer: Buffer.alloc(5) }), 'ERROR_ZERO_CAPTCHA_FILESIZE');
});

test('node_two_captcha throws its own error for statistics, which the gateway does not have', { paid: 0 },
  () => assert.rejects(client.stats(new Date()), { message: 'Unknown 2Captcha error: ERROR_BAD_PARAMETERS' }));

module.exports = { twoCaptcha };
