// Commits what a script has changed in one of the demo's repositories, and has
// Fairlead read it, as a webhook does.
const { execFileSync } = require('node:child_process');
const { join } = require('node:path');

exports.push = async (base, { repos, token }, source, message) => {
  execFileSync('git', ['-C', join(repos, source), '-c', 'user.name=t', '-c', 'user.email=t@t', 'commit', '-qam', message]);
  const answer = await fetch(base + '/graphql', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${token}` },
    body: JSON.stringify({ query: `mutation { refresh(source: "${source}") { commit } }` }),
  });
  const { errors } = await answer.json();
  if (errors) throw new Error(JSON.stringify(errors));
};
