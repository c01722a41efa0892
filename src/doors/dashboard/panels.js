'use strict';
// The figures: saved today, rates, queue and slots, flights, pools, the last days.

const FLIGHTS_SHOWN = 50;
const FLIGHTS_FETCHED = 300;
const SAMPLE_SPAN_MS = 60000;

const SOURCES = [
  ['answered_dedup_wait', 'joined a solve', 'free'],
  ['answered_dedup_cache', 'from memory', 'free'],
  ['answered_idempotent', 'idempotency key', 'free'],
  ['answered_pool', 'from a pool', 'free'],
  ['answered_api', 'solved for them', 'paid'],
  ['failed', 'failed', 'failed'],
];
const RATES = [
  ['requests', 'requests'], ['deduplicated', 'free answers'], ['answered_api', 'paid answers'], ['failed', 'failed'],
  ['rejected', 'refused'], ['submits', 'submits'], ['solves', 'solves'],
];

const answered = (page) => page.deduplicated + page.answered_api;

/** Of gateways that share a store, what all of them saved: behind a load balancer each look may be at another one. */
function showSaved(own, books) {
  const today = books ? books.today : own;
  setText(byId('saved-scope'), books ? '(UTC, all gateways)' : '(UTC)');
  setText(byId('saved'), share(today.deduplicated, answered(today)));
  setText(byId('saved-note'), answered(today)
    ? `${count(today.deduplicated)} of ${plural(answered(today), 'answer')} cost nothing` : 'nothing was answered yet');
  const list = byId('sources');
  if (!list.children.length) list.append(...SOURCES.flatMap(makeSource));
  const most = Math.max(1, ...SOURCES.map(([member]) => today[member]));
  SOURCES.forEach(([member], index) => {
    setText(list.children[index * 3 + 1], count(today[member]));
    fillBar(list.children[index * 3 + 2], [(100 * today[member]) / most]);
  });
  fillPairs(byId('paid'), [
    ['Requests', count(today.requests)], ['Submits paid', count(today.submits_accepted)],
    ['Attempts after the first', count(today.retries)], ['Refused at the door', count(today.rejected)], ...moneyPairs(today),
  ]);
}

/** Known only where the configuration has prices; it does not name their currency. */
function moneyPairs(today) {
  if (today.money_spent === undefined) return [];
  return [['Money spent', money(today.money_spent)], ['Money saved', money(today.money_saved)]];
}

function makeSource([, label, className]) {
  const bar = makeSvg('svg', { class: 'bar', viewBox: '0 0 100 8', preserveAspectRatio: 'none', 'aria-hidden': 'true' });
  bar.append(makeSvg('rect', { class: className, height: 8, width: 0 }));
  return [make('dt', '', label), make('dd'), bar];
}

// ---- rates ------------------------------------------------------------------------------------

let samples = [];

/** Counters that went back are those of a gateway that was restarted. */
function takeSample(total) {
  const last = samples.at(-1);
  if (last && total.requests < last.total.requests) samples = [];
  samples.push({ at: performance.now(), total });
  while (samples[0].at < performance.now() - SAMPLE_SPAN_MS - 3000) samples.shift();
}

function rate(member, spanMs) {
  const last = samples.at(-1);
  const first = samples.find((sample) => sample.at >= last.at - spanMs - 1000);
  const seconds = (last.at - first.at) / 1000;
  return seconds > 0 ? ((last.total[member] - first.total[member]) / seconds).toFixed(1) : '–';
}

function showRates(stats) {
  takeSample(stats.total);
  syncRows(byId('rates'), RATES, ([member]) => member, ([, label]) => {
    const row = make('tr');
    const head = make('th', '', label);
    head.scope = 'row';
    row.append(head, make('td'), make('td'), make('td'));
    return row;
  }, (row, [member, label]) => fillCells(row, [label, rate(member, 10000), rate(member, SAMPLE_SPAN_MS), count(stats.today[member])]));
}

// ---- queue, flights, pools --------------------------------------------------------------------

function showQueue(now) {
  const whole = Math.max(now.slots_plan, now.slots_limit, 1);
  fillBar(byId('slots-bar'), [100, (100 * now.slots_limit) / whole, (100 * now.slots_used) / whole]);
  fillPairs(byId('queue'), [
    ['Slots in use', count(now.slots_used)], ['Limit now', count(now.slots_limit)], ['Plan', count(now.slots_plan)],
    ['Flights queued', count(now.queued)], ['Requests waiting', count(now.waiting)], ['Callers held', count(now.held_callers)],
    ['Solutions in memory', count(now.solutions)],
  ]);
}

const FLIGHT_CELLS = [['number', ''], ['state', ''], ['', ''], ['', ''], ['', ''], ['number', 'attempts'], ['number', 'waiting'], ['error', ''], ['do', '']];

function showFlights({ entries, total }) {
  const shown = entries.sort((a, b) => b.age - a.age).slice(0, FLIGHTS_SHOWN);
  const from = total > entries.length ? `of the first ${count(entries.length)}` : '';
  setText(byId('flights-count'), total > shown.length ? `the ${shown.length} oldest ${from} of ${count(total)}` : count(total));
  setHidden(byId('flights-none'), shown.length > 0);
  syncRows(byId('flights'), shown, (one, index) => index, () => makeFlightRow(FLIGHT_CELLS), (row, one) => {
    nameFlightRow(row, one);
    fillCells(row, [duration(one.age), one.state.replace('_', ' '), one.type, one.client, one.dialect, one.attempts, one.requests,
      one.last_error || '']);
  });
}

