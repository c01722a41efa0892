'use strict';
// A flight that is opened: where is my captcha now, as bars and in words, while it goes on.

const { assert, test, gateway, visit, sees } = require('./world');
const { WIDE, PHONE, isReadable, shoot } = require('./sight');

const gate = gateway('GATE');

const CREATED = '2026-07-27T12:00:00.000Z';
const FLIGHT = {
  state: 'solving', client: 'a', type: 'turnstile', dialect: 'v1', reuse: 'shared', created: CREATED, age: 20, deadline_in: 160,
  next: 'poll', next_in: 2.5, request_count: 2, requests: [{ id: '17', held: true }, { id: '18', held: false }],
  attempts: [
    { state: 'failed', started: '2026-07-27T12:00:05.000Z', took: 5, class: 'unsolvable', error: 'ERROR_CAPTCHA_UNSOLVABLE', upstream_id: '1' },
    { state: 'working', started: '2026-07-27T12:00:12.000Z', accepted: '2026-07-27T12:00:14.000Z', took: 8, upstream_id: '2' },
  ],
};
const LISTED = { key: 'ab'.repeat(32), state: 'solving', type: 'turnstile', client: 'a', dialect: 'v1', attempts: 2, requests: 2, age: 20 };

const pretend = (seen) => async (page) => {
  await page.route('**/v1/flights?*', (route) => route.fulfill({ json: { flights: [LISTED], total: 1, next: null } }));
  await page.route(`**/v1/flights/${LISTED.key}`, (route) => route.fulfill({ json: seen }));
};
const seenOf = (more) => ({ key: LISTED.key, flights: [FLIGHT], strays: [], solution: null, letter: null, ...more });

test('an open flight is drawn to scale, with its attempts in words', () => visit(gate.url, { before: pretend(seenOf()) }, async (page) => {
  const opener = page.getByRole('button', { name: 'Open flight abababababab' });
  await opener.focus();
  await page.keyboard.press('Enter');
  await sees(page, '#flight', /Flight abababababab[^]*solving for 20 s, 160 s left|solving for 20 s, 2 min left/);
  const bars = await page.locator('#flight .course rect').evaluateAll((all) => all.map((one) => [one.getAttribute('class'),
    Number(one.getAttribute('x')), Number(one.getAttribute('width')), getComputedStyle(one).fill]));
  assert.deepEqual(bars.map(([name, x, width]) => [name, x, width]),
    [['waits', 0, 25], ['failed', 25, 25], ['waits', 50, 10], ['sent', 60, 10], ['works', 70, 30]]);
  assert.equal(new Set(bars.map(([, , , fill]) => fill)).size, 4, 'colours');
  await sees(page, '#flight-body', /asked for; 2 requests wait[^]*\+5\.0 s\s+attempt 1 sent[^]*failed after 5\.0 s: ERROR_CAPTCHA_UNSOLVABLE[^]*\+12\.0 s\s+attempt 2 sent[^]*\+14\.0 s\s+accepted as task 2[^]*working for 8\.0 s[^]*next\s+next poll in 2\.5 s[^]*Requests: 17, 18/);
  await page.keyboard.press('Escape');
  await page.locator('#flight').waitFor({ state: 'hidden' });
  assert.equal(await opener.evaluate((node) => node === document.activeElement), true, 'the focus is back');
}));

/** As much as a flight can have: 32 failed attempts before the current one, 20 requests, a node with a long name. */
const MANY = seenOf({
  node: 'gateway-with-a-long-name-in-the-cluster-1', flight_count: 7, strays: [FLIGHT.attempts[1]],
  flights: [{
    ...FLIGHT, age: 160, request_count: 44,
    requests: Array.from({ length: 20 }, (_, index) => ({ id: `64563976467633${10 + index}`, held: true })),
    attempts: Array.from({ length: 33 }, (_, index) => ({
      started: new Date(Date.parse(CREATED) + index * 4000).toISOString(), took: 3, upstream_id: `50835754${10 + index}`,
      accepted: new Date(Date.parse(CREATED) + index * 4000 + 300).toISOString(),
      ...(index < 32 ? { state: 'failed', class: 'unsolvable', error: 'ERROR_CAPTCHA_UNSOLVABLE_WITH_A_LONG_NAME' } : { state: 'working' }),
    })),
  }],
});

