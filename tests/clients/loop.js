'use strict';
// usage: node loop.js SECONDS   Real packages that ask through a load balancer until stdin ends, each the way its users do: who is
// sent away tries again. A line of JSON for each answer: the package, its sitekey, and the token or the problem.

const antiCaptcha = require('./anticaptcha');
const { solver } = require('./captcha_solver');
const { twoCaptcha } = require('./node_two_captcha');
const { PAGE } = require('./world');

const PATIENCE_MS = Number(process.argv[2]) * 1000;
const ASKS_PER_KEY = 6;
const PAUSE_MS = 300;
const client = twoCaptcha();

const PACKAGES = {
  'captcha-solver': async (sitekey) => (await solver.hcaptcha({ pageurl: PAGE, sitekey })).data,
  node_two_captcha: async (sitekey) => (await client.decodeHCaptcha({ sitekey, pageurl: PAGE })).text,
  anticaptcha: async (websiteKey) => (await antiCaptcha.solution((one) =>
    one.createTask({ type: 'HCaptchaTaskProxyless', websiteURL: PAGE, websiteKey }))).gRecaptchaResponse,
};
// What a caller must never hear: the gateway knows every id that it told, and had no reason to refuse.
const WRONG = /WRONG_CAPTCHA_ID|NO_SUCH_CAPCHA_ID|WRONG_ID_FORMAT|KEY_DOES_NOT_EXIST|BAD_PARAMETERS|invalid.*id/i;

let asks = 0;
let isOver = false;
process.stdin.on('end', () => { isOver = true; }).resume();

const pause = () => new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
const say = (line) => process.stdout.write(JSON.stringify({ at: Date.now() / 1000, ...line }) + '\n');
const wordsOf = (error) => [error.err, error.code, error.errorCode, error.message, error].map(String).join(' ');

async function ask(name, sitekey) {
  const deadline = Date.now() + PATIENCE_MS;
  let problem = '';
  while (Date.now() < deadline) {
    try {
      return say({ package: name, sitekey, token: await PACKAGES[name](sitekey) });
    } catch (error) {
      problem = wordsOf(error);
      if (WRONG.test(problem)) say({ package: name, sitekey, problem });
      await pause();
    }
  }
  return say({ package: name, sitekey, problem: `no answer within ${PATIENCE_MS} ms, at last ${problem}` });
}

async function live(name) {
  while (!isOver) {
    await ask(name, `client-${Math.floor(asks++ / ASKS_PER_KEY)}`);
    await pause();
  }
}

console.log = () => {}; // one of them talks on stdout
Promise.all(Object.keys(PACKAGES).map(live)).then(() => process.exit(0));
