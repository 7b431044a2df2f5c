// An agent asks for changes of production while somebody on call has the page
// of approvals open: given is the agent's token.
const { walk } = require('./lib.cjs');

walk(async ({ page, base, given, open, see, shot, usableInBoth, out }) => {
  // Has the agent propose an image by MCP; gives the proposal or what refuses it.
  const propose = async tag => {
    const revision = '2026-07-28';
    const meta = 'io.modelcontextprotocol/';
    const answer = await fetch(base + '/mcp', {
      method: 'POST',
      headers: {
        Authorization: `Bearer ${given.token}`, 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream',
        'MCP-Protocol-Version': revision, 'Mcp-Method': 'tools/call', 'Mcp-Name': 'propose_change',
      },
      body: JSON.stringify({
        jsonrpc: '2.0', id: 1, method: 'tools/call', params: {
          name: 'propose_change',
          arguments: { service: 'checkout', environment: 'production', reason: 'The fix for orders.', change: { image: { tag } } },
          _meta: { [meta + 'protocolVersion']: revision, [meta + 'clientInfo']: { name: 'test', version: '1' }, [meta + 'clientCapabilities']: {} },
        },
      }),
    });
    const { result } = JSON.parse((await answer.text()).replace(/^[^{]*data: /, ''));
    return result.structuredContent;
  };
  const asked = async tag => {
    const refused = await propose(tag);
    if (refused.code !== 'approval_required') throw new Error(JSON.stringify(refused));
    return page.getByRole('region', { name: new RegExp(`checkout ${tag} in production`) });
  };

  await open('approvals', '/fairlead/approvals', 'Nothing waits for you');
  await page.evaluate('window.untouched = true');
  const began = Date.now();
  const card = await asked('1.5.0');
  await card.waitFor();
  out.appeared = Date.now() - began;
  await page.getByRole('link', { name: '1 to approve' }).waitFor();
  await card.getByText('claude-code for').first().waitFor();
  await card.getByText('newTag: "1.4.0"').waitFor();
  await card.getByText('newTag: "1.5.0"').waitFor();
  await shot('asked');
  await usableInBoth('what waits for approval', 'newTag: "1.5.0"');
  await card.getByRole('textbox', { name: 'Reason' }).fill('tested in staging');
  await card.getByRole('button', { name: /^Approve/ }).press('Enter');
  await see('Approved: ', 'Nothing waits for you');
  const others = page.getByRole('grid', { name: 'Other requests' });
  await others.getByText('granted').waitFor();
  await shot('granted');
  const proposal = await propose('1.5.0');
  if (proposal.state !== 'pushed') throw new Error(JSON.stringify(proposal));
  await others.getByText('used', { exact: true }).waitFor();

  const other = await asked('1.6.0');
  await other.getByRole('button', { name: /^Deny/ }).click();
  await see('Say why');
  await other.getByRole('textbox', { name: 'Reason' }).fill('not on a Friday');
  await other.getByRole('button', { name: /^Deny/ }).click();
  await see('Denied: ', 'Nothing waits for you');
  await others.getByText('denied').waitFor();
  if (!(await page.evaluate('window.untouched'))) throw new Error('the page was loaded anew');
  const refused = await propose('1.6.0');
  if (refused.code !== 'forbidden' || !refused.message.includes('not on a Friday')) throw new Error(JSON.stringify(refused));

  await others.getByRole('link', { name: /checkout 1.5.0/ }).click();
  await see('tested in staging', 'All approvals');
  await usableInBoth('a request', 'tested in staging', 'All approvals');
  await open('agents', '/fairlead/agents', 'What agents did');
  await usableInBoth('the page of agents', 'What agents did', 'claude-code', 'approval_required');
  const agents = page.getByRole('grid', { name: 'Agents' });
  await agents.getByRole('link', { name: 'claude-code' }).click();
  const acts = page.getByRole('grid', { name: 'Acts' });
  await acts.getByText('approval_required').first().waitFor();
  await shot('agent');
  await usableInBoth('an agent', 'approval_required');
  await page.getByRole('button', { name: /Outcome/ }).click();
  await page.getByRole('option', { name: 'ok', exact: true }).click();
  await acts.getByText('approval_required').first().waitFor({ state: 'detached' });
  await acts.getByText('propose_change').first().waitFor();
  await open('tab', '/catalog/default/component/checkout/agents', 'Waiting for approval', 'propose_change');
  await usableInBoth('the tab', 'Waiting for approval', 'propose_change');
});
