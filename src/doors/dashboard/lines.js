'use strict';
// Lines over time: fetched in pages, drawn as SVG, read with the pointer, the keyboard or a screen reader.

const STEPS = {
  second: { points: 600, ms: 1000, per: 'per second', smooth: 30, over: 'over 30 seconds' },
  minute: { points: 1440, ms: 60000, per: 'per minute', smooth: 1, over: '' },
};
const FREE_SOURCES = ['answered_dedup_wait', 'answered_dedup_cache', 'answered_idempotent', 'answered_pool'];
const MARKS = {
  started: ['start', 'gateway started'], reloaded: ['plain', 'configuration reloaded'],
  breaker_opened: ['bad', 'breaker opened'], breaker_closed: ['good', 'breaker closed'],
};
const seconds = (ms) => duration(ms / 1000);
const percent = (value) => `${Math.round(value)} %`;

/** Each line is [array or function of the view and index, label, class]. The first of a stack is at the bottom. */
const CHARTS = [
  { id: 'answers', title: 'Requests by source', note: 'per', isStacked: true, format: count, lines: [
    ['answered_api', 'solved for them', 'paid'], ['answered_dedup_wait', 'joined a solve', 'joined'],
    ['answered_dedup_cache', 'from memory', 'memory'], ['answered_idempotent', 'idempotency key', 'again'],
    ['answered_pool', 'from a pool', 'pool'], ['failed', 'failed', 'failed'], ['rejected', 'refused', 'refused']] },
  { id: 'flying', title: 'In flight and queued', format: count, lines: [['flights', 'in flight', 'paid'], ['queued', 'queued', 'refused']] },
  { id: 'slots', title: 'Slots', format: count, lines: [['slots_used', 'in use', 'joined'], ['slots_limit', 'limit', 'quiet']] },
  { id: 'solve', title: 'Solve time', format: seconds, lines: [['solve_p50_ms', 'half below (p50)', 'paid'], ['solve_p95_ms', '95 % below (p95)', 'refused']] },
  { id: 'savings', title: 'Answers that cost nothing', note: 'over', format: percent, most: 100, lines: [[savedAt, 'saved', 'joined']] },
];

// ---- pages --------------------------------------------------------------------------------------

let lineStep = 'second';
const lineStore = { second: null, minute: null }; // { run, latest, tag, pages: complete ones by number }

/** The newest page, or the one that is known if it has not changed. */
async function fetchLatest(step) {
  const known = lineStore[step];
  const reply = await api.send('GET', `/v1/series?step=${step}`, undefined, known && { 'If-None-Match': known.tag });
  if (reply.status === 304) return known;
  const page = await reply.json().catch(() => ({}));
  if (!reply.ok) throw new ApiError(reply.status, page);
  const pages = known && known.run === page.run ? known.pages : new Map();
  return { run: page.run, latest: page, tag: reply.headers.get('ETag'), pages };
}

/** Complete pages never change, so each is asked for once. */
async function fetchLines() {
  const step = lineStep;
  const store = await fetchLatest(step);
  const { latest, pages, run } = store;
  for (const number of [...pages.keys()]) if (number < latest.first_page) pages.delete(number);
  const missing = [];
  for (let number = latest.first_page; number < latest.page; number++) if (!pages.has(number)) missing.push(number);
  await Promise.all(missing.map(async (number) => {
    const page = await api.get(`/v1/series?step=${step}&page=${number}`).catch((error) => {
      if (error.status === 404) return null; // it has just been dropped
      throw error;
    });
    if (page && page.run === run && page.complete) pages.set(number, page);
  }));
  lineStore[step] = store;
}

/** The points of the range one after the other; `first` is the number of the oldest. */
function lineView(step) {
  const { points, ms } = STEPS[step];
  const store = lineStore[step];
  const view = { step, points, ms, first: 0, length: 0, end: 0, marks: [], page: () => null };
  if (!store) return view;
  const { latest } = store;
  const last = latest.page * 60 + latest.points;
  view.first = Math.max(latest.first_page * 60, last - points);
  view.length = last - view.first;
  view.end = Date.parse(latest.at);
  const pageOf = (number) => (number === latest.page ? latest : store.pages.get(number));
  view.value = (name, index) => {
    const number = view.first + index;
    const page = pageOf(Math.floor(number / 60));
    return page ? page[name][number % 60] : null;
  };
  for (let number = Math.floor(view.first / 60); number <= latest.page; number++) {
    for (const { point, what } of pageOf(number)?.marks || []) {
      const index = number * 60 + point - view.first;
      if (index >= 0) view.marks.push({ index, what });
    }
  }
  return view;
}

