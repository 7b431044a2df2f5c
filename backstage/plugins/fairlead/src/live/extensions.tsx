import { createFrontendModule } from '@backstage/frontend-plugin-api';
import { AppRootWrapperBlueprint } from '@backstage/plugin-app-react';
import { CatalogFilterBlueprint } from '@backstage/plugin-catalog-react/alpha';
import { LiveCatalogProvider } from './LiveCatalogProvider';

const list = CatalogFilterBlueprint.make({
  name: 'live',
  params: {
    loader: () => import('./LiveList').then(m => <m.LiveList />),
  },
});

export const liveExtensions = [list];

/**
 * Lets all pages follow the catalog as it changes.
 *
 * @public
 */
export const livePagesModule = createFrontendModule({
  pluginId: 'app',
  extensions: [
    AppRootWrapperBlueprint.make({
      name: 'fairlead-live',
      params: { component: LiveCatalogProvider },
    }),
  ],
});
