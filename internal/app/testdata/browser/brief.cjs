// The brief of a service of which something is not known, until somebody adds
// the lines that it proposes. Given are the folder of the demo's repositories
// and a token that may have them read.
const { walk } = require('./lib.cjs');
const { push } = require('./repo.cjs');
const { readFileSync, writeFileSync } = require('node:fs');
const { join } = require('node:path');

walk(async ({ page, base, given, open, see, shot, usableInBoth, out }) => {
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await open('inventory', '/catalog/default/component/inventory', 'Service brief', 'make test', 'Nothing is known of on-call.');
  await page.evaluate('window.untouched = true');
  await usableInBoth('the brief', 'make test', 'Nothing is known of on-call.');

  await page.getByRole('button', { name: 'Copy Test: make test' }).focus();
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Copied Test: make test' }).waitFor();
  if ((out.copied = await page.evaluate(() => navigator.clipboard.readText())) !== 'make test') throw new Error(`copied ${out.copied}`);

  await page.getByRole('button', { name: 'Copy the lines for on-call' }).click();
  await page.getByRole('button', { name: 'Copied the lines for on-call' }).waitFor();
  const lines = await page.evaluate(() => navigator.clipboard.readText());
  const place = await page.getByRole('region', { name: 'Not known' }).getByText(/^catalog-info\.yaml:\d+$/).innerText();
  const [file, after] = place.split(':');
  const path = join(given.repos, 'inventory', file);
  const text = readFileSync(path, 'utf8').split('\n');
  text.splice(Number(after), 0, lines);
  writeFileSync(path, text.join('\n'));
  await push(base, given, 'inventory', 'Say who is on call');
  await see('https://pager.example.com/fulfilment');
  await page.getByText('Nothing is known of on-call.').waitFor({ state: 'detached' });
  if (!(await page.evaluate('window.untouched'))) throw new Error('the page was loaded anew');
  await shot('known');
});