/** Of all answers of some time, because a second often has only one. */
function savedAt(view, index) {
  if (view.value('answered_api', index) === null) return null;
  let [paid, free] = [0, 0];
  for (let at = Math.max(0, index + 1 - STEPS[view.step].smooth); at <= index; at++) {
    paid += view.value('answered_api', at);
    for (const name of FREE_SOURCES) free += view.value(name, at);
  }
  return free + paid ? (100 * free) / (free + paid) : null;
}

const lineValue = (view, [name], index) => (typeof name === 'function' ? name(view, index) : view.value(name, index));
const timeOf = (view, index) => new Date(view.end - (view.length - 1 - index) * view.ms);

/** Seconds matter in ten minutes, not in a day. */
const lineClock = (view, date) => (view.step === 'second' ? clock(date) : clock(date).slice(0, 5));

// ---- drawing ------------------------------------------------------------------------------------

const PLOT = { top: 18, bottom: 20, side: 2 };

/** The next of 1, 2 or 5 times a power of ten. */
function roundUp(value) {
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 5, 10].map((times) => times * power).find((one) => one >= value);
}

/** A point that has no neighbours is a dot, because a line needs two. */
function linePath(values, xOf, yOf) {
  const parts = [];
  values.forEach((value, index) => {
    if (value === null) return;
    const isJoined = index > 0 && values[index - 1] !== null;
    parts.push(`${isJoined ? 'L' : 'M'}${xOf(index).toFixed(1)} ${yOf(value).toFixed(1)}`);
    if (!isJoined && (index + 1 === values.length || values[index + 1] === null)) parts.push('h.01');
  });
  return parts.join('');
}

/** The ground between two curves, in one piece for each run of known values. */
function areaPath(lower, upper, xOf, yOf) {
  const parts = [];
  for (let from = 0; from < upper.length; from++) {
    if (upper[from] === null) continue;
    let to = from;
    while (to + 1 < upper.length && upper[to + 1] !== null) to++;
    const edge = [];
    for (let index = from; index <= to; index++) edge.push(`${xOf(index).toFixed(1)} ${yOf(upper[index]).toFixed(1)}`);
    for (let index = to; index >= from; index--) edge.push(`${xOf(index).toFixed(1)} ${yOf(lower[index]).toFixed(1)}`);
    parts.push(`M${edge.join('L')}Z`);
    from = to;
  }
  return parts.join('');
}

function readLines(chart, view) {
  const indices = Array.from({ length: view.length }, (_, index) => index);
  return chart.lines.map((line) => indices.map((index) => lineValue(view, line, index)));
}

/** Each line of a stack begins where the one below ends. */
function stack(lines) {
  let below = lines[0].map(() => 0);
  return lines.map((values) => {
    const lower = below;
    below = values.map((value, index) => (value === null ? null : (lower[index] || 0) + value));
    return { lower, upper: below };
  });
}

function makeChart(chart) {
  const box = make('figure', 'chart');
  box.id = `chart-${chart.id}`;
  const caption = make('figcaption');
  caption.append(make('h3', '', chart.title), make('span', 'quiet per'));
  const plot = make('div', 'plot');
  plot.tabIndex = 0;
  plot.setAttribute('role', 'slider');
  plot.setAttribute('aria-label', chart.title);
  plot.setAttribute('aria-valuemin', 0);
  const svg = makeSvg('svg', { 'aria-hidden': 'true' });
  for (const name of ['axis', 'marks', 'lines', 'cursor']) svg.append(makeSvg('g', { class: name }));
  const paths = svg.querySelector('.lines');
  for (const [, , className] of chart.lines) paths.append(makeSvg('path', { class: `${chart.isStacked ? 'area' : 'line'} ${className}` }));
  plot.append(svg);
  const legend = make('ul', 'values');
  for (const [, label, className] of chart.lines) {
    const item = make('li');
    item.append(make('span', `key ${className}`), make('span', '', label), make('b'));
    legend.append(item);
  }
  box.append(caption, plot, legend);
  wirePlot(plot);
  return box;
}

