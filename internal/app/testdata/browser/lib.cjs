// What walks through pages share. A script calls `walk` once, with a function
// that gets what is below; what it saw is printed as JSON, which Go's `browse`
// reads:
//
//   const { walk } = require('./lib.cjs');
//   walk(async ({ page, open, see, shot, keep, tolerate, out }) => {
//     await open('health', '/catalog-health', 'Broken relations');
//     await page.getByRole('button', { name: 'Refresh' }).click();
//     await see('Asked to be read again');
//     await keep('health-refreshed');
//   });
//
// Whatever the browser complains of on the way fails the test, and so does an
// answer with a status of 400 or above, unless `tolerate` was told of it before.
const { chromium } = require('playwright-core');
const { mkdtempSync, mkdirSync, rmSync } = require('node:fs');
const { tmpdir } = require('node:os');
const { join } = require('node:path');
const { usable, turn } = require('./usable.cjs');

const base = process.env.FAIRLEAD_SERVER;
const given = JSON.parse(process.env.FAIRLEAD_GIVEN || 'null');
const shots = given?.shots || process.env.FAIRLEAD_SHOTS;

// Collects what a page complains of, and counts what it waits for.
function listen(page, seen, tolerated, asked = new Set()) {
  const trouble = text => tolerated.some(t => t.test(text)) || seen.troubles.push(text);
  page.on('console', m => m.type() === 'error' && trouble(`console: ${m.text()} (${m.location().url.replace(base, '')})`));
  page.on('pageerror', e => trouble(`page: ${e.stack || e}`));
  page.on('request', r => asked.add(r));
  page.on('requestfinished', r => asked.delete(r));
  page.on('requestfailed', r => asked.delete(r));
  page.on('response', r => r.status() >= 400 && trouble(`${r.status()} ${r.request().method()} ${r.url().replace(base, '')}`));
}

// What a walk gets.
function hands(page, seen, tolerated, asked) {
  const shot = async name => {
    if (shots) await page.screenshot({ path: join(shots, name + '.png') });
  };
  const see = async (...texts) => {
    for (const text of texts) await page.getByText(text).filter({ visible: true }).first().waitFor();
  };
  const open = async (name, path, ...texts) => {
    const began = Date.now();
    await page.goto(base + path);
    await see(...texts);
    seen.pages[name] = Date.now() - began;
    await shot(name);
  };
  // What can be read on the page by its roles, once it asks for nothing and does
  // not change any more.
  const settled = async (where = page.locator('body')) => {
    const until = Date.now() + 60_000;
    for (let last; Date.now() < until; ) {
      const text = asked.size === 0 && await where.ariaSnapshot();
      if (text && text === last) return text;
      last = text;
      await page.waitForTimeout(150);
    }
    throw new Error(`the page does not come to rest; it waits for ${[...asked].map(r => r.url()).join(' ') || 'nothing'}`);
  };
  // Keeps that by a name, with a screenshot.
  const keep = async (name, where) => {
    seen.out[name] = await settled(where);
    await shot(name);
  };
  return {
    page, base, given, shot, see, open, settled, keep,
    usable: name => usable(page, name),
    // As it is, and dark where it was light, as which it stays; texts are on both.
    usableInBoth: async (name, ...texts) => {
      await usable(page, name);
      await turn(page, see, ...texts);
      await usable(page, `${name}, turned`);
    },
    out: seen.out, // anything that Go is to get as well
    tolerate: (...patterns) => tolerated.push(...patterns), // of troubles that the page cannot help
    listen: other => listen(other, seen, tolerated), // to another page of the context
  };
}

exports.walk = async steps => {
  const profile = mkdtempSync(join(tmpdir(), 'fairlead-browser-'));
  if (shots) mkdirSync(shots, { recursive: true });
  const seen = { pages: {}, troubles: [], failed: '', out: {} };
  let context;
  try {
    context = await chromium.launchPersistentContext(profile, { ...JSON.parse(process.env.FAIRLEAD_BROWSER), reducedMotion: 'reduce' });
    context.setDefaultTimeout(60_000);
    const page = await context.newPage();
    const tolerated = [], asked = new Set();
    listen(page, seen, tolerated, asked);
    try {
      await steps(hands(page, seen, tolerated, asked));
    } catch (e) {
      const text = await page.locator('body').innerText().catch(() => '');
      seen.failed = `${e.stack || e}\nat ${page.url()}, which reads:\n${text.slice(0, 3000)}`;
      if (shots) await page.screenshot({ path: join(shots, 'failed.png') }).catch(() => {});
    }
  } catch (e) {
    seen.failed = seen.failed || String(e);
  } finally {
    if (context) await context.close();
    rmSync(profile, { recursive: true, force: true });
  }
  console.log(JSON.stringify(seen));
};
