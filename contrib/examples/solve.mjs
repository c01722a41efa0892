#!/usr/bin/env node
// usage: solve.mjs ORDER SITEKEY PAGEURL   Prints a Turnstile token.
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';

const URL = process.env.SOLVEGATE_URL ?? 'http://127.0.0.1:8430';
const KEY = process.env.SOLVEGATE_KEY ?? 'none';
const PATIENCE_MS = 1000 * (process.env.SOLVEGATE_PATIENCE ?? 300);

/** The request or the key is wrong; asking again does not help. */
export class Refused extends Error { exitCode = 65; }
/** The vendor could not solve it, also not when the gateway tried again. */
export class Failed extends Error { exitCode = 1; }
/** There was no end in time; asking again later finds the same solve. */
export class NotInTime extends Error { exitCode = 75; }

/** One call that waits for the end. */
async function ask(order, task) {
  const headers = { 'Content-Type': 'application/json', 'Idempotency-Key': order, Authorization: `Bearer ${KEY}` };
  const body = JSON.stringify({ ...task, wait: 50 });
  try {
    const reply = await fetch(`${URL}/v1/solves`, { method: 'POST', headers, body, signal: AbortSignal.timeout(60000) });
    const text = await reply.text();
    return { status: reply.status, text, pauseMs: 1000 * (reply.headers.get('Retry-After') ?? 1) };
  } catch (problem) {
    return { status: 0, text: String(problem.cause ?? problem), pauseMs: 1000 };
  }
}

/** Asks until there is an end. The same order finds the solve that the first call started: it is paid for once. */
export async function solve(order, task) {
  const end = Date.now() + PATIENCE_MS;
  for (;;) {
    const { status, text, pauseMs } = await ask(order, task);
    if (status === 200) return JSON.parse(text).solution;
    if (![0, 202, 429, 503].includes(status)) { // connection lost, still solving, come again later
      throw status >= 500 ? new Failed(text) : new Refused(text);
    }
    if (Date.now() + pauseMs > end) throw new NotInTime(text);
    await sleep(pauseMs);
  }
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  const [order, sitekey, pageurl] = process.argv.slice(2);
  try {
    console.log(await solve(order, { method: 'turnstile', sitekey, pageurl }));
  } catch (problem) {
    console.error(`${problem.constructor.name}: ${problem.message}`);
    process.exitCode = problem.exitCode ?? 70;
  }
}
