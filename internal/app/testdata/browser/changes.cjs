// Proposes a change of an environment as a developer does: by its plan, which is
// confirmed; then it is in the list with how far it has come, and on the page of
// all changes.
const { walk } = require('./lib.cjs');

walk(async ({ page, open, see, shot, usable, usableInBoth, out }) => {
  await open('deployments', '/catalog/default/component/checkout/deployments',
    'this server knows of no deployments', 'this server knows of no forge to ask', 'No changes are proposed.');
  await usableInBoth('the tab', 'this server knows of no deployments', 'No changes are proposed.');
  const button = name => page.getByRole('button', { name, exact: true });
  await button('Propose change to staging').click();
  await button('Show the plan').click();
  await see('Give a tag or a digest.', 'Say why, for who reviews it.');
  await usable('what is asked for');
  await page.getByLabel('Tag', { exact: true }).fill('1.5.0');
  await page.getByLabel('Reason').fill('the fix for orders');
  await page.getByLabel('Evidence').fill('tests: https://ci.shop.test/7');
  await button('Show the plan').focus();
  await page.keyboard.press('Enter');
  await see('newTag: "1.5.0"');
  await shot('plan');
  await usable('the plan');
  await button('Propose').click();
  await see('Its branch is pushed.');
  await shot('proposed');
  await usable('what was made');
  await button('Done').click();
  await page.getByRole('dialog').waitFor({ state: 'detached' });

  // The one that the address names stands apart until it is in the list, where it
  // opens anew.
  const steps = await page.waitForFunction(() => {
    const all = [...document.querySelectorAll('[aria-label="Follow-through"] > li')].filter(s => s.checkVisibility());
    return all.length === 4 && all.map(s => s.innerText.split('\n')[0] + (s.getAttribute('aria-current') ? ' now' : ''));
  });
  out.steps = await steps.jsonValue();
  await see('the fix for orders', 'https://ci.shop.test/7', 'newTag: "1.5.0"');
  await shot('followed');
  await usableInBoth('the proposal', 'the fix for orders', 'newTag: "1.5.0"');

  await button('Roll back production').click();
  await page.getByLabel('Reason').fill('orders fail');
  await button('Show the plan').click();
  await see('this server knows of no deployments, so it cannot tell what to go back to');
  await usable('what cannot be planned');
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });

  await open('changes', '/fairlead/changes?state=pushed', /1\.5\.0 in staging/);
  await usableInBoth('the page of changes', /1\.5\.0 in staging/);
  await page.getByLabel('Agent').fill('nobody');
  await see('No changes are proposed.');
  await page.getByRole('radio', { name: 'Figures' }).click();
  await see('Deployment frequency', /^1 proposal: 0 merged/);
  await shot('figures');
  await usableInBoth('the figures', 'Deployment frequency', /^1 proposal: 0 merged/);
  await page.getByRole('radio', { name: 'Fleets' }).click();
  await see(/fairlead change fleet --query/);
  await usableInBoth('fleets', /fairlead change fleet --query/);
});
