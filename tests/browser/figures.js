'use strict';
// What the dashboard shows, and that it follows what happens.

const { assert, test, gateway, visit, sees, SEEN_MS } = require('./world');

const gate = gateway('GATE');
const POOLS = { pools: [{ name: 'login', method: 'turnstile', state: 'awake', ready: 3, size: 5, solving: 2, served: 40, refilled: 44, expired: 1 }], total: 1 };

const today = async () => JSON.parse((await gate.call('GET', '/v1/stats')).body).today;

test('an idle gateway is said to be well, with its journal and its callbacks', () => visit(gate.url, {}, async (page) => {
  await sees(page, '#verdict', /^All is well$/);
  await sees(page, '#tile-vendor', /taking work/);
  await sees(page, '#tile-store', /on disk/);
  await sees(page, '#tile-callbacks', /on/);
  await sees(page, '#tile-slots', /0 of 1,000/);
  await sees(page, '#flights-none', /Nothing is in flight/);
  assert.equal(await page.title(), '✓ solvegate');
}));

test('figures change after solves without anybody reloading', () => visit(gate.url, {}, async (page) => {
  await sees(page, '#verdict', /well/);
  const before = await today();
  for (const _ of [1, 2, 3, 4]) assert.equal((await gate.solve('figures')).status, 200);
  const after = await today();
  assert.equal(after.submits_accepted, before.submits_accepted + 1);
  await sees(page, '#paid', new RegExp(`Submits paid\\s+${after.submits_accepted}\\b`));
  await sees(page, '#sources', new RegExp(`from memory\\s+${after.answered_dedup_cache}\\b`));
  await sees(page, '#paid', /Money spent\s+0\.\d{4}\s+Money saved\s+0\.00\d\d/);
  await sees(page, '#saved', new RegExp(`^${after.savings_pct.toFixed(1)} %$`));
  await sees(page, '#rates', /requests\s+0\.[1-9]|requests\s+[1-9]/);
  await sees(page, '#tile-callbacks', /arriving/);
}));

test('what is in flight is listed, oldest first', () => visit(gate.url, {}, async (page) => {
  await gate.faults({ faults: { 'task-never': 1 } });
  await gate.solve('old', { wait: 0 });
  await page.waitForTimeout(1200);
  await gate.solve('young', { wait: 0 });
  await sees(page, '#flights-count', /^2$/);
  const ages = await page.locator('#flights tr td:first-child').allInnerTexts();
  assert.ok(parseFloat(ages[0]) > parseFloat(ages[1]) + 1, `${ages}`);
  await sees(page, '#flights tr', /solving\s+turnstile\s+anonymous\s+v1\s+1\s+1/);
  await sees(page, '#flights tr:last-child', /^([3-9]\.\d|\d\d[\d.]*) s/); // ages grow though nothing happens
  await gate.faults({ faults: {} });
  await gate.settle();
  await sees(page, '#flights-count', /^0$/);
}));

test('an open breaker comes first, with its cause', () => visit(gate.url, {}, async (page) => {
  const value = 'ERROR_KEY_DOES_NOT_EXIST';
  await gate.faults({ script: [{ fault: 'submit-error', value }], faults: { 'account-error': { p: 1, value } } });
  await gate.solve('breaker');
  await sees(page, '#verdict', /^Breaker (open|is probing).*ERROR_KEY_DOES_NOT_EXIST/);
  await gate.faults({ faults: {} }); // now a probe closes it
  await sees(page, '#verdict', /^(?!Breaker)/);
  await gate.dropAll();
}));

test('a lost connection is said, and so is its end', () => visit(gate.url, { expect: /ERR_INTERNET_DISCONNECTED/ }, async (page) => {
  await sees(page, '#verdict', /well/);
  await page.context().setOffline(true);
  const text = await sees(page, '#verdict', /^Connection lost: no answer from 127\.0\.0\.1:\d+; these figures are from \d\d:\d\d:\d\d\. Trying on\.$/);
  assert.ok(text);
  assert.equal(await page.evaluate(() => document.body.classList.contains('stale')), true);
  await page.context().setOffline(false);
  await sees(page, '#verdict', /well/);
  assert.equal(await page.evaluate(() => document.body.classList.contains('stale')), false);
}));

test('nobody is asked while the page cannot be seen', () => visit(gate.url, {}, async (page) => {
  await sees(page, '#verdict', /well/);
  const hide = (isHidden) => page.evaluate((value) => {
    Object.defineProperty(document, 'hidden', { value, configurable: true });
    document.dispatchEvent(new Event('visibilitychange'));
  }, isHidden);
  let calls = 0;
  page.on('request', () => { calls += 1; });
  await hide(true);
  // A look that was under way; the next would come after two seconds.
  for (let before = -1; before !== calls;) {
    before = calls;
    await page.waitForTimeout(1500);
  }
  calls = 0;
  await page.waitForTimeout(3000);
  assert.equal(calls, 0);
  const asked = page.waitForRequest(/stats/, { timeout: SEEN_MS });
  await hide(false);
  await asked;
}));

