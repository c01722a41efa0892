'use strict';
// @2captcha/captcha-solver, the vendor's own: submits by query or JSON body, JSON replies, soft_id and header_acao.

const { APIError, Solver } = require('@2captcha/captcha-solver');
const { assert, test, nextTask, picture, reported, GATE_URL, KEYS, PAGE, POLL_MS } = require('./world');

class GateSolver extends Solver {
  polls = 0;

  constructor(key = KEYS.alice) {
    super(key, POLL_MS);
  }

  get in() {
    return GATE_URL + '/in.php';
  }

  get res() {
    this.polls++;
    return GATE_URL + '/res.php';
  }
}

const solver = new GateSolver();
const stranger = new GateSolver(KEYS.unknown);
const base64 = (image) => image.toString('base64');
const answer = async (promise) => (await promise).data;

// It numbers the vendor's words; 0 is for those it does not know.
const fails = (promise, word, isKnown = true) => assert.rejects(promise, (error) => {
  assert.ok(error instanceof APIError, String(error));
  assert.equal(error.err, word);
  assert.equal(error.code > 0, isKnown, `code ${error.code}`);
  return true;
});

test('captcha-solver reads the balance as a number', { paid: 0 }, async () => {
  assert.equal(await solver.balance(), 7.25);
});

// Each operation of the package with the parameters it asks for, and what of it the vendor has to see.
const RECAPTCHA = { pageurl: PAGE, googlekey: 'solver-v2' };
const OPERATIONS = [
  ['reCAPTCHA v2', 'recaptcha', RECAPTCHA, { method: 'userrecaptcha', googlekey: 'solver-v2' }],
  ['invisible reCAPTCHA v2', 'recaptcha', { ...RECAPTCHA, invisible: 1 }, { invisible: '1' }],
  ['reCAPTCHA v2 with cookies', 'recaptcha',
    { ...RECAPTCHA, domain: 'recaptcha.net', cookies: 'a:b;c:d', userAgent: 'U 1' },
    { domain: 'recaptcha.net', cookies: 'a:b;c:d', userAgent: 'U 1' }],
  ['reCAPTCHA v2 Enterprise', 'recaptcha', { ...RECAPTCHA, enterprise: 1 }, { enterprise: '1' }],
  ['reCAPTCHA v3', 'recaptcha', { ...RECAPTCHA, version: 'v3', action: 'login', min_score: 0.3 },
    { version: 'v3', action: 'login', min_score: '0.3' }],
  ['reCAPTCHA v3 Enterprise', 'recaptcha', { ...RECAPTCHA, version: 'v3', action: 'login', enterprise: 1 },
    { version: 'v3', enterprise: '1' }],
  ['reCAPTCHA v2 through a proxy', 'recaptcha',
    { ...RECAPTCHA, googlekey: 'solver-proxy', proxy: 'u:p@192.0.2.1:3128', proxytype: 'HTTP' },
    { proxy: 'u:p@192.0.2.1:3128', proxytype: 'HTTP' }],
  ['hCaptcha', 'hcaptcha', { pageurl: PAGE, sitekey: 'solver-h' }, { method: 'hcaptcha', sitekey: 'solver-h' }],
  ['invisible hCaptcha', 'hcaptcha', { pageurl: PAGE, sitekey: 'solver-h', invisible: 1, userAgent: 'U 1' },
    { invisible: '1', userAgent: 'U 1' }],
  ['Turnstile', 'cloudflareTurnstile', { pageurl: PAGE, sitekey: 'solver-t' }, { method: 'turnstile', sitekey: 'solver-t' }],
  ['an image', 'imageCaptcha', { body: base64(picture()) }, { method: 'base64' }],
  ['an image with instructions', 'imageCaptcha',
    { body: base64(picture()), numeric: 1, min_len: 4, max_len: 5, regsense: 1, lang: 'en', textinstructions: 'Größe?' },
    { numeric: '1', min_len: '4', max_len: '5', regsense: '1', lang: 'en', textinstructions: 'Größe?' }],
  ['an image as a data URL', 'imageCaptcha', { body: 'data:image/png;base64,' + base64(picture()) }, { method: 'base64' }],
];

for (const [what, operation, params, upstream] of OPERATIONS) {
  test(`captcha-solver gets ${what} solved, and the second time for free`, { paid: 1, upstream }, async () => {
    const first = await solver[operation](params);
    const second = await solver[operation](params);
    assert.equal(second.data, first.data);
    assert.equal(first.status, 1);
    assert.match(String(first.id), /^\d+$/);
    return first.data;
  });
}

