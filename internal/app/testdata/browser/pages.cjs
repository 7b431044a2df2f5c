// Walks through the catalog's pages as a developer does, and prints what it saw
// as JSON. What a browser complains of on the way is in `troubles`.
const { chromium } = require('playwright-core');
const { mkdtempSync, mkdirSync, rmSync } = require('node:fs');
const { tmpdir } = require('node:os');
const { join } = require('node:path');

const base = process.env.FAIRLEAD_SERVER;
const shots = process.env.FAIRLEAD_SHOTS;
const quiet = [
  '--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run',
  '--disable-background-networking', '--disable-component-update', '--disable-sync',
];

// The pages, and what is to be read on each before the next is opened.
const pages = [
  ['index', '/', 'Owned Components (12)', 'Checkout', 'Payments'],
  ['component', '/catalog/default/component/checkout', 'Turns a cart into a paid order.', 'Identity API', 'Orders API', 'Cart'],
  ['system', '/catalog/default/system/shop', 'Browsing, cart and checkout.', 'Has components', 'Pricing API'],
  ['api', '/catalog/default/api/checkout-api/definition', 'Checkout API', 'Definition'],
  ['group', '/catalog/default/group/storefront', 'Storefront members (1 of 1)', 'Alice Ahlberg'],
  ['user', '/catalog/default/user/alice', 'alice@shop.test', 'Fulfilment'],
  ['graph', '/catalog-graph?rootEntityRefs%5B%5D=component%3Adefault%2Fcheckout', 'dependsOn / dependencyOf'],
  ['import', '/catalog-import', 'Select URL'],
  ['missing', '/catalog/default/component/none', 'Entity not found'],
];

async function walk(page, seen) {
  for (const [name, path, ...texts] of pages) {
    const began = Date.now();
    await page.goto(base + path);
    for (const text of texts) await page.getByText(text).first().waitFor();
    seen.pages[name] = Date.now() - began;
    if (shots) await page.screenshot({ path: join(shots, name + '.png') });
  }
  await page.goto(base + '/');
  await page.getByText('Checkout', { exact: true }).first().waitFor();
  await page.getByPlaceholder('Search').first().fill('fraud');
  await page.getByText('Checkout', { exact: true }).first().waitFor({ state: 'detached' });
  await page.getByText('Fraud check', { exact: true }).first().waitFor();
}

(async () => {
  const profile = mkdtempSync(join(tmpdir(), 'fairlead-browser-'));
  if (shots) mkdirSync(shots, { recursive: true });
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: '/usr/bin/chromium', args: quiet, viewport: { width: 1400, height: 1000 },
  });
  const seen = { pages: {}, troubles: [] };
  try {
    context.setDefaultTimeout(30_000);
    const page = await context.newPage();
    page.on('console', m => m.type() === 'error' && seen.troubles.push(m.text()));
    page.on('pageerror', e => seen.troubles.push(String(e)));
    page.on('response', r => r.status() >= 400 && seen.troubles.push(`${r.status()} ${r.url().replace(base, '')}`));
    await walk(page, seen);
  } catch (e) {
    seen.failed = String(e);
  } finally {
    await context.close();
    rmSync(profile, { recursive: true, force: true });
  }
  console.log(JSON.stringify(seen));
})();