const POOL_CELLS = [['', ''], ['', ''], ['number', 'ready'], ['number', 'solving'], ['number', 'served'], ['number', 'expired']];

function showPools(pools) {
  setHidden(byId('pools-panel'), pools.length === 0);
  syncRows(byId('pools'), pools, (one, index) => index, () => makeCells(POOL_CELLS), (row, one) => fillCells(row, [
    one.name, one.state, `${count(one.ready)} of ${count(one.size)}`, count(one.solving), count(one.served), count(one.expired),
  ]));
}

const BUDGET_CELLS = [['', ''], ['number', 'used'], ['number', 'reserved'], ['number', 'left'], ['number', 'limit']];

/** What is left of each client's day; that of all gateways where several share a store. */
function showBudgets(stats, books) {
  const budgets = Object.entries((books || stats).budgets || {}); // a gateway of an older version may answer
  setHidden(byId('budgets-panel'), budgets.length === 0);
  syncRows(byId('budgets'), budgets, ([client]) => client, () => makeCells(BUDGET_CELLS), (row, [client, one]) => fillCells(row, [
    client, count(one.used), count(one.reserved), count(one.left), count(one.limit),
  ]));
}

const NODE_CELLS = [['', ''], ['', ''], ['number', 'silent'], ['number', 'lease left'], ['number', 'demand'], ['number', 'share']];

/** Today's books of all gateways. */
function sumOfAll({ today, now }) {
  const parts = [plural(today.requests, 'request'), `${count(today.deduplicated)} free`, `${count(today.submits_accepted)} paid for`];
  return `All of them today: ${parts.join(', ')}; ${count(now.waiting)} waiting now`;
}

const ADOPTED_SHOWN = 3;

/** Who went on for whom, the newest first. */
function lastAdopted(adopted) {
  return adopted.slice(0, ADOPTED_SHOWN)
    .map((one) => `${one.by} went on with ${plural(one.rows, 'row')} of ${one.name} ${duration(secondsSince(one.at))} ago`).join('; ');
}

/** The gateways that share the store, as the one that answers sees them. */
function showNodes(cluster, books) {
  setHidden(byId('nodes-panel'), !cluster.enabled);
  const alive = cluster.nodes.filter((one) => one.state === 'alive').length;
  setText(byId('nodes-count'), `${count(alive)} of ${count(cluster.nodes.length)} alive, ${plural(cluster.slots_plan, 'slot')} for all`);
  setText(byId('nodes-sum'), books ? sumOfAll(books) : '');
  setText(byId('nodes-adopted'), lastAdopted(cluster.adopted || [])); // a gateway of an older version may answer
  syncRows(byId('nodes'), cluster.nodes, (one) => one.number, () => makeCells(NODE_CELLS), (row, one) => fillCells(row, [
    one.self ? `${one.name} (this one)` : one.name, one.state, duration(one.silent_for), duration(one.lease_left), count(one.demand), count(one.share),
  ]));
}

// ---- days -------------------------------------------------------------------------------------

const CHART = { width: 800, top: 32, bottom: 148, bar: 56 };
const STACK = [['deduplicated', 'free'], ['answered_api', 'paid'], ['failed', 'failed']];

function lastDays(stats) {
  const known = new Map([...stats.days, stats.today].map((day) => [day.date, day]));
  return Array.from({ length: 8 }, (_, index) => {
    const date = new Date(Date.parse(stats.today.date) - (7 - index) * 86400000).toISOString().slice(0, 10);
    return known.get(date) || { date };
  });
}

function drawDay(day, index, scale) {
  const middle = (CHART.width / 8) * (index + 0.5);
  const parts = [];
  let y = CHART.bottom;
  for (const [member, className] of STACK) {
    const height = (day[member] || 0) * scale;
    y -= height;
    parts.push(makeSvg('rect', { class: className, x: middle - CHART.bar / 2, y, width: CHART.bar, height }));
  }
  const label = makeSvg('text', { x: middle, y: CHART.bottom + 26 });
  label.textContent = index === 7 ? 'today' : day.date.slice(8);
  const saved = makeSvg('text', { x: middle, y: y - 6 });
  saved.textContent = day.requests ? share(day.deduplicated, answered(day)).replace(/\.\d/, '') : '';
  return [...parts, label, saved];
}

let drawn = '';

function showDays(stats) {
  const days = lastDays(stats);
  const state = JSON.stringify(days.map((day) => [day.date, ...STACK.map(([member]) => day[member])]));
  if (state === drawn) return;
  drawn = state;
  const most = Math.max(1, ...days.map((day) => STACK.reduce((sum, [member]) => sum + (day[member] || 0), 0)));
  const scale = (CHART.bottom - CHART.top) / most;
  const axis = makeSvg('line', { class: 'axis', x1: 0, x2: CHART.width, y1: CHART.bottom, y2: CHART.bottom });
  byId('days-chart').replaceChildren(axis, ...days.flatMap((day, index) => drawDay(day, index, scale)));
  const filled = days.filter((day) => day.requests !== undefined).reverse();
  syncRows(byId('days'), filled, (day) => day.date, () => {
    const row = make('tr');
    row.append(...Array.from({ length: 7 }, () => make('td')));
    return row;
  }, (row, day) => fillCells(row, [day.date, share(day.deduplicated, answered(day)), count(day.deduplicated),
    count(day.answered_api), count(day.failed), count(day.rejected), count(day.submits_accepted)]));
}
