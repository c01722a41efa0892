// The second seed as a service: a Map from target to the promise of its solve, polled every 5 s.
// As the seed has it, but that the Map's key is the text itself: the seed's 32-bit hash of it would hand out other
// people's solutions among some ten thousand targets.
'use strict';
const { serve, submit, poll } = require('./node_http.js');

const POLL_MS = Number(process.env.POLL_S || 5) * 1000;
const TTL_MS = Number(process.env.CACHE_S || 300) * 1000;

const tasks = new Map(); // key -> { promise, result }

async function submitAndPoll(params) {
  const taskId = await submit(params);
  for (let i = 0; i < 60; i++) {
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    const reply = await poll(taskId);
    if (reply.request === 'CAPCHA_NOT_READY') continue;
    if (reply.status === 1) return reply.request;
    throw new Error(`Solve: ${reply.request}`);
  }
  throw new Error('Timeout');
}

async function solve(params) {
  const key = JSON.stringify(params);
  const record = tasks.get(key);
  if (record) return record.result ?? record.promise;
  const promise = submitAndPoll(params).then((result) => {
    tasks.set(key, { result, promise: null });
    setTimeout(() => tasks.delete(key), TTL_MS).unref();
    return result;
  }, (error) => {
    tasks.delete(key);
    throw error;
  });
  tasks.set(key, { result: null, promise });
  return promise;
}

serve(Number(process.argv[2]), solve, () => undefined);
