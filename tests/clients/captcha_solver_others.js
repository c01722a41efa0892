'use strict';
// Everything else that @2captcha/captcha-solver offers: the gateway need not know a captcha to pass it on.

const { Solver } = require('@2captcha/captcha-solver');
const { solver, TESTED } = require('./captcha_solver');
const { assert, test, picture, PAGE } = require('./world');

const image = () => picture().toString('base64');
const page = { pageurl: PAGE };
const site = { pageurl: PAGE, sitekey: 'others' };
const agent = { userAgent: 'U 1' };
const proxy = { proxy: 'u:p@192.0.2.1:3128', proxytype: 'HTTP' };

const OTHERS = {
  geetestV4: { ...page, captcha_id: 'c' },
  yandexSmart: site,
  funCaptcha: { ...page, publickey: 'p', 'data[blob]': 'a b&c' },
  lemin: { ...page, div_id: 'd', captcha_id: 'c' },
  amazonWaf: { ...site, iv: 'i', context: 'c' },
  coordinates: { body: image() },
  capyPuzzle: { ...page, captchakey: 'c' },
  dataDome: { ...page, captcha_url: 'https://c.example/?a=b&c=d', ...agent, ...proxy },
  cyberSiARA: { ...page, master_url_id: 'm', ...agent },
  mtCaptcha: site,
  cutCaptcha: { ...page, miseryKey: 'm', apiKey: 'a' },
  friendlyCaptcha: site,
  boundingBox: { image: image(), textinstructions: 'Where?' },
  grid: { body: image(), textinstructions: 'Which?', rows: 3, cols: 3 },
  text: { textcaptcha: 'If tomorrow is Saturday, what day is today?' },
  canvas: { body: image(), textinstructions: 'Around it' },
  rotate: { body: image(), angle: 40 },
  keyCaptcha: { ...page, userId: 'u', sessionId: 's', webServerSign: 'w', webServerSign2: 'x' },
  tencent: { ...page, appId: 'a' },
  atbCaptcha: { ...page, appId: 'a', apiServer: 'https://s.example' },
  prosopo: site,
  captchaFox: { ...site, ...agent, ...proxy },
  vkimage: { body: image(), steps: '[5,3]' },
  vkcaptcha: { redirect_uri: 'https://r.example/?a=b', ...agent, ...proxy },
  temu: { body: image(), part1: image(), part2: image(), part3: image() },
  altcha: { ...page, challengeUrl: 'https://c.example/' },
  binance: { ...site, validateId: 'v', ...agent },
  audio: { body: image(), lang: 'en' },
  yidun: site,
  alibaba: { ...page, sceneId: 's', prefix: 'p' },
  tspd: { ...page, tspdCookie: 'a=b', htmlPageBase64: image(), ...proxy },
  basilisk: site,
  hunt: { ...page, apiGetLib: 'https://l.example/l.js' },
  dragAndDrop: { body: image(), images: [image(), image()] },
};

// The ledger shows no images, and of the names the package changes some.
const isShown = (value) => typeof value === 'string' && value.length < 500;

// The ledger shows an answer that is an object or array as its JSON.
const asText = (data) => (typeof data === 'object' ? JSON.stringify(data) : data);

for (const [operation, params] of Object.entries(OTHERS)) {
  test(`captcha-solver gets ${operation} solved`, { paid: 1, values: Object.values(params).filter(isShown) },
    async () => asText((await solver[operation](params)).data));
}

test('captcha-solver gets the three parts of a GeeTest answer', { paid: 1, upstream: { gt: 'g', challenge: 'c' } }, async () => {
  const { challenge, validate, seccode } = await solver.geetest({ ...page, gt: 'g', challenge: 'c' });
  return JSON.stringify({ challenge, validate, seccode });
});

test('captcha-solver offers nothing that is not tested here', { paid: 0 }, async () => {
  const offered = Object.entries(Object.getOwnPropertyDescriptors(Solver.prototype))
    .filter(([name, { value }]) => name !== 'constructor' && typeof value === 'function').map(([name]) => name);
  assert.deepEqual(offered.filter((name) => !TESTED.has(name) && !(name in OTHERS)), ['geetest']);
});
