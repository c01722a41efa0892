'use strict';
// Dead letters: listed, shown, replayed, dropped. Orders are followed by a look, so that their effect is seen at once.

const LETTER_CELLS = [['number', ''], ['when', ''], ['error', ''], ['', ''], ['', ''], ['number', 'attempts'], ['do', '']];

let lettersAfter = ''; // cursor of the page that is shown; none for the newest
let lettersNext = '';
let shownLetter = '';

const lettersPath = () => `/v1/letters?limit=50${lettersAfter && `&after=${lettersAfter}`}`;

function say(node, level, text) {
  setClass(node, `said ${level}`);
  setText(node, text);
}

/** Gives an order and says how it went, in the gateway's own words. */
async function order(method, path, body, said = byId('said')) {
  try {
    const [[word, number]] = Object.entries(await api.call(method, path, body));
    say(said, 'good', `${number} ${word}`);
    lookSoon();
    return true;
  } catch (error) {
    say(said, 'bad', error.message);
    return false;
  }
}

const replayLetter = (id, said) => order('POST', `/v1/letters/${id}/replay`, {}, said);

async function dropLetter(id) {
  const text = `Letter ${id} will be gone for good; it cannot be replayed any more.`;
  return await confirmed('Drop this letter?', text, 'Drop') && order('DELETE', `/v1/letters/${id}`);
}

async function replayAll(total) {
  const text = `${plural(total, 'letter')} will be solved again, one after the other. Each may cost a submit.`;
  if (await confirmed('Replay all dead letters?', text, 'Replay all')) order('POST', '/v1/letters/replay', { all: true });
}

async function dropAll(total) {
  const text = `${plural(total, 'letter')} will be gone for good; none can be replayed any more.`;
  if (await confirmed('Drop all dead letters?', text, 'Drop all')) order('DELETE', '/v1/letters?all=true');
}

/** Asks before what cannot be undone; Escape and Cancel mean no. */
function confirmed(title, text, verb) {
  const dialog = byId('confirm');
  setText(byId('confirm-title'), title);
  setText(byId('confirm-text'), text);
  setText(byId('confirm-yes'), verb);
  dialog.returnValue = '';
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener('close', () => resolve(dialog.returnValue === 'yes'), { once: true });
  });
}

// ---- the list ---------------------------------------------------------------------------------

function makeLetterRow(letter) {
  const row = makeCells(LETTER_CELLS);
  const button = (verb, label, act) => {
    const node = make('button', '', label);
    node.type = 'button';
    node.setAttribute('aria-label', `${verb} letter ${letter.id}`);
    node.addEventListener('click', act);
    return node;
  };
  row.lastChild.append(button('Show', 'Show', () => openLetter(letter.id)),
    button('Replay', 'Replay', () => replayLetter(letter.id)), button('Drop', 'Drop …', () => dropLetter(letter.id)));
  return row;
}

function fillLetterRow(row, letter) {
  fillCells(row, [letter.id, `${duration(secondsSince(letter.created))} ago`, letter.error || letter.class, letter.type,
    letter.client, letter.attempt_count]);
  row.children[0].title = letter.node ? `at ${letter.node}` : '';
  row.children[1].title = letter.created;
  const replay = row.lastChild.children[1];
  setText(replay, letter.replaying ? 'Replaying' : 'Replay');
  replay.disabled = letter.replaying === true;
}

function showLetters(page, now) {
  lettersNext = page.next || '';
  setText(byId('letters-count'), page.total > page.letters.length ? `${page.letters.length} of ${count(page.total)}` : count(page.total));
  setHidden(byId('letters-none'), page.letters.length > 0);
  setHidden(byId('letters-older'), !lettersNext);
  setHidden(byId('letters-newest'), !lettersAfter);
  // Only its owner knows whether a letter is being replayed: of another gateway's it is null.
  setHidden(byId('replay-stop'), now.letters_to_replay === 0 && page.letters.every((letter) => letter.replaying !== null));
  byId('replay-all').disabled = page.total === 0;
  byId('drop-all').disabled = page.total === 0;
  byId('letters').dataset.total = page.total;
  syncRows(byId('letters'), page.letters, (letter) => letter.id, makeLetterRow, fillLetterRow);
}

function turnPage(after) {
  lettersAfter = after;
  lookSoon();
}

// ---- one letter -------------------------------------------------------------------------------

function listOf(pairs) {
  const list = make('dl');
  fillPairs(list, pairs);
  return list;
}

const attemptText = (one) => `${duration(one.took)}, ${one.error || one.class}${one.upstream_id ? `, task ${one.upstream_id}` : ''}`;

/** Everything the gateway says about it; what the page has no place for is shown under its own name. */
function letterParts(letter) {
  const { params, attempts, ...rest } = letter;
  return [
    listOf(Object.entries(rest).filter(([, value]) => value !== '').map(([name, value]) => [name.replaceAll('_', ' '), value])),
    make('h3', '', 'Parameters'), listOf(Object.entries(params)),
    make('h3', '', 'Attempts'), listOf(attempts.map((one) => [one.at, attemptText(one)])),
  ];
}

async function openLetter(id) {
  try {
    const letter = await api.get(`/v1/letters/${id}`);
    shownLetter = id;
    setText(byId('letter-title'), `Letter ${id}: ${letter.error || letter.class}`);
    say(byId('letter-said'), '', '');
    byId('letter-body').replaceChildren(...letterParts(letter));
    byId('letter').showModal();
  } catch (error) {
    say(byId('said'), 'bad', error.message);
  }
}

function wireLetters() {
  const on = (id, act) => byId(id).addEventListener('click', act);
  const total = () => Number(byId('letters').dataset.total);
  on('replay-all', () => replayAll(total()));
  on('drop-all', () => dropAll(total()));
  on('replay-stop', () => order('DELETE', '/v1/letters/replay'));
  on('letters-older', () => turnPage(lettersNext));
  on('letters-newest', () => turnPage(''));
  on('letter-replay', () => replayLetter(shownLetter, byId('letter-said')));
  on('letter-drop', async () => { if (await dropLetter(shownLetter)) byId('letter').close(); });
  on('letter-close', () => byId('letter').close());
  on('confirm-no', () => byId('confirm').close(''));
  on('confirm-yes', () => byId('confirm').close('yes'));
}
