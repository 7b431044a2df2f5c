// Calls every method of Backstage's own catalog client and prints what each
// gave, without uids, etags, ids and cursors.
const { createRequire } = require('node:module');
const load = createRequire(process.cwd() + '/');
const { CatalogClient } = load('@backstage/catalog-client');

const url = process.env.FAIRLEAD_SERVER;
const opts = { token: process.env.FAIRLEAD_TOKEN };
const client = new CatalogClient({ discoveryApi: { getBaseUrl: async () => url + '/api/catalog' }, fetchApi: { fetch } });
const hidden = new Set(['uid', 'etag', 'id', 'nextCursor', 'prevCursor']);

async function show(name, call) {
  let out;
  try {
    out = await call();
  } catch (e) {
    out = { failed: e.name, status: e.response?.status, message: e.body?.error?.message };
  }
  console.log(name + ' ' + JSON.stringify(out ?? null, plain));
}

// Hides what may differ and sorts keys, whose order is nobody's business.
function plain(key, value) {
  if (hidden.has(key) && typeof value === 'string') return '{' + key + '}';
  if (!value || typeof value !== 'object' || Array.isArray(value)) return value;
  return Object.fromEntries(Object.keys(value).sort().map(k => [k, value[k]]));
}

async function all(stream) {
  const pages = [];
  for await (const page of stream) pages.push(page);
  return pages;
}

async function reading() {
  const radar = 'component:default/radar';
  const order = { field: 'metadata.name', order: 'asc' };
  const fields = ['kind', 'metadata.name'];
  await show('getEntities', () => client.getEntities({ filter: { kind: ['api', 'system'] }, fields, order }, opts));
  await show('getEntities paged', () => client.getEntities({ filter: [{ kind: 'user' }, { 'spec.type': 'website' }], fields, limit: 3, offset: 1, order: [order] }, opts));
  await show('getEntitiesByRefs', () => client.getEntitiesByRefs({ entityRefs: [radar, 'component:default/nobody', 'system:default/sailing'], fields }, opts));
  await show('getEntitiesByRefs filter', () => client.getEntitiesByRefs({ entityRefs: [radar, 'system:default/sailing'], filter: { kind: 'system' } }, opts));
  await show('getEntitiesByRefs query', () => client.getEntitiesByRefs({ entityRefs: [radar, 'system:default/sailing'], query: { kind: 'component' }, fields }, opts));
  let page;
  await show('queryEntities', async () => page = await client.queryEntities({ filter: { kind: 'component' }, limit: 5, orderFields: order, fields }, opts));
  for (let i = 0; i < 3; i++) {
    await show('queryEntities next', async () => page = await client.queryEntities({ cursor: page.pageInfo.nextCursor, limit: 5, fields }, opts));
  }
  await show('queryEntities prev', () => client.queryEntities({ cursor: page.pageInfo.prevCursor, limit: 5, fields }, opts));
  await show('queryEntities text', () => client.queryEntities({ filter: { kind: 'component' }, fullTextFilter: { term: 'tick', fields: ['metadata.name'] }, orderFields: order }, opts));
  await show('queryEntities predicate', async () => page = await client.queryEntities({ query: { $all: [{ kind: 'component' }, { $not: { 'spec.type': 'service' } }] }, limit: 4, orderFields: order, fields }, opts));
  await show('queryEntities predicate next', () => client.queryEntities({ cursor: page.pageInfo.nextCursor, limit: 4, fields }, opts));
  await show('queryEntities bad', () => client.queryEntities({ query: { relations: { $contains: { type: 'x', y: 'z' } } } }, opts));
  await show('streamEntities', async () => (await all(client.streamEntities({ filter: { kind: 'component' }, pageSize: 7, orderFields: order, fields }, opts))));
  await show('streamEntities predicate', async () => (await all(client.streamEntities({ query: { kind: { $in: ['group', 'user'] } }, pageSize: 3, orderFields: order, fields }, opts))));
  await show('getEntityAncestors', () => client.getEntityAncestors({ entityRef: 'component:coast/pier-north' }, opts));
  await show('getEntityByRef', () => client.getEntityByRef(radar, opts));
  await show('getEntityByRef missing', () => client.getEntityByRef('component:default/nobody', opts));
  await show('getEntityByName', () => client.getEntityByName({ kind: 'Group', namespace: 'default', name: 'crew' }, opts));
  await show('getEntityFacets', () => client.getEntityFacets({ facets: ['kind', 'spec.type'], filter: { kind: 'component' } }, opts));
  await show('getEntityFacets query', () => client.getEntityFacets({ facets: ['spec.lifecycle'], query: { kind: { $in: ['api'] } } }, opts));
  await show('refreshEntity', () => client.refreshEntity(radar, opts));
  await show('refreshEntity missing', () => client.refreshEntity('component:default/nobody', opts));
  const entity = { apiVersion: 'backstage.io/v1alpha1', kind: 'Component', metadata: { name: 'fine' }, spec: { type: 'service', lifecycle: 'production', owner: 'deck' } };
  await show('validateEntity', () => client.validateEntity(entity, 'url:https://git.ferry.invalid/catalog-info.yaml', opts));
  await show('validateEntity bad', async () => {
    const out = await client.validateEntity({ ...entity, spec: {} }, 'url:https://git.ferry.invalid/catalog-info.yaml', opts);
    return { valid: out.valid, errors: out.errors.length > 0 && out.errors.every(e => e.name && e.message) };
  });
  await show('analyzeLocation', () => client.analyzeLocation({ location: { type: 'url', target: 'https://github.com/ferry/ropes' } }, opts));
}

async function registering(target, other) {
  await show('addLocation dry', () => client.addLocation({ type: 'url', target, dryRun: true }, opts));
  let id;
  await show('addLocation', async () => { const out = await client.addLocation({ type: 'url', target }, opts); id = out.location.id; return out; });
  await show('addLocation again', () => client.addLocation({ type: 'url', target }, opts));
  await show('getLocations', () => client.getLocations({}, opts));
  await show('queryLocations', () => client.queryLocations({ query: { type: 'url' } }, opts));
  await show('streamLocations', () => all(client.streamLocations({}, opts)));
  await show('getLocationById', () => client.getLocationById(id, opts));
  await show('getLocationByRef', () => client.getLocationByRef('url:' + target, opts));
  await show('getLocationByEntity missing', () => client.getLocationByEntity('component:default/nobody', opts));
  await show('updateLocation', () => client.updateLocation(id, { type: 'url', target: other }, opts));
  await show('removeLocationById', () => client.removeLocationById(id, opts));
  await show('getLocationById gone', () => client.getLocationById(id, opts));
}

(process.argv[2] ? registering(...process.argv.slice(2)) : reading()).catch(e => { console.error(e); process.exit(1); });
