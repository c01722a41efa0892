'use strict';
// Lines over time, by what is drawn: paths where the values are, gaps, marks, a cursor, and the pixels of it all.

const { assert, test, gateway, visit, sees, SEEN_MS } = require('./world');
const { isReadable, pixels } = require('./sight');

const gate = gateway('GATE');
const LINES = ['requests', 'answered_api', 'answered_dedup_wait', 'answered_dedup_cache', 'answered_idempotent', 'answered_pool', 'failed',
  'rejected', 'submits_accepted', 'flights', 'queued', 'waiting', 'slots_used', 'slots_limit', 'solve_p50_ms', 'solve_p95_ms'];
const END = Date.parse('2026-07-27T12:00:00Z');

/** Pages 0 to last, each line filled by fill(name, number of the point); the newest has so many points. */
function madeUp({ last = 10, points = 60, kept = 10, run = 'r1', marks = [], fill = () => 0 } = {}) {
  const asked = [];
  const pageOf = (page, step, isLatest) => {
    const length = page === last ? points : 60;
    const body = { run, step, page, points: length, complete: length === 60,
      marks: marks.filter(({ at }) => Math.floor(at / 60) === page).map(({ at, what }) => ({ point: at % 60, what })) };
    for (const name of LINES) body[name] = Array.from({ length }, (_, index) => fill(name, page * 60 + index));
    if (isLatest) Object.assign(body, { at: new Date(END).toISOString(), first_page: Math.max(0, last - kept) });
    return body;
  };
  const handle = (route) => {
    const { searchParams } = new URL(route.request().url());
    const page = searchParams.get('page');
    const tag = `"${run}-${page ?? 'latest'}"`;
    asked.push({ page, known: route.request().headers()['if-none-match'] });
    if (route.request().headers()['if-none-match'] === tag) return route.fulfill({ status: 304, headers: { ETag: tag } });
    return route.fulfill({ json: pageOf(page === null ? last : Number(page), searchParams.get('step'), page === null), headers: { ETag: tag } });
  };
  return { asked, before: (page) => page.route('**/v1/series*', handle) };
}

/** The numbers of a path: [[x, y], …], one list for each M. */
const pieces = (d) => d.split('M').filter(Boolean).map((piece) => piece.split(/[LZ]|h/).filter((one) => one.includes(' '))
  .map((point) => point.split(' ').map(Number)));
const path = (page, selector) => page.locator(selector).first().getAttribute('d');

async function drawn(page, selector) {
  await page.waitForFunction((one) => document.querySelector(one)?.getAttribute('d'), selector, { timeout: SEEN_MS });
  return pieces(await path(page, selector));
}

test('a line is drawn where its values are, over the whole width', () => {
  const { before } = madeUp({ fill: (name, at) => (name === 'flights' ? at % 100 : 0) });
  return visit(gate.url, { before }, async (page) => {
    const [piece, ...more] = await drawn(page, '#chart-flying .lines path:first-child');
    assert.equal(more.length, 0, 'one piece');
    assert.equal(piece.length, 600);
    const { width, height } = await page.locator('#chart-flying svg').boundingBox();
    assert.ok(piece[0][0] < 5 && piece.at(-1)[0] > width - 5, `from ${piece[0]} to ${piece.at(-1)} of ${width}`);
    const ys = piece.map(([, y]) => y);
    const [top, bottom] = [Math.min(...ys), Math.max(...ys)];
    assert.ok(bottom > height - 22 && top < 22, `between ${top} and ${bottom} of ${height}`);
    piece.forEach(([, y], index) => { // the first point is number 60
      const value = (60 + index) % 100;
      assert.ok(Math.abs(y - (bottom - ((bottom - top) * value) / 99)) < 0.6, `${value} is at ${y}`);
    });
    await sees(page, '#chart-flying .values', /in flight\s*59\s*queued\s*0/);
    assert.equal(await page.locator('#chart-flying .axis text').first().textContent(), '100', 'the highest value of the axis');
  });
});