function drawAxis(group, view, size, most, format) {
  const { width, height } = size;
  const texts = [];
  const write = (x, y, anchor, text) => {
    const node = makeSvg('text', { x, y, 'text-anchor': anchor });
    node.textContent = text;
    texts.push(node);
  };
  const base = height - PLOT.bottom;
  const ago = (part) => lineClock(view, new Date(view.end - part * (view.points - 1) * view.ms));
  write(PLOT.side, PLOT.top - 5, 'start', format(most));
  if (view.length) {
    write(PLOT.side, height - 5, 'start', ago(1));
    write(width / 2, height - 5, 'middle', ago(0.5));
    write(width - PLOT.side, height - 5, 'end', ago(0));
  }
  group.replaceChildren(makeSvg('path', { class: 'grid', d: `M0 ${PLOT.top}H${width}M0 ${(PLOT.top + base) / 2}H${width}` }),
    makeSvg('path', { class: 'base', d: `M0 ${base}H${width}` }), ...texts);
}

function drawMarks(group, view, xOf, height) {
  group.replaceChildren(...view.marks.map(({ index, what }) => {
    const [level] = MARKS[what] || ['plain'];
    const x = xOf(index).toFixed(1);
    return makeSvg('path', { class: `mark ${level}`, d: `M${x} ${height - PLOT.bottom}V${PLOT.top - 4}m-4 -5h8l-4 6z` });
  }));
}

/** How the size and the range turn into places. */
function scales(view, size, most) {
  const wide = size.width - 2 * PLOT.side;
  const high = size.height - PLOT.top - PLOT.bottom;
  return {
    xOf: (index) => size.width - PLOT.side - ((view.length - 1 - index) * wide) / (view.points - 1),
    yOf: (value) => size.height - PLOT.bottom - (Math.min(value, most) / most) * high,
  };
}

function drawChart(chart, view) {
  const box = byId(`chart-${chart.id}`);
  const svg = box.querySelector('svg');
  const size = { width: svg.clientWidth, height: svg.clientHeight };
  if (!size.width) return; // it cannot be seen
  const lines = readLines(chart, view);
  const edges = chart.isStacked ? stack(lines) : lines.map((values) => ({ upper: values }));
  const highest = edges.reduce((top, { upper }) => upper.reduce((one, value) => Math.max(one, value || 0), top), 0);
  const most = chart.most || roundUp(Math.max(highest, 1));
  const { xOf, yOf } = scales(view, size, most);
  const [axis, marks, group] = svg.children;
  drawAxis(axis, view, size, most, chart.format);
  drawMarks(marks, view, xOf, size.height);
  edges.forEach(({ lower, upper }, index) => {
    group.children[index].setAttribute('d', lower ? areaPath(lower, upper, xOf, yOf) : linePath(upper, xOf, yOf));
  });
  setText(box.querySelector('.per'), chart.note ? STEPS[view.step][chart.note] : '');
}

// ---- the cursor: one for all charts -------------------------------------------------------------

let cursorPoint = null; // the number of a point, so that it stays on it while time goes on
let shownView = null;

function cursorIndex(view) {
  if (cursorPoint === null || !view.length) return null;
  const index = cursorPoint - view.first;
  return index >= 0 && index < view.length ? index : null;
}

function valueWords(chart, value) {
  return value === null ? '–' : chart.format(value);
}

function marksAt(view, index) {
  return view.marks.filter((mark) => mark.index === index).map(({ what }) => (MARKS[what] || ['', what])[1]);
}

function readOut(chart, view, index) {
  if (!view.length) return 'no data yet';
  const words = chart.lines.map((line) => `${line[1]} ${valueWords(chart, lineValue(view, line, index))}`);
  return [lineClock(view, timeOf(view, index)), ...words, ...marksAt(view, index)].join(', ');
}

