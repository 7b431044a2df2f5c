// A page that reaches Fairlead by a proxy for requests alone: given are the server
// and a token to change something there meanwhile.
const { walk } = require('./lib.cjs');

walk(async ({ page, given, open, see, shot, tolerate, out }) => {
  out.Sockets = 0;
  tolerate(/WebSocket connection to .*\/api\/proxy\/fairlead\/graphql/);
  page.on('console', m => m.text().includes('WebSocket') && out.Sockets++);
  await open('previews', '/fairlead/previews', 'No previews are there');
  const answer = await fetch(given.server + '/graphql', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${given.token}` },
    body: JSON.stringify({ query: 'mutation { createPreviewEnvironment(service: "checkout") { id } }' }),
  });
  const { errors } = await answer.json();
  if (errors) throw new Error(JSON.stringify(errors));
  await see('checkout');
  await page.waitForTimeout(10_000); // attempts at a socket get rarer
  await shot('asked-again');
});