// Inputs that a site gives out for one answer.
const ONCE = [
  ['reCAPTCHA with data-s', 'recaptcha', { ...RECAPTCHA, 'data-s': 'a+b/c=' }, { 'data-s': 'a+b/c=' }],
  ['hCaptcha with data', 'hcaptcha', { pageurl: PAGE, sitekey: 'solver-h', data: 'rq' }, { data: 'rq' }],
  ['Turnstile of a challenge page', 'cloudflareTurnstile',
    { pageurl: PAGE, sitekey: 'solver-t', action: 'managed', data: 'd', pagedata: 'p' },
    { action: 'managed', data: 'd', pagedata: 'p' }],
];

for (const [what, operation, params, upstream] of ONCE) {
  test(`captcha-solver gets a new answer each time for ${what}, which is good for one`, { paid: 2, upstream },
    async () => [await answer(solver[operation](params)), await answer(solver[operation](params))]);
}

test('captcha-solver polls until a slow reCAPTCHA is solved', { paid: 1 }, async () => {
  const before = solver.polls;
  const text = await answer(solver.recaptcha({ pageurl: PAGE, googlekey: 'SIM-SLOW-4s.solver' }));
  assert.ok(solver.polls - before > 3, `${solver.polls - before} polls`);
  return text;
});

test('captcha-solver reports a good answer', { paid: 1 }, async () => {
  const { data, id } = await solver.hcaptcha({ pageurl: PAGE, sitekey: 'solver-good' });
  assert.equal(await solver.goodReport(id), 'OK_REPORT_RECORDED');
  await reported('solver-good', 'good');
  return data;
});

test('captcha-solver reports a bad answer and gets another one', { paid: 2 }, async () => {
  const params = { pageurl: PAGE, sitekey: 'solver-bad' };
  const { data, id } = await solver.cloudflareTurnstile(params);
  assert.equal(await solver.badReport(id), 'OK_REPORT_RECORDED');
  await reported('solver-bad', 'bad');
  return [data, await answer(solver.cloudflareTurnstile(params))];
});

test('captcha-solver throws its own error for a report about nothing', { paid: 0 }, async () => {
  await fails(solver.badReport('4503599627370496'), 'ERROR_WRONG_CAPTCHA_ID');
  await fails(solver.goodReport('4503599627370496'), 'ERROR_WRONG_CAPTCHA_ID');
});

test('captcha-solver throws its own error for what cannot be solved', { paid: 2 }, async () => {
  const googlekey = 'SIM-ERROR_CAPTCHA_UNSOLVABLE.solver';
  await fails(solver.recaptcha({ pageurl: PAGE, googlekey }), 'ERROR_CAPTCHA_UNSOLVABLE');
  await nextTask('task-error', 'ERROR_CAPTCHA_UNSOLVABLE');
  await fails(solver.imageCaptcha({ body: base64(picture()) }), 'ERROR_CAPTCHA_UNSOLVABLE');
});

test('captcha-solver throws its own error for a wrong key', { paid: 0 }, async () => {
  await fails(stranger.recaptcha(RECAPTCHA), 'ERROR_KEY_DOES_NOT_EXIST');
  await fails(stranger.imageCaptcha({ body: base64(picture()) }), 'ERROR_KEY_DOES_NOT_EXIST');
  await fails(new GateSolver('short').recaptcha(RECAPTCHA), 'ERROR_WRONG_USER_KEY');
  // Of a failed balance it keeps the whole reply for an error.
  await fails(stranger.balance(), '{"status":0,"request":"ERROR_KEY_DOES_NOT_EXIST"}', false);
});

test('captcha-solver throws its own error for a mistake, which the vendor never sees', { paid: 0 }, async () => {
  await fails(solver.recaptcha({ pageurl: '', googlekey: 'k' }), 'ERROR_PAGEURL');
  await fails(solver.cloudflareTurnstile({ pageurl: PAGE, sitekey: '' }), 'ERROR_GOOGLEKEY');
  await fails(solver.imageCaptcha({ body: '' }), 'ERROR_ZERO_CAPTCHA_FILESIZE');
});

const TESTED = new Set([...OPERATIONS.map(([, operation]) => operation), 'balance', 'goodReport', 'badReport', 'pollResponse']);

module.exports = { GateSolver, solver, TESTED };
