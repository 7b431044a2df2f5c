// Signs in at a provider of OpenID Connect by Backstage's auth back end, acts as
// who the catalog says that is, and signs out again.
const { walk } = require('./lib.cjs');
const { signIn } = require('./provider.cjs');

walk(async ({ page, open, see, shot, out, tolerate, given }) => {
  const asked = [];
  page.on('request', r => r.url().startsWith(given.catalog) && r.method() !== 'OPTIONS' && asked.push(r.headers().authorization || r.url()));
  tolerate(/\/api\/auth\/oidc\/refresh/); // which tells the page that nobody is signed in yet, or any more
  await open('signin', '/', 'Guest', 'Single sign-on');
  await signIn(page, given);
  await see('Owned Components', 'Ledger');
  await shot('signed-in');
  await open('signed in', '/catalog/default/component/ledger', 'Books every movement of money, for good.'); // who has signed in stays so
  await page.getByRole('button', { name: 'Refresh' }).click();
  await see('Refresh scheduled');
  await open('settings', '/settings', 'Bob Brandt', 'User Entity: bob');
  out.tokens = [...new Set(asked)];
  await page.getByTestId('user-settings-menu').click();
  await page.getByRole('menuitem', { name: 'Sign Out' }).click();
  await see('Guest', 'Single sign-on');
  await open('signed out', '/catalog/default/component/ledger', 'Guest', 'Single sign-on');
  await shot('signed-out');
});
