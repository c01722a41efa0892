'use strict';
// rucaptcha-client: JSON bodies for submits, JSON replies, numeric ids; it knows balance and images by URL.

const { Rucaptcha, RucaptchaError } = require('rucaptcha-client');
const { assert, test, nextTask, picture, served, GATE_URL, KEYS, POLL_MS } = require('./world');

// Its pause between polls is no option, so its clock is wound.
const CLIENT_PAUSE_MS = 5000;
const realSetTimeout = globalThis.setTimeout;
globalThis.setTimeout = (callback, ms, ...rest) =>
  realSetTimeout(callback, ms === CLIENT_PAUSE_MS ? POLL_MS : ms, ...rest);

function rucaptcha(key = KEYS.alice) {
  const client = new Rucaptcha(key);
  client.baseUrl = GATE_URL;
  return client;
}

const solve = async (client, image) => (await served(image, (url) => client.solve(url))).text;

const fails = (promise, code) => assert.rejects(promise, (error) => {
  assert.ok(error instanceof RucaptchaError, String(error));
  assert.equal(error.code, code);
  return true;
});

test('rucaptcha-client reads the balance as a number', { paid: 0 }, async () => {
  const client = rucaptcha();
  assert.equal(await client.getBalance(), 7.25);
  assert.equal(client.balance, 7.25);
});

test('rucaptcha-client gets an image solved', { paid: 1 }, () => solve(rucaptcha(), picture()));

test('rucaptcha-client pays for the same image once and for another one again', { paid: 2 }, async () => {
  const [one, other] = [picture(), picture()];
  const answers = [];
  for (const image of [one, one, other]) answers.push(await solve(rucaptcha(), image));
  assert.equal(answers[1], answers[0]);
  return answers;
});

test('rucaptcha-client polls until a slow image is solved', { paid: 1 }, async () => {
  await nextTask('task-slow', '4s');
  const client = rucaptcha();
  let polls = 0;
  const api = client.api;
  client.api = (params) => (polls++, api.call(client, params));
  const answer = await solve(client, picture());
  assert.ok(polls > 3, `${polls} polls`);
  return answer;
});

test('rucaptcha-client throws its own error for an unsolvable image', { paid: 1 }, async () => {
  await nextTask('task-error', 'ERROR_CAPTCHA_UNSOLVABLE');
  await fails(solve(rucaptcha(), picture()), 'ERROR_CAPTCHA_UNSOLVABLE');
});

test('rucaptcha-client throws its own error for a wrong key', { paid: 0 }, async () => {
  await fails(rucaptcha(KEYS.unknown).getBalance(), 'ERROR_KEY_DOES_NOT_EXIST');
  await fails(solve(rucaptcha(KEYS.unknown), picture()), 'ERROR_KEY_DOES_NOT_EXIST');
});

// It takes the error for an id and asks for the answer of NaN; what counts is that this ends.
test('rucaptcha-client throws its own error for an image that is refused', { paid: 0 }, () =>
  fails(solve(rucaptcha(), Buffer.alloc(0)), 'ERROR_WRONG_ID_FORMAT'));

module.exports = { rucaptcha, solve };
