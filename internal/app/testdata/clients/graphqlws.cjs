// Tries graphql-transport-ws: with graphql-ws's client what it can do, and
// with bare WebSockets what it never would. Prints what came of each.
const { createRequire } = require('node:module');
const load = createRequire(process.cwd() + '/');
const { createClient } = load('graphql-ws');
const WebSocket = load('ws');
const { execFileSync } = require('node:child_process');
const { appendFileSync, rmSync } = require('node:fs');

const [server, token] = [process.env.FAIRLEAD_SERVER, process.env.FAIRLEAD_TOKEN];
const url = server.replace('http', 'ws') + '/graphql';
const init = JSON.stringify({ type: 'connection_init', payload: { authorization: 'Bearer ' + token } });
const asked = (id, query) => JSON.stringify({ id, type: 'subscribe', payload: { query } });
const watch = 'subscription { catalogChanged { changed } }';

const connect = more => createClient({ url, webSocketImpl: WebSocket, lazy: false, retryAttempts: 0, onNonLazyError() {}, connectionParams: { authorization: 'Bearer ' + token }, ...more });

// change commits to a repository and has its source read again.
let changes = 0;
async function change() {
  const repo = process.env.FAIRLEAD_REPO;
  appendFileSync(repo + '/catalog-info.yaml', `---\napiVersion: backstage.io/v1alpha1\nkind: Group\nmetadata: {name: fresh${++changes}}\nspec: {type: team, children: []}\n`);
  execFileSync('git', ['-C', repo, '-c', 'user.name=Test', '-c', 'user.email=test@shop.test', 'commit', '-qam', 'Change']);
  await fetch(server + '/api/v1/refresh', { method: 'POST', headers: { 'content-type': 'application/json', authorization: 'Bearer ' + process.env.FAIRLEAD_SRE }, body: '{"source":"search"}' });
}

// all collects what an operation gives, until it ends or enough is seen.
function all(client, query, enough) {
  const seen = { next: [] };
  return new Promise(resolve => {
    const end = client.subscribe({ query }, {
      next(v) { seen.next.push(v); if (enough && enough(seen)) { end(); seen.ended = 'by us'; } },
      error(e) { resolve({ ...seen, error: Array.isArray(e) ? e : { code: e.code, reason: e.reason } }); },
      complete() { resolve({ ...seen, complete: true }); },
    });
  });
}

// pinged waits until the server has answered a ping, and so has read all that
// was sent before.
const pinged = events => new Promise(resolve => events.push(resolve));

async function withClient() {
  const out = {}, pongs = [];
  const client = connect({ keepAlive: 50, on: { pong: () => pongs.splice(0).forEach(f => f()) } });
  out.query = await all(client, '{ entity(ref: "component:default/checkout") { metadata { name } } }');
  out.mutation = await all(client, 'mutation { refresh { source } }');
  out.invalid = await all(client, '{ nonesuch }');
  out.subscriptionInvalid = await all(client, 'subscription { nonesuch }');
  const watching = all(client, watch, seen => seen.next.length === 1);
  await pinged(pongs);
  await pinged(pongs);
  await change();
  out.subscription = await watching;
  out.again = await all(client, '{ whoami { subject } }');
  await client.dispose();
  return out;
}

// bare sends messages over a WebSocket and tells what came back until the
// server closed it; when the server answers something, more is sent.
function bare(protocol, messages, respond = () => undefined) {
  return new Promise((resolve, reject) => {
    const ws = new WebSocket(url, protocol, {}), got = [];
    ws.on('open', () => messages.forEach(m => ws.send(m, { binary: m instanceof Buffer })));
    ws.on('message', data => {
      const m = JSON.parse(data.toString());
      got.push(m);
      const more = respond(m, ws);
      if (more) ws.send(more);
    });
    ws.on('close', (code, reason) => resolve({ code, reason: reason.toString(), got }));
    ws.on('error', reject);
  });
}

const ours = 'graphql-transport-ws';

async function refusals() {
  const cases = {
    badToken: [ours, [JSON.stringify({ type: 'connection_init', payload: { authorization: 'Bearer nobody' } })]],
    noToken: [ours, [JSON.stringify({ type: 'connection_init' })]],
    noInit: [ours, []],
    subscribeBeforeInit: [ours, [asked('1', watch)]],
    twoInits: [ours, [init, init]],
    duplicate: [ours, [init, asked('1', watch), asked('1', watch)]],
    noJSON: [ours, [init, 'x']],
    noObject: [ours, [init, '[]']],
    unknownType: [ours, [init, '{"type":"what"}']],
    noType: [ours, [init, '{"id":"1"}']],
    noID: [ours, [init, '{"type":"subscribe","payload":{"query":"{__typename}"}}']],
    noPayload: [ours, [init, '{"id":"1","type":"subscribe"}']],
    binary: [ours, [init, Buffer.from('{"type":"ping"}')]],
    noProtocol: [[], []],
  };
  const out = {};
  await Promise.all(Object.entries(cases).map(async ([name, [protocol, messages]]) => { out[name] = (await bare(protocol, messages)).code; }));
  return out;
}

async function main() {
  const out = { client: await withClient() };
  out.refusals = await refusals();
  // A ping is answered with its payload, before init as well as after.
  out.ping = await bare(ours, ['{"type":"ping","payload":{"a":1}}', init], (m, ws) => { if (m.type === 'connection_ack') ws.close(1000); });
  // What is completed may be asked again under the same id.
  out.reuse = await bare(ours, [init], (m, ws) => {
    if (m.type === 'connection_ack') { ws.send(asked('1', watch)); ws.send('{"id":"1","type":"complete"}'); ws.send('{"id":"none","type":"complete"}'); return asked('1', '{ __typename }'); }
    if (m.type === 'complete') ws.close(1000);
  });
  // A client whose token is taken away loses its connection.
  out.revoked = await bare(ours, [init], m => { if (m.type === 'connection_ack') rmSync(process.env.FAIRLEAD_TOKEN_FILE); });
  out.refusedLater = await all(connect({}), '{ __typename }');
  console.log(JSON.stringify(out));
}
main().catch(e => { console.error(e); process.exit(1); });
