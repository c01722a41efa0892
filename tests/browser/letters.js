'use strict';
// Dead letters by mouse and by keyboard.

const { assert, test, gateway, visit, sees, UNSOLVABLE } = require('./world');

const gate = gateway('GATE');

/** Starts with letters for these sitekeys; use gets the page once it shows them. */
const withLetters = (sitekeys, use) => visit(gate.url, {}, async (page) => {
  await gate.dropAll();
  await sees(page, '#letters-count', /^0$/);
  for (const sitekey of sitekeys) await gate.die(sitekey);
  await sees(page, '#letters-count', new RegExp(`^${sitekeys.length}$`));
  await use(page);
  await gate.dropAll();
});

test('a letter appears, tells its story and is replayed by a click', () => withLetters(['replayed'], async (page) => {
  await sees(page, '#letters', new RegExp(`${UNSOLVABLE}\\s+turnstile\\s+anonymous`));
  await sees(page, '#verdict', /1 dead letter, the last at \d\d:\d\d:\d\d$/);
  await page.getByRole('button', { name: /^Show letter/ }).click();
  await sees(page, '#letter-body', /sitekey\s+replayed/);
  await page.getByRole('button', { name: 'Replay', exact: true }).click();
  await sees(page, '#letter-said', /^1 queued$/);
  await page.getByRole('button', { name: 'Close' }).click();
  await sees(page, '#letters-none', /No dead letters/);
  assert.match((await gate.solve('replayed')).body, /dedup_cache/, 'its solution is there');
}));

test('a letter is dropped only after a yes', () => withLetters(['dropped'], async (page) => {
  const drop = page.getByRole('button', { name: /^Drop letter/ });
  await drop.click();
  await page.keyboard.press('Escape');
  await drop.click();
  await page.getByRole('button', { name: 'Cancel' }).click();
  assert.equal((await gate.letters()).total, 1);
  await drop.click();
  await page.getByRole('button', { name: 'Drop', exact: true }).click();
  await sees(page, '#said', /^1 dropped$/);
  await sees(page, '#letters-none', /No dead letters/);
}));

test('all are replayed, or dropped, after a yes', () => withLetters(['all-1', 'all-2', 'all-3'], async (page) => {
  await page.getByRole('button', { name: 'Replay all …' }).click();
  await sees(page, '#confirm-text', /^3 letters will be solved again/);
  await page.getByRole('button', { name: 'Replay all', exact: true }).click();
  await sees(page, '#said', /^3 queued$/);
  await sees(page, '#letters-none', /No dead letters/);
  await gate.die('all-4');
  await sees(page, '#letters-count', /^1$/);
  await page.getByRole('button', { name: 'Drop all …' }).click();
  await page.getByRole('button', { name: 'Drop all', exact: true }).click();
  await sees(page, '#said', /^1 dropped$/);
}));

test('an order that fails is said in the words of the gateway', () => visit(gate.url, {
  expect: /404 /,
  before: (page) => page.route('**/v1/letters?*', (route) => route.fulfill({ json: { letters: [{ id: '999', created: new Date().toISOString(),
    client: 'anonymous', type: 'image', error: 'ERROR_GONE', attempt_count: 1 }], total: 1, next: null } })),
}, async (page) => {
  await page.getByRole('button', { name: 'Replay letter 999' }).click();
  await sees(page, '#said', /^no such dead letter \(unknown_letter\)$/);
}));

test('the keyboard alone is enough, and a refresh takes no focus away', () => withLetters(['keys'], async (page) => {
  await page.getByRole('button', { name: /^Show letter/ }).focus();
  await page.waitForResponse(/stats/);
  await page.waitForResponse(/stats/);
  await page.keyboard.press('Tab');
  await page.keyboard.press('Tab');
  assert.match(await page.evaluate(() => document.activeElement.getAttribute('aria-label')), /^Drop letter/);
  await page.keyboard.press('Enter');
  assert.equal(await page.evaluate(() => document.activeElement.textContent), 'Cancel', 'Enter alone drops nothing');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await sees(page, '#said', /^1 dropped$/);
}));
