/**
 * What agents know, run and change of your services, in Backstage.
 *
 * @packageDocumentation
 */
import { createFrontendFeatureLoader } from '@backstage/frontend-plugin-api';
import { livePagesModule } from './live';
import fairleadPlugin from './plugin';

/**
 * Everything that there is: the plug-in, and pages that follow the catalog.
 *
 * @public
 */
export default createFrontendFeatureLoader({
  loader: () => [fairleadPlugin, livePagesModule],
});
export { fairleadApiRef } from './client';
export { LiveCatalogProvider, Renewed, useCatalogVersion } from './live';
export { fairleadPlugin, livePagesModule };
