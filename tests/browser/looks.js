'use strict';
// How it looks: on a wide screen and on a phone, light and dark, steady while figures change. Leaves screenshots.

const fs = require('node:fs');
const path = require('node:path');
const { assert, test, gateway, visit, sees } = require('./world');

const gate = gateway('GATE');
const folder = process.env.SCREENSHOTS;

const WIDE = { viewport: { width: 1280, height: 900 } };
const PHONE = { viewport: { width: 390, height: 844 }, deviceScaleFactor: 2, isMobile: true, hasTouch: true };

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

/** Runs in the page: texts whose contrast with what is behind them is below 4.5:1 (3:1 for large ones). */
function pale() {
  const rgb = (text) => text.match(/[\d.]+/g).map(Number);
  const luminance = (colour) => colour.slice(0, 3).map((part) => part / 255)
    .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4))
    .reduce((sum, part, index) => sum + part * [0.2126, 0.7152, 0.0722][index], 0);
  const ground = (node) => {
    const colour = rgb(getComputedStyle(node).backgroundColor);
    return colour[3] === 0 && node.parentElement ? ground(node.parentElement) : colour;
  };
  const found = [];
  for (const node of document.querySelectorAll('body *')) {
    const hasText = [...node.childNodes].some((child) => child.nodeType === 3 && child.textContent.trim());
    if (!hasText || !node.checkVisibility() || node.disabled || ['SCRIPT', 'STYLE'].includes(node.tagName)) continue;
    const style = getComputedStyle(node);
    const colour = node.namespaceURI.endsWith('svg') ? style.fill : style.color;
    const [high, low] = [luminance(rgb(colour)), luminance(ground(node))].sort((a, b) => b - a);
    const wanted = parseFloat(style.fontSize) >= 24 ? 3 : 4.5;
    const ratio = (high + 0.05) / (low + 0.05);
    if (ratio < wanted) found.push(`${node.tagName}.${node.className} "${node.textContent.slice(0, 30)}" ${ratio.toFixed(2)}`);
  }
  return found;
}

async function shoot(page, name) {
  if (!folder) return;
  fs.mkdirSync(folder, { recursive: true });
  await page.screenshot({ path: path.join(folder, `${name}.png`), fullPage: true });
}

function look(name, context, check) {
  test(`it can be read and used: ${name}`, async () => {
    await fill();
    await visit(gate.url, { context, before: madeUpDays }, async (page) => {
      await sees(page, '#letters-count', /2/);
      await page.waitForTimeout(400); // colours change softly
      await shoot(page, name);
      assert.deepEqual(await page.evaluate(pale), [], 'too pale');
      const [inner, scroll] = await page.evaluate(() => [innerWidth, document.documentElement.scrollWidth]);
      assert.ok(scroll <= inner, `${scroll} pixels on a screen of ${inner}`);
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
