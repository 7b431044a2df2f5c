// Looks with axe-core for what keeps people from using a page by the keyboard, by
// a screen reader or by their voice, or from reading it.
const { readFileSync } = require('node:fs');

// Parts of Backstage and its components that a page made of them cannot help:
// links to tab panels that are not there, descriptions in options, the contrast of
// what is destructive and of what is wrong with a field, what turns while a card
// loads, and what is read out and gone.
const theirs = /class="(bui-(Tab|ComboboxItem|ButtonContent|MenuItemContent|FieldError)\b|MuiCircularProgress-)|^<div role="img" aria-labelledby="react-aria/;
const ours = n => !theirs.test(n.html);
const grave = v => ['serious', 'critical'].includes(v.impact);
const options = {
  resultTypes: ['violations'],
  rules: { 'label-content-name-mismatch': { enabled: true } }, // of WCAG 2.1 A, and off by default
};

let source;

// Fails with what is found on a page as it is now, with what moves at its end.
exports.usable = async (page, name) => {
  source ??= readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');
  await page.evaluate(source);
  const { violations } = await page.evaluate(how => {
    for (const a of document.getAnimations())
      if (a.timeline === document.timeline && a.effect.getComputedTiming().endTime !== Infinity) a.finish();
    return window.axe.run(document, how);
  }, options);
  const found = violations.filter(grave).flatMap(v =>
    v.nodes.filter(ours).map(n => `${v.id}: ${n.html.slice(0, 300)}\n${n.failureSummary}`));
  if (found.length) throw new Error(`${name} keeps people from using it:\n${found.join('\n')}`);
};

// Makes a light page dark, or a dark one light, and waits for texts on it:
// Backstage draws it anew, so what the address does not tell, such as an open
// dialog, is gone.
exports.turn = async (page, see, ...texts) => {
  const other = { light: 'dark', dark: 'light' }[await page.locator('body').getAttribute('data-theme-mode')];
  await page.emulateMedia({ colorScheme: other });
  await page.locator(`body[data-theme-mode="${other}"]`).waitFor();
  await see(...texts);
};
