import { AppIcon } from '@backstage/core-components';
import {
  coreExtensionData,
  createExtensionInput,
  createFrontendModule,
  PageBlueprint,
} from '@backstage/frontend-plugin-api';
import apiDocsPlugin from '@backstage/plugin-api-docs/alpha';
import catalogPlugin from '@backstage/plugin-catalog/alpha';
import CategoryIcon from '@material-ui/icons/Category';

const catalog = PageBlueprint.makeWithOverrides({
  inputs: { filters: createExtensionInput([coreExtensionData.reactElement]) },
  factory(original, { inputs }) {
    return original({
      path: '/catalog',
      routeRef: catalogPlugin.routes.catalogIndex,
      title: 'Catalog',
      icon: <CategoryIcon fontSize="inherit" />,
      loader: async () => {
        const { CatalogPage } = await import('./CatalogPage');
        const filters = inputs.filters.map(filter =>
          filter.get(coreExtensionData.reactElement),
        );
        return <CatalogPage filters={<>{filters}</>} />;
      },
    });
  },
});

const apis = PageBlueprint.make({
  params: {
    path: '/api-docs',
    routeRef: apiDocsPlugin.routes.root,
    title: 'APIs',
    icon: <AppIcon fontSize="inherit" id="kind:api" />,
    loader: () => import('./ApisPage').then(m => <m.ApisPage />),
  },
});

/** The pages with lists, which stay quick where a catalog is large. */
export const listModules = [
  createFrontendModule({ pluginId: 'catalog', extensions: [catalog] }),
  createFrontendModule({ pluginId: 'api-docs', extensions: [apis] }),
];
