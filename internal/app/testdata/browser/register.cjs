// Registers an existing component by the page for that, from a repository's own
// address on, and takes it back. Given are the repository and its catalog file, of
// which the catalog knows nothing yet.
const { walk } = require('./lib.cjs');

walk(async ({ page, given, open, see, shot, tolerate }) => {
  const button = name => page.getByRole('button', { name, exact: true });
  const analyze = async url => {
    await page.getByRole('textbox', { name: 'URL' }).fill(url);
    await button('Analyze').click();
  };

  await open('import', '/catalog-import', 'Select URL');
  await analyze(given.repository);
  await see(/has nothing from this repository yet\. Give the URL of its catalog file/);
  await shot('nothing-yet');
  await analyze(given.file);
  await see('parcel', /^The following entities will be added/);
  await shot('review');
  await button('Import').click();
  await button('Register another').waitFor();
  await button('View Component').click();
  await see('Packs what was ordered.');
  await shot('registered');

  await open('again', '/catalog-import', 'Select URL');
  await analyze(given.repository);
  await see('parcel', /locations already exist in the catalog/);
  await shot('known');

  await open('entity', '/catalog/default/component/parcel', 'Packs what was ordered.');
  await button('More actions').click();
  await page.getByRole('menuitem', { name: 'Unregister entity' }).click();
  const dialog = page.getByRole('dialog', { name: /^Are you sure/ });
  await dialog.getByText(given.file).first().waitFor();
  await shot('unregister');
  tolerate(/\/by-name\/component\/default\/parcel/); // which the page it was on may still ask for
  await dialog.getByRole('button', { name: 'Unregister Location' }).click();
  await page.getByRole('heading', { name: /^Owned Components/ }).first().waitFor();
  await open('gone', '/catalog/default/component/parcel', 'Entity not found');
});
