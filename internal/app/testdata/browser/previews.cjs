// Has previews made, extended and removed as an agent and a developer do.
const { walk } = require('./lib.cjs');

// Calls a tool over MCP as an agent does.
async function call(base, token, name, args) {
  const answer = await fetch(`${base}/mcp`, {
    method: 'POST',
    headers: {
      Authorization: `Bearer ${token}`, 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream',
      'MCP-Protocol-Version': '2026-07-28', 'Mcp-Method': 'tools/call', 'Mcp-Name': name,
    },
    body: JSON.stringify({
      jsonrpc: '2.0', id: 1, method: 'tools/call',
      params: {
        name, arguments: args,
        _meta: {
          'io.modelcontextprotocol/protocolVersion': '2026-07-28',
          'io.modelcontextprotocol/clientInfo': { name: 'walk', version: '1' }, 'io.modelcontextprotocol/clientCapabilities': {},
        },
      },
    }),
  });
  const line = (await answer.text()).split('\n').map(l => l.replace(/^data: /, '')).filter(l => l.startsWith('{')).pop();
  const { result, error } = JSON.parse(line);
  if (error || result.isError) throw new Error(line);
  return result.structuredContent;
}

walk(async ({ page, base, given, out, open, see, shot, usable, usableInBoth, listen }) => {
  await open('previews', '/catalog/default/component/checkout/previews', 'No previews are there');
  const rows = page.getByRole('grid', { name: 'Previews' }).getByRole('row');
  const agents = rows.filter({ hasText: 'claude-code' });
  const own = rows.filter({ hasText: 'main', hasNotText: 'claude-code' });
  const dialog = page.getByRole('dialog').last();

  // One of an agent appears by itself, becomes ready, and answers.
  out.made = (await call(base, given.agent, 'create_preview_environment', { service: 'checkout', revision: 'main', ttl: '30m' })).id;
  const began = Date.now();
  await agents.waitFor();
  out.appeared = Date.now() - began;
  await agents.getByText('ready').waitFor();
  await shot('ready');
  await usableInBoth('the tab', 'claude-code', 'ready');
  const opened = page.waitForEvent('popup');
  await agents.getByRole('link', { name: /preview\.localhost/ }).click();
  const answering = await opened;
  listen(answering);
  await answering.getByText('Checkout').waitFor();
  await answering.close();

  // It is looked at and extended.
  await page.getByRole('link', { name: 'Details of checkout at main' }).click();
  await dialog.getByText('claude-code').waitFor();
  await shot('details');
  await usableInBoth('the details', 'Service', 'claude-code');
  await page.getByRole('tab', { name: 'Logs' }).click();
  await page.getByRole('log', { name: /wrote/ }).getByText('GET / HTTP').waitFor();
  await shot('logs');
  await usable('the logs');
  await page.getByRole('button', { name: 'Extend…' }).click();
  await dialog.getByText('1 hour').click();
  await dialog.getByRole('button', { name: 'Extend', exact: true }).click();
  await dialog.getByRole('heading', { name: 'Extend checkout at main' }).waitFor({ state: 'detached' });
  await page.keyboard.press('Escape');
  await agents.getByText(/^1:2\d:\d\d$/).waitFor();

  // Another is made by hand, and removed.
  await page.getByRole('button', { name: 'New preview' }).click();
  await page.getByRole('combobox', { name: 'Revision' }).click();
  await shot('revisions');
  await page.getByRole('option', { name: /^main/ }).click();
  await dialog.getByText('2 hours').click();
  await dialog.getByRole('button', { name: 'Create' }).click();
  await own.getByText('ready').waitFor();
  await shot('two');
  await own.getByRole('button', { name: 'Acts on checkout at main' }).click();
  await page.getByRole('menuitem', { name: 'Delete…' }).click();
  await dialog.getByRole('button', { name: 'Delete', exact: true }).click();
  await own.waitFor({ state: 'detached' });
  await page.getByText('Show those that are gone').click();
  await own.getByText('gone').waitFor();

  // All are seen together, with what they take.
  await open('all', '/fairlead/previews', 'claude-code');
  await page.getByRole('button', { name: 'Resources' }).click();
  await see(/1 preview takes/);
  await page.getByRole('button', { name: 'Usage' }).click();
  await see('All previews');
  await shot('figures');
  await usableInBoth('the page of all previews', 'claude-code');
});