for (const [name, context] of [
  ['wide-light', { ...WIDE, colorScheme: 'light' }], ['wide-dark', { ...WIDE, colorScheme: 'dark' }],
  ['phone-light', { ...PHONE, colorScheme: 'light' }], ['phone-dark', { ...PHONE, colorScheme: 'dark' }],
]) {
  for (const [kind, seen] of [['short', seenOf()], ['long', MANY]]) {
    test(`an open flight can be read and used with the keyboard: ${kind}, ${name}`, () => visit(gate.url, { context, before: pretend(seen) }, async (page) => {
      const opener = page.getByRole('button', { name: 'Open flight abababababab' });
      await opener.focus();
      await page.keyboard.press('Enter');
      await sees(page, '#flight-body', /attempt 1 sent/);
      assert.equal(await page.evaluate(() => document.activeElement.id), 'flight-close', 'where the focus is');
      assert.equal(await page.locator('#flight-body').getAttribute('tabindex'), '0', 'not every browser lets the keyboard scroll by itself');
      await page.waitForTimeout(400); // colours change softly
      await shoot(page, `flight-${kind}-${name}`, false);
      await isReadable(page);
      const { width, height } = page.viewportSize();
      const box = await page.locator('#flight').boundingBox();
      assert.ok(box.x >= 0 && box.y >= 0 && box.x + box.width <= width && box.y + box.height <= height, `${JSON.stringify(box)} of ${width} x ${height}`);
      const [inner, scroll] = await page.locator('#flight-body').evaluate((node) => [node.clientWidth, node.scrollWidth]);
      assert.ok(scroll <= inner, `${scroll} pixels in a dialog of ${inner}`);
      assert.deepEqual(await page.evaluate(brokenWords), [], 'words that are broken within a part');
      await usesKeyboard(page, kind === 'long');
      assert.equal(await opener.evaluate((node) => node === document.activeElement), true, 'the focus is back');
    }));
  }
}

/** Runs in the page: parts of codes, between their underscores, that do not stand on one line. */
function brokenWords() {
  const found = [];
  for (const node of document.querySelectorAll('#flight-body dd')) {
    const walker = document.createTreeWalker(node, NodeFilter.SHOW_TEXT);
    for (let text = walker.nextNode(); text; text = walker.nextNode()) {
      for (const part of text.data.matchAll(/[A-Z]+_?/g)) {
        const range = document.createRange();
        range.setStart(text, part.index);
        range.setEnd(text, part.index + part[0].length);
        if (new Set([...range.getClientRects()].map(({ top }) => Math.round(top))).size > 1) found.push(part[0]);
      }
    }
  }
  return found;
}

/** Scrolls what does not fit, also while looks go on, walks round within the dialog and closes it by its button. */
async function usesKeyboard(page, isLong) {
  const body = page.locator('#flight-body');
  const focused = () => page.evaluate(() => document.activeElement.id || document.activeElement.tagName);
  const seen = new Set();
  for (let i = 0; i < 6; i += 1) {
    seen.add(await focused());
    await page.keyboard.press('Tab');
  }
  assert.ok(seen.has('flight-close'), `the focus was at ${[...seen]}`);
  assert.ok([...seen].every((id) => ['flight-body', 'flight-close', 'BODY'].includes(id)), `the focus left the dialog: ${[...seen]}`);
  if (isLong) {
    await body.focus();
    await page.keyboard.press('End');
    await page.waitForFunction(() => { const node = document.getElementById('flight-body'); return node.scrollTop + node.clientHeight > node.scrollHeight - 2; });
    const looks = page.waitForResponse(/flights\/abab/);
    await looks;
    await page.waitForTimeout(200);
    assert.ok(await body.evaluate((node) => node.scrollTop > 100), 'a look scrolls it back');
  }
  while (await focused() !== 'flight-close') await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await page.locator('#flight').waitFor({ state: 'hidden' });
}

test('what is left of a flight is said, and strangers stay text', () => visit(gate.url, {
  before: pretend(seenOf({ flights: [{ ...FLIGHT, state: '<img src=x>', attempts: [{ ...FLIGHT.attempts[0], error: '<img src=x>' }] }],
    strays: [FLIGHT.attempts[1]], solution: { born: CREATED, expires_in: 30, attempts: 1 },
    letter: { id: '7', created: CREATED, class: 'busy', error: '<img src=y>', attempts: [] } })),
}, async (page) => {
  await page.getByRole('button', { name: /^Open flight/ }).click();
  await sees(page, '#flight-body', /<img src=x> for 20 s[^]*may still solve[^]*Solved at [^]*Given up at [^]*<img src=y> \(dead letter 7\)/);
  assert.equal(await page.locator('img').count(), 0);
}));

test('a real flight goes on while it is open, until its solution', () => visit(gate.url, {}, async (page) => {
  await gate.faults({ faults: { 'task-never': 1 } });
  await gate.solve('opened', { wait: 0 });
  await page.getByRole('button', { name: /^Open flight/ }).first().click();
  await sees(page, '#flight-body', /accepted as task \d+[^]*working for/);
  await gate.faults({ faults: {} });
  await gate.settle();
  await sees(page, '#flight-body', /^Solved at \d\d:\d\d:\d\d; in memory for another/);
}));