function showValues(chart, view, index) {
  const box = byId(`chart-${chart.id}`);
  const at = index ?? view.length - 1;
  const plot = box.querySelector('.plot');
  plot.setAttribute('aria-valuemax', Math.max(0, view.length - 1));
  plot.setAttribute('aria-valuenow', Math.max(0, at));
  plot.setAttribute('aria-valuetext', readOut(chart, view, at));
  chart.lines.forEach((line, number) => {
    setText(box.querySelectorAll('.values b')[number], view.length ? valueWords(chart, lineValue(view, line, at)) : '–');
  });
  const svg = box.querySelector('svg');
  const x = scales(view, { width: svg.clientWidth, height: svg.clientHeight }, 1).xOf(at).toFixed(1);
  svg.lastElementChild.replaceChildren(...(index === null ? [] : [makeSvg('path', { d: `M${x} ${PLOT.top}V${svg.clientHeight - PLOT.bottom}` })]));
}

function showCursor() {
  if (!shownView) return;
  const index = cursorIndex(shownView);
  if (index === null) cursorPoint = null;
  for (const chart of CHARTS) showValues(chart, shownView, index);
  const marks = index === null ? [] : marksAt(shownView, index);
  setText(byId('lines-when'), index === null ? '' : ['at ' + lineClock(shownView, timeOf(shownView, index)), ...marks].join(', '));
}

function moveCursor(index) {
  if (!shownView || !shownView.length) return;
  cursorPoint = shownView.first + Math.max(0, Math.min(shownView.length - 1, Math.round(index)));
  showCursor();
}

const KEYS = { ArrowLeft: -1, ArrowRight: 1, ArrowDown: -1, ArrowUp: 1, PageDown: -60, PageUp: 60, Home: -Infinity, End: Infinity };

function onPlotKey(event) {
  if (event.key === 'Escape') {
    cursorPoint = null;
    showCursor();
  } else if (event.key in KEYS && shownView) {
    event.preventDefault();
    moveCursor((cursorIndex(shownView) ?? shownView.length - 1) + KEYS[event.key]);
  }
}

function onPlotPointer(event) {
  if (!shownView) return;
  const box = event.currentTarget.getBoundingClientRect();
  const fromRight = (box.right - PLOT.side - event.clientX) / (box.width - 2 * PLOT.side);
  moveCursor(shownView.length - 1 - fromRight * (shownView.points - 1));
}

function wirePlot(plot) {
  const release = () => {
    cursorPoint = null;
    showCursor();
  };
  plot.addEventListener('keydown', onPlotKey);
  plot.addEventListener('pointermove', onPlotPointer);
  plot.addEventListener('pointerdown', onPlotPointer);
  plot.addEventListener('pointerleave', () => { if (document.activeElement !== plot) release(); });
  plot.addEventListener('blur', release);
}

// ---- the whole ----------------------------------------------------------------------------------

/** What is marked in the lines, in words: the newest first. */
function showMarkList(view) {
  const shown = view.marks.slice(-6).reverse();
  setHidden(byId('lines-marks'), shown.length === 0);
  syncRows(byId('lines-marks'), shown, ({ index, what }) => `${view.first + index} ${what}`, () => {
    const row = make('li');
    row.append(make('span', 'sign'), make('span'));
    return row;
  }, (row, { index, what }) => {
    const [level, words] = MARKS[what] || ['plain', what];
    setClass(row.firstChild, `sign ${level}`);
    setText(row.lastChild, `${lineClock(view, timeOf(view, index))} ${words}`);
  });
}

function showLines() {
  const view = lineView(lineStep);
  const panel = byId('lines');
  if (!panel.children.length) panel.append(...CHARTS.map(makeChart));
  shownView = view;
  for (const chart of CHARTS) drawChart(chart, view);
  showMarkList(view);
  showCursor();
}

function chooseStep(step) {
  lineStep = step;
  cursorPoint = null;
  for (const one of Object.keys(STEPS)) byId(`lines-${one}`).setAttribute('aria-pressed', one === step);
  showLines();
  lookSoon();
}

function wireLines() {
  for (const step of Object.keys(STEPS)) byId(`lines-${step}`).addEventListener('click', () => chooseStep(step));
  new ResizeObserver(() => { if (shownView) showLines(); }).observe(byId('lines'));
}
