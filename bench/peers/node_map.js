// What one would write in an afternoon: Node's http module and a Map from id to answer.
'use strict';
const http = require('http');

const [port, key, id, answer] = process.argv.slice(2);
const solved = new Map([[id, answer]]);

const server = http.createServer((request, reply) => {
  const query = new URLSearchParams(request.url.slice(request.url.indexOf('?') + 1));
  const text = query.get('key') === key ? solved.get(query.get('id')) : undefined;
  const body = text === undefined ? 'ERROR_WRONG_CAPTCHA_ID' : 'OK|' + text;
  reply.writeHead(200, {'Content-Type': 'text/plain', 'Content-Length': Buffer.byteLength(body)});
  reply.end(body);
});
server.keepAliveTimeout = 300000;
server.listen(Number(port), '127.0.0.1', 4096);
