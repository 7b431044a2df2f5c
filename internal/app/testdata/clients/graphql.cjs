// Queries over HTTP and subscribes over a WebSocket with graphql-ws's client.
const { createRequire } = require('node:module');
const load = createRequire(process.cwd() + '/');
const { createClient } = load('graphql-ws');
const WebSocket = load('ws');

const { execFileSync } = require('node:child_process');
const { appendFileSync } = require('node:fs');

// change commits to a repository and has its source read again.
async function change(url) {
  const repo = process.env.FAIRLEAD_REPO;
  appendFileSync(repo + '/catalog-info.yaml', '# changed\n---\napiVersion: backstage.io/v1alpha1\nkind: Group\nmetadata: {name: fresh}\nspec: {type: team, children: []}\n');
  execFileSync('git', ['-C', repo, '-c', 'user.name=Test', '-c', 'user.email=test@shop.test', 'commit', '-qam', 'Change']);
  await fetch(url + '/api/v1/refresh', { method: 'POST', headers: { 'content-type': 'application/json', authorization: 'Bearer ' + process.env.FAIRLEAD_SRE }, body: '{"source":"search"}' });
}

async function main() {
  const [url, token] = [process.env.FAIRLEAD_SERVER, process.env.FAIRLEAD_TOKEN];
  let changed = false;
  const query = '{ entity(ref: "component:default/checkout") { metadata { name } } }';
  const res = await fetch(url + '/graphql', { method: 'POST', headers: { 'content-type': 'application/json', authorization: 'Bearer ' + token }, body: JSON.stringify({ query }) });
  console.log(JSON.stringify({ query: await res.json() }));
  const client = createClient({ url: url.replace('http', 'ws') + '/graphql', webSocketImpl: WebSocket, keepAlive: 200, connectionParams: { authorization: 'Bearer ' + token } });
  client.on('connected', () => console.log(JSON.stringify({ connected: true })));
  client.on('message', m => { if (m.type === 'next') console.log('next'); });
  // The subscription stands once the server has answered a later ping.
  client.on('pong', () => { if (!changed) { changed = true; change(url).catch(e => { console.error(e); process.exit(1); }); } });
  for await (const event of client.iterate({ query: 'subscription { catalogChanged { changed } }' })) {
    console.log(JSON.stringify({ event }));
    break;
  }
  await client.dispose();
}
main().catch(e => { console.error(e); process.exit(1); });
