'use strict';
// What can be seen of a page: screens, contrast, pixels and pictures of it.

const fs = require('node:fs');
const path = require('node:path');
const { assert } = require('./world');

const folder = process.env.SCREENSHOTS;

const WIDE = { viewport: { width: 1280, height: 900 } };
const PHONE = { viewport: { width: 390, height: 844 }, deviceScaleFactor: 2, isMobile: true, hasTouch: true };

/** Runs in the page: texts whose contrast with what is behind them is below 4.5:1 (3:1 for large ones). */
function pale() {
  const rgb = (text) => text.match(/[\d.]+/g).map(Number);
  const luminance = (colour) => colour.slice(0, 3).map((part) => part / 255)
    .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4))
    .reduce((sum, part, index) => sum + part * [0.2126, 0.7152, 0.0722][index], 0);
  const ground = (node) => {
    const colour = rgb(getComputedStyle(node).backgroundColor);
    return colour[3] === 0 && node.parentElement ? ground(node.parentElement) : colour;
  };
  const found = [];
  for (const node of document.querySelectorAll('body *')) {
    const hasText = [...node.childNodes].some((child) => child.nodeType === 3 && child.textContent.trim());
    if (!hasText || !node.checkVisibility() || node.disabled || ['SCRIPT', 'STYLE'].includes(node.tagName)) continue;
    const style = getComputedStyle(node);
    const colour = node.namespaceURI.endsWith('svg') ? style.fill : style.color;
    const [high, low] = [luminance(rgb(colour)), luminance(ground(node))].sort((a, b) => b - a);
    const wanted = parseFloat(style.fontSize) >= 24 ? 3 : 4.5;
    const ratio = (high + 0.05) / (low + 0.05);
    if (ratio < wanted) found.push(`${node.tagName}.${node.className} "${node.textContent.slice(0, 30)}" ${ratio.toFixed(2)}`);
  }
  return found;
}

/** No text is too pale, and the page is not wider than the screen. */
async function isReadable(page) {
  assert.deepEqual(await page.evaluate(pale), [], 'too pale');
  const [inner, scroll] = await page.evaluate(() => [innerWidth, document.documentElement.scrollWidth]);
  assert.ok(scroll <= inner, `${scroll} pixels on a screen of ${inner}`);
}

async function shoot(page, name, fullPage = true) {
  if (!folder) return;
  fs.mkdirSync(folder, { recursive: true });
  await page.screenshot({ path: path.join(folder, `${name}.png`), fullPage });
}

/** Runs in the page: how many pixels of a picture are near a colour. */
async function near([source, wanted]) {
  const image = new Image();
  image.src = source;
  await image.decode();
  const canvas = new OffscreenCanvas(image.width, image.height);
  const context = canvas.getContext('2d');
  context.drawImage(image, 0, 0);
  const { data } = context.getImageData(0, 0, image.width, image.height);
  let found = 0;
  for (let at = 0; at < data.length; at += 4) {
    if (wanted.every((part, index) => Math.abs(part - data[at + index]) < 12)) found += 1;
  }
  return [found, image.width * image.height];
}

/** How many pixels of the picture of this element have the colour that this property of the other one says, and how many there are.
 * `where` is a page that may load pictures. */
async function pixels(element, painted, property, where) {
  const source = `data:image/png;base64,${(await element.screenshot()).toString('base64')}`;
  const colour = await painted.evaluate((node, name) => getComputedStyle(node)[name].match(/\d+/g).map(Number), property);
  return where.evaluate(near, [source, colour]);
}

module.exports = { WIDE, PHONE, pale, isReadable, shoot, pixels };
