'use strict';
// usage: node main.js FIRST [--only TEXT]   Runs every case and prints TAP, numbered from FIRST.

const { run } = require('./world');

require('./figures');
require('./shadow');
require('./letters');
require('./guard');
require('./looks');
require('./lines');
require('./flight');
require('./report');

const only = process.argv.indexOf('--only');
run(Number(process.argv[2]), only < 0 ? '' : process.argv[only + 1]).then(() => process.exit(0), (error) => {
  process.stdout.write(`# ${String(error.stack).replaceAll('\n', '\n# ')}\n`);
  process.exit(1);
});
