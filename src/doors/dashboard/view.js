'use strict';
// Small tools for showing things. Text goes in as text only: names and error codes come from strangers.

const byId = (id) => document.getElementById(id);

/** Writes only what has changed, so that nothing flickers and screen readers stay quiet. */
function setText(node, text) {
  const words = String(text);
  if (node.textContent !== words) node.textContent = words;
}

function setClass(node, words) {
  if (node.className !== words) node.className = words;
}

function setHidden(node, isHidden) {
  if (node.hidden !== isHidden) node.hidden = isHidden;
}

function make(tag, className, text) {
  const node = document.createElement(tag);
  if (className) node.className = className;
  if (text !== undefined) node.textContent = text;
  return node;
}

function makeSvg(tag, attributes) {
  const node = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  return node;
}

/** Rows by name: those that stay keep their node and with it the focus. */
function syncRows(parent, items, nameOf, makeRow, fillRow) {
  const old = new Map([...parent.children].map((row) => [row.dataset.name, row]));
  items.forEach((item, index) => {
    const name = String(nameOf(item, index));
    const row = old.get(name) || makeRow(item);
    old.delete(name);
    row.dataset.name = name;
    fillRow(row, item);
    if (parent.children[index] !== row) parent.insertBefore(row, parent.children[index] || null);
  });
  for (const row of old.values()) row.remove();
}

/** A row of a list; each column is [class, label on a phone]. */
function makeCells(columns) {
  const row = make('tr');
  row.setAttribute('role', 'row');
  for (const [className, label] of columns) {
    const cell = make('td', className);
    cell.setAttribute('role', 'cell');
    if (label) cell.dataset.label = label;
    row.append(cell);
  }
  return row;
}

const fillCells = (row, texts) => texts.forEach((text, index) => setText(row.children[index], text));

/** Terms and their figures, made once and filled ever after. */
function fillPairs(list, pairs) {
  if (list.children.length !== pairs.length * 2) {
    list.replaceChildren(...pairs.flatMap(([term]) => [make('dt', '', term), make('dd')]));
  }
  pairs.forEach(([term, value], index) => {
    setText(list.children[index * 2], term);
    setText(list.children[index * 2 + 1], value);
  });
}

/** A bar of 100 units; the widths are those of its rectangles. */
function fillBar(svg, widths) {
  widths.forEach((width, index) => svg.children[index].setAttribute('width', Math.max(0, Math.min(100, width))));
}

const plainNumber = new Intl.NumberFormat('en');
const count = (number) => plainNumber.format(number || 0);
const money = (amount) => amount.toFixed(amount < 10 ? 4 : 2);
const plural = (number, word) => `${count(number)} ${word}${number === 1 ? '' : 's'}`;
const share = (part, whole) => (whole > 0 ? `${((100 * part) / whole).toFixed(1)} %` : '–');
const clock = (date) => date.toLocaleTimeString('en-GB');

function duration(seconds) {
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  if (seconds < 120) return `${Math.floor(seconds)} s`;
  if (seconds < 7200) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 172800) return `${Math.floor(seconds / 3600)} h`;
  return `${Math.floor(seconds / 86400)} d`;
}

const secondsSince = (time) => Math.max(0, (Date.now() - Date.parse(time)) / 1000);
