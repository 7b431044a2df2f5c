// Looks with axe-core for what keeps people from using a page by the keyboard or
// a screen reader, or from reading it.
const { readFileSync } = require('node:fs');

// Parts of Backstage and its components that a page made of them cannot help:
// links to tab panels that are not there, descriptions in options, the contrast of
// what is destructive, and what is read out and gone.
const theirs = /class="bui-(Tab|ComboboxItem|ButtonContent|MenuItemContent)\b|^<div role="img" aria-labelledby="react-aria/;
const grave = v => ['serious', 'critical'].includes(v.impact);

let source;

// Fails with what is found on a page as it is now.
exports.usable = async (page, name) => {
  source ??= readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');
  await page.evaluate(source);
  const { violations } = await page.evaluate(() => window.axe.run(document, { resultTypes: ['violations'] }));
  const found = violations.filter(grave).flatMap(v =>
    v.nodes.filter(n => !theirs.test(n.html)).map(n => `${v.id}: ${n.html.slice(0, 300)}\n${n.failureSummary}`));
  if (found.length) throw new Error(`${name} keeps people from using it:\n${found.join('\n')}`);
};
