'use strict';
// The page that `solvegate bench --html` writes, opened as a file: what is drawn, what it loads, how it looks.

const { assert, test, visit } = require('./world');
const { WIDE, PHONE, isReadable, shoot, pixels } = require('./sight');

const page = (name) => `file://${process.env.REPORTS}/${name}.html`;

test('the charts of a benchmark are drawn to scale', () => visit(page('rate'), {}, async (report) => {
  const [solves, latency, classes] = await report.locator('svg').all();
  for (const chart of [solves, classes]) {
    const bars = await chart.locator('rect.bar').evaluateAll((all) => all.map((one) => ({
      x: Number(one.getAttribute('x')), height: Number(one.getAttribute('height')),
      value: Number(/: ([\d,]+)/.exec(one.querySelector('title').textContent)[1]),
    })));
    const top = Math.max(...bars.map(({ height }) => height));
    const most = Math.max(...bars.map(({ value }) => value));
    assert.ok(bars.length > 1 && top > 100, `${bars.length} bars, the highest ${top}`);
    for (const { height, value } of bars) assert.ok(Math.abs(height - (top * value) / most) < 0.1, `${value} is ${height} high`);
    assert.deepEqual(bars.map(({ x }) => x), bars.map(({ x }) => x).sort((a, b) => a - b), 'from left to right');
  }
  for (const name of ['p50', 'p99']) {
    const points = (await latency.locator(`polyline.${name}`).getAttribute('points')).trim().split(' ').map((one) => one.split(',').map(Number));
    assert.ok(points.length > 1 && points.every(([x, y]) => x > 0 && x < 720 && y >= 0 && y < 180), `${name}: ${points}`);
  }
}));

for (const [name, context] of [
  ['wide-light', { ...WIDE, colorScheme: 'light' }], ['wide-dark', { ...WIDE, colorScheme: 'dark' }],
  ['phone-light', { ...PHONE, colorScheme: 'light' }], ['phone-dark', { ...PHONE, colorScheme: 'dark' }],
]) {
  for (const kind of ['rate', 'steps', 'failed']) {
    test(`the report of a benchmark loads nothing and can be read: ${kind}, ${name}`, () => {
      const asked = [];
      const before = (report) => report.on('request', (request) => asked.push(request.url()));
      return visit(page(kind), { context, before }, async (report) => {
        await shoot(report, `report-${kind}-${name}`);
        await isReadable(report);
        assert.deepEqual(asked, [page(kind)], 'what was loaded');
        assert.equal(await report.locator('svg').count() > 0, kind !== 'failed', 'charts of what there is');
        for (const text of await report.locator('svg text').all()) {
          const { height } = await text.evaluate((node) => node.getBoundingClientRect());
          assert.ok(height >= 9, `the words of a chart are ${height} px high`);
        }
        for (const table of await report.locator('table').all()) {
          const [inner, scroll] = await table.evaluate((node) => [node.parentElement.clientWidth, node.parentElement.scrollWidth]);
          assert.ok(scroll <= inner || await table.evaluate((node) => getComputedStyle(node.parentElement).overflowX === 'auto'), 'a table is cut');
        }
      });
    });
  }

  test(`the bars and lines of a benchmark can be seen, not only said: ${name}`, () => visit(page('rate'), { context }, async (report) => {
    const canvas = await report.context().newPage(); // the report itself may not load pictures
    const [solves, latency] = await report.locator('svg').all();
    const [bars, all] = await pixels(solves, solves.locator('rect.bar').first(), 'fill', canvas);
    assert.ok(bars > all * 0.1 && bars < all * 0.9, `${bars} of ${all} pixels are bars`);
    for (const line of ['p50', 'p99']) {
      const [found] = await pixels(latency, latency.locator(`polyline.${line}`), 'stroke', canvas);
      assert.ok(found > 50 && found < all * 0.2, `${found} pixels are of the line of ${line}`);
    }
  }));
}

test('the report of a benchmark keeps its policy: nothing in it can run or load', () => visit(page('rate'), {
  expect: /Content Security Policy/, isForeign: true,
}, async (report) => {
  await report.evaluate(() => {
    document.body.insertAdjacentHTML('beforeend', '<img src="http://evil.example/x.png">');
    const script = document.createElement('script');
    script.textContent = 'window.ran = true';
    document.body.append(script);
  });
  assert.equal(await report.evaluate(() => window.ran), undefined, 'a script ran');
}));
