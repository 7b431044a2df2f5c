// Signs in at Backstage's auth back end, and acts as who that says one is.
const { walk } = require('./lib.cjs');

walk(async ({ page, open, see, shot, out, base, given }) => {
  const asked = [];
  page.on('request', r => r.url().startsWith(given.catalog) && r.method() !== 'OPTIONS' && asked.push(r.headers().authorization || r.url()));
  await open('signin', '/', 'Guest', 'GitHub', 'Sign in with GitHub', 'Single sign-on');
  await page.getByRole('button', { name: 'Enter' }).click();
  await see('Owned Components (3)', 'Ledger');
  await shot('signed-in');
  await open('signed in', '/catalog/default/component/ledger', 'Books every movement of money, for good.'); // who has signed in stays so
  await page.getByRole('button', { name: 'Refresh' }).click();
  await see('Refresh scheduled');
  await open('settings', '/settings', 'Alice Ahlberg');
  out.tokens = [...new Set(asked)];
});
