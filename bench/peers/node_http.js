// What the Node peers share: a small HTTP server around one function, and the vendor's two calls.
'use strict';
const http = require('http');

const VENDOR = process.env.VENDOR_URL;
const API_KEY = process.env.VENDOR_KEY;

// POST /v1/solves goes to solve(params); anything else to other(url), which returns a text or undefined.
function serve(port, solve, other) {
  const server = http.createServer((request, reply) => {
    if (request.method !== 'POST') {
      const text = other(request.url);
      send(reply, text === undefined ? 404 : 200, 'text/plain', text ?? 'no');
      return;
    }
    const pieces = [];
    request.on('data', (piece) => pieces.push(piece));
    request.on('end', () => {
      const { method, sitekey, pageurl } = JSON.parse(Buffer.concat(pieces).toString());
      solve({ method, sitekey, pageurl })
        .then((solution) => send(reply, 200, 'application/json', JSON.stringify({ solution })))
        .catch((error) => send(reply, 502, 'application/json', JSON.stringify({ error: error.message })));
    });
  });
  // Connections stay open between requests, as with everybody else, and solves may take their time.
  server.keepAliveTimeout = 300000;
  server.requestTimeout = 0;
  server.listen(port, '127.0.0.1', 4096);
}

function send(reply, status, type, text) {
  reply.writeHead(status, { 'Content-Type': type, 'Content-Length': Buffer.byteLength(text) });
  reply.end(text);
}

// fetch keeps its connections by itself.
async function submit(params, more = {}) {
  const body = new URLSearchParams({ key: API_KEY, json: '1', ...params, ...more });
  const reply = await (await fetch(`${VENDOR}/in.php`, { method: 'POST', body })).json();
  if (reply.status !== 1) throw new Error(`Submit: ${reply.request}`);
  return reply.request;
}

async function poll(taskId) {
  return (await fetch(`${VENDOR}/res.php?key=${API_KEY}&action=get&id=${taskId}&json=1`)).json();
}

module.exports = { serve, submit, poll };
