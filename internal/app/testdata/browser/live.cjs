// An open page follows the catalog: given are the folder of the demo's
// repositories and a token that may have them read.
const { walk } = require('./lib.cjs');
const { push } = require('./repo.cjs');
const { readFileSync, writeFileSync } = require('node:fs');
const { join } = require('node:path');

walk(async ({ page, base, given, open, see, shot, tolerate, out }) => {
  const slowest = (name, ms) => (out[name] = Math.max(out[name] ?? 0, ms));

  // Commits a change of a file and has it read, as a webhook does; tells how long
  // it took from then until the page was as wanted.
  const change = async (name, file, edit, wanted) => {
    const dir = join(given.repos, 'checkout');
    const path = join(dir, file);
    writeFileSync(path, edit(readFileSync(path, 'utf8')));
    await push(base, given, 'checkout', name);
    const began = Date.now();
    await wanted();
    slowest(name, Date.now() - began);
    if (!(await page.evaluate('window.untouched'))) throw new Error(`the page was loaded anew by: ${name}`);
    await shot(name);
  };
  const keep = () => page.evaluate('window.untouched = true');
  const info = 'catalog-info.yaml';
  tolerate(/404.*by-name\/component\/default\/checkout/); // while it is removed

  await open('index', '/?filters%5Buser%5D=all', 'Turns a cart into a paid order.');
  await keep();
  await change('list', info, t => t.replace('Turns a cart into a paid order.', 'Sells what is in the cart.'), () =>
    see('Sells what is in the cart.'));

  await open('entity', '/catalog/default/component/checkout', 'Sells what is in the cart.', 'Depends on components');
  await see(/^Cart$/);
  await keep();
  const star = page.getByRole('button', { name: /favorites/ });
  await star.focus();
  await page.evaluate(() => {
    window.lost = [];
    new MutationObserver(() => {
      for (const text of ['Sells', 'Depends on components'])
        if (!document.body.innerText.includes(text)) window.lost.push(text);
    }).observe(document.body, { childList: true, subtree: true });
  });
  await change('relations', info, t => t.replace('- component:cart', '- component:cart\n    - component:ledger'), () =>
    page.getByRole('row', { name: /Ledger/ }).first().waitFor());
  if (!(await star.evaluate(e => e === document.activeElement))) throw new Error('the focus is lost');
  const lost = await page.evaluate('window.lost');
  if (lost.length) throw new Error(`it was gone for a moment: ${lost}`);

  await open('definition', '/catalog/default/api/checkout-api/definition', 'Checkout');
  await keep();
  await change('definition', 'openapi.yaml', t => t.replace(/title: .*/, 'title: Selling by HTTP'), () => see('Selling by HTTP'));

  await open('again', '/catalog/default/component/checkout', 'Depends on components');
  await keep();
  const whole = readFileSync(join(given.repos, 'checkout', info), 'utf8');
  await change('removed', info, t => t.replaceAll('name: checkout\n', 'name: till\n'), () => see(/There is no component/));
  await change('returned', info, () => whole, () => see('Depends on components'));
});
