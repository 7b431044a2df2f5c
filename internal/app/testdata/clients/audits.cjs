// Runs the audits of the GraphQL-over-HTTP specification and prints what each
// came to.
const { createRequire } = require('node:module');
const load = createRequire(process.cwd() + '/');
const { serverAudits } = load('graphql-http');

async function main() {
  const [url, token] = [process.env.FAIRLEAD_SERVER, process.env.FAIRLEAD_TOKEN];
  const fetchFn = (input, init = {}) => fetch(input, { ...init, headers: { ...init.headers, authorization: 'Bearer ' + token } });
  const out = [];
  for (const audit of serverAudits({ url: url + '/graphql', fetchFn })) {
    const { id, name, status, reason } = await audit.fn();
    out.push({ id, name, status, reason });
  }
  console.log(JSON.stringify(out));
}
main().catch(e => { console.error(e); process.exit(1); });
