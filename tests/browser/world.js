'use strict';
// What the browser tests share: cases, a page that is watched while it is used, and the gateway behind it.

const assert = require('node:assert/strict');
const { chromium } = require('playwright-core');
const { inspect } = require('node:util');

const CASE_MS = 120000;
const SEEN_MS = 30000;
const UNSOLVABLE = 'ERROR_CAPTCHA_UNSOLVABLE';

const cases = [];
const test = (name, check) => cases.push({ name, check });

let browser;

/** evil.example is another site on this machine: nothing has to leave it. */
async function launch() {
  browser = await chromium.launch({
    executablePath: process.env.CHROMIUM,
    args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu', '--host-resolver-rules=MAP evil.example 127.0.0.1'],
  });
}

/** A gateway with its simulator; the key is one of its clients', if it has any. */
function gateway(name, key = '') {
  const url = process.env[`${name}_URL`];
  const sim = process.env[`${name}_SIM`];
  const headers = { 'Content-Type': 'application/json', ...(key && { Authorization: `Bearer ${key}` }) };
  const call = async (method, path, body) => {
    const reply = await fetch(url + path, { method, headers, body: body && JSON.stringify(body) });
    return { status: reply.status, headers: reply.headers, body: await reply.text() };
  };
  const faults = async (body) => {
    const reply = await fetch(`${sim}/sim/faults`, { method: 'PUT', body: JSON.stringify(body) });
    assert.equal(reply.status, 200, await reply.text());
  };
  /** Ends everything that is in flight at the vendor. */
  const settle = async () => assert.equal((await fetch(`${sim}/sim/solve`, { method: 'POST' })).status, 200);
  const solve = (sitekey, more = {}) => call('POST', '/v1/solves',
    { method: 'turnstile', sitekey, pageurl: 'https://example.com/', wait: 15, ...more });
  /** Lets this one end badly, once: a letter. */
  const die = async (sitekey, code = UNSOLVABLE) => {
    await faults({ script: [{ fault: 'submit-error', value: code }] });
    const reply = await solve(sitekey);
    assert.ok(reply.status >= 500, reply.body);
  };
  const letters = async () => JSON.parse((await call('GET', '/v1/letters')).body);
  const dropAll = () => call('DELETE', '/v1/letters?all=true');
  return { url, call, faults, settle, solve, die, letters, dropAll };
}

/** Opens the dashboard of the gateway at this address, or a file, calls use(page) and then holds against it what it did wrong meanwhile. */
async function visit(url, options, use) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options.context });
  const page = await context.newPage();
  const wrong = [];
  context.on('request', (request) => {
    if (options.isForeign) return;
    const { protocol, origin } = new URL(request.url());
    if (protocol !== 'data:' && origin !== new URL(url).origin) wrong.push(`asked ${request.url()}`);
  });
  page.on('pageerror', (error) => wrong.push(`threw ${error.stack}`));
  page.on('console', (message) => {
    const text = `${message.text()} (${message.location().url})`;
    if (['error', 'warning'].includes(message.type()) && !(options.expect || /^$/).test(text)) wrong.push(`said ${text}`);
  });
  if (options.before) await options.before(page);
  try {
    await page.goto(url.startsWith('file:') ? url : url + '/');
    await use(page);
    assert.deepEqual(wrong, [], 'errors, and requests to other hosts');
  } finally {
    // A call that a route holds at this moment would end the whole run.
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    await context.close();
  }
}

/** Waits until the element's text fits. */
async function sees(page, selector, pattern) {
  const deadline = Date.now() + SEEN_MS;
  for (;;) {
    const found = page.locator(selector).first();
    const text = await found.innerText({ timeout: SEEN_MS });
    if (pattern.test(text) && await found.isVisible()) return text; // also what is hidden has a text
    assert.ok(Date.now() < deadline, `${selector} says ${JSON.stringify(text)}, not ${pattern}`);
    await page.waitForTimeout(50);
  }
}

async function runCase(entry) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`still not over after ${CASE_MS} ms`)), CASE_MS);
  });
  return Promise.race([entry.check(), late]).finally(() => clearTimeout(timer));
}

const comment = (text) => process.stdout.write(String(text).replace(/^/gm, '# ') + '\n');

/** Runs all cases one after the other and prints TAP, without the plan. `only` is a part of their names. */
async function run(first, only) {
  let number = first;
  await launch();
  for (const entry of cases.filter((one) => one.name.includes(only))) {
    const problem = await runCase(entry).then(() => null, (error) => error);
    process.stdout.write(`${problem ? 'not ok' : 'ok'} ${number++} - ${entry.name}\n`);
    if (problem) comment(inspect(problem, { depth: 1 }));
  }
  await browser.close();
}

module.exports = { assert, test, run, gateway, visit, sees, SEEN_MS, UNSOLVABLE };