test('what is not known is a gap, and a lonely value a dot', () => {
  const fill = (name, at) => {
    if (name.startsWith('solve')) return at % 60 === 30 ? 3000 : null;
    return at >= 500 && at < 520 ? null : 4;
  };
  return visit(gate.url, madeUp({ fill }), async (page) => {
    const flying = await drawn(page, '#chart-flying .lines path:first-child');
    assert.deepEqual(flying.map((piece) => piece.length), [500 - 60, 660 - 520], 'pieces');
    const dots = await path(page, '#chart-solve .lines path:first-child');
    assert.match(dots, /^(M[\d.]+ [\d.]+h\.01){10}$/);
    const areas = await drawn(page, '#chart-answers .lines path.paid');
    assert.equal(areas.length, 2, 'areas are cut by the gap, too');
  });
});

test('sources are stacked: the highest edge is their sum', () => {
  const parts = { answered_api: 1, answered_dedup_wait: 2, answered_dedup_cache: 3, answered_idempotent: 1, answered_pool: 1, failed: 1, rejected: 1 };
  return visit(gate.url, madeUp({ fill: (name) => parts[name] ?? 0 }), async (page) => {
    const edges = [];
    for (const name of ['paid', 'joined', 'memory', 'again', 'pool', 'failed', 'refused']) {
      const [piece] = await drawn(page, `#chart-answers .lines .${name}`);
      assert.equal(piece.length, 1200, `${name} there and back`);
      edges.push([piece[0][1], piece.at(-1)[1]]); // above and below, at the left
    }
    edges.slice(1).forEach(([, lower], index) => assert.equal(lower, edges[index][0], 'each begins where the one below ends'));
    const unit = (edges[0][1] - edges.at(-1)[0]) / 10;
    assert.ok(Math.abs(edges[2][1] - edges[2][0] - 3 * unit) < 0.3, 'three of ten');
    await sees(page, '#chart-savings .values', /saved\s*88 %/);
  });
});

test('marks are drawn at their moment and told in words', () => {
  const marks = [{ at: 60, what: 'started' }, { at: 360, what: 'breaker_opened' }, { at: 420, what: 'breaker_closed' }, { at: 659, what: 'reloaded' }];
  return visit(gate.url, madeUp({ marks }), async (page) => {
    await drawn(page, '#chart-slots .mark.bad');
    const box = await page.locator('#chart-slots svg').boundingBox();
    const [[[x]]] = await drawn(page, '#chart-slots .mark.bad');
    assert.ok(Math.abs(x - (2 + ((box.width - 4) * 300) / 599)) < 0.2, `at ${x} of ${box.width}`);
    assert.equal(await page.locator('#chart-slots .mark').count(), 4);
    await sees(page, '#lines-marks', /configuration reloaded[^]*breaker closed[^]*breaker opened[^]*gateway started/);
    const said = await page.locator('#lines-marks li').allInnerTexts();
    const clock = await page.evaluate((time) => new Date(time).toLocaleTimeString('en-GB'), END - 299000);
    assert.ok(said.includes(`${clock} breaker opened`), `${said}`);
  });
});

test('the keyboard moves a cursor through all charts and values are read out', () => {
  const fill = (name, at) => (name === 'flights' ? at : name === 'slots_used' ? 3 : 0);
  const made = madeUp({ fill, marks: [{ at: 656, what: 'reloaded' }] });
  return visit(gate.url, made, async (page) => {
    await drawn(page, '#chart-flying .lines path:first-child');
    const plot = page.getByRole('slider', { name: 'In flight and queued' });
    await plot.focus();
    for (const _ of [1, 2, 3]) await page.keyboard.press('ArrowLeft');
    const clock = await page.evaluate((time) => new Date(time).toLocaleTimeString('en-GB'), END - 3000);
    assert.equal(await plot.getAttribute('aria-valuetext'), `${clock}, in flight 656, queued 0, configuration reloaded`);
    await sees(page, '#lines-when', new RegExp(`^at ${clock}, configuration reloaded$`));
    await sees(page, '#chart-slots .values', /in use\s*3/);
    assert.equal(await page.locator('.chart .cursor path').count(), 5, 'a cursor in each chart');
    await page.keyboard.press('Home');
    await sees(page, '#chart-flying .values', /in flight\s*60\b/);
    await page.keyboard.press('PageUp');
    await sees(page, '#chart-flying .values', /in flight\s*120\b/);
    await page.keyboard.press('End');
    await sees(page, '#chart-flying .values', /in flight\s*659\b/);
    await page.keyboard.press('Escape');
    assert.equal(await page.locator('.chart .cursor path').count(), 0, 'no cursor');
    const box = await plot.boundingBox();
    await page.mouse.move(box.x + 2, box.y + 40);
    await sees(page, '#chart-flying .values', /in flight\s*60\b/);
  });
});

