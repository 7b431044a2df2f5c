import {
  ApiBlueprint,
  configApiRef,
  createFrontendPlugin,
  discoveryApiRef,
  fetchApiRef,
  identityApiRef,
  PageBlueprint,
} from '@backstage/frontend-plugin-api';
import { RiAnchorLine } from '@remixicon/react';
import { agentExtensions } from './agents/extensions';
import { briefExtensions } from './brief/extensions';
import { createFairleadApi, fairleadApiRef } from './client';
import { deploymentExtensions } from './deployments/extensions';
import { healthExtensions } from './health/extensions';
import { liveExtensions } from './live';
import { previewExtensions } from './previews/extensions';
import { rootRouteRef } from './routes';

const api = ApiBlueprint.make({
  name: 'connection',
  params: defineParams =>
    defineParams({
      api: fairleadApiRef,
      deps: {
        configApi: configApiRef,
        discoveryApi: discoveryApiRef,
        fetchApi: fetchApiRef,
        identityApi: identityApiRef,
      },
      factory: deps => createFairleadApi(deps),
    }),
});

/** The page for everything at once; what it shows is attached to it as tabs. */
const page = PageBlueprint.make({
  params: {
    path: '/fairlead',
    title: 'Fairlead',
    icon: <RiAnchorLine />,
    routeRef: rootRouteRef,
  },
});

/**
 * Fairlead's pages for Backstage's new front-end system.
 *
 * @public
 */
export default createFrontendPlugin({
  pluginId: 'fairlead',
  title: 'Fairlead',
  icon: <RiAnchorLine />,
  info: { packageJson: () => import('../package.json') },
  routes: { root: rootRouteRef },
  extensions: [
    api,
    page,
    ...agentExtensions,
    ...healthExtensions,
    ...liveExtensions,
    ...briefExtensions,
    ...previewExtensions,
    ...deploymentExtensions,
  ],
});
