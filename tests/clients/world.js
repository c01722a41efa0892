'use strict';
// What the client tests share: cases that are checked against the simulator's ledger, and pictures to solve.

const assert = require('node:assert/strict');
const http = require('node:http');
const { inspect } = require('node:util');

const GATE_URL = process.env.GATE_URL;
const OPERATOR_URL = process.env.OPERATOR_URL ?? GATE_URL; // a proxy for workers does not show the statistics
const SIM_URL = process.env.SIM_URL;
const PAGE = 'https://example.com/login';
const KEYS = { alice: process.env.ALICE, bob: process.env.BOB, unknown: 'x'.repeat(32) };
const POLL_MS = 50;
const CASE_MS = 60000;
const LEDGER_MS = 30000;

const cases = [];

/**
 * One case. `check` returns the answers its clients got, one or a list (none for an error): each must be an answer
 * that the vendor gave, and the vendor must have been paid `paid` times for as many different ones.
 * `upstream` are parameters that the last of these submits must have had, `values` are values under any name.
 */
function test(name, { paid, upstream = {}, values = [] }, check) {
  cases.push({ name, paid, upstream, values, check });
}

async function sim(method, path, body) {
  const reply = await fetch(SIM_URL + path, { method, body: body && JSON.stringify(body) });
  assert.equal(reply.status, 200, `${method} ${path}`);
  return reply.json();
}

/** Lets the vendor's next task go wrong: 'task-error' with a code, 'task-slow' with a duration. */
const nextTask = (fault, value) => sim('PUT', '/sim/faults', { script: [{ fault, value }] });

async function until(isTrue, what) {
  const deadline = Date.now() + LEDGER_MS;
  while (!await isTrue()) {
    assert.ok(Date.now() < deadline, `waited in vain for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** Waits until the vendor's ledger has this report, good or bad, about a sitekey. */
function reported(sitekey, report) {
  return until(async () => (await sim('GET', '/sim/ledger')).submits
    .some((submit) => submit.params.sitekey === sitekey && submit.report === report), `${sitekey} to be called ${report}`);
}

async function stats() {
  const reply = await fetch(OPERATOR_URL + '/v1/stats', { headers: { Authorization: `Bearer ${process.env.ADMIN}` } });
  return reply.json();
}

/** How many requests the gateway has answered by joining a solve that was under way. */
const joined = async () => (await stats()).total.answered_dedup_wait;

/**
 * What becomes of the promises that ask() makes, all of them waiting for one solve: it ends, well or with an error, when
 * the last of them waits for it, however late that comes.
 */
async function together(ask, error) {
  await nextTask('task-never');
  const promises = ask();
  const end = async () => {
    await until(async () => (await stats()).now.waiting === promises.length, `${promises.length} to wait`);
    await until(async () => (await sim('POST', '/sim/solve' + (error ? `?error=${error}` : ''))).settled > 0, 'the submit');
  };
  const [ends] = await Promise.all([Promise.allSettled(promises), end()]);
  return ends;
}

/** An image no other case has, so that nobody else has paid for it. */
let pictures = 0;
function picture() {
  const bytes = Buffer.alloc(600, 'picture ' + ++pictures);
  Buffer.from('89504e470d0a1a0a', 'hex').copy(bytes);
  return bytes;
}

/** Calls use(url) while that URL serves the bytes. */
async function served(bytes, use) {
  const server = http.createServer((_, reply) => reply.end(bytes));
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    return await use(`http://127.0.0.1:${server.address().port}/captcha.png`);
  } finally {
    server.close();
  }
}

const sorted = (list) => [...new Set(list)].sort();

function checkLedger({ paid, upstream, values }, answers, submits) {
  assert.equal(submits.length, paid, 'submits that the vendor accepted');
  const vendors = submits.filter((submit) => submit.state === 'solved').map((submit) => submit.answer);
  assert.deepEqual(sorted(answers), sorted(vendors), "the clients' answers are the vendor's");
  for (const [name, value] of Object.entries(upstream)) {
    assert.equal(submits.at(-1).params[name], value, `${name} as the vendor got it`);
  }
  for (const value of values) {
    assert.ok(Object.values(submits.at(-1).params).includes(value), `the vendor never saw ${value}`);
  }
}

async function runCase(entry) {
  const before = (await sim('GET', '/sim/ledger')).submits.at(-1)?.id ?? 0;
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`still not over after ${CASE_MS} ms`)), CASE_MS);
  });
  const answers = await Promise.race([entry.check(), late]).finally(() => clearTimeout(timer));
  checkLedger(entry, [answers ?? []].flat(), (await sim('GET', `/sim/ledger?after=${before}`)).submits);
}

const comment = (text) => process.stdout.write(String(text).replace(/^/gm, '# ') + '\n');

/** Runs all cases one after the other and prints TAP, without the plan. `only` is a part of their names, or several with | between. */
async function run(first, only) {
  console.log = comment; // one client talks on stdout
  let number = first;
  for (const entry of cases.filter((one) => only.split('|').some((part) => one.name.includes(part)))) {
    const problem = await runCase(entry).then(() => null, (error) => error);
    process.stdout.write(`${problem ? 'not ok' : 'ok'} ${number++} - ${process.env.OVER ?? ''}${entry.name}\n`);
    if (problem) comment(inspect(problem, { depth: 0 })); // with the fields in which clients keep codes
  }
}

module.exports = { assert, test, run, nextTask, reported, joined, together, picture, served, GATE_URL, PAGE, KEYS, POLL_MS };
