'use strict';
// The loop: looks every two seconds while somebody can see the page, and says so when nobody answers.

const INTERVAL_MS = 2000;
const ANSWERING_LOOKS = 8;

let timer = 0;
let isLooking = false;
let isLocked = false; // until somebody gives a key
let isWanted = false; // a look that was asked for while another was under way
let lastGood = null;
let newestLetter = null;
let answering = []; // who answered the last looks, the latest first

/** The statistics first and alone: without a key there is no point in asking for more. */
async function fetchAll() {
  const stats = await api.get('/v1/stats');
  const [readiness, flights, letters, pools, nodes] = await Promise.all([
    api.readiness(), api.pages('/v1/flights', 'flights', FLIGHTS_FETCHED), api.get(lettersPath()), api.get('/v1/pools'),
    api.get('/v1/nodes'), fetchLines(),
  ]);
  if (!lettersAfter) newestLetter = letters.letters[0] || null;
  // While the store is away there are none.
  const books = nodes.enabled ? await api.get('/v1/stats?scope=cluster').catch(() => null) : null;
  return { stats, readiness, flights, letters, pools, nodes, books, newest: newestLetter };
}

/** Behind a load balancer each call may be answered by another gateway, and the figures of one look by several. */
function showAbout({ service }, nodes, flights) {
  const self = nodes.nodes.find((one) => one.self);
  answering = [self && self.name, flights.node, ...answering].slice(0, 2 * ANSWERING_LOOKS);
  const names = [...new Set(answering)].filter(Boolean).sort();
  const who = self ? `gateway ${self.name} at ` : '';
  setText(byId('about'), names.length > 1
    ? `gateways in turn at ${location.host} (${names.join(', ')}): open one by its own address for figures of one`
    : `${who}${location.host}, version ${service.version}, up ${duration(service.uptime)}`);
}

function showAll(seen) {
  lastGood = new Date();
  showMode('figures');
  showHealth(seen);
  showSaved(seen.stats.today, seen.books);
  showRates(seen.stats);
  showQueue(seen.stats.now);
  showLines();
  showFlights(seen.flights);
  followFlight();
  showLetters(seen.letters, seen.stats.now);
  showPools(seen.pools.pools);
  showBudgets(seen.stats, seen.books);
  showNodes(seen.nodes, seen.books);
  showShadow(seen.stats);
  showDays(seen.stats);
  showAbout(seen.stats, seen.nodes, seen.flights);
  setText(byId('updated'), clock(lastGood));
}

/** With figures, without them, or asking for a key. */
function showMode(mode) {
  setHidden(byId('key-form'), mode !== 'key');
  setHidden(byId('figures'), mode === 'key' || (mode === 'lost' && !lastGood));
  setHidden(byId('forget'), !api.key);
  if (mode === 'key') setHidden(byId('shadow'), true);
  document.body.classList.toggle('stale', mode === 'lost');
}

function showTrouble(error) {
  if (error.asksForKey) {
    askForKey(error);
    return;
  }
  const since = lastGood ? `; these figures are from ${clock(lastGood)}` : '';
  const isAnswer = error instanceof ApiError;
  showVerdict('bad', isAnswer ? `${error.message}${since}` : `Connection lost: no answer from ${location.host}${since}. Trying on.`);
  showMode('lost');
}

function askForKey(error) {
  showVerdict('plain', 'Locked');
  setText(byId('key-said'), api.key ? error.message : '');
  api.key = '';
  lastGood = null;
  isLocked = true;
  showMode('key');
  byId('key').focus();
}

async function look() {
  clearTimeout(timer);
  if (isLooking || isLocked || document.hidden) return;
  isLooking = true;
  isWanted = false;
  try {
    const [seen, error] = await fetchAll().then((all) => [all, null], (problem) => [null, problem]);
    if (error) showTrouble(error);
    else showAll(seen);
  } finally { // a mistake in showing must not stop the looking
    isLooking = false;
    timer = setTimeout(look, isWanted ? 0 : INTERVAL_MS);
  }
}

/** After an order: at once, or right after the look that is under way. */
function lookSoon() {
  isWanted = true;
  look();
}

function takeKey(event) {
  event.preventDefault();
  const given = byId('key').value.trim();
  byId('key').value = '';
  if (!/^[\x21-\x7e]+$/.test(given)) {
    setText(byId('key-said'), 'A key has visible ASCII characters only.');
    return;
  }
  api.key = given;
  isLocked = false;
  look();
}

byId('key-form').addEventListener('submit', takeKey);
byId('forget').addEventListener('click', () => location.reload()); // forgets the figures, too
document.addEventListener('visibilitychange', look);
wireLetters();
wireLines();
wireFlight();
look();