const NODE = { name: 'left', number: 3, state: 'alive', self: true, silent_for: 0.4, lease_left: 7.6, demand: 12, share: 8, config_differs: [] };
const NODES = {
  enabled: true, joined: true, leased: true, lease: 10, lease_left: 7.6, slots_plan: 10, total: 2, next: null,
  adopted: [{ name: 'right', by: 'left', number: 2, rows: 4, at: new Date(Date.now() - 300e3).toISOString() },
    { name: 'left', by: 'right', number: 1, rows: 1, at: new Date(Date.now() - 7200e3).toISOString() }],
  nodes: [NODE, { ...NODE, name: 'right', number: 4, self: false, state: 'dead', lease_left: 0, demand: 2, share: 2 }],
};

const BOOKS = {
  scope: 'cluster',
  now: { waiting: 3 },
  today: {
    requests: 1200, deduplicated: 900, submits_accepted: 290, retries: 0, rejected: 0, failed: 10,
    answered_api: 290, answered_dedup_wait: 600, answered_dedup_cache: 300, answered_idempotent: 0, answered_pool: 0,
  },
};

test('the gateways of a cluster are shown, and what is the matter with them', () => visit(gate.url, {
  before: async (page) => {
    await page.route('**/v1/nodes*', (route) => route.fulfill({ json: NODES }));
    await page.route('**/v1/stats?scope=cluster', (route) => route.fulfill({ json: BOOKS }));
  },
}, async (page) => {
  await sees(page, '#about', /^gateway left at 127\.0\.0\.1/);
  await sees(page, '#saved-title', /Saved today \(UTC, all gateways\)/);
  await sees(page, '#saved-note', /900 of 1,?190 answers cost nothing/);
  await sees(page, '#nodes', /left \(this one\)\s+alive\s+0.4 s\s+7.6 s\s+12\s+8\s+right\s+dead/);
  await sees(page, '#nodes-count', /1 of 2 alive, 10 slots for all/);
  await sees(page, '#nodes-sum', /1,?200 requests, 900 free, 290 paid for; 3 waiting now/);
  await sees(page, '#nodes-adopted', /left went on with 4 rows of right 5 min ago; right went on with 1 row of left 2 h ago/);
  await sees(page, '#tile-cluster', /1 gateway\s+dead: right/);
  await sees(page, '#verdict', /dead in the cluster: right/i);
  await page.unroute('**/v1/nodes*');
  await page.route('**/v1/nodes*', (route) => route.fulfill({ json: { ...NODES, leased: false } }));
  await sees(page, '#verdict', /the lease is lost, nothing is submitted/);
  await page.unroute('**/v1/nodes*');
  const other = { ...NODE, name: 'right', number: 4, self: false, config_differs: ['clients', 'pools'] };
  await page.route('**/v1/nodes*', (route) => route.fulfill({ json: { ...NODES, nodes: [NODE, other] } }));
  await sees(page, '#tile-cluster', /2 gateways\s+another configuration: right \(clients, pools\)/);
  await sees(page, '#verdict', /another configuration in the cluster: right/i);
  await page.unroute('**/v1/nodes*');
  await page.locator('#nodes-panel').waitFor({ state: 'hidden', timeout: SEEN_MS });
  await page.locator('#tile-cluster').waitFor({ state: 'hidden', timeout: SEEN_MS });
  await page.unroute('**/v1/stats?scope=cluster');
  await sees(page, '#saved-title', /Saved today \(UTC\)/);
}));

test('a load balancer whose gateways answer in turn is told', () => visit(gate.url, {
  before: async (page) => {
    await page.route('**/v1/nodes*', (route) => route.fulfill({ json: NODES }));
    await page.route('**/v1/stats?scope=cluster', (route) => route.fulfill({ json: BOOKS }));
    await page.route('**/v1/flights?*', (route) => route.fulfill({ json: { node: 'right', flights: [], total: 0, next: null } }));
  },
}, async (page) => {
  await sees(page, '#about', /^gateways in turn at 127\.0\.0\.1:\d+ \(left, right\): open one by its own address/);
  await page.unroute('**/v1/flights?*');
  await sees(page, '#about', /^gateway left at 127\.0\.0\.1/);
}));

test('budgets are shown where there are some', () => visit(gate.url, {
  before: (page) => page.route('**/v1/stats*', async (route) => {
    const reply = await route.fetch();
    await route.fulfill({ json: { ...await reply.json(), budgets: { bob: { limit: 1000, used: 12, reserved: 3, left: 985 } } } });
  }),
}, async (page) => {
  await sees(page, '#budgets', /bob\s+12\s+3\s+985\s+1,000/);
  await page.unroute('**/v1/stats*');
  await page.locator('#budgets-panel').waitFor({ state: 'hidden', timeout: SEEN_MS });
}));

test('pools are shown where there are some and hidden where not', () => visit(gate.url, {
  before: (page) => page.route('**/v1/pools*', (route) => route.fulfill({ json: POOLS })),
}, async (page) => {
  await sees(page, '#pools', /login\s+awake\s+3 of 5\s+2\s+40\s+1/);
  await page.unroute('**/v1/pools*');
  await page.route('**/v1/pools*', (route) => route.fulfill({ json: { pools: [], total: 0 } }));
  await page.locator('#pools-panel').waitFor({ state: 'hidden', timeout: SEEN_MS });
}));
