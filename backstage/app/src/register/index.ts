import {
  ApiBlueprint,
  createFrontendModule,
} from '@backstage/frontend-plugin-api';
import type { CatalogImportApi } from '@backstage/plugin-catalog-import';
import importPlugin from '@backstage/plugin-catalog-import/alpha';
import { withRepositories, type Known } from './repositories';

const { factory: data } = ApiBlueprint.dataRefs;

const register = importPlugin.getExtension('api:catalog-import').override({
  factory(original) {
    const made = original().get(data);
    return [
      data({
        ...made,
        factory(deps) {
          const api = made.factory(deps) as CatalogImportApi;
          const analyze = api.analyzeUrl.bind(api);
          api.analyzeUrl = withRepositories(analyze, deps as unknown as Known);
          return api;
        },
      }),
    ];
  },
});

/** The page on which existing components are registered, for every forge. */
export const registerModule = createFrontendModule({
  pluginId: 'catalog-import',
  extensions: [register],
});
