'use strict';
// Clients of different packages at the same time: who asks for the same thing shares one paid submit.

const antiCaptcha = require('./anticaptcha');
const capMonster = require('./capmonster');
const { GateSolver, solver } = require('./captcha_solver');
const { capSolver } = require('./capsolver');
const { twoCaptcha } = require('./node_two_captcha');
const { rucaptcha, solve } = require('./rucaptcha');
const { assert, test, joined, together, picture, KEYS, PAGE } = require('./world');

const client = twoCaptcha();

/** An answer is in data (captcha-solver), in text (node_two_captcha), or the result itself. */
const textOf = (result) => result.data ?? result.text ?? result;
const all = async (promises) => (await Promise.all(promises)).map(textOf);

/** A case in which all that ask() starts are the same request: one of them pays, the others join. */
function share(name, ask) {
  test(name, { paid: 1 }, async () => {
    const before = await joined();
    const ends = await together(ask);
    for (const end of ends) assert.equal(end.status, 'fulfilled', String(end.reason));
    const answers = ends.map((end) => textOf(end.value));
    assert.equal(await joined() - before, answers.length - 1, 'requests that joined');
    return answers;
  });
}

share('two packages that ask for the same reCAPTCHA v2 at once share one submit', () => [
  solver.recaptcha({ pageurl: PAGE, googlekey: 'both-v2' }),
  client.decodeRecaptchaV2({ googlekey: 'both-v2', pageurl: PAGE })]);

share('two packages that ask for the same reCAPTCHA v3 at once share one submit', () => [
  solver.recaptcha({ pageurl: PAGE, googlekey: 'both-v3', version: 'v3', action: 'login' }),
  client.decodeRecaptchaV3({ googlekey: 'both-v3', pageurl: PAGE, action: 'login' })]);

share('two packages that ask for the same hCaptcha at once share one submit', () => [
  solver.hcaptcha({ pageurl: PAGE, sitekey: 'both-h' }),
  client.decodeHCaptcha({ sitekey: 'both-h', pageurl: PAGE })]);

share('clients of two dialects that ask for the same Turnstile at once share one submit', () => [
  solver.cloudflareTurnstile({ pageurl: PAGE, sitekey: 'both-t' }),
  capMonster.solution(new capMonster.TurnstileRequest({ websiteURL: PAGE, websiteKey: 'both-t' })).then(({ token }) => token),
  capSolver().turnstileproxyless({ websiteURL: PAGE, websiteKey: 'both-t' }).then(({ token }) => token)]);

share('five packages of two dialects that ask for the same reCAPTCHA at once share one submit', () => [
  client.decodeRecaptchaV2({ googlekey: 'five', pageurl: PAGE }),
  solver.recaptcha({ pageurl: PAGE, googlekey: 'five' }),
  antiCaptcha.solution((one) => one.createTaskRecaptchaV2Proxyless(PAGE, 'five')).then((found) => found.gRecaptchaResponse),
  capMonster.solution(new capMonster.RecaptchaV2Request({ websiteURL: PAGE, websiteKey: 'five' }))
    .then((found) => found.gRecaptchaResponse),
  capSolver().recaptchav2proxyless({ websiteURL: PAGE, websiteKey: 'five' }).then((found) => found.gRecaptchaResponse)]);

share('three packages with the same image at once share one submit', () => {
  const image = picture();
  return [
    solve(rucaptcha(), image),
    solver.imageCaptcha({ body: image.toString('base64') }),
    client.decode({ buffer: image })];
});

share('forty clients of two packages share one slow submit', () => {
  const googlekey = 'forty';
  return Array.from({ length: 40 }, (_, i) => (i % 2
    ? solver.recaptcha({ pageurl: PAGE, googlekey })
    : client.decodeRecaptchaV2({ googlekey, pageurl: PAGE })));
});

test('two packages that ask for different things at once pay for each', { paid: 2 }, () => all([
  solver.recaptcha({ pageurl: PAGE, googlekey: 'one-of-two' }),
  client.decodeRecaptchaV2({ googlekey: 'two-of-two', pageurl: PAGE })]));

test('two holders of different keys do not share', { paid: 2 }, () => all([
  new GateSolver(KEYS.alice).recaptcha({ pageurl: PAGE, googlekey: 'each-their-own' }),
  twoCaptcha(KEYS.bob).decodeRecaptchaV2({ googlekey: 'each-their-own', pageurl: PAGE })]));

test('two packages are told of the same failure, each in its own words', { paid: 1 }, async () => {
  const ends = await together(() => [
    solver.recaptcha({ pageurl: PAGE, googlekey: 'both-fail' }),
    client.decodeRecaptchaV2({ googlekey: 'both-fail', pageurl: PAGE })], 'ERROR_CAPTCHA_UNSOLVABLE');
  assert.deepEqual(ends.map((end) => end.status), ['rejected', 'rejected']);
  assert.equal(ends[0].reason.err, 'ERROR_CAPTCHA_UNSOLVABLE');
  assert.match(ends[1].reason.message, /unable to solve your captcha/);
});
