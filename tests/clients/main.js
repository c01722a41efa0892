'use strict';
// usage: node main.js FIRST [--only TEXT]   Runs every case and prints TAP, numbered from FIRST.

const { run } = require('./world');

require('./rucaptcha');
require('./captcha_solver');
require('./captcha_solver_others');
require('./node_two_captcha');
require('./capmonster');
require('./capsolver');
require('./anticaptcha');
require('./together');

const only = process.argv.indexOf('--only');
run(Number(process.argv[2]), only < 0 ? '' : process.argv[only + 1]).then(() => process.exit(0));
