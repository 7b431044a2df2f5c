// Calls Fairlead by a client that was generated from its OpenAPI document.
import createClient from "openapi-fetch";
import type { components, paths } from "./api.js";

declare const process: { env: Record<string, string> };

const api = createClient<paths>({
  baseUrl: process.env.FAIRLEAD_SERVER,
  headers: { Authorization: `Bearer ${process.env.FAIRLEAD_TOKEN}` },
});

// answered gives the data of an answer that succeeded.
function answered<T>(r: { data?: T; error?: { error: components["schemas"]["Error"] } }): T {
  if (r.data === undefined) throw new Error(r.error?.error.message ?? "no data");
  return r.data;
}

const who = answered(await api.GET("/api/v1/whoami"));
const entity = answered(await api.GET("/api/v1/entities/{ref}", { params: { path: { ref: "component:default/checkout" } } }));
const found = answered(await api.GET("/api/v1/search", { params: { query: { query: "checkout", filter: ["kind=component"], limit: 5 } } }));
const pages: (string | undefined)[] = [];
for (let cursor: string | undefined; ; ) {
  const page = answered(
    await api.POST("/api/v1/entities/by-query", {
      body: cursor ? { cursor, limit: 2 } : { query: { kind: "component" }, orderBy: [{ field: "metadata.name" }], limit: 2, fields: ["metadata.name"] },
    }),
  );
  pages.push(...page.items.map((e) => e?.metadata?.name));
  cursor = page.pageInfo.nextCursor;
  if (!cursor) break;
}
const batch = answered(await api.POST("/api/v1/entities/by-refs", { body: { entityRefs: ["component:default/checkout", "component:default/none"] } }));
const graph = answered(await api.GET("/api/v1/dependencies/{ref}", { params: { path: { ref: "component:default/checkout" }, query: { depth: 1 } } }));
const facets = answered(await api.GET("/api/v1/facets", { params: { query: { facets: ["kind"] } } }));
const refreshed = answered(await api.POST("/api/v1/refresh", { body: { entityRef: "component:default/checkout" } }));
const missing = await api.GET("/api/v1/entities/{ref}", { params: { path: { ref: "component:default/none" } } });
const refused = await fetch(`${process.env.FAIRLEAD_SERVER}/api/v1/whoami`, { method: "DELETE", headers: { Authorization: `Bearer ${process.env.FAIRLEAD_TOKEN}` } });

console.log(
  JSON.stringify({
    subject: who.subject,
    title: entity.metadata?.title,
    owner: found.hits[0].owner,
    pages: pages.sort(),
    batch: batch.items.map((e) => e?.metadata?.name ?? null),
    edges: graph.edges.length,
    kinds: facets.facets.kind.map((f) => f.value),
    refreshed: refreshed.source,
    missing: missing.error?.error.code,
    allowed: refused.headers.get("Allow"),
  }),
);
