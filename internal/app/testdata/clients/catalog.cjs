// Reads entities with Backstage's own catalog client and prints what it saw.
const { createRequire } = require('node:module');
const load = createRequire(process.cwd() + '/');
const { CatalogClient } = load('@backstage/catalog-client');

async function main() {
  const [url, token] = [process.env.FAIRLEAD_SERVER, process.env.FAIRLEAD_TOKEN];
  const client = new CatalogClient({ discoveryApi: { getBaseUrl: async () => url + '/api/catalog' }, fetchApi: { fetch } });
  const opts = { token };
  const out = {};
  out.entities = (await client.getEntities({ filter: { kind: 'component' } }, opts)).items.map(e => e.metadata.name).sort();
  out.byRef = (await client.getEntityByRef('component:default/checkout', opts))?.metadata.name;
  out.missing = (await client.getEntityByRef('component:default/nobody', opts)) ?? null;
  out.byRefs = (await client.getEntitiesByRefs({ entityRefs: ['component:default/cart', 'component:default/nobody'] }, opts)).items.map(e => e?.metadata.name ?? null);
  const pages = [];
  let page = await client.queryEntities({ filter: { kind: 'component' }, limit: 5, orderFields: { field: 'metadata.name', order: 'asc' } }, opts);
  for (;;) {
    pages.push(page.items.map(e => e.metadata.name));
    if (!page.pageInfo.nextCursor) break;
    page = await client.queryEntities({ cursor: page.pageInfo.nextCursor, limit: 5 }, opts);
  }
  out.pages = pages;
  out.total = page.totalItems;
  out.facets = (await client.getEntityFacets({ facets: ['kind'] }, opts)).facets.kind;
  out.ancestors = (await client.getEntityAncestors({ entityRef: 'group:default/payments' }, opts)).items.map(i => i.entity.metadata.name);
  out.text = (await client.queryEntities({ filter: { kind: 'component' }, fullTextFilter: { term: 'check', fields: ['metadata.name', 'metadata.title'] } }, opts)).items.map(e => e.metadata.name);
  await client.refreshEntity('component:default/checkout', opts);
  console.log(JSON.stringify(out));
}
main().catch(e => { console.error(e); process.exit(1); });
