// Walks through the catalog's pages as a developer does.
const { walk } = require('./lib.cjs');

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

walk(async ({ page, open, tolerate }) => {
  tolerate(/\/by-name\/component\/default\/none/);
  for (const p of pages) await open(...p);
  await open('searched', '/', 'Checkout');
  await page.getByPlaceholder('Search').first().fill('fraud');
  await page.getByText('Checkout', { exact: true }).first().waitFor({ state: 'detached' });
  await page.getByText('Fraud check', { exact: true }).first().waitFor();
});
