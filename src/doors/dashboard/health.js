'use strict';
// What is the matter: each part of the gateway judged good, plain (fine, but worth knowing), warn or bad.

const LEVELS = ['good', 'plain', 'warn', 'bad'];
const RECENT_S = 3600;

const judged = (level, value, note, alarm = '') => ({ level, value, note, alarm });

function judgeVendor(now) {
  const cause = now.breaker_cause || 'no cause given';
  if (now.breaker === 'closed') return judged('good', 'taking work', 'breaker closed');
  if (now.breaker === 'probing') return judged('warn', 'being probed', cause, `breaker is probing after ${cause}`);
  return judged('bad', 'breaker open', cause, `breaker open: ${cause}; nothing is submitted`);
}

function judgeSlots(now, cluster) {
  const value = `${count(now.slots_used)} of ${count(now.slots_limit)}`;
  if (now.slots_cut) {
    const note = `slowed down; the plan has ${count(now.slots_plan)}`;
    return judged('warn', value, note, `slots cut to ${count(now.slots_limit)} of ${count(now.slots_plan)}: the vendor is busy`);
  }
  if (now.queued > 0 && now.slots_used >= now.slots_limit) {
    return judged('warn', value, `${count(now.queued)} queued`, `all slots in use, ${plural(now.queued, 'flight')} queued`);
  }
  if (cluster.enabled && now.slots_limit < now.slots_plan) {
    return judged('good', value, `its share of the plan's ${count(now.slots_plan)}`);
  }
  if (now.slots_limit < now.slots_plan) return judged('good', value, 'the plan is not known, so it feels its way up');
  return judged('good', value, now.queued ? `${count(now.queued)} queued` : 'nothing queued');
}

function judgeWritable(service) {
  if (service.store_async) return judged('warn', service.store_kind, `${service.store_server}; may lose what it acknowledged`);
  if (service.store_kind === 'SQLite') return judged('good', 'on disk', `${service.store_server}; a crash loses nothing paid`);
  return judged('good', service.store_kind, `${service.store_server}; a crash loses nothing paid`);
}

function judgeStore(service, cluster) {
  switch (service.store) {
    case 'writable': return judgeWritable(service);
    case 'memory': return judged('plain', 'memory only', 'a crash loses what is in flight');
    case 'full': return judged('bad', 'disk full', 'new requests are refused', 'disk full: new requests are refused');
    case 'away': return judged('bad', 'away', `${service.store_kind} cannot be reached`,
      `degraded: the store cannot be reached, new requests ${cluster.enabled ? 'wait' : 'are refused'}`);
    default: return judged('bad', service.store, 'nothing can be written', `journal ${service.store}`);
  }
}

/** Null without a cluster: then there is no tile. */
function judgeCluster(cluster) {
  if (!cluster.enabled) return null;
  const of = (state) => cluster.nodes.filter((one) => one.state === state);
  const value = plural(of('alive').length, 'gateway');
  if (!cluster.joined) return judged('warn', 'joining', 'the store has not confirmed yet', 'joining the cluster: nothing is submitted yet');
  if (!cluster.leased) return judged('bad', 'lease lost', 'nothing is submitted', 'degraded: the lease is lost, nothing is submitted');
  const dead = of('dead').map((one) => one.name).join(', ');
  if (dead) return judged('warn', value, `dead: ${dead}`, `dead in the cluster: ${dead}`);
  const others = cluster.nodes.filter((one) => one.config_differs.length);
  if (others.length) {
    const what = others.map((one) => `${one.name} (${one.config_differs.join(', ')})`).join(', ');
    return judged('warn', value, `another configuration: ${what}`, `another configuration in the cluster: ${what}`);
  }
  const last = cluster.last_adoption;
  const adopted = last ? `; went on for ${last.name} ${duration(secondsSince(last.at))} ago` : '';
  return judged('good', value, `lease ${duration(cluster.lease)}${adopted}`);
}

function judgeCallbacks(service, now, today) {
  if (!service.callbacks) return judged('plain', 'off', 'results are polled for');
  const note = `${count(today.callbacks_ok)} brought, ${count(today.callbacks_forged)} forged today`;
  if (!now.callbacks_healthy) return judged('warn', 'too few arrive', note, 'too few callbacks arrive, so results are polled for');
  return judged('good', today.callbacks_ok ? 'arriving' : 'on', note);
}

function judgeLetters(now, newest) {
  if (!now.letters) return judged('good', 'none', '');
  const ago = newest ? secondsSince(newest.created) : Infinity;
  const note = newest ? `last ${duration(ago)} ago: ${newest.error}` : '';
  if (ago > RECENT_S) return judged('plain', count(now.letters), note);
  return judged('warn', count(now.letters), note, `${plural(now.letters, 'dead letter')}, the last at ${clock(new Date(newest.created))}`);
}

function showTile(name, part) {
  const tile = byId(`tile-${name}`);
  setClass(tile, `tile ${part.level}`);
  setText(tile.querySelector('.value'), part.value);
  setText(tile.querySelector('.note'), part.note);
}

function showVerdict(level, text) {
  setClass(byId('verdict'), `verdict ${level}`);
  setText(byId('verdict'), text);
  const mark = { good: '✓', plain: '…', warn: '!', bad: '✗' }[level];
  const title = `${mark} solvegate`;
  if (document.title !== title) document.title = title;
}

/** The worst comes first; a draining gateway is leaving, whatever else is the matter. */
function showHealth({ stats, readiness, newest, nodes }) {
  const parts = {
    vendor: judgeVendor(stats.now),
    slots: judgeSlots(stats.now, nodes),
    store: judgeStore(stats.service, nodes),
    callbacks: judgeCallbacks(stats.service, stats.now, stats.today),
    letters: judgeLetters(stats.now, newest),
  };
  const cluster = judgeCluster(nodes);
  setHidden(byId('tile-cluster'), !cluster);
  if (cluster) parts.cluster = cluster;
  for (const [name, part] of Object.entries(parts)) showTile(name, part);
  const alarms = Object.values(parts).filter((part) => part.alarm);
  if (readiness === 'draining') alarms.push(judged('warn', '', '', `${readiness}: no new requests are taken`));
  alarms.sort((a, b) => LEVELS.indexOf(b.level) - LEVELS.indexOf(a.level));
  const text = alarms.map((part) => part.alarm).join(' · ');
  if (alarms.length) showVerdict(alarms[0].level, text[0].toUpperCase() + text.slice(1));
  else showVerdict('good', 'All is well');
}
