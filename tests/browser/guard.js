'use strict';
// Keys, strangers and hostile text.

const http = require('node:http');
const { assert, test, gateway, visit, sees } = require('./world');

const gate = gateway('GATE');
const locked = gateway('LOCKED', process.env.ADMIN);
const refused = /40[13] /;

async function giveKey(page, key) {
  await page.getByLabel('Key of a client').fill(key);
  await page.keyboard.press('Enter');
}

test('the page comes with headers that keep everything else out', async () => {
  const { status, headers } = await gate.call('GET', '/');
  assert.equal(status, 200);
  assert.equal(headers.get('content-type'), 'text/html; charset=utf-8');
  const policy = headers.get('content-security-policy');
  assert.match(policy, /^default-src 'none'; script-src ('sha256-[\w+/=]+' ?)+; style-src ('sha256-[\w+/=]+' ?)+; connect-src 'self'; /);
  for (const part of ["frame-ancestors 'none'", "base-uri 'none'", "form-action 'none'", "require-trusted-types-for 'script'"]) {
    assert.ok(policy.includes(part), part);
  }
  assert.doesNotMatch(policy, /unsafe/);
  for (const [name, value] of [['x-frame-options', 'DENY'], ['x-content-type-options', 'nosniff'],
    ['referrer-policy', 'no-referrer'], ['cache-control', 'no-store']]) assert.equal(headers.get(name), value, name);
});

test('with clients it asks for a key of an admin and keeps it to itself', () => visit(locked.url, { expect: refused }, async (page) => {
  await sees(page, '#key-form', /wants a key/);
  await page.locator('#figures').waitFor({ state: 'hidden' });
  await giveKey(page, 'nobody-nobody-nobody-nobody-no32');
  await sees(page, '#key-said', /\(unauthorized\)$/);
  await giveKey(page, process.env.ALICE);
  await sees(page, '#key-said', /\(forbidden\)$/);
  await giveKey(page, 'schlüssel');
  await sees(page, '#key-said', /visible ASCII/);
  await giveKey(page, process.env.ADMIN);
  await sees(page, '#verdict', /^All is well$/);
  await page.locator('#key-form').waitFor({ state: 'hidden' });
  const kept = await page.evaluate(() => [location.href, document.cookie, localStorage.length, sessionStorage.length,
    document.documentElement.outerHTML.includes('admin-admin'), document.getElementById('key').value]);
  assert.deepEqual(kept, [`${locked.url}/`, '', 0, 0, false, '']);
  await page.getByRole('button', { name: 'Forget key' }).click();
  await sees(page, '#key-form', /wants a key/);
}));

test('with a key orders work, too', () => visit(locked.url, { expect: refused }, async (page) => {
  const alice = gateway('LOCKED', process.env.ALICE);
  await alice.die('locked');
  await giveKey(page, process.env.ADMIN);
  await sees(page, '#letters', /alice/);
  await sees(page, '#pools', /ahead\s+\w+\s+1 of 1\s+0\s+0\s+0/);
  await page.getByRole('button', { name: /^Replay letter/ }).click();
  await sees(page, '#letters-none', /No dead letters/);
}));

test('names and errors of strangers stay text', () => visit(gate.url, {
  before: async (page) => {
    const nasty = '<img src=x onerror="document.title=1">';
    const letter = { id: '1', client: nasty, type: nasty, class: nasty, error: nasty, created: new Date().toISOString(), attempt_count: 1 };
    await page.route('**/v1/letters?*', (route) => route.fulfill({ json: { letters: [letter], total: 1, next: null } }));
    await page.route('**/v1/letters/1', (route) => route.fulfill({ json: { ...letter, params: { [nasty]: nasty }, attempts: [] } }));
    await page.route('**/v1/flights?*', (route) => route.fulfill({ json: { flights: [{ key: 'k', age: 1, state: nasty, type: nasty,
      client: nasty, attempts: 1, requests: 1, last_error: nasty }], total: 1, next: null } }));
    await page.route('**/v1/pools', (route) => route.fulfill({ json: { pools: [{ name: nasty, state: nasty }], total: 1 } }));
    await page.route('**/v1/nodes', (route) => route.fulfill({ json: { enabled: true, joined: true, leased: true, lease: 1, slots_plan: 1,
      nodes: [{ name: nasty, number: 1, state: nasty, silent_for: 0, lease_left: 0, demand: 0, share: 0, config_differs: [nasty] }], total: 1 } }));
    await page.route(/scope=cluster/, (route) => route.fulfill({ json: { today: { requests: 1, deduplicated: 0, submits_accepted: 1, failed: 0,
      rejected: 0, retries: 0, answered_api: 1, answered_dedup_wait: 0, answered_dedup_cache: 0, answered_idempotent: 0, answered_pool: 0 }, now: { waiting: 0 },
      budgets: { [nasty]: { used: 1, reserved: 0, left: 1, limit: 2 } } } }));
  },
}, async (page) => {
  await sees(page, '#letters', /<img src=x/);
  await sees(page, '#flights', /<img src=x/);
  await sees(page, '#nodes', /<img src=x/);
  await sees(page, '#budgets', /<img src=x/);
  await page.getByRole('button', { name: /^Show letter/ }).click();
  await sees(page, '#letter-body', /<img src=x/);
  assert.equal(await page.locator('img').count(), 0);
}));

/** Calls use(url) while a page of another site on this machine is served there. */
async function elsewhere(body, use) {
  const server = http.createServer((_, reply) => reply.writeHead(200, { 'Content-Type': 'text/html' }).end(body));
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    await use(`http://evil.example:${server.address().port}`);
  } finally {
    server.close();
  }
}

test('a page of another site can neither replay nor drop nor frame it', async () => {
  await gate.dropAll();
  await gate.die('cross-site');
  const { id } = (await gate.letters()).letters[0];
  const body = `<iframe src="${gate.url}/"></iframe><form method=post action="${gate.url}/v1/letters/${id}/replay"></form>`;
  await elsewhere(body, (url) => visit(url, { expect: /./, isForeign: true }, async (page) => {
    const attempts = await page.evaluate(async ([base, number]) => {
      const tries = [['POST', `/v1/letters/${number}/replay`], ['POST', '/v1/letters/replay?all=true'], ['DELETE', `/v1/letters/${number}`]];
      const ends = tries.map(([method, path]) => ['cors', 'no-cors'].map((mode) => fetch(base + path, { method, mode })
        .then((reply) => reply.type, () => 'refused').catch(() => 'refused')));
      return Promise.all(ends.flat());
    }, [gate.url, id]);
    assert.equal(attempts.filter((end) => end !== 'refused' && end !== 'opaque').length, 0, `${attempts}`);
    assert.equal(await page.frames()[1].evaluate(() => document.getElementById('verdict')).catch(() => null), null, 'framed');
    await page.evaluate(() => document.forms[0].submit());
    await page.waitForURL(/replay/);
    assert.match(await page.locator('body').innerText(), /foreign_origin/);
  }));
  const left = (await gate.letters()).letters;
  assert.deepEqual(left.map((letter) => [letter.id, letter.replays, letter.replaying]), [[id, 0, false]]);
  await gate.dropAll();
});

test('a name that was made to point here shows no figures', () => {
  const rebound = gate.url.replace('127.0.0.1', 'evil.example');
  return visit(rebound, { expect: /403 / }, async (page) => {
    await sees(page, '#verdict', /\(foreign_origin\)$/);
    await page.locator('#figures').waitFor({ state: 'hidden' });
  });
});
