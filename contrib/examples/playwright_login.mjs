#!/usr/bin/env node
// usage: playwright_login.mjs ORDER PAGEURL   Sends the form of your own site under test, with a token, and prints what it says.
import { chromium } from 'playwright';
import { solve } from './solve.mjs';

const [order, address] = process.argv.slice(2);
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM }); // Playwright's own browser if not set
try {
  const page = await browser.newPage();
  await page.goto(address);
  const sitekey = await page.locator('[data-sitekey]').getAttribute('data-sitekey');
  const token = await solve(order, { method: 'turnstile', sitekey, pageurl: page.url() });
  await page.locator('[name=cf-turnstile-response]').evaluate((input, value) => { input.value = value; }, token);
  const said = page.waitForResponse((reply) => reply.request().method() === 'POST');
  await page.locator('[type=submit]').click();
  console.log(await (await said).text());
} catch (problem) {
  console.error(`${problem.constructor.name}: ${problem.message}`);
  process.exitCode = problem.exitCode ?? 70;
} finally {
  await browser.close();
}
