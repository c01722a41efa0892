'use strict';
// Shadow mode: the headline, the keys that repeat, and what reports advise.

const { assert, test, gateway, visit, sees } = require('./world');

const gate = gateway('GATE');
const shadow = gateway('SHADOW');

test('what serving would have saved is the headline of shadow mode', () => visit(shadow.url, {}, async (page) => {
  await sees(page, '#shadow', /^Shadow: nothing was paid for in the last 24 hours$/);
  for (const _ of [1, 2, 3]) assert.equal((await shadow.solve('headline')).status, 200);
  await sees(page, '#shadow', /^Shadow: 67 % of your solves in the last 24 hours were duplicates; serving them once would have saved 1\.00$/);
  await sees(page, '#shadow-pairs', /Paid in shadow mode today\s+3\s+Would have joined a solve\s+0\s+Would have come from memory\s+2/);
  await sees(page, '#repeats-since', /^Repeated keys since the gateway's start at \d+ \w+ \d{4}.* \d\d:\d\d$/);
  await sees(page, '#repeats tr', /^[0-9a-f]{16}\s+example\.com\s+turnstile\s+anonymous\s+2$/);
}));

test('a gateway that serves says nothing of the shadow', () => visit(gate.url, {}, async (page) => {
  await sees(page, '#saved', /%|–/);
  assert.ok(await page.locator('#shadow').isHidden());
  assert.ok(await page.locator('#shadow-panel').isHidden());
}));

test('reports are shown by target, with their advice', () => visit(shadow.url, {}, async (page) => {
  const reply = await shadow.solve('reported');
  assert.equal((await shadow.call('POST', `/v1/solves/${JSON.parse(reply.body).id}/report`, { good: true })).status, 200);
  await sees(page, '#advice-since', /^Reports since the gateway's start at /);
  await sees(page, '#targets tr', /^example\.com\s+turnstile\s+–\s+0\.0 % of 1\s+more reports needed$/);
}));
