'use strict';
// Shadow mode: what serving would have saved, which keys repeat, and what reports advise.

const REPEATS_SHOWN = 20;
const KEY_SHOWN = 16;

/** The headline; it names money only where the configuration has prices. */
function shadowWords(day) {
  if (!day.paid) return 'Shadow: nothing was paid for in the last 24 hours';
  const duplicates = `Shadow: ${Math.round((100 * day.duplicates) / day.paid)} % of your solves in the last 24 hours were duplicates`;
  return day.money_saved === undefined ? duplicates : `${duplicates}; serving them once would have saved ${day.money_saved.toFixed(2)}`;
}

function showHeadline({ shadow }) {
  setHidden(byId('shadow'), !shadow.clients.length && !shadow.last_24_hours.paid);
  setText(byId('shadow'), shadowWords(shadow.last_24_hours));
}

function shadowPairs(page) {
  const pairs = [['Paid in shadow mode today', count(page.paid)], ['Would have joined a solve', count(page.dedup_wait)],
    ['Would have come from memory', count(page.dedup_cache)], ['Would have found their idempotency key', count(page.idempotent)],
    ['Needed after all, as retries', count(page.retried)]];
  if (page.money_saved !== undefined) pairs.push(['Would have saved', money(page.money_saved)]);
  return pairs;
}

const REPEAT_CELLS = [['', ''], ['', 'host'], ['', ''], ['', ''], ['number', 'duplicates']];

/** Repeated keys and reports are not kept over a restart. */
function sinceStart(uptime) {
  const start = new Date(10000 * Math.round((Date.now() - 1000 * uptime) / 10000));
  return `since the gateway's start at ${start.toLocaleString('en-GB', { dateStyle: 'medium', timeStyle: 'short' })}`;
}

function showRepeats({ shadow, today, service }) {
  const nothing = { paid: 0, dedup_wait: 0, dedup_cache: 0, idempotent: 0, retried: 0 };
  setHidden(byId('shadow-panel'), !shadow.clients.length && !shadow.repeats.length);
  fillPairs(byId('shadow-pairs'), shadowPairs(today.shadow || nothing));
  setText(byId('repeats-since'), `Repeated keys ${sinceStart(service.uptime)}`);
  syncRows(byId('repeats'), shadow.repeats.slice(0, REPEATS_SHOWN), (one) => one.key, () => makeCells(REPEAT_CELLS), (row, one) => fillCells(row, [
    one.key.slice(0, KEY_SHOWN), one.host || '', one.type, one.client,
    one.at_least === one.duplicates ? count(one.duplicates) : `up to ${count(one.duplicates)}`,
  ]));
}

const TARGET_CELLS = [['', ''], ['', ''], ['number', 'shared, bad'], ['number', 'for one, bad'], ['', 'reuse']];

const opinions = ({ good, bad }) => (good + bad ? `${share(bad, good + bad)} of ${count(good + bad)}` : '–');

function showTargets({ shadow: { targets }, service }) {
  setHidden(byId('advice-panel'), targets.length === 0);
  setText(byId('advice-since'), `Reports ${sinceStart(service.uptime)}`);
  syncRows(byId('targets'), targets, (one) => `${one.type} ${one.host}`, () => makeCells(TARGET_CELLS), (row, one) => fillCells(row, [
    one.host, one.type, opinions(one.shared), opinions(one.own), one.advice || 'more reports needed',
  ]));
}

function showShadow(stats) {
  showHeadline(stats);
  showRepeats(stats);
  showTargets(stats);
}
