// Runs the audits of the GraphQL-over-HTTP specification and prints what each
// came to, and what GraphQL's reference implementation makes of the schema.
const { createRequire } = require('node:module');
const load = createRequire(process.cwd() + '/');
const { serverAudits } = load('graphql-http');
const { getIntrospectionQuery, buildClientSchema, validateSchema, printSchema } = load('graphql');

async function main() {
  const [url, token] = [process.env.FAIRLEAD_SERVER + '/graphql', process.env.FAIRLEAD_TOKEN];
  const fetchFn = (input, init = {}) => fetch(input, { ...init, headers: { ...init.headers, authorization: 'Bearer ' + token } });
  const audits = [];
  for (const audit of serverAudits({ url, fetchFn })) {
    const { id, name, status, reason } = await audit.fn();
    audits.push({ id, name, status, reason });
  }
  // As GraphiQL and code generators ask; graphql-go knows no more of the options.
  const query = getIntrospectionQuery({ specifiedByUrl: true, inputValueDeprecation: true });
  const res = await fetchFn(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ query, operationName: 'IntrospectionQuery' }) });
  const { data, errors } = await res.json();
  const schema = errors ? undefined : buildClientSchema(data);
  console.log(JSON.stringify({ audits, errors, invalid: schema && validateSchema(schema).map(e => e.message), schema: schema && printSchema(schema) }));
}
main().catch(e => { console.error(e); process.exit(1); });
