// Registers a location with Backstage's own catalog client and takes it back.
const { createRequire } = require('node:module');
const load = createRequire(process.cwd() + '/');
const { CatalogClient } = load('@backstage/catalog-client');

async function main() {
  const [url, token, target] = [process.env.FAIRLEAD_SERVER, process.env.FAIRLEAD_TOKEN, process.env.FAIRLEAD_TARGET];
  const client = new CatalogClient({ discoveryApi: { getBaseUrl: async () => url + '/api/catalog' }, fetchApi: { fetch } });
  const opts = { token };
  const refused = async promise => {
    try { await promise; return ''; } catch (e) { return [e.statusCode ?? e.response?.status, e.cause?.name ?? e.name, e.body?.error?.name].join(' '); }
  };
  const out = {};
  const tried = await client.addLocation({ type: 'url', target, dryRun: true }, opts);
  out.tried = [tried.exists, tried.location.target === target, tried.entities.map(e => e.kind)];
  const added = await client.addLocation({ type: 'url', target }, opts);
  out.added = [added.exists ?? null, added.entities.length, added.location.id.length];
  out.exists = (await client.addLocation({ target, dryRun: true }, opts)).exists;
  out.again = await refused(client.addLocation({ target }, opts));
  out.refreshed = (await client.addLocation({ target, onConflict: 'refresh' }, opts)).location.id === added.location.id;
  out.served = (await client.getEntityByRef('component:default/stock', opts))?.metadata.name;
  out.byRef = (await client.getLocationByRef('url:' + target, opts))?.id === added.location.id;
  out.byId = (await client.getLocationById(added.location.id, opts))?.target === target;
  out.byEntity = (await client.getLocationByEntity('component:default/stock', opts))?.id === added.location.id;
  out.list = (await client.getLocations({}, opts)).items.map(l => l.target === target);
  out.query = (await client.queryLocations({ query: { target: { $hasPrefix: target.slice(0, 20).toUpperCase() } } }, opts)).totalItems;
  out.broken = await refused(client.addLocation({ target: target + '.gone', dryRun: true }, opts));
  const moved = await client.updateLocation(added.location.id, { target: target.replace('catalog-info', 'other') }, opts);
  out.moved = [moved.id === added.location.id, moved.entityRef === added.location.entityRef, (await client.getEntityByRef('component:default/other', opts))?.metadata.name ?? null,
    (await client.getEntityByRef('component:default/stock', opts)) ?? null];
  await client.removeLocationById(added.location.id, opts);
  out.removed = [(await client.getLocationById(added.location.id, opts)) ?? null, (await client.getEntityByRef('component:default/other', opts)) ?? null];
  out.none = await refused(client.removeLocationById(added.location.id, opts));
  console.log(JSON.stringify(out));
}
main().catch(e => { console.error(e); process.exit(1); });
