import {
  createApiRef,
  type ConfigApi,
  type DiscoveryApi,
  type FetchApi,
  type IdentityApi,
} from '@backstage/core-plugin-api';
import { connect, type Connection } from '@fairlead/backstage-plugin-common';
import { cacheExchange } from 'urql';

/**
 * The connection to Fairlead that all of the plug-in's pages share.
 *
 * @public
 */
export const fairleadApiRef = createApiRef<Connection>({
  id: 'plugin.fairlead.connection',
});

/** What a connection is made of in a Backstage app. */
export interface FairleadApiOptions {
  configApi: ConfigApi;
  discoveryApi: DiscoveryApi;
  fetchApi: FetchApi;
  identityApi: IdentityApi;
}

/**
 * Connects to the server at fairlead.url, or by Backstage's proxy, as the user
 * who is signed in.
 */
export function createFairleadApi(options: FairleadApiOptions): Connection {
  const { configApi, discoveryApi, fetchApi, identityApi } = options;
  const fixed = configApi.getOptionalString('fairlead.url');
  return connect({
    url: async () =>
      fixed ?? `${await discoveryApi.getBaseUrl('proxy')}/fairlead`,
    token: async () => (await identityApi.getCredentials()).token,
    fetch: fetchApi.fetch,
    exchanges: [cacheExchange],
  });
}
