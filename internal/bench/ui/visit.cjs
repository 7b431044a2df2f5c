// Opens pages of a front end in a real browser, as one who has been there
// before, and prints what each took as a line of JSON. What to visit is in FAIRLEAD_VISITS:
// the pages, and how often each is opened after the browser's cache is filled.
const { chromium } = require('playwright-core');
const { mkdtempSync, rmSync, writeFileSync } = require('node:fs');
const { tmpdir } = require('node:os');
const { join } = require('node:path');

const { base, pages, rounds, patience, profile } = JSON.parse(process.env.FAIRLEAD_VISITS);
const fillings = 2; // after which the browser has compiled scripts, too

// shown waits until the page holds all texts, and gives when that was, in
// milliseconds of the page's own clock.
async function shown(page, texts) {
  const handle = await page.waitForFunction(
    there => {
      const text = document.getElementById('root')?.textContent ?? '';
      return there.every(t => text.includes(t)) && performance.now();
    },
    texts,
    { polling: 'raf', timeout: patience },
  );
  return handle.jsonValue();
}

// settled waits until nothing has been asked for half a second.
async function settled(page, asked) {
  for (const end = Date.now() + patience; Date.now() < end; ) {
    if (asked.open === 0 && Date.now() - asked.last > 500) return;
    await page.waitForTimeout(50);
  }
}

// isAsk tells of the server's own answers, among all that a page fetches.
const isAsk = url => /^\/(api|graphql)\b/.test(new URL(url).pathname);

// watch keeps what a page asks the server, and counts the requests that are not
// answered yet.
function watch(page, seen) {
  const asked = { open: 0, last: Date.now(), asks: [] };
  const done = () => { asked.open--; asked.last = Date.now(); };
  page.on('request', r => {
    asked.open++;
    asked.last = Date.now();
    if (isAsk(r.url())) asked.asks.push(r);
  });
  page.on('requestfinished', done);
  page.on('requestfailed', done);
  page.on('response', r => r.status() >= 400 && seen.troubles.push(`${r.status()} ${r.url().replace(base, '')}`));
  page.on('pageerror', e => seen.troubles.push(String(e)));
  return asked;
}

// taken are the requests since the last were taken, to be put again.
async function taken(asked) {
  const asks = asked.asks;
  asked.asks = [];
  return Promise.all(asks.map(async r => ({ method: r.method(), url: r.url(), headers: await r.allHeaders(), body: r.postData() ?? '' })));
}

// union is how long at least one of some spans was open.
function union(spans) {
  let total = 0;
  let until = 0;
  for (const [from, to] of spans.sort((a, b) => a[0] - b[0])) {
    total += Math.max(0, to - Math.max(from, until));
    until = Math.max(until, to);
  }
  return total;
}

// figures are what a page, or a step on it, asked for since a moment.
async function figures(page, since, content) {
  const entries = await page.evaluate(from =>
    performance.getEntriesByType('resource').filter(e => e.startTime >= from)
      .map(e => ({ url: e.name, start: e.requestStart || e.startTime, end: e.responseEnd, sent: e.transferSize, size: e.decodedBodySize })), since);
  const asks = entries.filter(e => isAsk(e.url));
  const slowest = asks.reduce((a, e) => (e.end - e.start > a.end - a.start ? e : a), { start: 0, end: 0, url: base });
  return {
    content: content - since,
    server: union(asks.filter(e => e.start < content).map(e => [e.start, Math.min(e.end, content)])),
    requests: asks.length,
    files: entries.length - asks.length,
    sent: entries.reduce((n, e) => n + e.sent, 0),
    size: asks.reduce((n, e) => n + e.size, 0),
    slowest: slowest.end - slowest.start,
    slowestURL: slowest.url.replace(base, '').slice(0, 300),
  };
}

// heap is what the page's scripts hold once what they let go is gone, in bytes.
async function heap(session) {
  await session.send('HeapProfiler.collectGarbage');
  const { metrics } = await session.send('Performance.getMetrics');
  return metrics.find(m => m.name === 'JSHeapUsedSize').value;
}

// busy is the CPU time of the page's own thread so far, in milliseconds.
async function busy(session) {
  const { metrics } = await session.send('Performance.getMetrics');
  return 1000 * metrics.find(m => m.name === 'TaskDuration').value;
}

// profiled begins a CPU profile, or ends it and keeps it.
async function profiled(session, begin, name) {
  if (begin) {
    await session.send('Profiler.enable');
    await session.send('Profiler.start');
    return;
  }
  const { profile: made } = await session.send('Profiler.stop');
  writeFileSync(join(profile, `ui-${name.replace(/\W+/g, '-')}.cpuprofile`), JSON.stringify(made));
}

// act does what a person does on a page, and gives when it did the last of it.
async function act(page, step) {
  if (step.type) {
    const field = page.getByPlaceholder(step.into).first();
    await field.pressSequentially(step.type.slice(0, -1), { delay: 60 });
    const last = await page.evaluate(() => performance.now());
    await field.press(step.type.slice(-1));
    return last;
  }
  const link = page.locator(`a[href="${step.link}"]`).first();
  await link.waitFor();
  const began = await page.evaluate(() => performance.now());
  await link.click();
  return began;
}

// visit opens a page in a tab of its own and does what is to be done there. Where
// something does not come, that is said in its place and the rest left.
async function visit(context, spec, seen, last) {
  const page = await context.newPage();
  const session = await context.newCDPSession(page);
  const out = [];
  let name = spec.name;
  try {
    const asked = watch(page, seen);
    await session.send('Performance.enable', { timeDomain: 'threadTicks' });
    if (profile && last) await profiled(session, true);
    await page.goto(base + spec.path, { waitUntil: 'commit' });
    const content = await shown(page, spec.holds);
    let asks = asked.asks.length;
    let cpu = await busy(session);
    if (profile && last) await profiled(session, false, spec.name);
    await settled(page, asked);
    out.push({ name, cpu, asks: (await taken(asked)).slice(0, asks), ...(await figures(page, 0, content)) });
    for (const step of spec.steps ?? []) {
      name = step.name;
      const before = await busy(session);
      const since = await act(page, step);
      const then = await shown(page, step.holds);
      asks = asked.asks.length;
      cpu = (await busy(session)) - before;
      await settled(page, asked);
      out.push({ name, cpu, asks: (await taken(asked)).slice(0, asks), ...(await figures(page, since, then)) });
    }
    const held = await heap(session);
    for (const o of out) o.heap = held;
  } catch (e) {
    out.push({ name, failed: String(e).split('\n')[0] });
    session.send('Page.crash').catch(() => {}); // it may be too busy to be closed
  } finally {
    await page.close();
  }
  return out;
}

// visits opens a page as often as it is to be, and gives what each visit took.
async function visits(context, spec) {
  const seen = { visits: [], troubles: [] };
  for (let i = 1 - fillings; i <= rounds; i++) {
    const out = await visit(context, spec, seen, i === rounds);
    const failed = out.some(o => o.failed);
    if (i > 0 || failed) seen.visits.push(...out);
    if (failed) break;
  }
  return seen;
}

(async () => {
  const dir = mkdtempSync(join(tmpdir(), 'fairlead-browser-'));
  const context = await chromium.launchPersistentContext(dir, JSON.parse(process.env.FAIRLEAD_BROWSER));
  try {
    context.setDefaultTimeout(patience);
    await context.addInitScript(() => performance.setResourceTimingBufferSize(5000));
    for (const spec of pages) console.log(JSON.stringify(await visits(context, spec)));
  } finally {
    await context.close();
    rmSync(dir, { recursive: true, force: true });
  }
})();
