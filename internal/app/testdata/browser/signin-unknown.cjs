// Signs in at a provider of OpenID Connect as somebody of whom the catalog knows
// nothing: the page says so, and lets nobody in.
const { walk } = require('./lib.cjs');
const { signIn } = require('./provider.cjs');

walk(async ({ page, open, see, shot, keep, out, tolerate, given }) => {
  const asked = [];
  page.on('request', r => r.url().startsWith(given.catalog) && r.method() !== 'OPTIONS' && asked.push(r.url()));
  tolerate(/\/api\/auth\/oidc\/refresh/); // which tells the page that nobody is signed in
  await open('signin', '/', 'Guest', 'Single sign-on');
  await signIn(page, given);
  await see(/catalog does not know you/);
  await shot('unknown');
  await keep('unknown');
  await open('again', '/catalog/default/component/ledger', 'Guest', 'Single sign-on');
  out.asked = asked;
});
