'use strict';
// How it looks: on a wide screen and on a phone, light and dark, steady while figures change. Leaves screenshots.

const { assert, test, gateway, visit, sees } = require('./world');
const { WIDE, PHONE, pale, isReadable, shoot } = require('./sight');

const gate = gateway('GATE');

/** Something of everything to look at: the days before today are made up, the rest is real. */
async function fill() {
  if ((await gate.letters()).total === 2) return;
  await gate.dropAll();
  await gate.die('look-1');
  await gate.die('look-2', 'ERROR_NO_SLOT_AVAILABLE');
  for (const sitekey of ['a', 'a', 'a', 'b', 'b']) await gate.solve(`look-${sitekey}`);
  await gate.faults({ faults: { 'task-slow': { p: 1, value: '20s' } } });
  for (let i = 0; i < 12; i++) await gate.solve(`look-slow-${i}`, { wait: 0 });
  await gate.faults({ faults: {} });
}

function madeUpDays(page) {
  return page.route('**/v1/stats', async (route) => {
    const reply = await route.fetch();
    const stats = await reply.json();
    stats.days = [900, 1240, 400, 1100, 1300, 700, 1010].map((requests, index) => ({
      ...stats.today, date: new Date(Date.parse(stats.today.date) - (index + 1) * 864e5).toISOString().slice(0, 10),
      requests, deduplicated: Math.round(requests * 0.7), answered_api: Math.round(requests * 0.25), failed: Math.round(requests * 0.05),
    }));
    Object.assign(stats.today, { requests: 640, deduplicated: 470, answered_api: 150, failed: 20, answered_dedup_wait: 120,
      answered_dedup_cache: 310, answered_idempotent: 40 });
    await route.fulfill({ json: stats });
  });
}

function look(name, context, check) {
  test(`it can be read and used: ${name}`, async () => {
    await fill();
    await visit(gate.url, { context, before: madeUpDays }, async (page) => {
      await sees(page, '#letters-count', /2/);
      await page.waitForTimeout(400); // colours change softly
      await shoot(page, name);
      await isReadable(page);
      if (check) await check(page);
    });
  });
}

look('wide-light', { ...WIDE, colorScheme: 'light' });
look('wide-dark', { ...WIDE, colorScheme: 'dark' }, async (page) => {
  await page.getByRole('button', { name: /^Show letter/ }).first().click();
  await page.locator('#letter').waitFor();
  await shoot(page, 'wide-dark-letter');
  assert.deepEqual(await page.evaluate(pale), [], 'too pale');
});
look('tablet-light', { viewport: { width: 820, height: 1100 }, colorScheme: 'light' });
look('phone-light', { ...PHONE, colorScheme: 'light' });
look('phone-dark', { ...PHONE, colorScheme: 'dark', reducedMotion: 'reduce' }, async (page) => {
  const sizes = await page.locator('button:visible').evaluateAll((all) => all.map((one) => one.getBoundingClientRect().height));
  assert.ok(sizes.every((height) => height >= 24), `buttons are ${sizes} high`);
});

test('it can be read while the connection is lost and while it is locked', async () => {
  await fill();
  await visit(gate.url, { expect: /ERR_INTERNET_DISCONNECTED/ }, async (page) => {
    await sees(page, '#letters-count', /2/);
    await page.context().setOffline(true);
    await sees(page, '#verdict', /^Connection lost/);
    await page.waitForTimeout(400);
    await shoot(page, 'lost');
    assert.deepEqual(await page.evaluate(pale), [], 'too pale');
  });
  await visit(process.env.LOCKED_URL, { context: { ...PHONE, colorScheme: 'dark' }, expect: /401/ }, async (page) => {
    await sees(page, '#key-form', /wants a key/);
    await shoot(page, 'locked');
    assert.deepEqual(await page.evaluate(pale), [], 'too pale');
  });
});

test('nothing jumps when figures, flights and letters come and go', () => visit(gate.url, {
  before: fill, context: { viewport: { width: 1280, height: 2400 } }, // a jump that is out of sight does not count
}, async (page) => {
  await sees(page, '#letters-count', /2/);
  await page.evaluate(() => {
    window.jumps = 0;
    new PerformanceObserver((list) => list.getEntries().forEach((entry) => { window.jumps += entry.value; }))
      .observe({ type: 'layout-shift', buffered: false });
  });
  await gate.dropAll();
  await gate.faults({ faults: { 'task-never': 1 } });
  for (let i = 0; i < 30; i++) await gate.solve(`jump-${i}`, { wait: 0 });
  // Before the faults end: a submit that is still on its way would be solved without them.
  await sees(page, '#flights-count', /^[34]\d$/);
  await gate.faults({ faults: {} });
  await sees(page, '#letters-count', /^0$/);
  await gate.settle();
  await sees(page, '#flights-count', /^[012]?\d$/);
  await page.waitForTimeout(500);
  const jumps = await page.evaluate(() => window.jumps);
  assert.ok(jumps < 0.01, `layout shift ${jumps}`);
}));
