// A minimal app of the old front-end system.
import '@backstage/cli/asset-types';
import { createApp } from '@backstage/app-defaults';
import { AppRouter, FlatRoutes } from '@backstage/core-app-api';
import { ProxiedSignInPage } from '@backstage/core-components';
import { configApiRef, createApiFactory } from '@backstage/core-plugin-api';
import {
  ScmIntegrationsApi,
  scmIntegrationsApiRef,
} from '@backstage/integration-react';
import {
  CatalogEntityPage,
  CatalogIndexPage,
  EntityAboutCard,
  EntityLayout,
} from '@backstage/plugin-catalog';
import '@backstage/ui/css/styles.css';
import {
  EntityAgentsContent,
  EntityBriefCard,
  EntityDeploymentsContent,
  EntityPreviewsContent,
  FairleadPage,
} from '@fairlead/backstage-plugin/legacy';
import ReactDOM from 'react-dom/client';
import { Route } from 'react-router-dom';

const app = createApp({
  apis: [
    createApiFactory({
      api: scmIntegrationsApiRef,
      deps: { configApi: configApiRef },
      factory: ({ configApi }) => ScmIntegrationsApi.fromConfig(configApi),
    }),
  ],
  components: {
    SignInPage: props => <ProxiedSignInPage {...props} provider="guest" />,
  },
});

const entityPage = (
  <EntityLayout>
    <EntityLayout.Route path="/" title="Overview">
      <>
        <EntityAboutCard />
        <EntityBriefCard />
      </>
    </EntityLayout.Route>
    <EntityLayout.Route path="/previews" title="Previews">
      <EntityPreviewsContent />
    </EntityLayout.Route>
    <EntityLayout.Route path="/deployments" title="Deployments">
      <EntityDeploymentsContent />
    </EntityLayout.Route>
    <EntityLayout.Route path="/agents" title="Agents">
      <EntityAgentsContent />
    </EntityLayout.Route>
  </EntityLayout>
);

const Root = app.createRoot(
  <AppRouter>
    <FlatRoutes>
      <Route path="/catalog" element={<CatalogIndexPage />} />
      <Route
        path="/catalog/:namespace/:kind/:name"
        element={<CatalogEntityPage />}
      >
        {entityPage}
      </Route>
      <Route path="/fairlead" element={<FairleadPage />} />
    </FlatRoutes>
  </AppRouter>,
);

ReactDOM.createRoot(document.getElementById('root')!).render(<Root />);
