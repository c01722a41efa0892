'use strict';
// Calls to the gateway this page came from. The key lives in one variable here: never in storage, cookies or addresses.

/** The gateway answered, but not with success; the message is what it said. */
class ApiError extends Error {
  constructor(status, problem) {
    const code = problem.code ? ` (${problem.code})` : '';
    super(problem.detail ? `${problem.detail}${code}` : `the gateway answered HTTP ${status}${code}`);
    this.status = status;
    this.code = problem.code || '';
  }

  /** Another key may help. */
  get asksForKey() {
    return this.status === 401 || (this.status === 403 && this.code === 'forbidden');
  }
}

const api = {
  patienceMs: 8000,
  key: '',

  async send(method, path, body, more) {
    const headers = { ...more };
    if (api.key) headers.Authorization = `Bearer ${api.key}`;
    if (body) headers['Content-Type'] = 'application/json';
    return fetch(path, {
      method, headers, body: body && JSON.stringify(body), signal: AbortSignal.timeout(api.patienceMs),
      cache: 'no-store', credentials: 'omit', redirect: 'error', referrerPolicy: 'no-referrer',
    });
  },

  async call(method, path, body) {
    const reply = await api.send(method, path, body);
    if (reply.ok) return reply.json();
    throw new ApiError(reply.status, await reply.json().catch(() => ({})));
  },

  get: (path) => api.call('GET', path),

  /** "ready", "draining" or "degraded: why"; all are answers. */
  async readiness() {
    const reply = await api.send('GET', '/readyz');
    return (await reply.text()).trim();
  },

  /** A list's first pages, up to so many entries. */
  async pages(path, name, most) {
    const entries = [];
    let page;
    let after = '';
    do {
      page = await api.get(`${path}?limit=100${after && `&after=${after}`}`);
      entries.push(...page[name]);
      after = page.next;
    } while (after && entries.length < most);
    return { entries, total: page.total, node: page.node };
  },
};
