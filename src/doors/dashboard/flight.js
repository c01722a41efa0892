'use strict';
// One flight, opened: what happened to it so far as a line of bars and in words, kept up to date while it is open.

const NEXT_WORDS = {
  poll: 'next poll', retry: 'next attempt', give_up_reply: 'the submit counts as lost', ask_store: 'next question to the store',
};

let openFlight = ''; // its key

/** The parts of a flight's time: [from, to, class, words], in milliseconds since 1970. */
function flightParts(flight, end) {
  const parts = [];
  let last = Date.parse(flight.created);
  for (const attempt of flight.attempts) {
    const from = Date.parse(attempt.started);
    const to = attempt.error ? from + attempt.took * 1000 : end;
    if (from > last) parts.push([last, from, 'waits', 'waited']);
    const accepted = attempt.accepted ? Date.parse(attempt.accepted) : 0;
    if (accepted > from) parts.push([from, accepted, 'sent', 'submitted']);
    parts.push([Math.max(from, accepted), to, attempt.error ? 'failed' : 'works', attempt.error || attempt.state]);
    last = to;
  }
  if (end > last) parts.push([last, end, 'waits', flight.state.replace('_', ' ')]);
  return parts;
}

/** What happened when, in words; times are seconds since it was asked for. */
function flightWords(flight) {
  const start = Date.parse(flight.created);
  const after = (time) => `+${Math.max(0, (Date.parse(time) - start) / 1000).toFixed(1)} s`;
  const words = [[clock(new Date(start)), `asked for; ${plural(flight.request_count, 'request')} wait${flight.request_count === 1 ? 's' : ''}`]];
  flight.attempts.forEach((attempt, index) => {
    words.push([after(attempt.started), `attempt ${index + 1} sent`]);
    if (attempt.accepted) words.push([after(attempt.accepted), `accepted as task ${attempt.upstream_id}`]);
    if (attempt.polled) words.push([after(attempt.polled), 'asked for the result']);
    words.push(['', attempt.error ? `${attempt.state} after ${duration(attempt.took)}: ${attempt.error}` : `${attempt.state} for ${duration(attempt.took)}`]);
  });
  if (flight.queued_since) words.push([after(flight.queued_since), 'queued until a slot is free']);
  if (flight.next) words.push(['next', `${NEXT_WORDS[flight.next] || flight.next} in ${duration(flight.next_in)}`]);
  return words;
}

/** Long codes are broken after an underscore where the screen is narrow; a copy of them has nothing added. */
function makeWords(words) {
  const node = make('dd');
  words.split(/(?<=_)/).forEach((part, index) => node.append(...(index ? [make('wbr')] : []), part));
  return node;
}

function drawFlight(flight) {
  const end = Date.parse(flight.created) + flight.age * 1000;
  const start = Date.parse(flight.created);
  const xOf = (time) => (100 * (time - start)) / Math.max(1, end - start);
  const bar = makeSvg('svg', { class: 'course', viewBox: '0 0 100 10', preserveAspectRatio: 'none', role: 'img',
    'aria-label': 'Its time so far; the list below has it in words' });
  for (const [from, to, className] of flightParts(flight, end)) {
    bar.append(makeSvg('rect', { class: className, x: xOf(from).toFixed(2), width: Math.max(0.6, xOf(to) - xOf(from)).toFixed(2), height: 10 }));
  }
  return bar;
}

function flightPart(flight) {
  const part = make('section');
  part.append(make('p', '', `${flight.state.replace('_', ' ')} for ${duration(flight.age)}, ${duration(flight.deadline_in)} left`), drawFlight(flight));
  const list = make('dl');
  for (const [time, words] of flightWords(flight)) list.append(make('dt', 'number', time), makeWords(words));
  part.append(list);
  const ids = flight.requests.map((one) => one.id).join(', ');
  if (ids) part.append(make('p', 'quiet', `Requests: ${ids}${flight.request_count > flight.requests.length ? ', …' : ''}`));
  return part;
}

function restWords(seen) {
  const words = [];
  const more = (seen.flight_count || 0) - seen.flights.length;
  if (more > 0) words.push(`And ${plural(more, 'younger flight')} with this key.`);
  if (seen.strays.length) words.push('Nobody waits, but the vendor may still solve what is paid for.');
  if (seen.solution) words.push(`Solved at ${clock(new Date(seen.solution.born))}; in memory for another ${duration(seen.solution.expires_in)}.`);
  if (seen.letter) words.push(`Given up at ${clock(new Date(seen.letter.created))}: ${seen.letter.error} (dead letter ${seen.letter.id}).`);
  return words;
}

async function fillFlight() {
  const key = openFlight;
  const [seen, error] = await api.get(`/v1/flights/${key}`).then((found) => [found, null], (problem) => [null, problem]);
  if (openFlight !== key) return;
  say(byId('flight-said'), error ? 'bad' : '', error ? error.message : '');
  if (seen && seen.node) setText(byId('flight-title'), `Flight ${key.slice(0, 12)} at ${seen.node}`);
  if (seen) byId('flight-body').replaceChildren(...seen.flights.map(flightPart), ...restWords(seen).map((text) => make('p', '', text)));
}

// ---- the list ----------------------------------------------------------------------------------

function makeFlightRow(columns) {
  const row = makeCells(columns);
  const button = make('button', '', 'Open');
  button.type = 'button';
  row.lastChild.append(button);
  return row;
}

function nameFlightRow(row, flight) {
  row.dataset.key = flight.key;
  row.querySelector('button').setAttribute('aria-label', `Open flight ${flight.key.slice(0, 12)}`);
}

/** Called with each look, so that what is open goes on. */
function followFlight() {
  if (openFlight) fillFlight();
}

function showFlight(key) {
  openFlight = key;
  setText(byId('flight-title'), `Flight ${key.slice(0, 12)}`);
  byId('flight-body').replaceChildren();
  say(byId('flight-said'), '', '');
  byId('flight').showModal();
  fillFlight();
}

function wireFlight() {
  byId('flights').addEventListener('click', (event) => {
    const button = event.target.closest('button');
    if (button) showFlight(button.closest('tr').dataset.key);
  });
  byId('flight-close').addEventListener('click', () => byId('flight').close());
  byId('flight').addEventListener('close', () => { openFlight = ''; });
}
