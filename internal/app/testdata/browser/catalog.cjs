// Uses the catalog's pages as a developer does, and keeps what is to be read on
// each. It is run against Fairlead and against Backstage's own catalog.
const { walk } = require('./lib.cjs');

walk(async ({ page, given, open, see, settled, keep, tolerate, base, out }) => {
  const button = (name, at = page) => at.getByRole('button', { name, exact: true });
  const link = (name, at = page) => at.getByRole('link', { name, exact: true }).first();
  const row = name => page.getByRole('row', { name });
  const gone = locator => locator.first().waitFor({ state: 'detached' });
  // A step of the import folds behind the next; its button goes last.
  const folded = name => gone(page.getByRole('button', { name, exact: true, includeHidden: true }));
  const heading = name => page.getByRole('heading', { name }).first().waitFor();

  // choose picks from one of the two lists at the top of the index.
  const choose = async (now, then) => {
    await button(now).click();
    await page.getByRole('option', { name: then, exact: true }).click();
  };
  // only ticks a value of a filter, and takes it away again after a look.
  const only = async (filter, value, ...looks) => {
    const box = page.getByRole('textbox', { name: filter, exact: true });
    const tick = async () => {
      await box.click();
      await page.getByRole('option', { name: value, exact: true }).click();
      await page.keyboard.press('Escape');
    };
    await tick();
    for (const look of looks) await look();
    await keep('index by ' + filter);
    await tick();
    await page.keyboard.press('Escape');
  };

  async function index() {
    await open('index', '/', 'Owned Components (12)', 'Checkout');
    await keep('index');
    await page.getByRole('menuitem', { name: /^All/ }).click();
    await heading('All Components (38)');
    await keep('index all');
    await button('Next Page').click();
    await link('Web shop').waitFor();
    await gone(link('Cart'));
    await keep('index page 2');
    await button('Previous Page').click();
    await link('Cart').waitFor();
    await button('Lifecycle').first().click(); // what is experimental comes first then
    await page.getByRole('row').nth(1).filter({ hasText: 'library-00' }).waitFor();
    await keep('index sorted');
    await only('Owner', 'Payments', () => heading('All Components (3)'), () => gone(link('Cart')));
    await heading('All Components (38)');
    await only('Lifecycle', 'experimental', () => heading('All Components (25)'));
    await heading('All Components (38)');
    await only('Tags', 'pci', () => heading('All Components (2)'), () => gone(link('Cart')));
    await heading('All Components (38)');
    await choose('all', 'library');
    await heading('All library Components (24)');
    await keep('index of a type');
    await choose('library', 'all');
    await page.getByPlaceholder('Search').fill('fraud');
    await heading('All Components (1)');
    await keep('index searched');
    await button('clear search').click();
    await heading('All Components (38)');
    const kinds = ['Component', 'API', 'Domain', 'Resource', 'System', 'Template', 'User', 'Group'];
    for (let i = 1; i < kinds.length; i++) {
      await choose(kinds[i - 1], kinds[i]);
      await heading(new RegExp(`^All ${kinds[i]}`, 'i'));
      await keep('index of ' + kinds[i]);
    }
  }

  async function star() {
    await open('star', '/', 'Owned Components (12)', 'Checkout');
    await button('Add to favorites', row(/^Checkout/)).click();
    await page.getByRole('menuitem', { name: 'Starred 1' }).click();
    await heading('Starred Components (1)');
    await keep('index starred');
    await link('Checkout').click();
    await button('Remove from favorites').click();
    await button('Add to favorites').waitFor();
  }

  // One goes from page to page by what is on them.
  async function entities() {
    await open('component', '/catalog/default/component/checkout', 'Turns a cart into a paid order.', 'Identity API', 'Has subcomponents');
    await keep('component');
    await link('APIs', page.getByRole('navigation', { name: 'Content navigation' })).click();
    await link('Orders API').waitFor();
    await keep('component apis');
    await link('Checkout API').click();
    await heading('Providers');
    await link('Web shop').waitFor(); // which consumes it
    await keep('api');
    await link('Definition').click();
    await see('/healthz');
    await keep('api definition');
    await page.getByRole('tab', { name: 'Raw' }).click();
    await see('openapi:');
    await keep('api definition raw');
    await link('Shop').click();
    await heading('Has resources');
    await link('checkout-db').waitFor();
    await keep('system');
    await link('checkout-db').click();
    await see('PostgreSQL database of checkout.');
    await keep('resource');
    await link('Shop').click();
    await link('commerce').first().click();
    await see('Selling and delivering.');
    await heading('Has systems');
    await link('Money').waitFor();
    await keep('domain');
    await link('Storefront').first().click();
    await see('Storefront members (1 of 1)');
    await heading('Ownership');
    await keep('group');
    await link('User page for Alice Ahlberg').press('Enter');
    await see('alice@shop.test');
    await keep('user');
    await open('location', '/catalog/default/location/shop', 'Who we are and what our services belong to.', 'Targets');
    await keep('location');
    await open('template', '/catalog/default/template/new-service', 'Begins a service.');
    await keep('template');
    tolerate(/\/by-name\/component\/default\/none/);
    await open('missing', '/catalog/default/component/none', 'Entity not found');
    await keep('missing');
  }

  async function organization() {
    await open('organization', '/catalog/default/group/shop', 'The Shop', 'Ownership');
    await link('Storefront').waitFor();
    await keep('organization');
    await page.getByText('Include indirect ownership').click();
    await heading('SERVICES');
    await keep('organization aggregated');
  }

  async function graph() {
    await open('graph from', '/catalog/default/component/checkout', 'View graph');
    await link('View graph').click();
    await heading('Catalog Graph');
    await see('dependsOn / dependencyOf', 'Identity API');
    await keep('graph');
    await page.getByRole('spinbutton').fill('2');
    await see('Fulfilment');
    await keep('graph of two');
    await button('clear max depth').click();
    await page.getByRole('spinbutton').fill('1');
    await gone(page.getByText('Fulfilment'));
    await page.getByText('Identity API').first().click(); // which is the root then
    await see('apiProvidedBy / providesApi');
    await keep('graph of another');
  }

  async function apis() {
    await open('apis', '/api-docs', 'Fairlead API Explorer', 'Cart API');
    await keep('apis');
    await page.getByRole('textbox', { name: 'Search' }).fill('ledger');
    await gone(link('Cart API'));
    await keep('apis searched');
    await link('Ledger API').click();
    await see('The HTTP interface of ledger.');
  }

  async function inspector() {
    await open('inspector from', '/catalog/default/component/checkout', 'Identity API');
    await button('More actions').click();
    await page.getByRole('menuitem', { name: 'Inspect entity' }).click();
    const dialog = page.getByRole('dialog', { name: 'Entity Inspector' });
    await dialog.getByText('Identity').first().waitFor();
    await keep('inspector', dialog);
    const looks = { Ancestry: 'This is the ancestry', Colocated: 'checkout-db', 'Raw JSON': '"apiVersion"', 'Raw YAML': 'apiVersion:' };
    for (const [tab, text] of Object.entries(looks)) {
      await dialog.getByRole('tab', { name: tab }).click();
      await dialog.getByText(text).first().waitFor();
      await keep('inspector ' + tab, dialog);
    }
    await button('Close', dialog).click();
    await gone(dialog);
  }

  async function errors() {
    await open('errors', '/catalog/default/component/recommendations', 'Suggests what else a customer may like.');
    const panel = page.getByRole('alert').first();
    await panel.getByRole('button').first().click();
    await panel.getByText('Message', { exact: true }).waitFor();
    out.said = await panel.innerText();
    await keep('errors');
  }

  async function refresh() {
    await open('refresh', '/catalog/default/component/cart', 'Keeps what a customer means to buy.');
    await button('Refresh').click();
    await see('Refresh scheduled');
    for (let tries = 0; !(await page.getByText('Keeps what somebody means to buy.').first().isVisible()); tries++) {
      if (tries === 30) throw new Error('what was changed is not shown');
      await page.reload();
      await button('Refresh').waitFor();
      await settled();
    }
  }

  // Registers a file to the end, and takes it back.
  async function register() {
    await open('register', '/', 'Checkout');
    await link('Register Existing Component').click();
    await heading('Start tracking your component in Fairlead');
    await page.getByRole('textbox', { name: 'URL' }).fill(given.parcel);
    await button('Analyze').click();
    await see('parcel');
    await folded('Analyze');
    await keep('register reviewed');
    await button('Import').click();
    await button('Register another').waitFor();
    await folded('Import');
    await keep('register done');
    if (given.patience) tolerate(/\/by-name\/component\/default\/parcel/); // it is read only after a while
    await button('View Component').click();
    const shown = page.getByText('Packs what was ordered.').first();
    const missing = page.getByText('Entity not found').first();
    for (let tries = 0; given.patience && tries < 60; tries++) {
      await shown.or(missing).first().waitFor();
      if (await shown.isVisible()) break;
      await page.reload();
    }
    await see('Packs what was ordered.');
    await keep('registered');
    await link('Catalog').click();
    await heading('Owned Components (13)');
    await link('Parcel').click();
    await page.reload(); // or a title that was asked for before there was one is still unknown
    await see('Packs what was ordered.');
    await button('More actions').click();
    await page.getByRole('menuitem', { name: 'Unregister entity' }).click();
    const dialog = page.getByRole('dialog', { name: /^Are you sure/ });
    await dialog.getByText('Are you sure').first().waitFor();
    await link('Parcel', dialog).waitFor();
    await keep('unregister', dialog);
    tolerate(/\/by-name\/component\/default\/parcel/); // which the page it was on may still ask for
    await button('Unregister Location', dialog).click();
    await heading('Owned Components (12)');
    await gone(link('Parcel'));
    await keep('unregistered');
  }

  for (const part of [index, star, entities, organization, graph, apis, inspector, errors, refresh, register]) await part();
});
