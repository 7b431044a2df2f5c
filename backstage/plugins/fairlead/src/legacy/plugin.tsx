import {
  compatWrapper,
  convertLegacyRouteRef,
} from '@backstage/core-compat-api';
import {
  configApiRef,
  createApiFactory,
  createComponentExtension,
  createPlugin,
  createRoutableExtension,
  discoveryApiRef,
  fetchApiRef,
  identityApiRef,
} from '@backstage/core-plugin-api';
import type { ComponentType } from 'react';
import { createFairleadApi, fairleadApiRef } from '../client';
import { rootRouteRef } from '../routes';

const root = convertLegacyRouteRef(rootRouteRef);

/**
 * Fairlead for apps of Backstage's old front-end system.
 *
 * @public
 */
export const fairleadPlugin = createPlugin({
  id: 'fairlead',
  routes: { root },
  apis: [
    createApiFactory({
      api: fairleadApiRef,
      deps: {
        configApi: configApiRef,
        discoveryApi: discoveryApiRef,
        fetchApi: fetchApiRef,
        identityApi: identityApiRef,
      },
      factory: deps => createFairleadApi(deps),
    }),
  ],
});

/** Gives a part to pages of the old system, when it is first shown. */
const part = (name: string, load: () => Promise<ComponentType>) =>
  fairleadPlugin.provide(
    createComponentExtension({
      name,
      component: {
        lazy: async () => {
          const Part = await load();
          return () => compatWrapper(<Part />);
        },
      },
    }),
  );

/**
 * What one needs to know of a component, as a card.
 *
 * @public
 */
export const EntityBriefCard = part('EntityBriefCard', () =>
  import('../brief/BriefCard').then(m => m.BriefCard),
);

/**
 * What is wrong with the file of an entity, as a card; nothing where all is well.
 *
 * @public
 */
export const EntityWarningCard = part('EntityWarningCard', () =>
  import('../health/EntityWarning').then(m => m.EntityWarning),
);

/**
 * The previews of a component, as a tab.
 *
 * @public
 */
export const EntityPreviewsContent = part('EntityPreviewsContent', () =>
  import('../previews/PreviewsTab').then(m => m.PreviewsTab),
);

/**
 * Where a component is deployed, as a tab.
 *
 * @public
 */
export const EntityDeploymentsContent = part('EntityDeploymentsContent', () =>
  import('../deployments/Deployments').then(m => m.Deployments),
);

/**
 * What agents do with a component, as a tab.
 *
 * @public
 */
export const EntityAgentsContent = part('EntityAgentsContent', () =>
  import('../agents/AgentsTab').then(m => m.AgentsTab),
);

/**
 * The page for everything at once, for the route /fairlead.
 *
 * @public
 */
export const FairleadPage = fairleadPlugin.provide(
  createRoutableExtension({
    name: 'FairleadPage',
    component: () =>
      import('./FairleadPage').then(
        ({ FairleadPage: Page }) =>
          () =>
            compatWrapper(<Page />),
      ),
    mountPoint: root,
  }),
);
