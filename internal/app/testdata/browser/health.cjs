// Files break and are mended while the page of the catalog's health is open, and
// a page of an entity warns. Given are the folder of the demo's repositories and
// a token that may have them read.
const { walk } = require('./lib.cjs');
const { push } = require('./repo.cjs');
const { readFileSync, writeFileSync } = require('node:fs');
const { join } = require('node:path');

walk(async ({ page, base, given, open, see, shot, usableInBoth }) => {
  const path = join(given.repos, 'orders', 'catalog-info.yaml');
  const good = readFileSync(path, 'utf8');

  await open('mine', '/fairlead/health', 'Catalog health', 'My teams', 'What is known of services');
  await page.evaluate('window.untouched = true');
  writeFileSync(path, good.replace('  lifecycle: production', '  lifecycle: [production'));
  await push(base, given, 'orders', 'Break');
  await see(/is indented too little/, 'catalog-info.yaml:24:3', 'Indent the line by more, or close the bracket before it.');
  const stale = page.getByRole('list', { name: 'Stale entities' }).getByRole('listitem').filter({ hasText: 'Orders' });
  await stale.filter({ hasText: /Its file is wrong now: .*is indented too little.*since/ }).first().waitFor();
  await stale.first().scrollIntoViewIfNeeded();
  await shot('broken');
  await usableInBoth('my problems', /is indented too little/, 'What is known of services', /fulfilment: \d+% known/);

  await page.getByRole('button', { name: /fulfilment: \d+% known/ }).focus();
  await page.keyboard.press('Enter');
  await see('on-call not known', /oncall: \{url/);
  await page.getByRole('button', { name: 'Show everybody’s' }).click();
  await see('the key "owner" is written twice, first on line 10');
  await shot('everybody');
  await usableInBoth('all problems', 'the key "owner" is written twice, first on line 10');

  writeFileSync(path, good);
  await push(base, given, 'orders', 'Mend');
  await page.getByText(/is indented too little/).first().waitFor({ state: 'detached' });
  await see('All entities are as their files say.');
  if (!(await page.evaluate('window.untouched'))) throw new Error('the page was loaded anew');

  writeFileSync(path, good.replace('  lifecycle: production', '  lifecycle: [production'));
  await push(base, given, 'orders', 'Break again');
  await open('warning', '/catalog/default/component/orders', 'Its catalog file has errors. What you see is its last good state.', 'Indent the line by more, or close the bracket before it.');
  await usableInBoth('the warning', 'Its catalog file has errors. What you see is its last good state.', 'Service brief');
  await page.getByRole('link', { name: 'All problems of this source' }).click();
  await see('Catalog health', 'catalog-info.yaml:24:3');
});