test('complete pages are asked for once, the newest with its tag, and a new run begins anew', () => {
  const made = madeUp({ last: 5, points: 7 });
  return visit(gate.url, made, async (page) => {
    await drawn(page, '#chart-flying .lines path:first-child');
    await page.waitForTimeout(4500);
    const numbers = made.asked.map(({ page: number }) => number).filter((number) => number !== null).sort();
    assert.deepEqual(numbers, ['0', '1', '2', '3', '4']);
    assert.ok(made.asked.filter(({ page: number }) => number === null).slice(1).every(({ known }) => known === '"r1-latest"'), 'tags');
    await page.unroute('**/v1/series*');
    await madeUp({ last: 0, points: 3, run: 'r2' }).before(page);
    await page.waitForFunction(() => document.querySelector('#chart-flying .lines path').getAttribute('d').split('L').length === 3, null, { timeout: SEEN_MS });
  });
});

test('the last 24 hours are drawn on demand, by the minute', () => {
  const made = madeUp({ last: 24, points: 30, kept: 24, fill: (name, at) => (name === 'queued' ? at : 0) });
  return visit(gate.url, made, async (page) => {
    await page.locator('#lines-minute').click();
    await sees(page, '#chart-answers .per', /per minute/);
    await page.waitForFunction(() => document.querySelector('#chart-flying .lines path').getAttribute('d').split('L').length > 800, null, { timeout: SEEN_MS });
    assert.equal(await page.locator('#lines-minute').getAttribute('aria-pressed'), 'true');
  });
});

for (const [name, context] of [
  ['light', { colorScheme: 'light' }], ['dark', { colorScheme: 'dark' }],
  ['on a phone', { colorScheme: 'dark', viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true }],
]) {
  test(`the ground of a stack can be seen, not only said: ${name}`, () => visit(gate.url, {
    context, ...madeUp({ fill: (line) => (line === 'answered_api' || line === 'answered_dedup_cache' ? 5 : 0) }),
  }, async (page) => {
    await drawn(page, '#chart-answers .lines .paid');
    const svg = page.locator('#chart-answers svg');
    await svg.scrollIntoViewIfNeeded();
    for (const part of ['paid', 'memory']) {
      const [found, all] = await pixels(svg, page.locator(`#chart-answers .lines .${part}`), 'fill', page);
      assert.ok(found > all * 0.2 && found < all * 0.5, `${found} of ${all} pixels are ${part}`);
    }
    await isReadable(page);
  }));
}

test('solves of a real gateway appear in the lines', () => visit(gate.url, {}, async (page) => {
  for (const _ of [1, 2, 3]) await gate.solve('lines');
  await page.waitForFunction(() => /Z/.test(document.querySelector('#chart-answers .memory')?.getAttribute('d') || ''), null, { timeout: SEEN_MS });
  await page.waitForFunction(() => {
    const ys = (document.querySelector('#chart-answers .memory').getAttribute('d').match(/ [\d.]+/g) || []).map(Number);
    return Math.max(...ys) - Math.min(...ys) > 5;
  }, null, { timeout: SEEN_MS });
  await sees(page, '#lines-marks', /gateway started/);
}));
