// What a developer and Sam, who is on call, see in pages that nobody loads anew,
// while others commit and an agent works over MCP.
const { walk } = require('../../../app/testdata/browser/lib.cjs');

walk(async ({ page, base, given, open, see, shot, out }) => {
  const { gitea, organization, alice, agent } = given;

  // Has the forge do something as Alice.
  const forge = async (method, path, body) => {
    const answer = await fetch(`${gitea}/api/v1${path}`, {
      method, body: body && JSON.stringify(body),
      headers: { Authorization: `token ${alice}`, 'Content-Type': 'application/json' },
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
    return JSON.parse(text);
  };

  // Calls a tool as Alice's agent.
  const call = async (tool, args) => {
    const answer = await fetch(`${base}/mcp`, {
      method: 'POST',
      headers: {
        Authorization: `Bearer ${agent}`, 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream',
        'MCP-Protocol-Version': '2026-07-28', 'Mcp-Method': 'tools/call', 'Mcp-Name': tool,
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: tool, arguments: args, _meta: {
        'io.modelcontextprotocol/protocolVersion': '2026-07-28',
        'io.modelcontextprotocol/clientInfo': { name: 'story', version: '1' },
        'io.modelcontextprotocol/clientCapabilities': {},
      } } }),
    });
    const text = await answer.text();
    const { result } = JSON.parse(text.replace(/^[^]*?data: /, ''));
    if (!result) throw new Error(`${tool}: ${text}`);
    return result;
  };

  // Waits for texts, and tells how long after the act they could be read. The
  // page is held to be the one that was opened: a mark in it is still there.
  const mark = () => page.evaluate(() => { window.opened = true; });
  const after = async (name, act, seen) => {
    const said = await act();
    const began = Date.now();
    await seen();
    out[name] = Date.now() - began;
    if (!(await page.evaluate(() => window.opened))) throw new Error(`${name}: the page was loaded anew`);
    await shot(name);
    return said;
  };

  // A commit to the repository of a service, in its open page.
  await open('service', '/catalog/default/component/checkout', 'Turns a cart into a paid order.');
  await mark();
  const path = `/repos/${organization}/checkout/contents/catalog-info.yaml`;
  const file = await forge('GET', path);
  const text = Buffer.from(file.content, 'base64').toString().replace('Turns a cart into a paid order.', 'Takes orders, and the money for them.');
  await after('committed', () => forge('PUT', path, { branch: 'main', message: 'Say it anew', sha: file.sha, content: Buffer.from(text).toString('base64') }),
    () => see('Takes orders, and the money for them.'));

  // An agent's preview, in the open tab.
  await page.getByRole('link', { name: 'Previews', exact: true }).click();
  await see('No previews');
  const preview = await after('preview', () => call('create_preview_environment', { service: 'checkout', ttl: '10m' }), () => see('claude-code'));
  if (preview.isError) throw new Error(JSON.stringify(preview));
  await see('ready');
  await shot('preview-ready');

  // A change of production, which waits for Sam.
  await open('approvals', '/fairlead/approvals', 'Waiting for you');
  await mark();
  const change = {
    service: 'checkout', environment: 'production', reason: 'faster checkout', evidence: ['tests: https://ci.shop.test/checkout'],
    change: { image: { tag: '1.5.0', digest: 'sha256:' + 'c'.repeat(64) } },
  };
  const asked = await after('asked', () => call('propose_change', change), () => see(/1\.5\.0@sha256:.* in production/));
  if (!asked.isError || asked.structuredContent.code !== 'approval_required') throw new Error(JSON.stringify(asked));
  await see('c'.repeat(64), 'newTag: "1.4.0"');
  await page.getByLabel('Reason').fill('It was tried in staging.');
  await shot('plan');
  await page.getByRole('button', { name: /^Approve: / }).click();
  await see('granted');
  const proposed = await call('propose_change', change);
  if (proposed.isError) throw new Error(JSON.stringify(proposed));
  const pull = proposed.structuredContent.url;
  const { state } = await forge('GET', `/repos/${organization}/deploy/pulls/${pull.split('/').pop()}`);
  if (state !== 'open') throw new Error(`${pull} is ${state}`);
  await see(/^used/);
  await shot('approved');
  out.pull = pull;

  // What has become of it, beside where the service runs.
  await open('deployments', '/catalog/default/component/checkout/deployments', 'production', 'staging', /1\.5\.0@sha256:.* in production/, 'change of production, by alice with claude-code');
});
