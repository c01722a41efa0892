'use strict';
// Clients of different packages at the same time: who asks for the same thing shares one paid submit.

const { GateSolver, solver } = require('./captcha_solver');
const { twoCaptcha } = require('./node_two_captcha');
const { rucaptcha, solve } = require('./rucaptcha');
const { assert, test, nextTask, picture, KEYS, PAGE } = require('./world');

const client = twoCaptcha();

/** All at once; each is a promise of captcha-solver (data), of another package (text), or of the answer itself. */
async function all(...promises) {
  return (await Promise.all(promises)).map((result) => result.data ?? result.text ?? result);
}

test('two packages that ask for the same reCAPTCHA v2 at once share one submit', { paid: 1 }, () => all(
  solver.recaptcha({ pageurl: PAGE, googlekey: 'both-v2' }),
  client.decodeRecaptchaV2({ googlekey: 'both-v2', pageurl: PAGE })));

test('two packages that ask for the same reCAPTCHA v3 at once share one submit', { paid: 1 }, () => all(
  solver.recaptcha({ pageurl: PAGE, googlekey: 'both-v3', version: 'v3', action: 'login' }),
  client.decodeRecaptchaV3({ googlekey: 'both-v3', pageurl: PAGE, action: 'login' })));

test('two packages that ask for the same hCaptcha at once share one submit', { paid: 1 }, () => all(
  solver.hcaptcha({ pageurl: PAGE, sitekey: 'both-h' }),
  client.decodeHCaptcha({ sitekey: 'both-h', pageurl: PAGE })));

test('three packages with the same image at once share one submit', { paid: 1 }, () => {
  const image = picture();
  return all(
    solve(rucaptcha(), image),
    solver.imageCaptcha({ body: image.toString('base64') }),
    client.decode({ buffer: image }));
});

test('many clients of two packages share one slow submit', { paid: 1 }, async () => {
  const googlekey = 'SIM-SLOW-1s.many';
  const askers = Array.from({ length: 40 }, (_, i) => (i % 2
    ? solver.recaptcha({ pageurl: PAGE, googlekey })
    : client.decodeRecaptchaV2({ googlekey, pageurl: PAGE })));
  const answers = await all(...askers);
  assert.equal(answers.length, 40);
  return answers;
});

test('two packages that ask for different things pay for each', { paid: 2 }, () => all(
  solver.recaptcha({ pageurl: PAGE, googlekey: 'one-of-two' }),
  client.decodeRecaptchaV2({ googlekey: 'two-of-two', pageurl: PAGE })));

test('two holders of different keys do not share', { paid: 2 }, () => all(
  new GateSolver(KEYS.alice).recaptcha({ pageurl: PAGE, googlekey: 'each-their-own' }),
  twoCaptcha(KEYS.bob).decodeRecaptchaV2({ googlekey: 'each-their-own', pageurl: PAGE })));

test('two packages are told of the same failure', { paid: 1 }, async () => {
  await nextTask('task-error', 'ERROR_CAPTCHA_UNSOLVABLE');
  const ends = await Promise.allSettled([
    solver.recaptcha({ pageurl: PAGE, googlekey: 'both-fail' }),
    client.decodeRecaptchaV2({ googlekey: 'both-fail', pageurl: PAGE })]);
  assert.deepEqual(ends.map((end) => end.status), ['rejected', 'rejected']);
  assert.equal(ends[0].reason.err, 'ERROR_CAPTCHA_UNSOLVABLE');
  assert.match(ends[1].reason.message, /unable to solve/);
});
